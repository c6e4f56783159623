//! For whom the session speaks, also when it speaks late.

use sayso::model::relay::{AnswerState, Ground, InjectionState};
use sayso::model::{DeliveryKind, RequestId, SpeakerKind};
use sayso::store::RelayCommand;
use sayso::{Destination, ForwardRequest, NewTurn};
use sayso_relay::port::{SessionEvent, Stop};

use super::open;
use crate::net::{Script, naming};
use crate::world::{World, calls, display, ended, last};

const SETTLED: SessionEvent = SessionEvent::Settled { request: None };

/// A is answered late or never; B writes, and goes in when A's time is over.
fn two(names: bool, a: Script, b: Script) -> (World, RequestId, RequestId) {
    let mut w = open();
    w.net.borrow_mut().agent.names = names;
    w.scripts(a);
    w.scripts(b);
    let a = w.says("A", "first");
    w.settle();
    let b = w.says("B", "second");
    w.pass(95_000);
    assert_eq!(w.request(b).injection, InjectionState::Injected);
    assert_eq!(w.states(a, DeliveryKind::Fallback), ["delivered"]);
    (w, a, b)
}

fn person(w: &World, who: RequestId, kind: DeliveryKind) {
    let d = w.delivery(who, kind);
    w.does(RelayCommand::Retry { delivery: d.id, fence: d.fence, ground: Ground::Person }).unwrap();
}

#[test]
fn a_late_answer_that_is_named_goes_to_who_it_is_for() {
    for settled_first in [false, true] {
        let mut script = vec![(200_000, last("a1", "A's, late"))];
        if settled_first {
            script = vec![(1_000, SETTLED), (199_000, last("a1", "A's, late"))];
        }
        let (mut w, a, b) = two(true, script, vec![(150_000, last("b1", "B's"))]);
        w.pass(300_000);
        assert_eq!([w.request(a).answer, w.request(b).answer], [AnswerState::Final; 2]);
        assert_eq!(w.saw("A").last().unwrap(), "A's, late");
        assert_eq!(w.saw("B").last().unwrap(), "B's");
        let net = w.net.borrow();
        let late = net.sink.copies.iter().find(|c| c.text == "A's, late").unwrap();
        assert_eq!(late.reply_to.as_deref(), Some("msg 1"), "it quotes its own message");
    }
}

#[test]
fn a_late_answer_that_names_nobody_goes_to_nobody_by_itself() {
    for settled_first in [false, true] {
        let mut script = vec![(120_000, last("a1", "A's, late"))];
        if settled_first {
            script = vec![(1_000, SETTLED), (119_000, last("a1", "A's, late"))];
        }
        let (mut w, a, b) = two(false, script, vec![(60_000, last("b1", "B's"))]);
        w.pass(600_000);
        assert!(w.seen().iter().all(|(_, text)| !text.contains("late") && text != "B's"), "{:?}", w.seen());
        assert_eq!([w.request(a).answer, w.request(b).answer], [AnswerState::FallbackIssued; 2]);
        assert_eq!(w.states(b, DeliveryKind::Fallback), ["delivered"], "B is told all the same");
        assert_eq!(w.states(b, DeliveryKind::Reply), ["parked", "parked"], "a person sees both");
        let parked = w.delivery(b, DeliveryKind::Reply);
        assert_eq!((parked.text.as_str(), parked.attempts, parked.uncertain), ("A's, late", 0, false));
        let why = parked.why.unwrap();
        assert!(why.contains("msg 1") && why.contains("msg 2") && why.contains("deliveries"), "{why}");
        let turns = w.entries().into_iter().filter_map(|e| e.turn().cloned());
        let late: Vec<_> = turns.filter(|t| t.text() == "A's, late").collect();
        assert_eq!((late.len(), late[0].reply_to), (1, None), "it stands in the session, as nobody's answer");
    }
}

#[test]
fn a_person_says_whose_it_is() {
    let script = vec![(120_000, last("a1", "A's, late"))];
    let (mut w, _, b) = two(false, script, vec![(60_000, last("b1", "B's, in four parts"))]);
    w.net.borrow_mut().sink.most = 5;
    w.pass(100_000);
    let replies = || w.deliveries().into_iter().filter(|d| d.request == b && d.kind == DeliveryKind::Reply);
    let of = |text: &str| replies().find(|d| d.text.starts_with(text)).unwrap();
    let (wrong, right) = (of("A's,"), of("B's,"));
    let why = "it is A's".to_owned();
    w.does(RelayCommand::Cancel { delivery: wrong.id, fence: wrong.fence, why }).unwrap();
    w.does(RelayCommand::Retry { delivery: right.id, fence: right.fence, ground: Ground::Person }).unwrap();
    assert_eq!(w.request(b).answered_by, Some(right.turn));
    w.pass(10_000);
    let copies = w.net.borrow().sink.copies.clone();
    let text: String =
        copies.iter().filter(|c| c.key != wrong.id.to_string()).map(|c| c.text.clone()).collect();
    assert!(text.ends_with("B's, in four parts"), "{text}");
    assert!(copies.iter().all(|c| !c.marked && !c.text.contains("A's")), "nothing of it is a repeat");
    assert_eq!(w.request(b).answer, AnswerState::Final);
}

#[test]
fn what_comes_after_the_answer_may_be_for_the_one_before() {
    let (mut w, a, b) = two(true, vec![(1_000, SETTLED)], vec![(5_000, last("b1", "B's"))]);
    w.pass(10_000);
    assert_eq!(w.request(b).answer, AnswerState::Final);
    w.net.borrow_mut().agent.events.push_back((0, last("a1", "A's, late")));
    w.pass(10_000);
    assert_eq!(w.states(a, DeliveryKind::Reply), ["parked"]);
    person(&w, a, DeliveryKind::Reply);
    w.pass(10_000);
    assert_eq!((w.saw("A").last().unwrap().as_str(), w.saw("B").len()), ("A's, late", 2));
    assert_eq!(w.request(a).answer, AnswerState::Final);
}

#[test]
fn of_a_session_that_ended_nothing_is_owed() {
    let mut w = open();
    w.scripts(Script::new());
    w.scripts(vec![(1_000, last("b1", "B's"))]);
    let a = w.says("A", "first");
    w.pass(95_000);
    assert_eq!(w.request(a).answer, AnswerState::FallbackIssued);
    w.net.borrow_mut().agent.events.push_back((0, SessionEvent::Gone));
    w.pass(1_000);
    assert!(w.request(a).gone);
    let b = w.says("B", "second");
    w.pass(5_000);
    assert_eq!((w.request(b).answer, w.saw("B")), (AnswerState::Final, vec!["B's".to_owned()]));
    // What names it is its answer all the same.
    let named = naming(last("a1", "A's, late"), a);
    w.net.borrow_mut().agent.events.push_back((0, named));
    w.pass(1_000);
    assert_eq!(w.saw("A").last().unwrap(), "A's, late");
}

#[test]
fn what_a_tool_has_for_the_person_and_progress_reach_nobody_else_either() {
    let late = || {
        vec![
            (
                100_000,
                SessionEvent::Progress { request: None, message: Some("p1".into()), text: "A's work".into() },
            ),
            (1_000, calls("a1", "", "c1")),
            (1_000, display("c1", "A's list")),
        ]
    };
    let others = |w: &World| w.saw("B").iter().filter(|text| text.starts_with("A's")).count();
    let (mut w, a, _) = two(true, late(), Script::new());
    w.pass(20_000);
    assert_eq!(w.saw("A")[1..], ["A's work", "A's list"]);
    assert_eq!((others(&w), w.states(a, DeliveryKind::Direct)), (0, vec!["delivered"]));

    let (mut w, _, b) = two(false, late(), Script::new());
    w.pass(20_000);
    assert_eq!((w.saw("A").len(), others(&w)), (1, 0));
    assert_eq!(w.states(b, DeliveryKind::Direct), ["parked"]);
    assert!(w.states(b, DeliveryKind::Progress).is_empty());
    let said = w.entries().into_iter().filter_map(|e| e.turn().map(sayso::model::Turn::text));
    assert!(said.into_iter().any(|text| text == "A's work"), "it stands in the session");
}

#[test]
fn that_something_broke_off_or_settled_ends_no_turn_where_nobody_knows_which() {
    let failed = SessionEvent::Failed { request: None, why: "529".into() };
    for end in [failed, SETTLED, ended("a9", &[], Stop::Aborted)] {
        let (mut w, _, b) = two(false, Script::new(), Script::new());
        w.net.borrow_mut().agent.events.push_back((0, end.clone()));
        w.pass(10_000);
        assert_eq!(w.request(b).turn_state.as_str(), "open", "{end:?}");
        w.net.borrow_mut().agent.events.push_back((0, naming(end, b)));
        w.pass(1_000);
        assert_ne!(w.request(b).turn_state.as_str(), "open", "named");
    }
}

#[test]
fn a_name_that_the_ledger_does_not_know_is_nobody_who_wrote() {
    let mut w = open();
    w.scripts(vec![(1_000, naming(last("x", "for somebody"), RequestId::from_u128(9)))]);
    let a = w.says("A", "?");
    w.pass(10_000);
    assert!(w.seen().is_empty());
    assert_eq!(w.request(a).answer, AnswerState::None);
}

#[test]
fn what_is_said_for_a_request_shows_that_it_was_started() {
    let mut w = open();
    w.net.borrow_mut().agent.silent = true;
    let a = w.says("A", "?");
    w.settle();
    assert_eq!(w.request(a).injection, InjectionState::Injecting);
    w.net.borrow_mut().agent.events.push_back((0, naming(last("a1", "yes"), a)));
    w.pass(1_000);
    assert_eq!((w.request(a).injection, w.saw("A")), (InjectionState::Injected, vec!["yes".to_owned()]));
}

#[test]
fn the_answer_to_a_forward_goes_to_nobody_else() {
    let mut w = open();
    let elsewhere = w.ledger.session("harbour", "notes").unwrap();
    let source = w.ledger.append(&elsewhere, NewTurn::text(SpeakerKind::Agent, "Clay", "nine")).unwrap();
    let forward =
        ForwardRequest::of(source, Destination::Session(w.session.id)).by(SpeakerKind::Owner, "Mira");
    w.reader().forward(forward).unwrap();
    w.scripts(vec![(120_000, last("f1", "about the forward"))]);
    w.settle();
    let b = w.says("B", "hello");
    w.pass(200_000);
    assert_eq!(w.request(b).injection, InjectionState::Injected);
    assert!(w.saw("B").iter().all(|text| text != "about the forward"), "{:?}", w.seen());
    assert_eq!(w.states(b, DeliveryKind::Reply), ["parked"]);
}
