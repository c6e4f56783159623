//! What a store refuses because the row would say what is not so.

use sayso::model::relay::{Attempt, Ground, TurnEnd};
use sayso::model::{DeliveryKind, RelayRefusal, UtcMs};
use sayso::store::{Intend, RelayCommand};
use sayso::{Error, Forks, Redacted, Refusal, Target};
use sayso_relay::port::SessionEvent;

use super::open;
use crate::net::Act;
use crate::world::{World, calls, display, last};

fn refused(w: &World, what: RelayCommand) -> RelayRefusal {
    match w.does(what).unwrap_err() {
        Error::Store(error) => match error.refusal() {
            Some(Refusal::Relay(refusal)) => refusal.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_delivery_is_not_delivered_without_a_receipt_nor_without_being_sent() {
    let mut w = open();
    w.scripts(vec![(1_000, last("a1", "done"))]);
    w.acts(&[Act::Later(Some(60_000))]);
    let a = w.says("A", "go");
    w.pass(2_000);
    let d = w.delivery(a, DeliveryKind::Reply);
    let attempted = |receipt: &str, fence: u64| RelayCommand::Attempted {
        delivery: d.id,
        fence,
        attempt: Attempt::Delivered { receipt: receipt.to_owned() },
        mark: w.ledger.fresh_entry(),
    };
    assert_eq!(refused(&w, attempted("", d.fence)), RelayRefusal::NoReceipt);
    assert!(matches!(refused(&w, attempted("m1", d.fence)), RelayRefusal::NoSuchStep { .. }));
    let ahead = RelayRefusal::StaleFence { given: d.fence + 1, current: d.fence };
    assert_eq!(refused(&w, attempted("m1", d.fence + 1)), ahead, "nobody has that number yet");
}

#[test]
fn a_reply_is_suppressed_by_nothing_but_a_confirmed_display() {
    let mut w = open();
    w.scripts(vec![(0, calls("a1", "", "c1")), (0, display("c1", "the list")), (0, last("a2", "news"))]);
    w.acts(&[Act::Later(Some(10_000))]);
    let a = w.says("A", "news?");
    w.settle();
    let (reply, direct) = (w.delivery(a, DeliveryKind::Reply), w.delivery(a, DeliveryKind::Direct));
    let by = |by: &str| RelayCommand::Suppress { delivery: reply.id, by: by.to_owned() };
    assert_eq!(refused(&w, by(&direct.key)), RelayRefusal::NotConfirmed);
    assert_eq!(refused(&w, by("something else")), RelayRefusal::NotConfirmed);
    let release = |repeat_mark| RelayCommand::Release { delivery: reply.id, repeat_mark };
    assert_eq!(refused(&w, release(false)), RelayRefusal::ReplyGoesOtherwise("held"));
    w.pass(60_000);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["suppressed"]);
}

#[test]
fn a_fallback_comes_neither_before_its_time_nor_after_an_answer() {
    let mut w = open();
    w.scripts(vec![(95_000, last("a1", "late"))]);
    let a = w.says("A", "?");
    w.settle();
    let fallback = |w: &World, key: &str| {
        RelayCommand::Intend(Intend {
            request: a,
            kind: DeliveryKind::Fallback,
            key: key.to_owned(),
            turn: w.entries()[0].id,
            parts: vec![(w.ledger.fresh_delivery(), "none".to_owned())],
            doubt: None,
        })
    };
    let deadline = w.request(a).deadline.unwrap();
    assert_eq!(refused(&w, fallback(&w, "x")), RelayRefusal::TooEarly(deadline));
    w.pass(91_000);
    assert!(matches!(refused(&w, fallback(&w, "x")), RelayRefusal::NoSuchStep { .. }), "once");
    w.pass(10_000);
    assert!(matches!(refused(&w, fallback(&w, "x")), RelayRefusal::Answered(_)));
}

#[test]
fn a_request_is_answered_once_and_only_when_it_is_in() {
    let mut w = open();
    w.net.borrow_mut().agent.silent = true;
    let a = w.says("A", "?");
    let answer = |w: &World| {
        RelayCommand::Intend(Intend {
            request: a,
            kind: DeliveryKind::Reply,
            key: "another".to_owned(),
            turn: w.entries()[0].id,
            parts: vec![(w.ledger.fresh_delivery(), "x".to_owned())],
            doubt: None,
        })
    };
    assert!(matches!(refused(&w, answer(&w)), RelayRefusal::NoSuchStep { .. }));
    w.does(RelayCommand::Started { session: w.session.id, request: Some(a) }).unwrap();
    w.does(answer(&w)).unwrap();
    w.does(answer(&w)).unwrap();
    assert_eq!(w.states(a, DeliveryKind::Reply).len(), 1, "the same message is the same message");
    let mut other = answer(&w);
    if let RelayCommand::Intend(intend) = &mut other {
        intend.key = "one more".to_owned();
    }
    assert!(matches!(refused(&w, other), RelayRefusal::Answered(_)));
}

#[test]
fn only_one_request_of_a_session_is_put_in_at_a_time_and_the_oldest_first() {
    let mut w = open();
    w.net.borrow_mut().agent.silent = true;
    let (a, b) = (w.says("A", "1"), w.says("B", "2"));
    let claim = |w: &World, id| RelayCommand::ClaimInjection {
        request: id,
        fence: w.request(id).fence,
        until: UtcMs(w.relay.now().0 + 60_000),
    };
    assert_eq!(refused(&w, claim(&w, b)), RelayRefusal::NotItsTurn(a));
    w.does(claim(&w, a)).unwrap();
    assert!(matches!(refused(&w, claim(&w, a)), RelayRefusal::NoSuchStep { .. }), "never twice");
    assert_eq!(refused(&w, claim(&w, b)), RelayRefusal::NotItsTurn(a));
    w.does(RelayCommand::Started { session: w.session.id, request: Some(a) }).unwrap();
    assert_eq!(refused(&w, claim(&w, b)), RelayRefusal::NotItsTurn(a), "its answer may still come");
    assert!(matches!(refused(&w, claim(&w, a)), RelayRefusal::NoSuchStep { .. }), "nor once it is in");
    w.does(RelayCommand::EndTurn { request: a, end: TurnEnd::Settled }).unwrap();
    assert_eq!(refused(&w, claim(&w, b)), RelayRefusal::NotItsTurn(a), "settled is not answered");
}

#[test]
fn what_may_have_arrived_is_not_sent_again_without_a_ground() {
    let mut w = open();
    w.scripts(vec![(1_000, last("a1", "done"))]);
    w.acts(&[Act::Take]);
    let a = w.says("A", "go");
    w.pass(2_000);
    let d = w.delivery(a, DeliveryKind::Reply);
    for ground in [Ground::Key { ttl_ms: u64::MAX }, Ground::NotSent, Ground::Marked, Ground::Person] {
        let retry = RelayCommand::Retry { delivery: d.id, fence: d.fence, ground };
        assert!(matches!(refused(&w, retry), RelayRefusal::NoSuchStep { .. }), "delivered is the end");
    }
}

#[test]
fn words_that_were_taken_away_are_not_sent() {
    let mut w = open();
    w.scripts(vec![(1_000, last("a1", "a secret"))]);
    w.acts(&[Act::Later(Some(30_000))]);
    let a = w.says("A", "go");
    w.pass(2_000);
    let d = w.delivery(a, DeliveryKind::Reply);
    let _: Redacted = w.reader().redact(d.turn, sayso::Quotes::Keep).unwrap();
    let gone = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((gone.text.as_str(), gone.state.as_str()), ("", "cancelled"));
    w.pass(60_000);
    assert!(w.seen().is_empty());
    let report = w.reader().verify(&std::collections::BTreeMap::new()).unwrap();
    assert_eq!(report.problems, Vec::new());
}

#[test]
fn what_is_erased_takes_its_requests_and_deliveries_along() {
    for whole in [false, true] {
        let mut w = open();
        w.scripts(vec![(1_000, last("a1", "a secret")), (0, SessionEvent::Settled { request: None })]);
        w.acts(&[Act::Later(Some(30_000))]);
        let a = w.says("A", "go");
        w.pass(2_000);
        let question = w.request(a).turn;
        let target = if whole { Target::Session(w.session.id) } else { Target::Entry(question) };
        let done = w.reader().erase(target, Forks::Refuse, sayso::Quotes::Keep).unwrap();
        assert_eq!(done.state, sayso::Erasing::Done);
        assert!(w.requests().is_empty() && w.deliveries().is_empty());
        let report = w.reader().verify(&std::collections::BTreeMap::new()).unwrap();
        assert_eq!(report.problems, Vec::new());
        w.time.pass(60_000);
        assert!(w.seen().is_empty());
    }
}

#[test]
fn a_lease_has_one_holder() {
    let w = open();
    let now = w.relay.now().0;
    let take = |holder: &str, until: i64| RelayCommand::TakeLease {
        name: "telegram bot".to_owned(),
        holder: holder.to_owned(),
        until: UtcMs(until),
        about: format!("{{\"by\":\"{holder}\"}}"),
    };
    w.does(take("one", now + 1_000)).unwrap();
    assert!(matches!(refused(&w, take("two", now + 9_000)), RelayRefusal::LeaseHeld { .. }));
    w.does(take("one", now + 2_000)).unwrap();
    let held = w.reader().leases().unwrap();
    assert_eq!((held[0].holder.as_str(), held[0].fence, held[0].until.0), ("one", 1, now + 2_000));
    w.time.pass(2_000);
    w.does(take("two", now + 9_000)).unwrap();
    assert_eq!(w.reader().leases().unwrap()[0].fence, 2);
    let drop = |holder: &str| RelayCommand::DropLease { name: "telegram bot".into(), holder: holder.into() };
    w.does(drop("one")).unwrap();
    assert_eq!(w.reader().leases().unwrap().len(), 1, "somebody else's is left alone");
    w.does(drop("two")).unwrap();
    assert!(w.reader().leases().unwrap().is_empty());
}
