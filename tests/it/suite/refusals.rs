//! What is refused, with the reason, and that nothing of it is written.

use sayso::model::limits::{FORWARD_CHARS, QUOTE_HOPS};
use sayso::model::{MarkKind, PartBody, QuoteRefusal, Seal, ToolCall};
use sayso::store::{Command, MarkEntry};
use sayso::{Destination, Error, NewTurn, Placed, Refusal, SpeakerKind::*, What};

use super::open;
use crate::support::{World, placed, quote};

fn close(world: &World, at: &str, kind: MarkKind) {
    let session = world.all().find_session(at).unwrap();
    let id = world.ledger.fresh_entry();
    let mark = MarkEntry { id, session: session.id, kind, of: None, route: String::new() };
    world.ledger.write(&sayso::Scope::All, vec![Command::Mark(mark)]).unwrap();
}

fn refusal(error: &Error) -> &Refusal {
    error.refusal().unwrap_or_else(|| panic!("a refusal, not: {error}"))
}

fn quote_refusal(world: &World, source: &Placed) -> QuoteRefusal {
    let error = world.try_forward(world.request(source, "Beta/Build")).unwrap_err();
    match refusal(&error) {
        Refusal::Quote { reason, .. } => reason.clone(),
        other => panic!("{other}"),
    }
}

fn append(world: &World, turn: NewTurn) -> Placed {
    world.ledger.append(&world.session("Acme", "Plan"), turn).unwrap()
}

fn only(body: PartBody) -> NewTurn {
    let mut turn = NewTurn::text(Agent, "Rocky", "");
    turn.parts = vec![(None, body)];
    turn
}

#[test]
fn what_holds_no_words_cannot_be_forwarded() {
    let world = open();
    let reasoning = append(&world, only(PartBody::Reasoning(Seal::Open, "hm".into())));
    assert_eq!(quote_refusal(&world, &reasoning), QuoteRefusal::Reasoning);
    let call = ToolCall { call_id: "c".into(), tool: "bash".into(), arguments: "{}".into() };
    let call = append(&world, only(PartBody::ToolCall(call)));
    assert_eq!(quote_refusal(&world, &call), QuoteRefusal::Empty);
    let empty = append(&world, only(PartBody::Text(String::new())));
    assert_eq!(quote_refusal(&world, &empty), QuoteRefusal::Empty);
    let png = append(&world, NewTurn::text(Tool, "cat", "\u{FFFD}PNG\r\n\u{1A}\n\0\0\0"));
    assert_eq!(quote_refusal(&world, &png), QuoteRefusal::Binary { kind: "PNG image" });
    // Nothing was made on the way, not even the destination's project.
    assert!(world.all().find_project("Beta").is_err());
}

#[test]
fn a_closed_session_takes_nothing_until_it_is_reopened() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, "Rocky"), "the words");
    world.says("Beta/Build", (Owner, "Mira"), "hello");
    close(&world, "Beta/Build", MarkKind::Closed);
    let error = world.try_forward(world.request(&source, "Beta/Build")).unwrap_err();
    assert!(matches!(refusal(&error), Refusal::SessionClosed(_)));
    close(&world, "Beta/Build", MarkKind::Reopened);
    assert_eq!(quote(&world.forward(&source, "Beta/Build")).text, "the words");
}

#[test]
fn a_source_outside_the_scope_is_an_unknown_turn() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, "Rocky"), "the words");
    world.says("Beta/Build", (Owner, "Mira"), "hello");
    let beta = world.only("Beta");
    let to = Destination::Session(beta.find_session("Build").unwrap().id);
    let mut request = world.request(&source, "Beta/Build");
    request.to = to;
    let forbidden = beta.forward(request.clone()).unwrap_err();
    request.turns[0].placed.id = "01ARZ3NDEKTSV4RRFFQ69G5FAV".parse().unwrap();
    let unknown = beta.forward(request).unwrap_err();
    assert!(matches!(refusal(&forbidden), Refusal::UnknownTurn(_)));
    assert!(matches!(refusal(&unknown), Refusal::UnknownTurn(_)));
}

#[test]
fn several_at_once_are_one_batch_with_the_note_on_the_last() {
    let world = open();
    let sources: Vec<Placed> =
        ["one", "two", "three"].map(|t| world.says("Acme/Plan", (Agent, "R"), t)).into();
    let mut request = world.request(&sources[0], "Beta/Build");
    request.turns = sources.iter().map(|p| sayso::Named { placed: *p, span: None, given: None }).collect();
    (request.note, request.key) = (Some("see".into()), Some("K".into()));
    let entries = world.try_forward(request.clone()).unwrap();
    let shown: Vec<_> = entries.iter().map(|e| (quote(e).text.clone(), crate::support::text(e))).collect();
    let expected = [("one", ""), ("two", ""), ("three", "see")].map(|(q, n)| (q.to_owned(), n.to_owned()));
    assert_eq!(shown, expected);
    assert_eq!(world.try_forward(request.clone()).unwrap(), entries);
    // A part of what was written under the key is another content.
    let whole = request.turns.clone();
    for other in [vec![whole[0]], whole[..2].to_vec(), whole.iter().chain(&whole[..1]).copied().collect()] {
        (request.turns, request.note) = (other, None);
        let error = world.try_forward(request.clone()).unwrap_err();
        assert!(matches!(refusal(&error), Refusal::Conflict { .. }), "{error}");
    }
    assert_eq!(world.all().find_session("Beta/Build").unwrap().turns, 3);
    // And one turn under a key is not the first of several.
    let mut single = world.request(&sources[0], "Beta/Build");
    single.key = Some("S".into());
    world.forward_with(single.clone());
    single.turns = whole;
    assert!(matches!(refusal(&world.try_forward(single).unwrap_err()), Refusal::Conflict { .. }));
}

#[test]
fn several_long_ones_together_are_refused_whole() {
    let world = open();
    let long = "x".repeat(4_000);
    let sources: Vec<Placed> = (0..4).map(|_| world.says("Acme/Plan", (Agent, "R"), &long)).collect();
    let mut request = world.request(&sources[0], "Beta/Build");
    request.turns = sources.iter().map(|p| sayso::Named { placed: *p, span: None, given: None }).collect();
    let error = world.try_forward(request.clone()).unwrap_err();
    assert_eq!(*refusal(&error), Refusal::ForwardTooLong { chars: 16_000, limit: FORWARD_CHARS });
    request.turns.pop();
    assert_eq!(world.try_forward(request).unwrap().len(), 3);
}

#[test]
fn a_turn_with_a_note_gives_its_note_and_names_the_inner_quote() {
    let world = open();
    let source = world.says("Acme/S1", (Agent, "Rocky"), "the words");
    let mut request = world.request(&source, "Beta/S2");
    request.note = Some("my note".into());
    let second = world.forward_with(request);
    let third = world.forward(&placed(&second), "Gamma/S3");
    assert_eq!((quote(&third).text.as_str(), quote(&third).speaker.kind), ("my note", Owner));
    assert_eq!(quote(&third).nested, Some(world.ledger.address(&source)));
    let mut request = world.request(&placed(&second), "Gamma/S4");
    request.what = Some(What::Quote);
    let fourth = world.forward_with(request);
    assert_eq!((quote(&fourth).text.as_str(), quote(&fourth).hops.len()), ("the words", 1));
    // What is not there cannot be chosen.
    let mut request = world.request(&source, "Gamma/S5");
    request.what = Some(What::Quote);
    let error = world.try_forward(request).unwrap_err();
    assert!(matches!(refusal(&error), Refusal::Quote { reason: QuoteRefusal::NoQuote, .. }));
}

#[test]
fn a_quote_passes_a_bounded_number_of_sessions_even_in_a_loop() {
    let world = open();
    let mut last = world.says("Acme/S0", (Agent, "Rocky"), "the words");
    for n in 1..=QUOTE_HOPS + 1 {
        last = placed(&world.forward(&last, &format!("Acme/S{}", n % 2)));
    }
    assert_eq!(quote(&world.entry(&last)).hops.len(), QUOTE_HOPS);
    let error = world.try_forward(world.request(&last, "Acme/S2")).unwrap_err();
    assert!(matches!(refusal(&error), Refusal::Quote { reason: QuoteRefusal::TooManyHops { .. }, .. }));
}

#[test]
fn an_expected_head_is_checked_after_the_key() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let command = |text: &str, key: &str, head| {
        let turn = NewTurn::text(Agent, "Rocky", text).with_key(key);
        match world.ledger.append_command(session.id, turn).unwrap() {
            Command::AppendTurn(mut append) => {
                append.expected_head = Some(head);
                vec![Command::AppendTurn(append)]
            }
            other => panic!("{other:?}"),
        }
    };
    let all = sayso::Scope::All;
    world.ledger.write(&all, command("one", "a", 0)).unwrap();
    let moved = world.ledger.write(&all, command("two", "b", 0)).unwrap_err();
    assert_eq!(*refusal(&moved), Refusal::HeadMoved { expected: 0, actual: 1 });
    // A retry of what was written succeeds although the head has moved because of it.
    world.ledger.write(&all, command("one", "a", 0)).unwrap();
    assert_eq!(world.all().session(session.id).unwrap().unwrap().last_seq, 1);
}
