//! A person decides about what is parked, and late word of an earlier attempt.

use sayso::model::relay::{Attempt, Ground};
use sayso::model::{DeliveryKind, DeliveryState, MarkKind, RelayRefusal};
use sayso::store::RelayCommand;
use sayso::{Error, Refusal};

use super::open;
use crate::net::Act;
use crate::world::{World, last};

fn parked() -> (World, sayso::model::RequestId) {
    let mut w = open();
    w.scripts(vec![(1_000, last("a1", "done"))]);
    w.acts(&[Act::Drop]);
    let a = w.says("A", "go");
    w.pass(60_000);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["parked"]);
    (w, a)
}

fn refusal(done: Result<(), Error>) -> RelayRefusal {
    match done.unwrap_err().refusal() {
        Some(Refusal::Relay(refusal)) => refusal.clone(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_person_sends_it_again_with_a_mark() {
    let (mut w, a) = parked();
    let d = w.delivery(a, DeliveryKind::Reply);
    w.does(RelayCommand::Retry { delivery: d.id, fence: d.fence, ground: Ground::Person }).unwrap();
    w.pass(1_000);
    assert!(w.net.borrow().sink.copies[0].marked);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["delivered"]);
}

#[test]
fn a_person_says_that_it_arrived() {
    let (w, a) = parked();
    let d = w.delivery(a, DeliveryKind::Reply);
    let mark = w.ledger.fresh_entry();
    let resolve = |receipt: &str| RelayCommand::Resolve {
        delivery: d.id,
        fence: d.fence,
        receipt: receipt.to_owned(),
        mark,
    };
    assert_eq!(refusal(w.does(resolve(""))), RelayRefusal::NoReceipt);
    w.does(resolve("seen by Mira")).unwrap();
    assert_eq!((w.park_state(d.id), w.marks(MarkKind::Shown)), (DeliveryState::Delivered, 1));
}

#[test]
fn a_person_lets_it_be() {
    let (mut w, a) = parked();
    let d = w.delivery(a, DeliveryKind::Reply);
    let why = "not needed".to_owned();
    w.does(RelayCommand::Cancel { delivery: d.id, fence: d.fence, why }).unwrap();
    w.pass(60_000);
    assert_eq!((w.park_state(d.id), w.seen().len()), (DeliveryState::Cancelled, 0));
}

#[test]
fn under_a_fence_that_is_over_only_a_receipt_is_kept() {
    let mut w = open();
    w.scripts(vec![(1_000, last("a1", "done"))]);
    let a = w.says("A", "go");
    w.acts(&[Act::Later(Some(1_000_000))]);
    w.pass(2_000);
    let d = w.delivery(a, DeliveryKind::Reply);
    w.time.pass(1_000_000);
    let until = sayso::model::UtcMs(w.relay.now().0 + 1_000);
    w.does(RelayCommand::ClaimDelivery { delivery: d.id, fence: d.fence, until, key_ttl_ms: None }).unwrap();
    w.time.pass(1_000);
    w.does(RelayCommand::ExpireDelivery { delivery: d.id, fence: d.fence + 1 }).unwrap();
    let late = |attempt: Attempt| RelayCommand::Attempted {
        delivery: d.id,
        fence: d.fence + 1,
        attempt,
        mark: w.ledger.fresh_entry(),
    };
    for attempt in [
        Attempt::Failed { why: "late".into() },
        Attempt::Unknown { why: "late".into() },
        Attempt::Retry { why: "late".into(), not_before: until },
    ] {
        let stale = RelayRefusal::StaleFence { given: d.fence + 1, current: d.fence + 2 };
        assert_eq!(refusal(w.does(late(attempt))), stale);
    }
    let before = w.delivery(a, DeliveryKind::Reply);
    w.does(late(Attempt::Delivered { receipt: "m9".into() })).unwrap();
    w.does(late(Attempt::Delivered { receipt: "m9".into() })).unwrap();
    let after = w.delivery(a, DeliveryKind::Reply);
    assert_eq!(after.late, ["m9"]);
    assert_eq!(sayso::model::Delivery { late: Vec::new(), ..after.clone() }, before);
    assert_eq!(w.marks(MarkKind::Shown), 0);
    // Who works on it now may take the evidence for what it is.
    w.settle();
    let resolved = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((resolved.state, resolved.receipt.as_deref()), (DeliveryState::Delivered, Some("m9")));
    assert_eq!(w.net.borrow().sink.attempts.len(), 1);
}
