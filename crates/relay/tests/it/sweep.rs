//! The crash sweep: a run counts its own batches, sends and injections, and then dies before and after each of them, on a real
//! file. Whatever was under way, the next process goes on from the ledger, and everything comes to rest as it should.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

use sayso_relay::flaw::{Flaw, Point};
use sayso_relay::port::{Ability, Blind, Injecting, Seen, SessionEvent};

use crate::check::problem;
use crate::net::{Act, TAKEN};
use crate::random::refused;
use crate::world::{World, calls, display, last};

type Begin = fn(&mut World);

/// What happens in a run.
pub(crate) struct Story {
    name: &'static str,
    ability: Ability,
    begin: Begin,
}

pub(crate) const PARK: Ability = Ability::Opaque(Blind::Park);
const MARKED: Ability = Ability::Opaque(Blind::ResendMarked);
const KEY: Ability = Ability::Key { ttl_ms: 3_600_000 };
const SETTLED: SessionEvent = SessionEvent::Settled { request: None };
/// Forgotten before anybody may say that whoever sent it has died.
const BRIEF: Ability = Ability::Key { ttl_ms: 60_000 };

fn answer(id: &str, who: u32, text: &str) -> SessionEvent {
    last(id, &format!("final for msg {who}: {text}"))
}

fn plain(w: &mut World) {
    w.scripts(vec![(1_000, answer("a1", 1, "yes")), (10, SETTLED)]);
    w.says("A", "may I?");
}

fn late(w: &mut World) {
    w.scripts(vec![(1_000, SETTLED), (120_000, answer("a1", 1, "sorry"))]);
    w.scripts(vec![(1_000, answer("b1", 2, "yes")), (10, SETTLED)]);
    w.says("A", "where is it?");
}

fn direct(w: &mut World) {
    w.scripts(vec![
        (1_000, calls("a1", "I'll look.", "c1")),
        (1_000, display("c1", "the list")),
        (1_000, answer("a2", 1, "there is news")),
        (10, SETTLED),
    ]);
    w.says("A", "news?");
}

fn rejected(w: &mut World) {
    w.acts(&[Act::Refuse]);
    direct(w);
}

fn parts(w: &mut World) {
    w.net.borrow_mut().sink.most = 9;
    w.acts(&[Act::Take, Act::Later(None)]);
    w.scripts(vec![
        (1_000, calls("a1", "", "c1")),
        (1_000, display("c1", "a list of ferries")),
        (1_000, answer("a2", 1, "there is news")),
        (10, SETTLED),
    ]);
    w.says("A", "news?");
}

fn busy(w: &mut World) {
    w.net.borrow_mut().agent.answers.extend([Injecting::Busy, Injecting::Refused { why: "starting".into() }]);
    w.scripts(vec![(1_000, answer("a1", 1, "yes")), (5_000, SETTLED)]);
    w.scripts(vec![(1_000, answer("b1", 2, "no")), (10, SETTLED)]);
    w.says("A", "may I?");
    w.says("B", "and I?");
}

fn unknown(w: &mut World) {
    w.acts(&[Act::Lose, Act::Drop]);
    busy(w);
}

/// Nobody knows whether the display arrived.
fn unclear(w: &mut World) {
    w.acts(&[Act::Lose]);
    direct(w);
}

/// The answer to the first comes when the second is in.
fn overtaken(w: &mut World) {
    w.scripts(vec![(1_000, SETTLED), (119_000, answer("a1", 1, "sorry"))]);
    w.scripts(vec![(60_000, answer("b1", 2, "no")), (0, SETTLED)]);
    w.says("A", "may I?");
    w.says("B", "and I?");
}

fn overtaken_by_name(w: &mut World) {
    w.net.borrow_mut().agent.names = true;
    overtaken(w);
}

/// Nobody knows whether the message went in: it had, or not, or nobody can tell.
fn lost(w: &mut World) {
    let mut net = w.net.borrow_mut();
    net.agent.answers.extend([TAKEN, "the pipe broke"].map(|why| Injecting::Unknown { why: why.into() }));
    net.agent.probes.extend([Seen::CannotTell; 3]);
    net.sink.cannot_tell = 3;
    drop(net);
    let first = vec![(1_000, answer("a1", 1, "yes")), (10, SETTLED)];
    let second = vec![(1_000, answer("b1", 2, "no")), (10, SETTLED)];
    w.net.borrow_mut().agent.on = vec![("may I?".to_owned(), first), ("and I?".to_owned(), second)];
    w.says("A", "may I?");
    w.says("B", "and I?");
}

fn stories() -> Vec<Story> {
    let tell: [(&'static str, Begin); 6] = [
        ("plain answer", plain),
        ("settled without text, then a late answer", late),
        ("direct delivery, then the reply", direct),
        ("direct delivery rejected", rejected),
        ("several parts", parts),
        ("busy and refused", busy),
    ];
    let plain = tell.map(|(name, begin)| Story { name, ability: PARK, begin });
    let unknown = [
        ("unknown, parked", PARK),
        ("unknown, marked", MARKED),
        ("unknown, with a key", KEY),
        ("unknown, with a key that is soon forgotten", BRIEF),
        ("unknown, asked", Ability::Probe),
    ]
    .map(|(name, ability)| Story { name, ability, begin: unknown });
    let unclear = [
        ("display unknown, marked", MARKED),
        ("display unknown, with a key", KEY),
        ("display unknown, with a key that is soon forgotten", BRIEF),
        ("display unknown, asked", Ability::Probe),
    ]
    .map(|(name, ability)| Story { name, ability, begin: unclear });
    let two: [(&'static str, Begin); 3] = [
        ("two, overtaken", overtaken),
        ("two, overtaken and named", overtaken_by_name),
        ("two, lost on the way in", lost),
    ];
    let two = two.map(|(name, begin)| Story { name, ability: Ability::Probe, begin });
    plain.into_iter().chain(unknown).chain(unclear).chain(two).collect()
}

/// Twenty minutes: longer than everything that a story waits for, but for what a person has to decide.
const LONG: i64 = 1_200_000;

type Tried = BTreeMap<Point, usize>;

/// Has the relay die at the n-th point; the points that it passed.
fn die_at(w: &mut World, n: usize) -> Rc<RefCell<(usize, Tried)>> {
    let passed = Rc::new(RefCell::new((0, Tried::new())));
    let count = passed.clone();
    w.look(Some(Box::new(move |point| {
        let mut passed = count.borrow_mut();
        passed.0 += 1;
        *passed.1.entry(point).or_default() += 1;
        if passed.0 == n {
            drop(passed);
            std::panic::panic_any(Died);
        }
    })));
    passed
}

/// What a process dies of here.
struct Died;

/// One run; whether it died, and what does not hold at the end.
fn run(story: &Story, flaw: Option<Flaw>, n: usize, dies: bool) -> (bool, Tried, Option<String>) {
    let mut w = World::on_sqlite().with(story.ability).flawed(flaw);
    let passed = die_at(&mut w, n);
    let done = catch_unwind(AssertUnwindSafe(|| {
        (story.begin)(&mut w);
        w.try_pass(LONG)
    }));
    let tried = passed.borrow().1.clone();
    let died = match done {
        Ok(Ok(())) => false,
        Ok(Err(error)) => return (false, tried, refused(flaw, &error)),
        Err(cause) if cause.is::<Died>() => true,
        Err(cause) => std::panic::resume_unwind(cause),
    };
    if died {
        w.crash(dies);
        // A message that was not accepted is still with the source.
        match again(&mut w, story) {
            Ok(None) => {}
            Ok(Some(wrong)) => return (died, tried, Some(wrong)),
            Err(error) => return (died, tried, refused(flaw, &error)),
        }
    }
    (died, tried, problem(&w))
}

/// The next process: the source gives again what was not accepted; everything comes to rest; another process finds nothing to do.
fn again(w: &mut World, story: &Story) -> Result<Option<String>, sayso_relay::Error> {
    let said = |w: &World, update: &str| {
        w.requests().iter().any(|r| r.inlet.as_ref().is_some_and(|i| i.update == update))
    };
    let two = ["busy", "unknown", "two"].iter().any(|name| story.name.starts_with(name));
    let people = if two { vec![("A", "may I?"), ("B", "and I?")] } else { vec![("A", "hello?")] };
    for (update, (who, text)) in ["1", "2"].iter().zip(people) {
        if !said(w, update) {
            let message = World::incoming(who, text, update);
            w.relay.accept("bot", "chat", &message)?;
        }
    }
    if w.net.borrow().agent.scripts.is_empty() && w.net.borrow().agent.injected.is_empty() {
        w.scripts(vec![(1_000, answer("z1", 1, "again")), (10, SETTLED)]);
    }
    w.try_pass(LONG)?;
    let before = (w.requests(), w.deliveries(), w.entries().len());
    w.crash(false);
    w.try_settle()?;
    let after = (w.requests(), w.deliveries(), w.entries().len());
    Ok((before != after).then(|| format!("recovered twice is not once: {before:#?} {after:#?}")))
}

/// Runs a story through every point at which it may die; the points tried, or the first run in which something does not hold, such
/// as is looked for.
fn sweep(story: &Story, flaw: Option<Flaw>, dies: bool, harm: &str) -> Result<Tried, String> {
    let mut all = Tried::new();
    for n in 1.. {
        let (died, tried, wrong) = run(story, flaw, n, dies);
        if let Some(wrong) = wrong.filter(|wrong| wrong.contains(harm)) {
            return Err(format!("{}, died at {n}: {wrong}", story.name));
        }
        if !died {
            return Ok(all);
        }
        // The last point passed is the one that it died at.
        let at = tried.iter().map(|(p, n)| (*p, *n)).collect::<Tried>();
        all = at.into_iter().fold(all, |mut all, (p, n)| {
            all.entry(p).and_modify(|m| *m = (*m).max(n)).or_insert(n);
            all
        });
    }
    unreachable!("numbers do not end")
}

/// Panics of processes that are meant to die are not printed.
pub(crate) fn quietly<T>(work: impl FnOnce() -> T) -> T {
    static ONCE: std::sync::Once = std::sync::Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            if !info.payload().is::<Died>() {
                before(info);
            }
        }));
    });
    work()
}

#[test]
fn whatever_it_dies_in_the_next_process_goes_on() {
    quietly(|| {
        let mut total = 0;
        for story in stories() {
            for dies in [false, true] {
                let tried = sweep(&story, None, dies, "").unwrap_or_else(|wrong| panic!("{wrong}"));
                let points: usize = tried.values().sum();
                total += points;
                let session = if dies { "session goes too" } else { "session goes on" };
                println!("{}: {points} points, {session}: {tried:?}", story.name);
            }
        }
        println!("crash points tried: {total}");
        assert!(total > 300, "{total}");
    });
}

/// What is wrong with a flawed relay, and the story in which it is looked for first: each does harm of its own, and is not only refused
/// by the ledger.
const HARM: [(Flaw, &str, &str); 13] = [
    (Flaw::AnswerOnSettle, "answers", "settled without text, then a late answer"),
    (Flaw::BlindResend, "seen twice without a mark", "plain answer"),
    (Flaw::GlobalDestination, "went elsewhere", "busy and refused"),
    (Flaw::SuppressOnIntent, "left open", "direct delivery, then the reply"),
    (Flaw::InjectWhileBusy, "put in while busy", "busy and refused"),
    (Flaw::DedupeOnSighting, "left open", "busy and refused"),
    (Flaw::HistoryApart, "the model was not told", "direct delivery, then the reply"),
    (Flaw::NoMarkBeforeSending, "seen twice without a mark", "plain answer"),
    (Flaw::DeadlineFromAccept, "too early", "busy and refused"),
    (Flaw::AnyTextIsFinal, "answers", "direct delivery, then the reply"),
    (Flaw::KeyForEver, "seen twice without a mark", "unknown, with a key that is soon forgotten"),
    (Flaw::NamesUnread, "in doubt, though it was named", "two, overtaken and named"),
    (Flaw::LastIsMeant, "for somebody else", "two, overtaken"),
];

#[test]
fn every_flaw_is_found() {
    quietly(|| {
        assert_eq!(HARM.map(|(flaw, ..)| flaw), Flaw::ALL);
        for (flaw, harm, first) in HARM {
            let by_crash = |story: &Story| {
                [false, true].iter().find_map(|dies| sweep(story, Some(flaw), *dies, harm).err())
            };
            let mut stories = stories();
            stories.sort_by_key(|story| story.name != first);
            let by = match stories.iter().find_map(by_crash) {
                Some(wrong) => format!("the sweep: {}", wrong.lines().next().unwrap_or_default()),
                None => match crate::random::find(flaw, harm) {
                    Some(wrong) => format!("random orders: {}", wrong.lines().next().unwrap_or_default()),
                    None => panic!("{flaw:?} is found by nothing, or does other harm than {harm:?}"),
                },
            };
            println!("{flaw:?} is found by {}", by.chars().take(160).collect::<String>());
        }
    });
}
