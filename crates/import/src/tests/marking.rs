//! Transcripts that show turns which were forwarded into their session.

use sayso::store::{Command, Forward, ForwardItem, Session};
use sayso::view::marker::{Message, Profile, join, render};
use sayso::{NewTurn, Scope, SpeakerKind, SpeakerRef};
use sayso_model::{EntryBody, MarkKind, Titles, TurnId};
use serde_json::json;

use super::Sample;
use super::codex::{agent, line, meta, user};
use super::pi::{header, message};

const UNKNOWN: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

/// Forwards a turn of another session into the imported one.
fn forwarded(sample: &Sample, note: Option<&str>) -> TurnId {
    let ledger = &sample.ledger;
    let sessions = ledger.reader(Scope::All).sessions(None).unwrap();
    let to: Session = sessions.into_iter().find(|s| s.title == "hi").unwrap();
    let from = ledger.session("other", "planning").unwrap();
    let source = ledger.append(&from, NewTurn::text(SpeakerKind::Agent, "Rocky", "It stands.")).unwrap();
    let id = ledger.fresh_entry();
    let by = ledger.speaker(&SpeakerRef::new(SpeakerKind::Owner, "Mira")).unwrap();
    let forward = Forward {
        session: to.id,
        by,
        items: vec![ForwardItem { id, source: source.id, selection: None, what: None }],
        note: note.map(str::to_owned),
        titles: Titles::Shown,
        key: None,
        expected_head: None,
    };
    ledger.write(&Scope::All, vec![Command::Forward(forward)]).unwrap();
    id
}

/// The marker of a turn, as a model is shown it.
fn marker(sample: &Sample, id: TurnId) -> String {
    let entry = sample.ledger.reader(Scope::All).entry(id).unwrap().unwrap();
    render(&Message::of(&entry).unwrap(), Profile::V1)
}

fn developer(text: &str) -> String {
    line("response_item", json!({"type": "message", "role": "developer", "content": text}))
}

fn marks(sample: &Sample) -> Vec<(MarkKind, Option<TurnId>, String)> {
    let entries = sample.entries().into_iter();
    let marks = entries.filter_map(|e| match e.body {
        EntryBody::Mark(mark) => Some((mark.kind, mark.of, mark.route)),
        _ => None,
    });
    marks.collect()
}

#[test]
fn a_marker_stands_for_the_turn_that_is_there() {
    let sample = Sample::new();
    let first = [meta(), user(&["hi"]), agent("ok")];
    sample.import(&first.join("\n"));
    let (plain, noted) = (forwarded(&sample, None), forwarded(&sample, Some("check this")));
    let shown = join(&[marker(&sample, plain), marker(&sample, noted)]);
    let mut lines = first.to_vec();
    lines.push(developer(&shown));
    let report = sample.import(&lines.join("\n"));
    assert_eq!((report.skipped["marker"], report.turns_added, report.marks), (1, 0, 2));
    let mark = |id| (MarkKind::InContext, Some(id), "codex".to_owned());
    assert_eq!(marks(&sample), [mark(plain), mark(noted)]);
    let again = sample.import(&lines.join("\n"));
    assert_eq!((again.skipped["marker"], again.marks), (1, 0));
    assert_eq!(marks(&sample).len(), 2);
}

#[test]
fn other_words_around_a_marker_are_kept() {
    let sample = Sample::new();
    let first = [meta(), user(&["hi"])];
    sample.import(&first.join("\n"));
    let id = forwarded(&sample, None);
    let mut lines = first.to_vec();
    lines.push(developer(&format!("Before.\n{}", marker(&sample, id))));
    let report = sample.import(&lines.join("\n"));
    assert_eq!((report.turns_added, report.marks, report.skipped.get("marker")), (1, 1, None));
}

#[test]
fn markers_of_other_sessions_and_in_answers_are_words() {
    let sample = Sample::new();
    sample.import(&[meta(), user(&["hi"])].join("\n"));
    let id = forwarded(&sample, None);
    let lines = [
        meta(),
        user(&["hi"]),
        developer(&marker(&sample, id).replace(&id.to_string(), UNKNOWN)),
        agent(&marker(&sample, id)),
    ];
    assert_eq!(sample.import(&lines.join("\n")).turns_added, 2);
    let elsewhere = message("a", json!({"role": "user", "content": marker(&sample, id)}));
    assert_eq!(sample.import(&[header(), elsewhere].join("\n")).turns_added, 1);
    assert_eq!(marks(&sample), []);
}

#[test]
fn pi_shows_markers_in_what_it_adds_and_in_what_the_owner_sends() {
    let sample = Sample::new();
    let hi = message("a", json!({"role": "user", "content": "hi"}));
    sample.import(&[header(), hi.clone()].join("\n"));
    let (one, two) = (forwarded(&sample, None), forwarded(&sample, None));
    let custom = json!({"type": "custom_message", "id": "b", "content": marker(&sample, one)}).to_string();
    let sent = message("c", json!({"role": "user", "content": marker(&sample, two)}));
    let report = sample.import(&[header(), hi, custom, sent].join("\n"));
    assert_eq!((report.skipped["marker"], report.turns_added, report.marks), (2, 0, 2));
}

#[test]
fn a_marker_that_was_cut_or_changed_is_words_and_marks_nothing() {
    let sample = Sample::new();
    let first = [meta(), user(&["hi"])];
    sample.import(&first.join("\n"));
    let id = forwarded(&sample, Some("check this"));
    let whole = marker(&sample, id);
    let changed = [whole.replace("stands", "fell"), whole.replace("check", "skip"), whole.replace("It ", "")];
    let mut lines = first.to_vec();
    lines.extend(changed.iter().map(|text| developer(text)));
    let report = sample.import(&lines.join("\n"));
    assert_eq!((report.turns_added, report.marks), (3, 0));
    assert_eq!(marks(&sample), []);
}
