//! What may have arrived stays in doubt until somebody knows.

use sayso::model::relay::Ground;
use sayso::model::{DeliveryKind, RelayRefusal, UtcMs};
use sayso::store::RelayCommand;
use sayso::{Error, Refusal};
use sayso_relay::port::{Ability, Blind, SessionEvent};

use super::open;
use crate::net::{Act, Script};
use crate::world::{World, calls, display, last};

const LONG: Ability = Ability::Key { ttl_ms: 3_600_000 };
const SHORT: Ability = Ability::Key { ttl_ms: 10_000 };
const MARKED: Ability = Ability::Opaque(Blind::ResendMarked);

fn plain() -> Script {
    vec![(1_000, last("a1", "done"))]
}

fn direct() -> Script {
    vec![
        (1_000, calls("a1", "", "c1")),
        (1_000, display("c1", "the list")),
        (1_000, last("a2", "There is news.")),
        (0, SessionEvent::Settled { request: None }),
    ]
}

fn run(ability: Ability, script: Script, acts: &[Act]) -> (World, sayso::model::RequestId) {
    let mut w = open().with(ability);
    w.scripts(script);
    w.acts(acts);
    let a = w.says("A", "go");
    w.pass(600_000);
    (w, a)
}

/// What people saw, and whether it said that it may be a repeat.
fn copies(w: &World) -> Vec<(String, bool)> {
    w.net.borrow().sink.copies.iter().map(|c| (c.text.clone(), c.marked)).collect()
}

fn one(text: &str, marked: bool) -> (String, bool) {
    (text.to_owned(), marked)
}

#[test]
fn what_may_have_arrived_is_not_sent_once_the_sink_forgot_its_key() {
    let (w, a) = run(SHORT, plain(), &[Act::Lose, Act::Later(Some(20_000))]);
    let reply = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((reply.state.as_str(), reply.uncertain, reply.attempts), ("parked", true, 2));
    assert_eq!(reply.why.as_deref(), Some("503; the sink does not know its key any more"));
    assert_eq!(copies(&w), [one("done", false)]);
    // While the sink knows the key it is sent again.
    let (w, a) = run(LONG, plain(), &[Act::Lose, Act::Later(Some(20_000))]);
    assert_eq!((w.states(a, DeliveryKind::Reply), copies(&w)), (vec!["delivered"], vec![one("done", false)]));
    assert!(!w.delivery(a, DeliveryKind::Reply).uncertain, "there is a receipt");
}

#[test]
fn what_surely_did_not_arrive_needs_no_key() {
    let (w, a) = run(SHORT, plain(), &[Act::Later(Some(20_000))]);
    assert_eq!((w.states(a, DeliveryKind::Reply), copies(&w)), (vec!["delivered"], vec![one("done", false)]));
    let (w, a) = run(Ability::Probe, plain(), &[Act::Drop, Act::Later(Some(20_000))]);
    assert_eq!((w.states(a, DeliveryKind::Reply), copies(&w)), (vec!["delivered"], vec![one("done", false)]));
}

#[test]
fn another_sort_of_sink_goes_on_by_its_own_policy() {
    for (later, state, seen) in [
        (MARKED, "delivered", vec![one("done", false), one("done", true)]),
        (Ability::Probe, "delivered", vec![one("done", false)]),
        (Ability::Opaque(Blind::Park), "parked", vec![one("done", false)]),
    ] {
        let mut w = open().with(LONG);
        w.scripts(plain());
        w.acts(&[Act::Lose, Act::Later(Some(20_000))]);
        let a = w.says("A", "go");
        w.pass(5_000);
        assert_eq!(w.states(a, DeliveryKind::Reply), ["ready"]);
        w.net.borrow_mut().sink.ability = later;
        w.pass(600_000);
        assert_eq!((w.states(a, DeliveryKind::Reply), copies(&w)), (vec![state], seen), "{later:?}");
    }
}

#[test]
fn a_store_does_not_let_it_be_sent_blindly() {
    let mut w = open().with(LONG);
    w.scripts(plain());
    w.acts(&[Act::Lose, Act::Later(Some(5_000))]);
    let a = w.says("A", "go");
    w.pass(4_000);
    let d = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((d.state.as_str(), d.uncertain), ("ready", true));
    w.time.pass(10_000);
    let until = UtcMs(w.relay.now().0 + 60_000);
    let claim =
        |key_ttl_ms| RelayCommand::ClaimDelivery { delivery: d.id, fence: d.fence, until, key_ttl_ms };
    let refused = |what| match w.does(what).unwrap_err() {
        Error::Store(error) => match error.refusal() {
            Some(Refusal::Relay(refusal)) => refusal.clone(),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(claim(None)), RelayRefusal::MayHaveArrived(d.id));
    let until = UtcMs(d.first_sent_at.unwrap().0 + 1_000);
    assert_eq!(refused(claim(Some(1_000))), RelayRefusal::KeyForgotten(until));
    w.does(claim(Some(3_600_000))).unwrap();
}

#[test]
fn a_person_is_asked_where_an_attempt_failed_after_one_that_may_have_arrived() {
    let (w, a) = run(LONG, plain(), &[Act::Lose, Act::Refuse]);
    let reply = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((reply.state.as_str(), reply.uncertain), ("parked", true), "not failed: it is there");
    assert_eq!(reply.why.as_deref(), Some("blocked; an earlier attempt may have arrived"));
    let cancel =
        RelayCommand::Cancel { delivery: reply.id, fence: reply.fence, why: "not needed".to_owned() };
    w.does(cancel).unwrap();
    let reply = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((reply.state.as_str(), reply.uncertain), ("cancelled", true));
    assert_eq!(reply.why.as_deref(), Some("not needed; an earlier attempt may have arrived"));
    // A sink that was asked and has it not is believed.
    let (w, a) = run(Ability::Probe, plain(), &[Act::Drop, Act::Refuse]);
    let reply = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((reply.state.as_str(), reply.uncertain, copies(&w).len()), ("failed", false, 0));
}

#[test]
fn the_first_cause_stays_when_it_is_parked() {
    let (w, a) = run(Ability::Opaque(Blind::Park), plain(), &[Act::Drop]);
    let why = w.delivery(a, DeliveryKind::Reply).why.unwrap();
    assert_eq!(why, "no answer in time; the sink cannot tell whether it arrived");
}

#[test]
fn a_reply_is_marked_where_the_display_may_have_arrived() {
    // It is to be sent again with its key, and the reply goes out before.
    let (w, a) = run(LONG, direct(), &[Act::Lose, Act::Later(Some(60_000))]);
    assert_eq!(copies(&w), [one("the list", false), one("There is news.", true)]);
    let display = w.delivery(a, DeliveryKind::Direct);
    assert_eq!((display.state.as_str(), display.uncertain), ("cancelled", true));
    assert_eq!(
        display.why.as_deref(),
        Some("the reply went out instead; an earlier attempt may have arrived")
    );
    // It is refused after an attempt that may have arrived.
    let (w, a) = run(LONG, direct(), &[Act::Lose, Act::Refuse]);
    assert_eq!(copies(&w), [one("the list", false), one("There is news.", true)]);
    assert_eq!(w.states(a, DeliveryKind::Direct), ["parked"]);
}

#[test]
fn a_display_that_may_have_arrived_by_what_the_sink_can_do() {
    let list = |marked| one("the list", marked);
    for (ability, act, seen, states) in [
        (LONG, Act::Lose, vec![list(false)], ("delivered", "suppressed")),
        (LONG, Act::Drop, vec![list(false)], ("delivered", "suppressed")),
        (Ability::Probe, Act::Lose, vec![list(false)], ("delivered", "suppressed")),
        (Ability::Probe, Act::Drop, vec![list(false)], ("delivered", "suppressed")),
        (MARKED, Act::Lose, vec![list(false), list(true)], ("delivered", "suppressed")),
        (MARKED, Act::Drop, vec![list(true)], ("delivered", "suppressed")),
    ] {
        let mut script = direct();
        // It is cleared up before the answer comes.
        script[2].0 = 10_000;
        let (w, a) = run(ability, script, &[act]);
        assert_eq!(copies(&w), seen, "{ability:?} {act:?}");
        let of = |kind| w.delivery(a, kind).state.as_str();
        assert_eq!((of(DeliveryKind::Direct), of(DeliveryKind::Reply)), states, "{ability:?} {act:?}");
    }
}

#[test]
fn a_sink_is_repeated_to_only_so_often_whoever_asks() {
    let (w, a) = run(MARKED, plain(), &[Act::Lose; 50]);
    let d = w.delivery(a, DeliveryKind::Reply);
    assert_eq!((d.state.as_str(), d.attempts), ("parked", 3));
    let again = |ground| RelayCommand::Retry { delivery: d.id, fence: d.fence, ground };
    let refused = w.does(again(Ground::Marked)).unwrap_err();
    assert_eq!(refused.refusal(), Some(&Refusal::Relay(RelayRefusal::RepeatedEnough(d.id))));
    w.does(again(Ground::Person)).unwrap();
}
