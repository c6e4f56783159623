//! Heads that were kept elsewhere: what only they show.

use std::collections::BTreeMap;

use sayso::SpeakerKind::*;
use sayso::model::{Digest, SessionId};
use sayso::{HeadKept, Reader};

use super::open;
use crate::support::World;

fn kept(reader: &Reader) -> BTreeMap<SessionId, HeadKept> {
    let report = reader.verify(&BTreeMap::new()).unwrap();
    report.heads.iter().map(|h| (h.session, HeadKept { seq: h.seq, hash: h.hash })).collect()
}

fn problems(reader: &Reader, kept: &BTreeMap<SessionId, HeadKept>) -> Vec<String> {
    reader.verify(kept).unwrap().problems.into_iter().map(|p| p.what).collect()
}

/// Two turns in one session; every id is the same each time.
fn told(first: &str) -> World {
    let world = open();
    world.says("Acme/Plan", (Agent, "Rocky"), first);
    world.says("Acme/Plan", (Owner, "Mira"), "Good.");
    world
}

#[test]
fn a_ledger_that_only_grew_agrees_with_its_heads() {
    let world = told("The plan stands.");
    let heads = kept(&world.all());
    assert_eq!(problems(&world.all(), &heads), Vec::<String>::new());
    world.says("Acme/Plan", (Agent, "Rocky"), "More.");
    assert_eq!(problems(&world.all(), &heads), Vec::<String>::new());
}

#[test]
fn a_rewritten_session_is_named_only_against_its_head() {
    let heads = kept(&told("The plan stands.").all());
    let rewritten = told("The plan fell.");
    assert_eq!(kept(&rewritten.all()).keys().collect::<Vec<_>>(), heads.keys().collect::<Vec<_>>());
    assert_eq!(problems(&rewritten.all(), &BTreeMap::new()), Vec::<String>::new());
    let found = problems(&rewritten.all(), &heads);
    assert!(found.len() == 1 && found[0].contains("rewritten"), "{found:?}");
}

#[test]
fn a_shortened_or_missing_session_is_named_against_its_head() {
    let world = told("The plan stands.");
    let mut heads = kept(&world.all());
    heads.values_mut().for_each(|head| head.seq += 1);
    let found = problems(&world.all(), &heads);
    assert!(found.len() == 1 && found[0].contains("ends before"), "{found:?}");
    let gone = SessionId::from_u128(1);
    let heads = BTreeMap::from([(gone, HeadKept { seq: 1, hash: Digest::ZERO })]);
    let found = problems(&world.all(), &heads);
    assert!(found.len() == 1 && found[0].contains("gone"), "{found:?}");
}
