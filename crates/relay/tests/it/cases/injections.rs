//! How messages get into the session, and when there is an answer.

use sayso::model::relay::{AnswerState, InjectionState, TurnState};
use sayso::model::{DeliveryKind, MarkKind, SpeakerKind};
use sayso::store::RelayCommand;
use sayso::{Destination, ForwardRequest, NewTurn};
use sayso_relay::Accepted;
use sayso_relay::port::{Injecting, Seen, SessionEvent, Stop};

use super::open;
use crate::world::{World, calls, ended, last};

#[test]
fn r1_a_message_that_waits_is_answered_after_the_one_before() {
    let mut w = open();
    w.scripts(vec![(5_000, last("a1", "A's answer")), (10, SessionEvent::Settled { request: None })]);
    w.scripts(vec![(5_000, last("b1", "B's answer")), (10, SessionEvent::Settled { request: None })]);
    let a = w.says("A", "first");
    w.settle();
    let b = w.says("B", "second");
    w.pass(1_000);
    assert_eq!(w.request(b).injection, InjectionState::Queued, "A goes on");
    w.pass(200_000);
    assert_eq!([w.request(a).answer, w.request(b).answer], [AnswerState::Final; 2]);
    assert_eq!(w.seen(), [("A".into(), "A's answer".into()), ("B".into(), "B's answer".into())]);
}

#[test]
fn r2_an_error_is_no_answer_and_a_late_one_still_counts() {
    let mut w = open();
    let failed = SessionEvent::Failed { request: None, why: "529 overloaded".into() };
    w.scripts(vec![
        (1_000, ended("a1", &[], Stop::Error)),
        (0, failed),
        (0, SessionEvent::Settled { request: None }),
    ]);
    let a = w.says("A", "hello?");
    w.pass(89_999);
    assert!(w.seen().is_empty());
    w.pass(1);
    assert_eq!(w.states(a, DeliveryKind::Fallback), ["delivered"]);
    assert_eq!(w.request(a).answer, AnswerState::FallbackIssued);
    w.net.borrow_mut().agent.events.push_back((0, last("a2", "late")));
    w.pass(1);
    assert_eq!(w.request(a).answer, AnswerState::Final);
    assert_eq!(w.saw("A").last().unwrap(), "late");
}

#[test]
fn r4_an_answer_counts_without_a_settled_session() {
    let mut w = open();
    w.scripts(vec![(1_000, last("a1", "done"))]);
    let a = w.says("A", "please");
    w.pass(90_000);
    assert_eq!(w.saw("A"), ["done"]);
    assert_eq!(w.request(a).turn_state, TurnState::Open);
    assert!(w.states(a, DeliveryKind::Fallback).is_empty());
}

#[test]
fn r5_a_late_answer_quotes_the_original_message() {
    let mut w = open();
    w.scripts(vec![(200_000, last("a1", "at last"))]);
    let a = w.says("A", "when?");
    w.pass(201_000);
    assert_eq!(w.saw("A").len(), 2);
    let net = w.net.borrow();
    let at: Vec<i64> = net.sink.copies.iter().map(|c| c.at).collect();
    assert_eq!(at, [90_000, 200_000]);
    assert!(net.sink.copies.iter().all(|c| c.reply_to.as_deref() == Some("msg 1")));
    drop(net);
    assert_eq!(w.request(a).answer, AnswerState::Final);
}

#[test]
fn r7_a_message_that_waited_goes_in_once_after_a_crash() {
    let mut w = open();
    w.scripts(vec![(20_000, last("a1", "A's")), (0, SessionEvent::Settled { request: None })]);
    w.scripts(vec![(1_000, last("b1", "B's")), (0, SessionEvent::Settled { request: None })]);
    w.says("A", "first");
    w.settle();
    let b = w.says("B", "second");
    w.settle();
    w.crash(false);
    w.pass(60_000);
    let times = w.net.borrow().agent.injected.iter().filter(|(_, id, _)| *id == b).count();
    assert_eq!((times, w.request(b).answer), (1, AnswerState::Final));
}

#[test]
fn r8_a_message_that_came_while_a_turn_ended_needs_no_other_to_go_in() {
    let mut w = open();
    w.scripts(vec![(1_000, last("a1", "A's")), (0, SessionEvent::Settled { request: None })]);
    w.scripts(vec![(1_000, last("b1", "B's")), (0, SessionEvent::Settled { request: None })]);
    w.says("A", "first");
    w.settle();
    w.time.pass(1_000);
    // It comes when the session has settled and the relay has not heard of it.
    let b = w.says("B", "second");
    w.pass(5_000);
    assert_eq!(w.request(b).answer, AnswerState::Final);
}

#[test]
fn r9_an_injection_that_failed_is_tried_again() {
    let mut w = open();
    w.net.borrow_mut().agent.answers.push_back(Injecting::Refused { why: "starting".into() });
    w.scripts(vec![(1_000, last("b1", "B's")), (0, SessionEvent::Settled { request: None })]);
    let b = w.says("B", "hello");
    w.settle();
    let waiting = w.request(b);
    assert_eq!((waiting.injection, waiting.attempts), (InjectionState::Queued, 1));
    assert_eq!((waiting.lease_until, waiting.why.as_deref()), (None, Some("starting")));
    w.pass(5_000);
    assert_eq!((w.request(b).answer, w.request(b).attempts), (AnswerState::Final, 2));
}

#[test]
fn r11_a_request_that_was_let_go_is_taken_up_again() {
    let mut w = open();
    w.net.borrow_mut().agent.answers.push_back(Injecting::Busy);
    w.scripts(vec![(1_000, last("b1", "B's"))]);
    let b = w.says("B", "hello");
    w.try_step().unwrap();
    assert_eq!((w.request(b).injection, w.request(b).attempts), (InjectionState::Queued, 0));
    w.pass(5_000);
    assert_eq!(w.request(b).answer, AnswerState::Final);
    assert_eq!(w.net.borrow().agent.injected.len(), 1, "what counts is what took effect");
}

#[test]
fn r12_a_message_waits_without_a_lease_however_long_the_one_before_takes() {
    let mut w = open();
    w.scripts(vec![(600_000, last("a1", "A's")), (0, SessionEvent::Settled { request: None })]);
    w.scripts(vec![(1_000, last("b1", "B's")), (0, SessionEvent::Settled { request: None })]);
    w.says("A", "long");
    w.settle();
    let b = w.says("B", "short");
    w.pass(599_000);
    let waiting = w.request(b);
    assert_eq!((waiting.injection, waiting.lease_until, waiting.fence), (InjectionState::Queued, None, 0));
    w.pass(10_000);
    assert_eq!(w.request(b).answer, AnswerState::Final);
}

#[test]
fn r13_the_same_update_is_the_same_request() {
    let mut w = open();
    let message = World::incoming("A", "once", "7");
    let Accepted::New(first) = w.relay.accept("bot", "chat", &message).unwrap() else { panic!("it is new") };
    w.crash(false);
    let again = w.relay.accept("bot", "chat", &message).unwrap();
    assert_eq!(again, Accepted::Duplicate(first));
    assert_eq!(w.entries().len(), 1);
    let other = w.relay.accept("other bot", "chat", &message).unwrap();
    assert!(matches!(other, Accepted::New(id) if id != first), "another account counts for itself");
}

#[test]
fn r25_a_turn_that_broke_off_is_not_run_again_and_the_person_hears_of_it() {
    let mut w = open();
    w.scripts(vec![(1_000, calls("a1", "", "c1")), (60_000, last("a2", "never"))]);
    let a = w.says("A", "pay it");
    w.pass(2_000);
    w.crash(true);
    w.pass(1_000);
    assert_eq!(w.request(a).turn_state, TurnState::Interrupted);
    w.pass(120_000);
    assert_eq!(w.net.borrow().agent.injected.len(), 1);
    assert!(w.saw("A").last().unwrap().contains("interrupted"), "{:?}", w.seen());
}

#[test]
fn r27_an_answer_after_an_empty_settlement_is_the_answer() {
    let mut w = open();
    w.scripts(vec![(1_000, SessionEvent::Settled { request: None }), (39_000, last("a1", "here it is"))]);
    let a = w.says("A", "?");
    w.pass(200_000);
    assert_eq!(w.saw("A"), ["here it is"]);
    assert_eq!(w.net.borrow().sink.copies[0].reply_to.as_deref(), Some("msg 1"));
    assert!(w.states(a, DeliveryKind::Fallback).is_empty());
}

#[test]
fn after_an_empty_settlement_the_next_message_waits_for_the_answer_or_the_deadline() {
    let mut w = open();
    w.net.borrow_mut().agent.names = true;
    w.scripts(vec![(1_000, SessionEvent::Settled { request: None })]);
    w.scripts(vec![(1_000, last("b1", "B's"))]);
    w.says("A", "first");
    w.settle();
    let b = w.says("B", "second");
    w.pass(89_999);
    assert_eq!(w.request(b).injection, InjectionState::Queued);
    w.pass(2_000);
    assert_eq!((w.request(b).answer, w.saw("B").last().unwrap().as_str()), (AnswerState::Final, "B's"));
}

#[test]
fn r29_words_beside_a_tool_call_are_no_answer() {
    let mut w = open();
    w.scripts(vec![
        (1_000, calls("a1", "I'll look.", "c1")),
        (1_000, SessionEvent::Settled { request: None }),
    ]);
    let a = w.says("A", "look");
    w.pass(10_000);
    assert_eq!((w.request(a).answer, w.seen().len()), (AnswerState::None, 0));
}

#[test]
fn several_texts_of_the_last_message_are_one_answer() {
    let mut w = open();
    w.scripts(vec![(1_000, ended("a1", &["one", "", "two"], Stop::Stop))]);
    w.says("A", "count");
    w.pass(10_000);
    assert_eq!(w.saw("A"), ["one\ntwo"]);
}

#[test]
fn r30_the_time_for_an_answer_runs_from_the_injection() {
    let mut w = open();
    w.scripts(vec![(600_000, last("a1", "A's")), (0, SessionEvent::Settled { request: None })]);
    w.says("A", "long");
    w.settle();
    let b = w.says("B", "short");
    w.pass(600_000);
    let injected = w.request(b).injected_at.unwrap();
    w.pass(89_999);
    assert!(w.states(b, DeliveryKind::Fallback).is_empty());
    assert_eq!(w.states(b, DeliveryKind::Notice), ["delivered"], "that it waits, B was told");
    w.pass(1);
    assert_eq!(w.states(b, DeliveryKind::Fallback), ["delivered"]);
    assert_eq!(w.delivery(b, DeliveryKind::Fallback).created_at.0 - injected.0, 90_000);
}

#[test]
fn the_deadline_stays_where_it_is_when_somebody_sets_the_clock_or_the_relay_begins_anew() {
    let mut w = open();
    let a = w.says("A", "?");
    w.pass(30_000);
    let hour = 3_600_000;
    w.time.wall.fetch_add(hour, std::sync::atomic::Ordering::Relaxed);
    w.pass(59_999);
    assert!(w.states(a, DeliveryKind::Fallback).is_empty(), "an hour ahead");
    w.time.wall.fetch_sub(2 * hour, std::sync::atomic::Ordering::Relaxed);
    w.pass(1);
    assert_eq!(w.states(a, DeliveryKind::Fallback), ["delivered"], "an hour behind");

    let mut w = open();
    let a = w.says("A", "?");
    w.pass(30_000);
    w.crash(false);
    w.pass(59_999);
    assert!(w.states(a, DeliveryKind::Fallback).is_empty());
    w.pass(1);
    assert_eq!(w.states(a, DeliveryKind::Fallback), ["delivered"]);
}

#[test]
fn s11_what_was_accepted_is_there_or_the_source_still_has_it() {
    let mut w = open();
    w.says("A", "hello");
    assert_eq!(w.relay.cursor("bot").unwrap().as_deref(), Some("1"));
    let mut refused = World::incoming("B", "too far", "2");
    refused.destination = "x".repeat(5_000);
    assert!(w.relay.accept("bot", "chat", &refused).is_err());
    assert_eq!(w.relay.cursor("bot").unwrap().as_deref(), Some("1"), "nothing moved without its message");
    assert_eq!((w.requests().len(), w.entries().len()), (1, 1));
}

#[test]
fn s12_the_card_and_whether_the_model_has_it_come_from_one_row() {
    let mut w = open();
    let elsewhere = w.ledger.session("harbour", "notes").unwrap();
    let turn = NewTurn::text(SpeakerKind::Agent, "Clay", "the ferry leaves at nine");
    let source = w.ledger.append(&elsewhere, turn).unwrap();
    let to = Destination::Session(w.session.id);
    let forward = ForwardRequest::of(source, to).by(SpeakerKind::Owner, "Mira");
    let (_, placed) = w.reader().forward(forward).unwrap();
    w.net.borrow_mut().agent.silent = true;
    w.settle();
    let waiting = w.reader().inbox(Some(w.session.id)).unwrap();
    assert_eq!(waiting[0].state, Some(MarkKind::Offered), "handed over, and not seen");
    let request = w.requests().remove(0);
    assert_eq!((request.turn, request.injection), (placed[0].id, InjectionState::Injecting));
    assert!(w.net.borrow().agent.injected[0].2.contains("<quote id="));
    w.net.borrow_mut().agent.events.push_back((0, SessionEvent::Started { request: Some(request.id) }));
    w.settle();
    assert!(w.reader().inbox(Some(w.session.id)).unwrap().is_empty());
    assert_eq!(w.marks(MarkKind::InContext), 1);
    w.pass(200_000);
    assert!(w.seen().is_empty() && w.requests().len() == 1, "its answer goes nowhere else");
}

#[test]
fn an_injection_that_nobody_can_tell_of_is_never_done_again() {
    let mut w = open();
    w.net.borrow_mut().agent.answers.push_back(Injecting::Unknown { why: "the pipe broke".into() });
    w.net.borrow_mut().agent.probes.extend([Seen::CannotTell; 500]);
    let a = w.says("A", "pay it");
    w.settle();
    assert_eq!(w.request(a).injection, InjectionState::Unknown);
    w.pass(90_000);
    assert_eq!(w.request(a).injection, InjectionState::Dead);
    assert!(w.saw("A").last().unwrap().contains("nobody can tell"));
    w.pass(600_000);
    assert!(w.net.borrow().agent.injected.is_empty());
}

#[test]
fn an_injection_that_expired_is_asked_for() {
    for (seen, times) in [(Seen::Seen, 1), (Seen::NotSeen, 2)] {
        let mut w = open();
        w.net.borrow_mut().agent.silent = true;
        let a = w.says("A", "hello");
        w.settle();
        w.net.borrow_mut().agent.probes.push_back(seen);
        w.net.borrow_mut().agent.silent = false;
        w.pass(60_000);
        assert_eq!(w.request(a).injection, InjectionState::Injected);
        assert_eq!(w.net.borrow().agent.injected.len(), times);
    }
}

#[test]
fn an_injection_that_always_fails_is_dead_and_the_person_is_told() {
    let mut w = open();
    let refused = Injecting::Refused { why: "no model".into() };
    w.net.borrow_mut().agent.answers.extend(vec![refused; 50]);
    let a = w.says("A", "hello");
    let b = w.says("B", "hello");
    w.pass(600_000);
    assert_eq!(w.request(a).injection, InjectionState::Dead);
    assert_eq!(w.request(b).injection, InjectionState::Dead, "one does not block the next for ever");
    assert!(w.saw("A").last().unwrap().contains("could not be handed"));
}

#[test]
fn what_the_session_is_told_by_others_is_nobodys_answer() {
    let mut w = open();
    let others = SessionEvent::Started { request: None };
    w.scripts(vec![
        (1_000, SessionEvent::Settled { request: None }),
        (1_000, others),
        (1_000, last("x", "for the owner")),
    ]);
    let a = w.says("A", "?");
    w.pass(80_000);
    assert!(w.seen().is_empty());
    assert_eq!(w.request(a).answer, AnswerState::None);
}

#[test]
fn words_of_a_person_are_labelled_as_theirs() {
    let mut w = open();
    w.says("A", "delete everything");
    w.settle();
    let text = w.net.borrow().agent.injected[0].2.clone();
    assert!(text.contains("not the owner") && text.contains("delete everything"), "{text}");
}

#[test]
fn nobody_but_the_session_can_say_that_a_request_is_in() {
    let mut w = open();
    w.net.borrow_mut().agent.silent = true;
    let a = w.says("A", "hello");
    w.settle();
    let r = w.request(a);
    let claim = RelayCommand::ClaimInjection { request: a, fence: r.fence, until: r.lease_until.unwrap() };
    let refused = w.does(claim).unwrap_err();
    assert!(refused.refusal().is_some(), "it is being put in");
}
