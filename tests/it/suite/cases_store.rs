//! Field cases S5, S7 and S10: order, compaction and repair.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use sayso::model::text::repair;
use sayso::model::{EntryBody, EntryId};
use sayso::view::context::Provider;
use sayso::{CompactRequest, Entry, HeadKept, NewTurn, Search, SpeakerKind::*};

use super::open;
use crate::support::{START, World, placed, text};

/// Everything in a session, in order.
fn entries(world: &World) -> Vec<Entry> {
    let session = world.all().find_session("Acme/Plan").unwrap();
    world.all().walk(session.id, 0).collect::<Result<_, _>>().unwrap()
}

/// However often a session is compacted, also over its earlier summaries: each is one more entry, and what it stands for stays
/// readable, findable, forwardable and verifiable as it was.
#[test]
fn s7_a_compaction_is_one_more_entry_and_the_originals_stay() {
    let world = open();
    for n in 0..6 {
        world.says("Acme/Plan", (Agent, "Rocky"), &format!("turn {n} 원본"));
    }
    let session = world.all().find_session("Acme/Plan").unwrap().id;
    let heads = || world.all().verify(&BTreeMap::new()).unwrap().heads;
    for round in 0..3 {
        let (before, kept) = (entries(&world), heads());
        let through = placed(&before[(2 + round).min(before.len() - 1)]);
        let request = CompactRequest::of(session, format!("summary {round}")).through(through);
        world.all().compact(&request).unwrap();
        let after = entries(&world);
        assert_eq!(after[..before.len()], before, "nothing before it changed");
        assert_eq!(after.len(), before.len() + 1);
        assert!(matches!(&after[before.len()].body, EntryBody::Compaction(c) if c.through == through.seq));
        let kept = kept.iter().map(|h| (h.session, HeadKept { seq: h.seq, hash: h.hash })).collect();
        assert_eq!(world.all().verify(&kept).unwrap().problems, []);
    }
    // One that stands for everything, the earlier summaries included.
    let before = entries(&world);
    world.all().compact(&CompactRequest::of(session, "all of it")).unwrap();
    assert_eq!(entries(&world)[..before.len()], before);
    let context = world.all().context(session, Provider::OpenAiResponses, None).unwrap().input.to_string();
    assert!(context.contains("all of it") && !context.contains("원본"), "{context}");
    let found: Vec<EntryId> =
        world.all().search(&Search::new("원본")).unwrap().iter().map(|h| h.placed.id).collect();
    let originals: Vec<EntryId> = before.iter().filter(|e| e.turn().is_some()).rev().map(|e| e.id).collect();
    assert_eq!((found.len(), found), (6, originals));
    let forwarded = world.forward(&placed(&before[0]), "Beta/Build");
    assert_eq!(crate::support::quote(&forwarded).text, "turn 0 원본");
}

#[test]
fn s5_order_is_seq_whatever_the_clock_says() {
    let world = open();
    let steps = [0, 0, -60_000, -60_000, 3_600_000];
    for (n, step) in steps.into_iter().enumerate() {
        world.says("Acme/Plan", (Agent, "Rocky"), &n.to_string());
        world.host.step.store(step, Ordering::Relaxed);
    }
    let session = world.all().find_session("Acme/Plan").unwrap();
    let entries: Vec<_> = world.all().walk(session.id, 0).collect::<Result<_, _>>().unwrap();
    let said: Vec<(u64, String)> = entries.iter().map(|e| (e.seq, text(e))).collect();
    assert_eq!(said, (0..5).map(|n| (n + 1, n.to_string())).collect::<Vec<_>>());
    let times: Vec<i64> = entries.iter().map(|e| e.recorded_at.0 - START).collect();
    assert!(!times.is_sorted(), "the clock did go back: {times:?}");
    let ids: Vec<EntryId> = entries.iter().map(|e| e.id).collect();
    assert!(!ids.is_sorted(), "ids do not tell the order: {ids:?}");
    // Pages, the newest hit first, and what is appended next go by it as well.
    let page: Vec<u64> = world.all().entries(session.id, 2, 2).unwrap().iter().map(|e| e.seq).collect();
    assert_eq!(page, [3, 4]);
    world.host.step.store(0, Ordering::Relaxed);
    for _ in 0..20 {
        world.says("Acme/Plan", (Agent, "Rocky"), "same");
    }
    let hits = world.all().search(&Search { limit: usize::MAX, ..Search::new("same") }).unwrap();
    let seqs: Vec<u64> = hits.iter().map(|h| h.placed.seq).collect();
    assert_eq!(seqs, (6..26).rev().collect::<Vec<_>>());
}

/// Bytes that are no UTF-8, and how many sequences of them there are: of a lone surrogate as CESU-8 would write it each byte is
/// one.
const BROKEN: &[(&[u8], u32)] = &[
    (b"before \xED\xA0\xBD after", 3),
    (b"before \xED\xB0\x80\xED\xA0\xBD after", 6),
    (b"before \xFF after", 1),
    (b"before \xC0\xAF after", 2),
    (b"before \xF4\x90\x80\x80 after", 4),
    (b"before \xE1\x80 after", 1),
    (b"before caf\xE9 after", 1),
    (b"before \x00 after", 0),
    ("before \u{FFFD} after".as_bytes(), 0),
];

#[test]
fn s10_what_cannot_be_utf8_is_repaired_and_counted() {
    let world = open();
    let session = world.session("Acme", "Plan");
    for (bytes, expected) in BROKEN {
        let (repaired, repairs) = repair(bytes.to_vec());
        assert_eq!(repairs, *expected, "{bytes:?}");
        assert!(repaired.starts_with("before ") && repaired.ends_with(" after"), "{repaired:?}");
        assert!(repairs == 0 || repaired.contains('\u{FFFD}'));
        let mut turn = NewTurn::text(Person, "Jun", repaired.clone());
        turn.repairs = repairs;
        let placed = world.ledger.append(&session, turn).unwrap();
        let entry = world.entry(&placed);
        assert_eq!((text(&entry), entry.turn().unwrap().repairs), (repaired, repairs));
    }
    // The session goes on, in every way.
    let last = world.says("Acme/Plan", (Agent, "Rocky"), "and on");
    assert_eq!(world.all().entries(session.id, 0, 99).unwrap().len(), BROKEN.len() + 1);
    for provider in Provider::ALL {
        assert!(world.all().context(session.id, provider, None).is_ok());
    }
    for entry in entries(&world) {
        world.forward(&placed(&entry), "Beta/Build");
    }
    assert_eq!(world.entry(&last).seq, last.seq);
    assert_eq!(world.all().verify(&BTreeMap::new()).unwrap().problems, []);
}
