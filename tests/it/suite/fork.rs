//! Field case S15: a fork shares its beginning by reference.

use std::collections::BTreeMap;

use sayso::store::{Command, Compact};
use sayso::{NewTurn, Placed, Refusal, Scope, SpeakerKind::*};

use super::open;
use crate::support::{World, text};

fn said(world: &World, session: sayso::model::SessionId) -> Vec<(u64, String)> {
    let entries = world.all().walk(session, 0).collect::<Result<Vec<_>, _>>().unwrap();
    entries.iter().filter(|e| e.turn().is_some()).map(|e| (e.seq, text(e))).collect()
}

fn numbered(words: &[&str]) -> Vec<(u64, String)> {
    (1..).zip(words.iter().map(|w| (*w).to_owned())).collect()
}

/// A session that says one, two, three.
fn three(world: &World) -> Vec<Placed> {
    ["one", "two", "three"].map(|t| world.says("Acme/Plan", (Agent, "Rocky"), t)).into()
}

#[test]
fn s15_a_fork_shares_its_beginning_and_copies_nothing() {
    let world = open();
    let turns = three(&world);
    let (all, parent) = (world.all(), turns[0].session);
    let entries = || all.verify(&BTreeMap::new()).unwrap().entries;
    let before = entries();
    let fork = all.fork(parent, Some(turns[1].id), "Another way").unwrap();
    assert_eq!(entries(), before, "nothing is copied");
    assert_eq!((fork.last_seq, fork.head, fork.turns), (2, turns[1].hash, 0));
    let next = world.ledger.append(&fork, NewTurn::text(Owner, "Mira", "other")).unwrap();
    assert_eq!(next.seq, 3, "it counts on");
    world.says("Acme/Plan", (Agent, "Rocky"), "four");
    assert_eq!(said(&world, fork.id), numbered(&["one", "two", "other"]));
    assert_eq!(said(&world, parent), numbered(&["one", "two", "three", "four"]));
    // What is shared keeps its address, and so does what hangs on it.
    let entry = &all.entries(fork.id, 0, 1).unwrap()[0];
    assert_eq!((entry.id, entry.session), (turns[0].id, parent));
    assert_eq!(all.verify(&BTreeMap::new()).unwrap().problems, []);
}

#[test]
fn a_fork_of_a_fork_shares_both_beginnings() {
    let world = open();
    let turns = three(&world);
    let all = world.all();
    let first = all.fork(turns[0].session, None, "first").unwrap();
    world.ledger.append(&first, NewTurn::text(Owner, "Mira", "four")).unwrap();
    let second = all.fork(first.id, None, "second").unwrap();
    let reply = NewTurn { reply_to: Some(turns[0].id), ..NewTurn::text(Owner, "Mira", "five") };
    world.ledger.append(&second, reply).unwrap();
    assert_eq!(said(&world, second.id), numbered(&["one", "two", "three", "four", "five"]));
    // Pages end anywhere.
    let page: Vec<u64> = all.entries(second.id, 2, 2).unwrap().iter().map(|e| e.seq).collect();
    assert_eq!(page, [3, 4]);
    // At a place that the parent shares itself, it is a fork of the session that holds it.
    let third = all.fork(second.id, Some(turns[1].id), "third").unwrap();
    assert_eq!(third.fork.map(|f| f.session), Some(turns[0].session));
    assert_eq!(said(&world, third.id), numbered(&["one", "two"]));
    assert_eq!(all.verify(&BTreeMap::new()).unwrap().problems, []);
}

#[test]
fn summaries_quotes_and_pins_of_the_beginning_belong_to_it() {
    let world = open();
    let source = world.says("Beta/Notes", (Agent, "Pip"), "noted");
    let quoted = world.forward(&source, "Acme/Plan");
    let session = quoted.session;
    let all = world.all();
    all.pin(quoted.id).unwrap();
    let compact = |through| {
        let id = world.ledger.fresh_entry();
        let speaker = world.ledger.speaker(&sayso::SpeakerRef::new(Agent, "Rocky")).unwrap();
        let (said_at, summary, key) = (None, "so far".to_owned(), None);
        let compact = Compact { id, session, speaker, said_at, through, summary, key };
        world.ledger.write(&Scope::All, vec![Command::Compact(compact)]).unwrap();
        id
    };
    let first = compact(1);
    let fork = all.fork(session, Some(first), "fork").unwrap().id;
    compact(2);
    assert_eq!(all.latest_compaction(fork).unwrap().unwrap().0.id, first);
    assert_eq!(all.quotes(fork, 9).unwrap(), [world.entry(&crate::support::placed(&quoted))]);
    assert_eq!(all.pinned(fork).unwrap().len(), 1);
    // Its agent is not the one that the forward was sent to.
    assert_eq!(all.inbox(Some(fork)).unwrap(), []);
}

#[test]
fn a_fork_point_must_be_there() {
    let world = open();
    let turns = three(&world);
    let other = world.says("Acme/Other", (Agent, "Rocky"), "elsewhere");
    let all = world.all();
    assert!(matches!(all.fork(turns[0].session, Some(other.id), "x"), Err(sayso::Error::Unknown { .. })));
    let empty = world.session("Acme", "Empty").id;
    let refused = all.fork(empty, None, "x").unwrap_err();
    assert_eq!(refused.refusal(), Some(&Refusal::NoForkPoint { through: 0, last: 0 }));
    // What came after the fork point is not part of the fork.
    let fork = all.fork(turns[0].session, Some(turns[0].id), "x").unwrap();
    let reply = NewTurn { reply_to: Some(turns[2].id), ..NewTurn::text(Owner, "Mira", "hm") };
    let refused = world.ledger.append(&fork, reply).unwrap_err();
    assert_eq!(refused.refusal(), Some(&Refusal::UnknownTurn(turns[2].id)));
}

#[test]
fn a_fork_stays_in_the_project_of_its_parent() {
    let world = open();
    let turns = three(&world);
    let (all, beta) = (world.all(), world.session("Beta", "Build").project);
    let (parent, fork) = (turns[0].session, all.fork(turns[0].session, None, "fork").unwrap().id);
    for (session, with) in [(parent, fork), (fork, parent)] {
        let refused = all.move_session(session, beta).unwrap_err();
        assert_eq!(refused.refusal(), Some(&Refusal::SharesBeginning { session, with }));
    }
    all.merge_project(turns[0].project, beta).unwrap();
    assert_eq!(said(&world, fork), numbered(&["one", "two", "three"]));
    assert_eq!(all.verify(&BTreeMap::new()).unwrap().problems, []);
}
