//! Direct deliveries, and the replies that they stand for.

use std::panic::{AssertUnwindSafe, catch_unwind};

use sayso::model::relay::{Attempt, Ground};
use sayso::model::{DeliveryKind, MarkKind, PartBody};
use sayso::store::RelayCommand;
use sayso_output::envelope::Purpose;
use sayso_relay::flaw::Point;
use sayso_relay::port::{Ability, SessionEvent};

use super::open;
use crate::net::{Act, Script};
use crate::world::{World, calls, display, last};

fn script() -> Script {
    vec![
        (1_000, calls("a1", "", "c1")),
        (1_000, display("c1", "the list")),
        (1_000, last("a2", "There is news.")),
        (0, SessionEvent::Settled { request: None }),
    ]
}

fn told(w: &World) -> bool {
    let directive = Purpose::Listing.directive();
    w.entries().iter().any(|e| e.turn().is_some_and(|t| t.text() == directive))
}

#[test]
fn a_confirmed_display_stands_for_the_reply() {
    let mut w = open();
    w.scripts(script());
    let a = w.says("A", "news?");
    w.pass(60_000);
    assert_eq!(w.saw("A"), ["the list"]);
    let reply = w.delivery(a, DeliveryKind::Reply);
    let direct = w.delivery(a, DeliveryKind::Direct);
    assert_eq!((reply.state.as_str(), reply.suppressed_by.as_ref()), ("suppressed", Some(&direct.key)));
    assert!(told(&w), "the model is told, in a later entry");
    let words = w.entries().into_iter().filter_map(|e| e.turn().map(sayso::model::Turn::text));
    assert!(
        words.filter(|t| t == "There is news.").count() == 1,
        "the reply stands in the session all the same"
    );
}

#[test]
fn the_display_is_intended_in_one_batch_with_the_result() {
    let mut w = open();
    w.acts(&[Act::Later(Some(600_000))]);
    w.scripts(script());
    let a = w.says("A", "news?");
    w.pass(2_500);
    let direct = w.delivery(a, DeliveryKind::Direct);
    let turn = w.reader().entry(direct.turn).unwrap().unwrap();
    let parts = &turn.turn().unwrap().parts;
    assert!(matches!(&parts[0].body, PartBody::ToolResult(r) if r.text == "5 entries about ferries"));
    assert!(matches!(&parts[1].body, PartBody::Attachment(a) if a.output.is_some()));
    assert_eq!(direct.text, "the list");
}

#[test]
fn r14_a_display_that_was_rejected_leaves_the_reply() {
    let mut w = open();
    w.scripts(script());
    w.acts(&[Act::Refuse]);
    let a = w.says("A", "news?");
    w.pass(60_000);
    assert_eq!(w.states(a, DeliveryKind::Direct), ["failed"]);
    assert_eq!(w.saw("A"), ["There is news."]);
    assert!(!told(&w));
}

#[test]
fn an_unknown_display_leaves_the_reply_marked_as_a_possible_repeat() {
    let mut w = open();
    w.scripts(script());
    w.acts(&[Act::Lose]);
    let a = w.says("A", "news?");
    w.pass(60_000);
    assert_eq!(w.states(a, DeliveryKind::Direct), ["parked"]);
    let marks: Vec<bool> = w.net.borrow().sink.copies.iter().map(|c| c.marked).collect();
    assert_eq!(marks, [false, true]);
}

#[test]
fn a_reply_waits_15_seconds_and_then_goes_out_instead() {
    let mut w = open();
    w.scripts(script());
    w.acts(&[Act::Later(Some(60_000))]);
    let a = w.says("A", "news?");
    w.pass(17_999);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["held"]);
    w.pass(1);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["delivered"]);
    assert_eq!(w.states(a, DeliveryKind::Direct), ["cancelled"]);
    w.pass(600_000);
    assert_eq!(w.saw("A"), ["There is news."]);
}

#[test]
fn r20_a_call_that_is_made_again_joins_the_delivery() {
    let mut w = open();
    w.scripts(vec![
        (1_000, calls("a1", "", "c1")),
        (1_000, display("c1", "the list")),
        (1_000, calls("a2", "", "c2")),
        (1_000, display("c2", "the list")),
        (1_000, last("a3", "There is news.")),
    ]);
    w.acts(&[Act::Refuse]);
    let a = w.says("A", "news?");
    w.pass(60_000);
    assert_eq!(w.states(a, DeliveryKind::Direct), ["delivered"]);
    assert_eq!(w.saw("A"), ["the list"]);
}

#[test]
fn r28_what_was_streamed_stays_when_the_reply_is_suppressed() {
    let mut w = open();
    let mut script = script();
    let draft = SessionEvent::Progress { request: None, message: Some("d".into()), text: "There is".into() };
    script.insert(2, (500, draft));
    w.scripts(script);
    let a = w.says("A", "news?");
    w.pass(60_000);
    assert_eq!(w.saw("A"), ["the list", "There is"]);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["suppressed"]);
    assert_eq!(w.states(a, DeliveryKind::Progress), ["delivered"]);
}

#[test]
fn suppression_waits_for_every_part() {
    let mut w = open();
    w.net.borrow_mut().sink.most = 5;
    w.scripts(script());
    w.acts(&[Act::Take, Act::Later(Some(4_000))]);
    let a = w.says("A", "news?");
    w.pass(5_000);
    assert_eq!(w.states(a, DeliveryKind::Direct), ["delivered", "ready"]);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["held", "held", "held"]);
    assert!(!told(&w));
    w.pass(60_000);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["suppressed"; 3]);
    assert_eq!(w.saw("A").concat(), "the list");
}

/// Two displays, of which the first is refused and the second cannot go out yet, and then the answer.
#[test]
fn a_reply_that_goes_out_at_once_goes_out_instead_of_a_display_that_waits() {
    let mut w = open();
    w.scripts(vec![
        (1_000, calls("a1", "", "c1")),
        (0, display("c1", "the list")),
        (0, display("c2", "the map")),
        (1_000, last("a2", "There is news.")),
    ]);
    w.acts(&[Act::Refuse, Act::Later(Some(5_000))]);
    let a = w.says("A", "news?");
    w.pass(60_000);
    assert_eq!(w.states(a, DeliveryKind::Direct), ["failed", "cancelled"]);
    assert_eq!(w.saw("A"), ["There is news."]);
}

#[test]
fn a_display_that_could_not_be_sent_before_the_reply_went_out_is_not_sent_behind_it() {
    let mut w = open();
    w.scripts(script());
    w.acts(&[Act::Later(None)]);
    let a = w.says("A", "news?");
    w.pass(2_500);
    // Somebody is sending it while the reply's time runs out.
    let direct = w.delivery(a, DeliveryKind::Direct);
    w.time.pass(1_000);
    let until = sayso::model::UtcMs(w.relay.now().0 + 60_000);
    let (delivery, fence) = (direct.id, direct.fence);
    w.does(RelayCommand::ClaimDelivery { delivery, fence, until, key_ttl_ms: None }).unwrap();
    w.pass(30_000);
    let attempt = Attempt::Retry { why: "503".into(), not_before: until };
    let mark = w.ledger.fresh_entry();
    w.does(RelayCommand::Attempted { delivery, fence: fence + 1, attempt, mark }).unwrap();
    w.pass(600_000);
    assert_eq!(w.states(a, DeliveryKind::Direct), ["cancelled"]);
    let copies = w.net.borrow().sink.copies.clone();
    assert_eq!((copies.len(), copies[0].text.as_str(), copies[0].marked), (1, "There is news.", true));
}

#[test]
fn a_display_that_a_person_sends_behind_the_reply_says_so() {
    let mut w = open();
    w.scripts(script());
    w.acts(&[Act::Refuse]);
    let a = w.says("A", "news?");
    w.pass(60_000);
    let d = w.delivery(a, DeliveryKind::Direct);
    w.does(RelayCommand::Retry { delivery: d.id, fence: d.fence, ground: Ground::Person }).unwrap();
    w.pass(1_000);
    let marks: Vec<bool> = w.net.borrow().sink.copies.iter().map(|c| c.marked).collect();
    assert_eq!(marks, [false, true]);
}

#[test]
fn r16_a_receipt_without_its_history_is_not_written() {
    let mut w = open().with(Ability::Key { ttl_ms: 1_000_000 });
    w.scripts(vec![(1_000, last("a1", "done"))]);
    let a = w.says("A", "go");
    w.settle();
    w.time.pass(1_000);
    // It dies when the sink has taken it and the history is to be written.
    let mut sent = false;
    w.look(Some(Box::new(move |point| {
        sent |= point == Point::AfterSend;
        assert!(!(sent && point == Point::BeforeWrite), "no write");
    })));
    assert!(catch_unwind(AssertUnwindSafe(|| w.settle())).is_err());
    let is_sending = |w: &World| {
        let reply = w.delivery(a, DeliveryKind::Reply);
        assert_eq!((reply.state.as_str(), reply.receipt), ("sending", None));
        assert_eq!(w.marks(MarkKind::Shown), 0);
    };
    is_sending(&w);
    // The history cannot be written: nothing of the batch is.
    let reply = w.delivery(a, DeliveryKind::Reply);
    let (delivery, fence, mark) = (reply.id, reply.fence, w.entries()[0].id);
    let attempt = Attempt::Delivered { receipt: "m1".to_owned() };
    assert!(w.does(RelayCommand::Attempted { delivery, fence, attempt, mark }).is_err());
    is_sending(&w);
    w.crash(false);
    w.pass(118_999);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["sending"]);
    // When its time is over nobody knows; only then is anything done about it.
    w.time.pass(1_001);
    let d = w.delivery(a, DeliveryKind::Reply);
    w.does(RelayCommand::ExpireDelivery { delivery: d.id, fence: d.fence }).unwrap();
    let d = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((d.state.as_str(), d.uncertain, d.receipt, w.saw("A").len()), ("unknown", true, None, 1));
    w.pass(60_000);
    assert_eq!((w.states(a, DeliveryKind::Reply), w.saw("A").len()), (vec!["delivered"], 1));
    assert_eq!(w.marks(MarkKind::Shown), 1);
}
