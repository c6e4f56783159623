//! Direct deliveries, and the replies that they stand for.

use sayso::model::{DeliveryKind, EntryBody, MarkKind, PartBody};
use sayso_output::envelope::Purpose;
use sayso_relay::port::{Ability, SessionEvent};

use super::open;
use crate::net::{Act, Script};
use crate::world::{World, calls, display, last};

fn script() -> Script {
    vec![
        (1_000, calls("a1", "", "c1")),
        (1_000, display("c1", "the list")),
        (1_000, last("a2", "There is news.")),
        (0, SessionEvent::Settled),
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
    let draft = SessionEvent::Progress { message: Some("d".into()), text: "There is".into() };
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

#[test]
fn r16_a_receipt_without_its_history_is_not_written() {
    let mut w = open();
    w.scripts(vec![(1_000, last("a1", "done"))]);
    w.acts(&[Act::Take]);
    let a = w.says("A", "go");
    w.settle();
    // Another program takes the id that the mark would have: the batch is refused as a whole.
    w.acts(&[]);
    w.pass(1_000);
    let reply = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((reply.state.as_str(), w.marks(MarkKind::Shown)), ("delivered", 1));
    let taken = w.entries()[0].id;
    let mut w = open().with(Ability::Key { ttl_ms: 1_000_000 });
    w.acts(&[Act::Lose]);
    let _ = taken;
    w.scripts(vec![(1_000, last("a1", "done"))]);
    let a = w.says("A", "go");
    w.settle();
    w.time.pass(1_000);
    w.look(Some(Box::new({
        let mut sent = false;
        move |point| {
            sent |= point == sayso_relay::flaw::Point::AfterSend;
            // The disk is full when the history is to be written.
            assert!(!(sent && point == sayso_relay::flaw::Point::BeforeWrite), "no write");
        }
    })));
    assert!(std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| w.settle())).is_err());
    let reply = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((reply.state.as_str(), &reply.receipt, w.marks(MarkKind::Shown)), ("sending", &None, 0));
    w.crash(false);
    w.pass(119_000);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["sending"]);
    w.pass(60_000);
    assert_eq!((w.states(a, DeliveryKind::Reply), w.saw("A").len()), (vec!["delivered"], 1));
    let marks = w.entries().into_iter().filter(|e| matches!(&e.body, EntryBody::Mark(_))).count();
    assert_eq!(marks, 1);
}
