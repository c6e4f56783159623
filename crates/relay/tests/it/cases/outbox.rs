//! What becomes of what was sent.

use sayso::model::{DeliveryKind, MarkKind};
use sayso::store::RelayCommand;
use sayso_relay::port::{Ability, Blind, Outgoing, Sender, Sent, SessionEvent};

use super::open;
use crate::net::{Act, SinkPort};
use crate::world::last;

fn answered(script: &str) -> Vec<(i64, SessionEvent)> {
    vec![(1_000, last("a1", script)), (0, SessionEvent::Settled { request: None })]
}

#[test]
fn r15_progress_stays_and_the_answer_that_failed_is_tried_again() {
    let mut w = open();
    let progress =
        SessionEvent::Progress { request: None, message: Some("p1".into()), text: "working…".into() };
    w.scripts(vec![(1_000, progress), (1_000, last("a1", "done"))]);
    w.acts(&[Act::Take, Act::Later(Some(30_000))]);
    let a = w.says("A", "go");
    w.pass(3_000);
    let reply = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((reply.state.as_str(), reply.not_before.is_some()), ("ready", true));
    assert_eq!(w.states(a, DeliveryKind::Progress), ["delivered"]);
    w.pass(60_000);
    assert_eq!(w.saw("A"), ["working…", "done"]);
}

#[test]
fn r17_after_a_crash_nobody_sends_blindly_what_may_have_arrived() {
    let mut w = open();
    w.scripts(answered("done"));
    let a = w.says("A", "go");
    w.settle();
    w.time.pass(1_000);
    // It dies right after the sink took it.
    w.look(Some(Box::new(|point| {
        assert!(point != sayso_relay::flaw::Point::AfterSend, "the process dies here");
    })));
    let died = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| w.settle()));
    assert!(died.is_err());
    w.crash(false);
    w.settle();
    assert_eq!(w.states(a, DeliveryKind::Reply), ["sending"], "the other may still be at it");
    w.pass(600_000);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["parked"]);
    assert_eq!(w.net.borrow().sink.attempts.len(), 1);
}

#[test]
fn r18_an_unknown_outcome_leaves_one_copy() {
    let key = Ability::Key { ttl_ms: 600_000 };
    for (ability, act) in
        [(key, Act::Lose), (key, Act::Drop), (Ability::Probe, Act::Lose), (Ability::Probe, Act::Drop)]
    {
        let mut w = open().with(ability);
        w.scripts(answered("done"));
        w.acts(&[act]);
        let a = w.says("A", "go");
        w.pass(60_000);
        assert_eq!(w.states(a, DeliveryKind::Reply), ["delivered"], "{ability:?} {act:?}");
        assert_eq!(w.saw("A"), ["done"]);
        assert_eq!(w.marks(MarkKind::Shown), 1);
    }
}

#[test]
fn a_sink_that_cannot_be_asked_gets_a_marked_repeat_where_the_policy_says_so() {
    let mut w = open().with(Ability::Opaque(Blind::ResendMarked));
    w.scripts(answered("done"));
    w.acts(&[Act::Lose]);
    w.says("A", "go");
    w.pass(60_000);
    let marks: Vec<bool> = w.net.borrow().sink.copies.iter().map(|c| c.marked).collect();
    assert_eq!(marks, [false, true]);
}

#[test]
fn a_sink_that_takes_and_never_confirms_gets_few_copies_and_then_a_person_decides() {
    let mut w = open().with(Ability::Opaque(Blind::ResendMarked));
    w.scripts(answered("done"));
    w.acts(&[Act::Lose; 50]);
    let a = w.says("A", "go");
    w.pass(1_200_000);
    let marks: Vec<bool> = w.net.borrow().sink.copies.iter().map(|c| c.marked).collect();
    assert_eq!(marks, [false, true, true]);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["parked"]);
}

#[test]
fn a_key_that_the_sink_forgot_is_not_used_again() {
    let mut w = open().with(Ability::Key { ttl_ms: 1_000 });
    w.scripts(answered("done"));
    w.acts(&[Act::Later(None), Act::Drop]);
    let a = w.says("A", "go");
    w.pass(60_000);
    let reply = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((reply.state.as_str(), w.net.borrow().sink.attempts.len()), ("parked", 2));
}

#[test]
fn r22_a_sink_that_is_down_for_a_while_gets_it_later() {
    let mut w = open();
    w.scripts(answered("done"));
    w.acts(&[Act::Later(None)]);
    let a = w.says("A", "go");
    w.pass(1_500);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["ready"]);
    w.pass(30_000);
    assert_eq!(w.saw("A"), ["done"]);
}

#[test]
fn a_sink_that_asks_for_time_gets_it() {
    let mut w = open();
    w.scripts(answered("done"));
    w.acts(&[Act::Later(Some(45_000))]);
    w.says("A", "go");
    w.pass(45_500);
    assert!(w.seen().is_empty());
    w.pass(1_000);
    assert_eq!(w.saw("A"), ["done"]);
}

#[test]
fn r23_the_answer_goes_where_the_message_came_from() {
    let mut w = open();
    w.scripts(vec![
        (1_000, crate::world::calls("a1", "", "c1")),
        (1_000, crate::world::display("c1", "sent to B: see you")),
        (1_000, last("a2", "I wrote to B.")),
    ]);
    let a = w.says("A", "write to B");
    w.pass(1_500);
    // A's turn sends to B: over a channel and to a destination of its own, past the relay.
    let mut sink = SinkPort(w.net.clone());
    let to_b = Outgoing {
        delivery: w.ledger.fresh_delivery(),
        key: "the tool's own".to_owned(),
        part: 0,
        parts: 1,
        channel: "chat".to_owned(),
        destination: "{\"chat\":\"B\"}".to_owned(),
        reply_to: None,
        text: "see you".to_owned(),
        repeat_mark: false,
    };
    assert!(matches!(sink.send(&to_b), Sent::Delivered(_)));
    // And B writes back before A has the answer.
    w.acts(&[Act::Refuse]);
    w.says("B", "hello?");
    w.pass(60_000);
    assert_eq!(w.saw("A"), ["I wrote to B."]);
    assert_eq!(w.net.borrow().sink.copies.last().unwrap().reply_to.as_deref(), Some("msg 1"));
    assert_eq!(w.saw("B"), ["see you"], "nothing of A's answer");
    assert_eq!(w.states(a, DeliveryKind::Reply), ["delivered"]);
}

#[test]
fn parts_go_in_order_and_a_part_that_failed_is_seen() {
    let mut w = open();
    w.net.borrow_mut().sink.most = 4;
    w.scripts(answered("one two three"));
    w.acts(&[Act::Take, Act::Later(Some(20_000)), Act::Take, Act::Refuse]);
    let a = w.says("A", "go");
    w.pass(5_000);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["delivered", "ready", "ready", "ready"]);
    w.pass(60_000);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["delivered", "delivered", "failed", "ready"]);
    assert_eq!(w.saw("A"), ["one ", "two "]);
    assert_eq!(w.marks(MarkKind::Shown), 2);
}

#[test]
fn parts_after_one_that_is_cancelled_are_not_sent() {
    let mut w = open();
    w.net.borrow_mut().sink.most = 4;
    w.scripts(answered("one two three"));
    w.acts(&[Act::Take, Act::Refuse]);
    let a = w.says("A", "go");
    w.pass(5_000);
    let parts = |w: &crate::world::World| {
        let all = w.deliveries().into_iter().filter(|d| d.request == a && d.kind == DeliveryKind::Reply);
        all.map(|d| (d.state.as_str(), d.why.unwrap_or_default())).collect::<Vec<_>>()
    };
    let waits = ("ready", "waits for part 2, which failed".to_owned());
    assert_eq!(
        parts(&w),
        [("delivered", String::new()), ("failed", "blocked".to_owned()), waits.clone(), waits]
    );
    let failed = w.deliveries().into_iter().find(|d| d.state.as_str() == "failed").unwrap();
    let why = "not needed".to_owned();
    w.does(RelayCommand::Cancel { delivery: failed.id, fence: failed.fence, why }).unwrap();
    w.pass(600_000);
    assert_eq!(w.saw("A"), ["one "]);
    let gone = ("cancelled", "part 2 was cancelled".to_owned());
    assert_eq!(parts(&w)[1..], [("cancelled", "not needed".to_owned()), gone.clone(), gone]);
}

#[test]
fn a_part_says_what_it_waits_for() {
    let mut w = open().with(Ability::Probe);
    w.net.borrow_mut().sink.most = 4;
    w.net.borrow_mut().sink.cannot_tell = 500;
    w.scripts(answered("one two three"));
    w.acts(&[Act::Later(Some(20_000)), Act::Take, Act::Drop]);
    let a = w.says("A", "go");
    let last = |w: &crate::world::World| {
        let all = w.deliveries().into_iter().filter(|d| d.request == a && d.kind == DeliveryKind::Reply);
        all.collect::<Vec<_>>().pop().map(|d| (d.state.as_str(), d.why.unwrap_or_default())).unwrap()
    };
    w.pass(5_000);
    assert_eq!(last(&w), ("ready", "waits for the parts before it".to_owned()));
    w.pass(20_000);
    assert_eq!(last(&w), ("ready", "waits for part 2, which may have arrived".to_owned()));
    w.pass(900_000);
    assert_eq!(last(&w), ("ready", "waits for part 2, which is parked".to_owned()));
    let parked = w.deliveries().into_iter().find(|d| d.state.as_str() == "parked").unwrap();
    let mark = w.ledger.fresh_entry();
    let (delivery, fence, receipt) = (parked.id, parked.fence, "seen".to_owned());
    w.does(RelayCommand::Resolve { delivery, fence, receipt, mark }).unwrap();
    w.pass(5_000);
    assert_eq!(last(&w), ("delivered", String::new()));
}
