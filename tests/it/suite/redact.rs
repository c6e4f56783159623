//! Taking words away, and pins: what goes, what stays, and what is named.

use std::collections::BTreeMap;

use sayso::model::{Kept, OriginState, PartBody, QuoteRefusal, ToolResult};
use sayso::store::{Command, Redact, Redaction};
use sayso::store::{OutputState, OutputStream, Run, StoreOutput, StreamKind};
use sayso::{Fate, NewTurn, Placed, Quotes, Refusal, Scope, SpeakerKind::*};

use super::open;
use crate::support::{World, marker, placed, quote, text};

#[track_caller]
fn sound(world: &World) {
    assert_eq!(world.all().verify(&BTreeMap::new()).unwrap().problems, Vec::new());
}

#[test]
fn the_words_go_and_the_turn_stays() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, "Rocky"), "the pin is 4711");
    let heads = world.all().verify(&BTreeMap::new()).unwrap().heads;
    let done = world.all().redact(source.id, Quotes::Keep).unwrap();
    assert_eq!((done.fate, done.mark.seq, done.purged), (Fate::New, 2, true));
    let entry = world.entry(&source);
    let turn = entry.turn().unwrap();
    assert_eq!((text(&entry).as_str(), turn.parts[0].kept), ("", Kept::Redacted));
    assert_eq!((turn.speaker.name.as_str(), entry.hash), ("Rocky", source.hash));
    // A head that was kept before still fits.
    let kept = heads.iter().map(|h| (h.session, sayso::HeadKept { seq: h.seq, hash: h.hash })).collect();
    assert_eq!(world.all().verify(&kept).unwrap().problems, []);
    let again = world.all().redact(source.id, Quotes::Keep).unwrap();
    assert_eq!((again.fate, again.mark), (Fate::Known, done.mark));
}

#[test]
fn a_redacted_turn_is_not_forwarded() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, "Rocky"), "the words");
    let holder = world.forward(&source, "Beta/Build");
    world.all().redact(source.id, Quotes::TakeAlong).unwrap();
    for turn in [&source, &placed(&holder)] {
        let error = world.try_forward(world.request(turn, "Gamma/Notes")).unwrap_err();
        let reason = match error.refusal() {
            Some(Refusal::Quote { reason, .. }) => reason.clone(),
            other => panic!("{other:?}"),
        };
        assert_eq!(reason, QuoteRefusal::Redacted);
    }
}

#[test]
fn quotes_of_it_are_named_and_taken_along_where_that_is_asked() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, "Rocky"), "the words");
    let first = world.forward(&source, "Beta/Build");
    // It travels on, and is a quote of the same turn all the same.
    let second = world.forward(&placed(&first), "Gamma/Notes");
    let of_note = world.says("Beta/Build", (Owner, "Mira"), "other words");
    let mut names = [first.id, second.id];
    names.sort();
    let named = |done: sayso::Redacted| {
        let mut ids: Vec<_> = done.quotes.iter().map(|p| p.id).collect();
        ids.sort();
        ids
    };
    assert_eq!(named(world.all().redact(source.id, Quotes::Keep).unwrap()), names);
    assert_eq!(quote(&world.entry(&placed(&first))).text, "the words");
    assert_eq!(world.all().origin(second.id).unwrap().state, OriginState::Changed);
    // A reader that sees some of it only names those.
    let acme_and_beta = Scope::Projects(vec![source.project, of_note.project]);
    let narrow = world.ledger.reader(acme_and_beta);
    assert_eq!(named(narrow.redact(source.id, Quotes::Keep).unwrap()), [first.id]);
    assert_eq!(named(world.all().redact(source.id, Quotes::TakeAlong).unwrap()), names);
    for holder in [&first, &second] {
        let entry = world.entry(&placed(holder));
        assert_eq!((quote(&entry).text.as_str(), quote(&entry).speaker.name.as_str()), ("", "Rocky"));
        assert!(marker(&entry).contains("\"redacted\":true"), "{}", marker(&entry));
    }
    sound(&world);
}

#[test]
fn a_key_of_a_redacted_turn_is_still_known() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let turn = NewTurn::text(Agent, "Rocky", "the words").with_key("k");
    let source = world.ledger.append(&session, turn.clone()).unwrap();
    world.all().redact(source.id, Quotes::Keep).unwrap();
    assert_eq!(world.all().known(session.id, "k").unwrap(), Some(source));
    // A retry does not bring the words back.
    assert_eq!(world.ledger.append(&session, turn).unwrap(), source);
    assert_eq!(text(&world.entry(&source)), "");
    assert_eq!(world.all().session(session.id).unwrap().unwrap().turns, 1);
    sound(&world);
}

/// A key that ends in a digest of what was written would give short words away: what is kept of it does not hold the digest.
#[test]
fn of_a_key_with_a_digest_only_the_place_outlives_the_words() {
    let world = open();
    let session = world.session("Acme", "Plan");
    let turn = |key: &str, text: &str| NewTurn::text(Agent, "Rocky", text).with_key(key);
    let key = |digit: &str| format!("codex:12-{}", digit.repeat(16));
    let first = world.ledger.append(&session, turn(&key("a"), "the words")).unwrap();
    // As long as the words are there, another digest is another record.
    let second = world.ledger.append(&session, turn(&key("b"), "other words")).unwrap();
    assert_ne!(second.id, first.id);
    assert_eq!(world.all().known(session.id, &key("c")).unwrap(), None);
    for source in [first, second] {
        world.all().redact(source.id, Quotes::Keep).unwrap();
    }
    for digit in ["a", "b", "c"] {
        assert_eq!(world.all().known(session.id, &key(digit)).unwrap(), Some(first), "{digit}");
    }
    assert_eq!(world.ledger.append(&session, turn(&key("a"), "the words")).unwrap(), first);
    // Another place is another record.
    let other = format!("codex:13-{}", "a".repeat(16));
    assert_eq!(world.all().known(session.id, &other).unwrap(), None);
    assert_ne!(world.ledger.append(&session, turn(&other, "more words")).unwrap().id, first.id);
    sound(&world);
}

fn result(world: &World, bytes: &[u8], text: &str) -> (Placed, sayso::model::OutputId) {
    let session = world.session("Acme", "Plan");
    let blob = world.ledger.put_blob(&mut &bytes[..]).unwrap();
    let id = world.ledger.fresh_output();
    let stream = OutputStream::new(StreamKind::Stdout, blob);
    let (tool, state, exit) = ("cat".to_owned(), OutputState::Complete, Some(0));
    let output = StoreOutput {
        id,
        session: session.id,
        tool,
        state,
        exit,
        streams: vec![stream],
        run: Run::default(),
    };
    world.ledger.write(&Scope::All, vec![Command::StoreOutput(output)]).unwrap();
    (world.ledger.append(&session, named(id, text)).unwrap(), id)
}

fn named(output: sayso::model::OutputId, text: &str) -> NewTurn {
    let outcome = sayso::model::Outcome::Ok;
    let (call_id, tool) = ("c".to_owned(), "cat".to_owned());
    let body = ToolResult { call_id, tool, outcome, text: text.to_owned(), output: Some(output) };
    NewTurn { parts: vec![(None, PartBody::ToolResult(body))], ..NewTurn::text(Tool, "cat", "") }
}

#[test]
fn outputs_go_with_the_last_turn_that_names_them() {
    let world = open();
    let (first, output) = result(&world, b"all of it", "some of it");
    let (other, same_bytes) = result(&world, b"all of it", "some of it");
    let session = world.session("Acme", "Plan");
    let second = world.ledger.append(&session, named(output, "again")).unwrap();
    world.all().redact(first.id, Quotes::Keep).unwrap();
    assert!(world.all().output(output).unwrap().is_some(), "the second turn names it");
    world.all().redact(second.id, Quotes::Keep).unwrap();
    assert!(world.all().output(output).unwrap().is_none());
    let mut bytes = Vec::new();
    assert!(world.all().read_output(same_bytes, StreamKind::Stdout, &mut bytes).unwrap());
    assert_eq!(bytes, b"all of it");
    world.all().redact(other.id, Quotes::Keep).unwrap();
    assert!(world.all().output(same_bytes).unwrap().is_none());
    sound(&world);
}

#[test]
fn what_holds_no_words_cannot_be_redacted() {
    let world = open();
    let source = world.says("Acme/Plan", (Agent, "Rocky"), "the words");
    let mark = world.all().close_session(source.session).unwrap().1;
    let refused = world.all().redact(mark.id, Quotes::Keep).unwrap_err();
    assert_eq!(refused.refusal(), Some(&Refusal::NothingToRedact(mark.id)));
    let id = world.ledger.fresh_entry();
    let quote_of_none = Command::Redact(Redact { id, of: source.id, what: Redaction::Quote });
    let refused = world.ledger.write(&Scope::All, vec![quote_of_none]).unwrap_err();
    assert_eq!(refused.refusal(), Some(&Refusal::NothingToRedact(source.id)));
    world.says("Beta/Build", (Owner, "Mira"), "hello");
    let refused = world.only("Beta").redact(source.id, Quotes::Keep).unwrap_err();
    assert_eq!(refused.refusal(), Some(&Refusal::UnknownTurn(source.id)));
    // In a closed session words can be taken away all the same.
    world.all().redact(source.id, Quotes::Keep).unwrap();
    sound(&world);
}

#[test]
fn a_pin_holds_until_it_is_taken_back() {
    let world = open();
    let [one, two] = ["one", "two"].map(|t| world.says("Acme/Plan", (Agent, "Rocky"), t));
    let pinned = || world.all().pinned(one.session).unwrap().iter().map(|p| p.id).collect::<Vec<_>>();
    let all = world.all();
    let pin = all.pin(two.id).unwrap().1;
    all.pin(one.id).unwrap();
    assert_eq!(all.pin(two.id).unwrap(), (Fate::Known, pin));
    assert_eq!(pinned(), [one.id, two.id]);
    all.unpin(two.id).unwrap();
    assert_eq!(pinned(), [one.id]);
    assert_eq!(all.unpin(two.id).unwrap_err().refusal(), Some(&Refusal::NotPinned(two.id)));
    assert_eq!(all.pin(two.id).unwrap().0, Fate::New);
    assert_eq!(pinned(), [one.id, two.id]);
    // How far a forward got is another matter.
    let forward = world.forward(&one, "Beta/Build");
    all.pin(forward.id).unwrap();
    assert_eq!(all.inbox(None).unwrap()[0].state, None);
    sound(&world);
}

fn title(world: &World, session: sayso::model::SessionId) -> String {
    world.all().session(session).unwrap().unwrap().title
}

fn recorded(world: &World, forward: &Placed) -> Option<String> {
    quote(&world.entry(forward)).session_title.clone()
}

#[test]
fn titles_that_repeat_the_words_go_with_them() {
    let world = open();
    let first =
        world.says("Acme/why is the lamp 4711 dark", (Owner, "Mira"), "why is the\nlamp 4711 dark tonight?");
    let other = world.says("Acme/why is the lamp 4711 dark", (Owner, "Mira"), "because");
    let all = world.all();
    let fork = all.fork(first.session, None, "why is the lamp 4711 dark (fork)").unwrap();
    let held = placed(&world.forward(&other, "Beta/Build"));
    let on = placed(&world.forward(&held, "Gamma/Notes"));
    assert_eq!(recorded(&world, &on).as_deref(), Some("why is the lamp 4711 dark"));
    let done = all.redact(first.id, Quotes::Keep).unwrap();
    assert!(done.title_taken);
    for session in [first.session, fork.id] {
        assert_eq!(title(&world, session), "");
    }
    for forward in [&held, &on] {
        assert_eq!(recorded(&world, forward).as_deref(), Some(""));
    }
    sound(&world);
    // Nor is it found by that name.
    let found = all.find_session("why is the lamp 4711 dark");
    assert!(found.is_err(), "{found:?}");
    all.rename_session(first.session, "Lamps").unwrap();
    assert_eq!(title(&world, first.session), "Lamps");
    sound(&world);
}

#[test]
fn titles_of_before_go_and_others_stay() {
    let world = open();
    let first = world.says("Acme/Plan", (Owner, "Mira"), "the lamp 4711 is dark");
    let before = placed(&world.forward(&first, "Beta/Build"));
    let all = world.all();
    all.rename_session(first.session, "the lamp 4711").unwrap();
    let (_, renamed) = all.rename_session(first.session, "Lamps").unwrap();
    all.erase(sayso::store::Target::Entry(first.id), sayso::store::Forks::Refuse, Quotes::Keep).unwrap();
    assert_eq!(title(&world, first.session), "Lamps");
    assert_eq!(recorded(&world, &before).as_deref(), Some("Plan"));
    let marks: Vec<_> = all.walk(first.session, 0).map(Result::unwrap).collect();
    let titles: Vec<_> = marks.iter().filter_map(|e| e.body.mark()?.title.as_deref()).collect();
    assert_eq!(titles, ["", "Lamps"]);
    assert_eq!(world.entry(&renamed).body.mark().unwrap().title.as_deref(), Some("Lamps"));
    sound(&world);
}

#[test]
fn what_quotes_recorded_goes_with_an_erased_session() {
    let world = open();
    let first = world.says("Acme/Plan", (Owner, "Mira"), "the lamp 4711 is dark");
    let held = placed(&world.forward(&first, "Beta/Build"));
    let all = world.all();
    all.erase(sayso::store::Target::Session(first.session), sayso::store::Forks::Refuse, Quotes::Keep)
        .unwrap();
    assert_eq!(recorded(&world, &held).as_deref(), Some(""));
    sound(&world);
}
