//! Random orders of what can happen: messages, what the agent says, what sinks do, time, and deaths. What must hold holds always.

use proptest::prelude::*;
use proptest::test_runner::{TestCaseError, TestRunner};
use sayso_relay::flaw::Flaw;
use sayso_relay::port::{Ability, Blind, Injecting, Seen, SessionEvent, Stop};

use crate::check::problem;
use crate::net::{Act, Script, TAKEN};
use crate::world::{World, calls, display, ended, last};

/// What the agent does with one message.
#[derive(Debug, Clone)]
struct Turn {
    waits: Vec<i64>,
    tool: bool,
    progress: bool,
    beside: bool,
    answers: bool,
    settles: bool,
    fails: bool,
}

/// One thing that happens.
#[derive(Debug, Clone)]
enum Event {
    Says(bool),
    Passes(i64),
    Dies(bool),
    Sink(Vec<Act>),
    Agent(Injecting),
    /// Neither the sink nor the session can tell so often, when they are asked.
    CannotTell(usize),
}

#[derive(Debug, Clone)]
struct Story {
    ability: Ability,
    /// Whether the session names the requests.
    names: bool,
    turns: Vec<Turn>,
    events: Vec<Event>,
}

fn turn() -> impl Strategy<Value = Turn> {
    let wait = prop_oneof![Just(0), 1..5_000i64, Just(95_000)];
    (prop::collection::vec(wait, 6), any::<[bool; 6]>()).prop_map(|(waits, b)| Turn {
        waits,
        tool: b[0],
        progress: b[1],
        beside: b[2],
        answers: b[3] || b[4],
        settles: b[5] || b[1],
        fails: b[0] && b[5] && !b[3],
    })
}

fn act() -> impl Strategy<Value = Act> {
    prop_oneof![
        4 => Just(Act::Take),
        1 => Just(Act::Lose),
        1 => Just(Act::Drop),
        1 => Just(Act::Refuse),
        1 => Just(Act::Later(None)),
        1 => Just(Act::Later(Some(20_000))),
    ]
}

fn event() -> impl Strategy<Value = Event> {
    let agent = prop_oneof![
        Just(Injecting::Busy),
        Just(Injecting::Refused { why: "no".into() }),
        Just(Injecting::Unknown { why: "the pipe broke".into() }),
        Just(Injecting::Unknown { why: TAKEN.into() }),
    ];
    prop_oneof![
        4 => any::<bool>().prop_map(Event::Says),
        4 => prop_oneof![0..100i64, 1_000..20_000i64, Just(90_000)].prop_map(Event::Passes),
        1 => any::<bool>().prop_map(Event::Dies),
        2 => prop::collection::vec(act(), 1..4).prop_map(Event::Sink),
        1 => agent.prop_map(Event::Agent),
        1 => prop_oneof![1..4usize, Just(300)].prop_map(Event::CannotTell),
    ]
}

fn story() -> impl Strategy<Value = Story> {
    let ability = prop_oneof![
        Just(Ability::Opaque(Blind::Park)),
        Just(Ability::Opaque(Blind::ResendMarked)),
        Just(Ability::Key { ttl_ms: 86_400_000 }),
        Just(Ability::Key { ttl_ms: 10_000 }),
        Just(Ability::Probe),
    ];
    (ability, any::<bool>(), prop::collection::vec(turn(), 4), prop::collection::vec(event(), 3..14))
        .prop_map(|(ability, names, turns, events)| Story { ability, names, turns, events })
}

/// The agent's events for the n-th message, from 1.
fn script(n: usize, turn: &Turn) -> Script {
    let id = |what: &str| format!("{what}{n}");
    let mut waits = turn.waits.iter().copied();
    let mut wait = || waits.next().unwrap_or(0);
    let mut script = Script::new();
    if turn.progress {
        let text = format!("working on {n}");
        script.push((wait(), SessionEvent::Progress { request: None, message: Some(id("p")), text }));
    }
    if turn.tool {
        let beside = if turn.beside { "I'll look." } else { "" };
        script.push((wait(), calls(&id("t"), beside, &id("c"))));
        script.push((wait(), display(&id("c"), &format!("list {n}"))));
    }
    if turn.fails {
        script.push((wait(), ended(&id("e"), &["half a"], Stop::Error)));
        script.push((0, SessionEvent::Failed { request: None, why: "529".into() }));
    } else if turn.answers {
        script.push((wait(), last(&id("f"), &format!("final for msg {n}: yes"))));
    }
    if turn.settles {
        script.push((wait(), SessionEvent::Settled { request: None }));
    }
    script
}

/// Runs a story; what does not hold at its end.
fn run(mut w: World, story: &Story, flaw: Option<Flaw>) -> Option<String> {
    w = w.with(story.ability).flawed(flaw);
    w.net.borrow_mut().agent.names = story.names;
    let on = |(n, turn): (usize, &Turn)| (format!("hello {}!", n + 1), script(n + 1, turn));
    w.net.borrow_mut().agent.on = story.turns.iter().enumerate().map(on).collect();
    let mut said = 0;
    for event in &story.events {
        let done = match event {
            Event::Says(first) if said < story.turns.len() => {
                said += 1;
                let message = World::incoming(
                    if *first { "A" } else { "B" },
                    &format!("hello {said}!"),
                    &said.to_string(),
                );
                w.relay.accept("bot", "chat", &message).map(|_| ())
            }
            Event::Passes(ms) => w.try_pass(*ms),
            Event::Dies(session) => {
                w.crash(*session);
                Ok(())
            }
            Event::Sink(acts) => {
                w.acts(acts);
                Ok(())
            }
            Event::Agent(answer) => {
                w.net.borrow_mut().agent.answers.push_back(answer.clone());
                Ok(())
            }
            Event::CannotTell(times) => {
                let mut net = w.net.borrow_mut();
                net.sink.cannot_tell += times;
                net.agent.probes.extend(vec![Seen::CannotTell; *times]);
                Ok(())
            }
            Event::Says(_) => Ok(()),
        };
        if let Err(error) = done {
            return refused(flaw, &error);
        }
    }
    match w.try_pass(2_000_000) {
        Ok(()) => problem(&w),
        Err(error) => refused(flaw, &error),
    }
}

/// What a flawed relay is refused by the ledger did no harm, and is not what finds the flaw.
pub(crate) fn refused(flaw: Option<Flaw>, error: &sayso_relay::Error) -> Option<String> {
    flaw.is_none().then(|| error.to_string())
}

fn search(cases: u32, flaw: Option<Flaw>, harm: &str, open: fn() -> World) -> Option<String> {
    let config = ProptestConfig {
        cases,
        failure_persistence: None,
        max_shrink_iters: 400,
        ..ProptestConfig::default()
    };
    let found = TestRunner::new_with_rng(
        config,
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    )
    .run(&story(), |story| match run(open(), &story, flaw) {
        Some(wrong) if wrong.contains(harm) => Err(TestCaseError::fail(wrong)),
        _ => Ok(()),
    });
    found.err().map(|error| error.to_string())
}

/// What random orders say about a flaw.
pub(crate) fn find(flaw: Flaw, harm: &str) -> Option<String> {
    search(600, Some(flaw), harm, World::on_oracle)
}

#[test]
fn in_any_order_on_the_oracle() {
    if let Some(wrong) = search(400, None, "", World::on_oracle) {
        panic!("{wrong}");
    }
}

#[test]
fn in_any_order_on_sqlite() {
    if let Some(wrong) = search(60, None, "", World::on_sqlite) {
        panic!("{wrong}");
    }
}
