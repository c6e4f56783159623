//! Clocks that jump: back, years ahead, before 1970, to the ends of what a time can be. Order is that of the places, never of times.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use sayso::model::UtcMs;
use sayso::store::{Command, RelayCommand, RelayStep};
use sayso::{CompactRequest, NewTurn, Scope, Search, SpeakerKind::*};

use super::open;
use crate::support::{START, World, text};

const YEAR: i64 = 365 * 86_400_000;

/// What the clock says, one after the other.
const CLOCKS: [i64; 9] = [
    START,
    START - 1,
    START + 40 * YEAR,
    START - 30 * YEAR,
    -1,
    -60 * YEAR,
    i64::MIN,
    i64::MAX - 1_000,
    START + 1,
];

fn set(world: &World, clock: i64) {
    world.host.step.store(0, Ordering::Relaxed);
    world.host.clock.store(clock, Ordering::Relaxed);
}

#[track_caller]
fn sound(world: &World) {
    assert_eq!(world.all().verify(&BTreeMap::new()).unwrap().problems, Vec::new());
}

fn said(world: &World, session: &str) -> Vec<String> {
    let session = world.all().find_session(session).unwrap().id;
    let reader = world.all();
    let entries = reader.walk(session, 0).map(|entry| entry.unwrap());
    entries.filter(|entry| entry.turn().is_some()).map(|entry| text(&entry)).collect()
}

#[test]
fn turns_stand_in_the_order_in_which_they_were_said_whatever_the_clock_says() {
    let world = open();
    let mut expected = Vec::new();
    for (n, clock) in CLOCKS.into_iter().enumerate() {
        set(&world, clock);
        let words = format!("said {n}");
        let turn = || NewTurn::text(Agent, "Rocky", words.clone()).with_key(format!("key {n}"));
        let session = world.session("Acme", "Plan");
        let placed = world.ledger.append(&session, turn()).unwrap();
        assert_eq!(placed.seq, n as u64 + 1);
        // Again under another clock: the same turn, and not once more.
        set(&world, CLOCKS[(n + 4) % CLOCKS.len()]);
        assert_eq!(world.ledger.append(&session, turn()).unwrap(), placed);
        expected.push(words);
    }
    assert_eq!(said(&world, "Plan"), expected);
    let hits = world.all().search(&Search { limit: 100, ..Search::new("said") }).unwrap();
    let found: Vec<u64> = hits.iter().map(|hit| hit.placed.seq).collect();
    assert_eq!(found, (1..=CLOCKS.len() as u64).rev().collect::<Vec<_>>(), "newest first, by place");
    sound(&world);
}

#[test]
fn forwards_wait_in_the_order_in_which_they_came() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, "Rocky"), "the words");
    for (n, clock) in CLOCKS.into_iter().enumerate() {
        set(&world, clock);
        let request = world.request(&source, "Beta/Build").note(format!("note {n}")).key(format!("key {n}"));
        world.forward_with(request.clone());
        set(&world, CLOCKS[(n + 4) % CLOCKS.len()]);
        world.forward_with(request);
    }
    let waiting = world.all().inbox(None).unwrap();
    let seqs: Vec<u64> = waiting.iter().map(|waits| waits.entry.seq).collect();
    assert_eq!(seqs, (1..=CLOCKS.len() as u64).collect::<Vec<_>>(), "each once, in order");
    sound(&world);
}

#[test]
fn a_summary_stands_for_what_was_said_before_it_not_for_what_is_dated_before_it() {
    let world = open();
    let mut through = 0;
    for (n, clock) in CLOCKS.into_iter().enumerate() {
        set(&world, clock);
        world.says("Acme/Plan", (Owner, "Mira"), &format!("said {n}"));
        let plan = world.all().find_session("Plan").unwrap().id;
        let request = CompactRequest::of(plan, format!("summary {n}")).by(Agent, "Rocky").key(format!("{n}"));
        let (_, compacted) = world.all().compact(&request).unwrap();
        assert!(compacted.through > through, "each covers more than the one before");
        through = compacted.through;
    }
    sound(&world);
}

/// The relay's time goes on evenly; whoever gives it one that jumps gets no lease that two have.
#[test]
fn a_lease_is_never_had_by_two_whatever_time_they_name() {
    let world = open();
    let take = |at: i64, until: i64, holder: &str| {
        let (name, holder, about) = ("telegram bot".to_owned(), holder.to_owned(), "{}".to_owned());
        let what = RelayCommand::TakeLease { name, holder, until: UtcMs(until), about };
        world.ledger.write(&Scope::All, vec![Command::Relay(RelayStep { at: UtcMs(at), what })]).is_ok()
    };
    for clock in CLOCKS {
        let until = clock.saturating_add(60_000);
        let free = take(clock, until, "one");
        let leases = world.all().leases().unwrap();
        let [lease] = leases.as_slice() else { panic!("one lease: {leases:?}") };
        // Either it is had by whoever asked, or by whoever had it until later.
        assert!(free || lease.until.0 > clock, "{clock}: {lease:?}");
        if free && until > clock {
            assert!(!take(clock, until, "other"), "{clock}: two have it");
        }
    }
    sound(&world);
}
