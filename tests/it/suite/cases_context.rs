//! Field cases T20 and T21, and what a context is made of when a summary stands for the earlier turns.

use sayso::model::limits::LOOK_BACK_ENTRIES;
use sayso::model::{Entry, MarkKind, Outcome, PartBody, SessionId, ToolCall, ToolResult};
use sayso::store::{Command, MarkEntry};
use sayso::view::context::{Budget, NeedsCompaction, Provider, TokenCounter, context};
use sayso::view::rules::faults;
use sayso::{CompactRequest, Error, Fate, NewTurn, SpeakerKind, SpeakerKind::*, SpeakerRef};

use super::open;
use crate::batches::random::Random;
use crate::support::World;

fn call(id: &str) -> PartBody {
    PartBody::ToolCall(ToolCall { call_id: id.into(), tool: "bash".into(), arguments: "{}".into() })
}

fn result(id: &str, text: &str) -> PartBody {
    let result = ToolResult {
        call_id: id.into(),
        tool: "bash".into(),
        outcome: Outcome::Ok,
        text: text.into(),
        output: None,
    };
    PartBody::ToolResult(result)
}

fn words(text: &str) -> PartBody {
    PartBody::Text(text.into())
}

type Said = (SpeakerKind, Vec<PartBody>);

/// A session with these turns, appended in one batch.
fn session(world: &World, turns: &[Said]) -> SessionId {
    let session = world.session("Acme", "Plan");
    append(world, session.id, turns);
    session.id
}

fn append(world: &World, session: SessionId, turns: &[Said]) {
    let all = world.all();
    let write = |plan: &mut sayso::Plan<'_>| {
        turns.iter().try_for_each(|(kind, parts)| {
            let speaker = SpeakerRef::new(*kind, "x");
            let parts = parts.iter().map(|body| (None, body.clone())).collect();
            let turn = NewTurn { speaker, parts, ..NewTurn::text(Owner, "", "") };
            plan.append(session, turn).map(drop)
        })
    };
    world.ledger.transact(all.scope(), write).unwrap();
}

fn compact(world: &World, session: SessionId, through: u64) {
    let last = world.all().entries(session, through - 1, 1).unwrap().remove(0);
    let request = CompactRequest::of(session, "They agreed.").through(crate::support::placed(&last));
    world.all().compact(&request).unwrap();
}

/// The context for every provider, each taken by its provider and the same as that of the whole session.
fn contexts(world: &World, session: SessionId) -> Vec<String> {
    let whole: Vec<Entry> = world.all().walk(session, 0).collect::<Result<_, _>>().unwrap();
    let shown = |provider| {
        let input = world.all().context(session, provider, None).unwrap().input;
        assert_eq!(faults(provider, &input), [""; 0], "{input}");
        let budget = Budget { tokens: u64::MAX, counter: &sayso::view::context::Scripts };
        assert_eq!(input, context(&whole, provider, budget).unwrap().input, "{provider:?} of {whole:#?}");
        input.to_string()
    };
    Provider::ALL.map(shown).to_vec()
}

const MADE: &str = "no result was recorded";

#[test]
fn t20_a_boundary_between_a_call_and_its_result_leaves_both_or_neither() {
    let turns = [
        (Owner, vec![words("q")]),
        (Agent, vec![call("one"), call("two")]),
        (Tool, vec![result("one", "FIRST")]),
        (Tool, vec![result("two", "SECOND")]),
        (Agent, vec![words("done")]),
    ];
    for through in 1..=5 {
        let world = open();
        let session = session(&world, &turns);
        compact(&world, session, through);
        for shown in contexts(&world, session) {
            let there = ["\"one\"", "\"two\"", "FIRST", "SECOND"].map(|part| shown.contains(part));
            assert_eq!(there, [through < 4; 4], "{through}: {shown}");
            assert!(!shown.contains(MADE), "{shown}");
        }
    }
}

#[test]
fn t20_a_call_is_looked_up_far_before_the_boundary() {
    for (between, found) in [(700, true), (LOOK_BACK_ENTRIES, false)] {
        let world = open();
        let mut turns = vec![(Agent, vec![call("slow")])];
        turns.extend((0..between).map(|_| (Owner, vec![words("w")])));
        let session = session(&world, &turns);
        compact(&world, session, between + 1);
        append(&world, session, &[(Tool, vec![result("slow", "LATE")])]);
        for provider in Provider::ALL {
            let input = world.all().context(session, provider, None).unwrap().input;
            assert_eq!(faults(provider, &input), [""; 0], "{input}");
            let shown = input.to_string();
            // What is not found stands as words of the tool, never as a result without its call.
            assert_eq!(shown.contains("no call in this context waits for it"), !found, "{shown}");
            assert!(shown.contains("LATE") && !shown.contains(MADE), "{shown}");
        }
    }
}

#[test]
fn t20_a_result_whose_call_was_never_stored_is_words() {
    let world = open();
    let session = session(&world, &[(Owner, vec![words("q")]), (Tool, vec![result("gone", "OUT")])]);
    compact(&world, session, 1);
    for shown in contexts(&world, session) {
        assert!(shown.contains("OUT") && !shown.contains("gone"), "{shown}");
    }
}

#[test]
fn t21_a_result_stored_before_its_call_is_put_behind_it() {
    let turns = [
        (Owner, vec![words("q")]),
        (Tool, vec![result("one", "EARLY")]),
        (Agent, vec![words("looking"), call("one")]),
        (Owner, vec![words("next")]),
    ];
    let world = open();
    let session_whole = session(&world, &turns);
    for shown in contexts(&world, session_whole) {
        let at = |part: &str| shown.find(part).unwrap_or_else(|| panic!("{part} in {shown}"));
        assert!(at("looking") < at("\"one\"") && at("\"one\"") < at("EARLY") && at("EARLY") < at("next"));
        assert!(!shown.contains(MADE) && !shown.contains("waits for it"), "{shown}");
    }
    // Also where a boundary stands between them.
    let world = open();
    let session = session(&world, &turns);
    compact(&world, session, 2);
    for shown in contexts(&world, session) {
        assert!(shown.contains("EARLY") && !shown.contains(MADE), "{shown}");
    }
}

fn any_turn(random: &mut Random, place: usize) -> Said {
    let kind = *random.pick(SpeakerKind::ALL);
    let parts = (0..1 + random.below(4)).map(|at| {
        let id = random.pick(&["", "a", "b", "c", "한글"]).to_string();
        match random.below(6) {
            0 | 1 => call(&id),
            2 | 3 => result(&id, &format!("out {place}.{at}")),
            4 => words(""),
            _ => words("words"),
        }
    });
    (kind, parts.collect())
}

#[test]
fn a_context_is_that_of_the_whole_session() {
    for seed in 0..60 {
        let mut random = Random::new(seed);
        let world = open();
        let turns: Vec<Said> = (0..2 + random.below(20)).map(|place| any_turn(&mut random, place)).collect();
        let session = session(&world, &turns);
        let from = world.says("Beta/Other", (Agent, "Rocky"), "quoted");
        for _ in 0..random.below(3) {
            let last = world.all().session(session).unwrap().unwrap().last_seq;
            compact(&world, session, 1 + random.number() % last);
            world.forward(&from, "Acme/Plan");
            append(&world, session, &[any_turn(&mut random, 100)]);
        }
        contexts(&world, session);
    }
}

#[test]
fn a_compaction_stands_for_all_that_is_there_and_a_retry_for_the_same() {
    let world = open();
    let session = session(&world, &[(Owner, vec![words("q")]), (Agent, vec![words("a")])]);
    let request = CompactRequest::of(session, "They agreed.").key("k");
    let (fate, first) = world.all().compact(&request).unwrap();
    assert_eq!((fate, first.placed.seq, first.through), (Fate::New, 3, 2));
    append(&world, session, &[(Owner, vec![words("next")])]);
    let (fate, again) = world.all().compact(&request).unwrap();
    assert_eq!((fate, again), (Fate::Known, first));
    let other = CompactRequest { summary: "Something else.".into(), ..request };
    assert!(matches!(world.all().compact(&other), Err(Error::Store(_))));
    let shown = &contexts(&world, session)[0];
    assert!(shown.contains("summary by agent") && shown.contains("They agreed.") && shown.contains("next"));
}

#[test]
fn a_compaction_needs_words_entries_and_a_boundary_of_its_session() {
    let world = open();
    let elsewhere = world.says("Beta/Other", (Owner, "Mira"), "there");
    let empty = world.session("Acme", "Plan").id;
    let of = |summary: &str| CompactRequest::of(empty, summary);
    assert!(matches!(world.all().compact(&of("s")), Err(Error::EmptySession { .. })));
    assert!(matches!(world.all().compact(&of(" \n")), Err(Error::EmptySummary)));
    let refused = world.all().compact(&of("s").through(elsewhere));
    assert!(matches!(refused, Err(Error::BoundaryElsewhere { .. })));
    // A reader that does not see the session learns no more than that.
    let hidden = world.only("Beta").compact(&of("s"));
    assert!(matches!(hidden, Err(Error::Unknown { what: "session", .. })));
}

/// Every text is one token.
struct Ones;

impl TokenCounter for Ones {
    fn count(&self, _: &str) -> u64 {
        1
    }
}

#[test]
fn a_counter_of_the_callers_own_decides() {
    let world = open();
    let session = session(&world, &[(Owner, vec![words("a long text ".repeat(1_000).trim())])]);
    let budget = |tokens| Budget { tokens, counter: &Ones };
    let within = |tokens| world.all().context_within(session, Provider::Anthropic, budget(tokens));
    let needed = within(u64::MAX).unwrap().tokens;
    let refused = within(needed - 1).unwrap_err();
    assert!(matches!(refused, Error::NeedsCompaction(NeedsCompaction { needed: n, .. }) if n == needed));
}

fn mark(world: &World, session: SessionId, kind: MarkKind, seq: u64) {
    let of = world.all().entries(session, seq - 1, 1).unwrap().remove(0).id;
    let write = |plan: &mut sayso::Plan<'_>| {
        let id = plan.entry_id();
        let mark = MarkEntry { id, session, kind, of: Some(of), route: String::new() };
        plan.push(Command::Mark(mark));
        Ok(())
    };
    world.ledger.transact(world.all().scope(), write).unwrap();
}

#[test]
fn what_was_edited_or_taken_back_counts_as_it_does_now() {
    let world = open();
    let turns: Vec<Said> = (1..=6).map(|n| (Owner, vec![words(&format!("words {n}"))])).collect();
    let session = session(&world, &turns);
    let edit = |seq: u64, text: &str| {
        let of = world.all().entries(session, seq - 1, 1).unwrap().remove(0).id;
        world.all().edit(of, &NewTurn::text(Owner, "x", text)).unwrap();
    };
    compact(&world, session, 2);
    edit(1, "covered, now new");
    edit(4, "four, better");
    mark(&world, session, MarkKind::RolledBack, 2);
    mark(&world, session, MarkKind::RolledBack, 5);
    mark(&world, session, MarkKind::Abandoned, 6);
    mark(&world, session, MarkKind::Restored, 6);
    for shown in contexts(&world, session) {
        let places = ["words 3", "four, better", "words 6", "covered, now new"].map(|text| shown.find(text));
        assert!(places.iter().all(Option::is_some) && places.is_sorted(), "{places:?} in {shown}");
        assert!(!shown.contains("words 4") && !shown.contains("words 5"), "{shown}");
    }
}
