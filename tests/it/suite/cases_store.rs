//! Field cases S5 and S10: order and repair.

use std::sync::atomic::Ordering;

use sayso::model::text::repair;
use sayso::{NewTurn, SpeakerKind::*};

use super::open;
use crate::support::{START, text};

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
}

#[test]
fn s10_what_cannot_be_utf8_is_repaired_and_counted() {
    // A lone surrogate as CESU-8 would write it is three invalid bytes; the words around it stay.
    let (repaired, repairs) = repair(b"before \xED\xA0\xBD after".to_vec());
    assert_eq!(repaired.trim_matches(char::is_alphabetic).replace('\u{FFFD}', ""), "  ");
    assert!(repairs > 0 && repaired.starts_with("before ") && repaired.ends_with(" after"));
    let world = open();
    let session = world.session("Acme", "Plan");
    let mut turn = NewTurn::text(Person, "Jun", repaired.clone());
    turn.repairs = repairs;
    let placed = world.ledger.append(&session, turn).unwrap();
    let entry = world.entry(&placed);
    assert_eq!((text(&entry), entry.turn().unwrap().repairs), (repaired, repairs));
    // The session goes on.
    world.says("Acme/Plan", (Agent, "Rocky"), "and on");
    assert_eq!(world.all().entries(session.id, 0, 10).unwrap().len(), 2);
}
