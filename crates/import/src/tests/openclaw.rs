//! OpenClaw sessions: what differs from pi's, archives, and the database.

use std::path::PathBuf;

use sayso::SpeakerKind::{Agent, Owner, System};
use sayso::{Scope, SpeakerKind};
use sayso_model::{EntryBody, MarkKind};
use serde_json::{Value, json};

use super::pi::{header, message};
use super::{Sample, assert_counted, parts};
use crate::{FileReport, ImportError, Importer};

/// Imports lines as a file of this name among OpenClaw's sessions.
fn file(sample: &Sample, name: &str, lines: &[String]) -> Result<FileReport, ImportError> {
    let folder = sample.folder().join("agents/main/sessions");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, lines.join("\n") + "\n").unwrap();
    Importer::new("Mira").import_file(&sample.ledger, &path, &mut |_| {})
}

fn user(id: &str, text: &str) -> String {
    message(id, json!({"role": "user", "content": [{"type": "text", "text": text}]}))
}

fn said(sample: &Sample) -> Vec<(SpeakerKind, String)> {
    sample.said().into_iter().map(|(kind, _, text)| (kind, text)).collect()
}

#[test]
fn what_the_program_says_is_not_the_models_or_the_owners() {
    let sample = Sample::new();
    let answer =
        |id: &str, model: &str| message(id, json!({"role": "assistant", "model": model, "content": "x"}));
    let from = |id: &str, provenance: Value| {
        message(id, json!({"role": "user", "content": "hello", "provenance": provenance}))
    };
    let lines = [
        header(),
        user("a", "[OpenClaw heartbeat poll]"),
        user("b", "System: [2026-04-13] Node connected\n\nwhat is up?"),
        answer("c", "gateway-injected"),
        answer("d", "delivery-mirror"),
        answer("e", "opus"),
        from("f", json!({"kind": "internal_system"})),
        from("g", json!({"kind": "inter_session", "sourceSessionKey": "agent:bob:main"})),
        from("h", json!({"kind": "external_user"})),
        message("i", json!({"role": "system", "content": "rules"})),
        json!({"type": "compact", "id": "j", "note": "n"}).to_string(),
    ];
    let report = file(&sample, "a.jsonl", &lines).unwrap();
    assert_counted(&report);
    assert_eq!((report.unknown, report.skipped["compact"]), (0, 1));
    let kinds: Vec<_> = said(&sample).into_iter().map(|(kind, _)| kind).collect();
    assert_eq!(kinds, [System, Owner, System, System, Agent, System, Agent, Owner, System]);
    let turns = sample.turns();
    assert_eq!(turns[1].text(), "System: [2026-04-13] Node connected\n\nwhat is up?");
    assert_eq!(parts(&turns[1]).iter().map(|p| p.0).collect::<Vec<_>>(), [System, Owner]);
    let names: Vec<_> = turns.iter().map(|t| t.speaker.name.as_str()).collect();
    assert_eq!((names[2], names[6]), ("OpenClaw", "agent:bob:main"));
    assert_eq!(sample.title(), "what is up?");
}

#[test]
fn the_same_records_elsewhere_are_pis() {
    let sample = Sample::new();
    sample.import(&[header(), user("a", "[OpenClaw heartbeat poll]")].join("\n"));
    assert_eq!(sample.said(), [(Owner, "Mira".to_owned(), "[OpenClaw heartbeat poll]".to_owned())]);
}

fn states(sample: &Sample) -> Vec<(MarkKind, String)> {
    let marks = sample.entries().into_iter().filter_map(|e| match e.body {
        EntryBody::Mark(mark) => Some((mark.kind, mark.route)),
        _ => None,
    });
    marks.collect()
}

#[test]
fn an_archive_closes_its_session() {
    let sample = Sample::new();
    let lines = [header(), user("a", "one"), user("b", "two")];
    file(&sample, "a.jsonl", &lines[..2]).unwrap();
    let report = file(&sample, "a.jsonl.reset.2026-04-13T00-53-49.392Z", &lines).unwrap();
    assert_eq!((report.turns_added, report.turns_known), (1, 1));
    let closed = (MarkKind::Closed, "openclaw reset".to_owned());
    assert_eq!(states(&sample), std::slice::from_ref(&closed));
    let again = file(&sample, "a.jsonl.reset.2026-04-13T00-53-49.392Z", &lines).unwrap();
    assert_eq!((again.turns_added, states(&sample).len()), (0, 1));
    // Another archive of it.
    let more = [lines[0].clone(), user("c", "three")];
    file(&sample, "a.jsonl.deleted.2026-05-01T00-00-00.000Z", &more).unwrap();
    let deleted = |kind| (kind, "openclaw deleted".to_owned());
    assert_eq!(states(&sample), [closed, deleted(MarkKind::Reopened), deleted(MarkKind::Closed)]);
    assert_eq!(said(&sample).len(), 3);
}

#[test]
fn what_stands_beside_sessions_is_passed_over() {
    let sample = Sample::new();
    let lines = [header(), user("a", "one")];
    for name in ["a.trajectory.jsonl", "a.checkpoint.12.jsonl", "a.jsonl.bak-1-2", "sessions.json"] {
        let error = file(&sample, name, &lines).unwrap_err();
        assert!(matches!(error, ImportError::Beside { .. }), "{name}");
    }
    file(&sample, "a.jsonl", &lines).unwrap();
    let report =
        Importer::new("Mira").import_paths(&sample.ledger, &[sample.folder().to_owned()], &mut |_| {});
    assert_eq!((report.files, report.refused.len(), report.passed_over.len()), (1, 0, 4));
}

/// A database that `sqlite3` of OpenClaw's kind holds, with these events.
fn database(sample: &Sample, events: &[(&str, String)]) -> PathBuf {
    let path = sample.folder().join("openclaw-agent.sqlite");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT)")
        .unwrap();
    for (seq, (session, json)) in (0_i64..).zip(events) {
        conn.execute("INSERT INTO transcript_events VALUES (?1, ?2, ?3)", (session, seq, json)).unwrap();
    }
    path
}

#[test]
fn a_database_holds_many_sessions() {
    let sample = Sample::new();
    let head = json!({"type": "session", "version": 3, "id": "p-1", "cwd": "/work/harbour"}).to_string();
    let lone =
        json!({"type": "message", "message": {"role": "user", "content": "no id \u{1F600}"}}).to_string();
    let kept = json!({"type": "compaction", "id": "k", "summary": "s", "firstKeptEntryIndex": 1}).to_string();
    let events = [
        ("p-1", head),
        ("p-1", user("a", "one")),
        ("p-2", lone),
        ("p-2", user("b", "two")),
        ("p-2", kept),
        ("p-2", "{\"type\":\"mess".to_owned()),
        ("p-3", json!({"type": "custom", "id": "c"}).to_string()),
    ];
    let path = database(&sample, &events);
    let import = || Importer::new("Mira").import_file(&sample.ledger, &path, &mut |_| {}).unwrap();
    let report = import();
    assert_counted(&report);
    assert_eq!((report.records, report.turns_added, report.compactions), (6, 3, 1));
    assert_eq!((report.skipped["broken_line"], report.skipped["session"], report.beside.len()), (1, 1, 1));
    assert_eq!(sample.said().len(), 3);
    let through: Vec<_> = sample
        .entries()
        .into_iter()
        .filter_map(|e| match e.body {
            EntryBody::Compaction(c) => Some(c.through),
            _ => None,
        })
        .collect();
    assert_eq!(through, [1]);
    assert_eq!(import().turns_added, 0);
    // The session's own file adds nothing that the database had.
    let lines = [header(), user("a", "one")];
    let known = file(&sample, "p-1.jsonl", &lines).unwrap();
    assert_eq!((known.turns_known, known.session), (1, report.session));
    let projects = sample.ledger.reader(Scope::All).projects().unwrap();
    let mut names: Vec<_> = projects.into_iter().map(|p| p.name).collect();
    names.sort();
    assert_eq!(names, ["harbour", "openclaw"]);
}

#[test]
fn a_database_of_another_kind_is_refused() {
    let sample = Sample::new();
    let path = sample.folder().join("other.db");
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE a (b)").unwrap();
    let error = Importer::new("Mira").import_file(&sample.ledger, &path, &mut |_| {}).unwrap_err();
    assert!(matches!(error, ImportError::Unrecognised { .. }));
}
