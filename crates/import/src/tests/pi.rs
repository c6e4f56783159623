//! pi sessions, rule by rule.

use sayso::Scope;
use sayso::SpeakerKind::{Agent, Owner, System, Tool};
use sayso_model::{EntryBody, MarkKind, Outcome, PartBody};
use serde_json::{Value, json};

use super::{Sample, parts};

pub(super) fn header() -> String {
    json!({"type": "session", "version": 3, "id": "p-1", "cwd": "C:\\work\\harbour"}).to_string()
}

pub(super) fn message(id: &str, message: Value) -> String {
    json!({"type": "message", "id": id, "timestamp": "2026-03-01T10:00:00Z", "message": message}).to_string()
}

fn entry(id: &str, mut entry: Value) -> String {
    entry["id"] = id.into();
    entry.to_string()
}

fn text(text: &str) -> Value {
    json!([{"type": "text", "text": text}])
}

#[test]
fn roles_decide_who_speaks() {
    let sample = Sample::new();
    let answer = json!([
        {"type": "thinking", "thinking": "hm", "thinkingSignature": "x"},
        {"type": "text", "text": "one"},
        {"type": "toolCall", "id": "t", "name": "read", "arguments": {"path": "a"}},
        {"type": "text", "text": "two"},
    ]);
    let image =
        json!([{"type": "text", "text": "see"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]);
    let lines = [
        header(),
        message("a", json!({"role": "user", "content": "hi"})),
        message("b", json!({"role": "user", "content": image})),
        message("c", json!({"role": "assistant", "model": "opus", "content": answer})),
        message("d", json!({"role": "assistant", "content": []})),
        message(
            "e",
            json!({"role": "toolResult", "toolName": "read", "toolCallId": "t", "isError": true, "content": text("no")}),
        ),
        message("f", json!({"role": "bashExecution", "command": "ls", "output": "x\n", "exitCode": 0})),
        message("g", json!({"role": "custom", "customType": "k", "content": "note"})),
        message("h", json!({"role": "hookMessage", "content": text("hook")})),
        entry("i", json!({"type": "custom_message", "customType": "k", "content": text("shown")})),
        entry("j", json!({"type": "branch_summary", "summary": "tried"})),
    ];
    let report = sample.import(&lines.join("\n"));
    assert_eq!((report.turns_added, report.unknown), (10, 0));
    let said = |kind, name: &str, text: &str| (kind, name.to_owned(), text.to_owned());
    let wanted = [
        said(Owner, "Mira", "hi"),
        said(Owner, "Mira", "see"),
        said(Agent, "opus", "one\ntwo"),
        said(Agent, "pi", ""),
        said(Tool, "read", "no"),
        said(Tool, "bash", "x\n"),
        said(System, "pi", "note"),
        said(System, "pi", "hook"),
        said(System, "pi", "shown"),
        said(System, "pi", "tried"),
    ];
    assert_eq!(sample.said(), wanted);
    let turns = sample.turns();
    let words: Vec<_> = parts(&turns[2]).into_iter().map(|(_, w, t)| (w, t)).collect();
    let call = ("call", "{\"path\":\"a\"}".to_owned());
    let wanted = [("open", "hm".to_owned()), ("text", "one".to_owned()), call, ("text", "two".to_owned())];
    assert_eq!(words, wanted);
    assert_eq!(parts(&turns[1])[1].1, "attachment");
    assert_eq!(parts(&turns[5])[0], (Owner, "call", "ls".to_owned()));
    let outcomes: Vec<_> = turns
        .iter()
        .flat_map(|t| &t.parts)
        .filter_map(|p| match &p.body {
            PartBody::ToolResult(r) => Some(r.outcome),
            _ => None,
        })
        .collect();
    assert_eq!(outcomes, [Outcome::Failed, Outcome::Ok]);
    let project = sample.ledger.reader(Scope::All).projects().unwrap();
    assert_eq!(project[0].name, "harbour");
}

#[test]
fn a_session_has_the_name_it_was_given_first() {
    let named = entry("n", json!({"type": "session_info", "name": "The move"}));
    let hi = message("a", json!({"role": "user", "content": "hi"}));
    for (lines, title) in [([header(), named.clone(), hi.clone()], "The move"), ([header(), hi, named], "hi")]
    {
        let sample = Sample::new();
        sample.import(&lines.join("\n"));
        assert_eq!(sample.title(), title);
    }
    let sample = Sample::new();
    sample.import(&[header(), message("a", json!({"role": "assistant", "content": "hm"}))].join("\n"));
    assert_eq!(sample.title(), "p-1");
}

fn boundaries(lines: &[String]) -> Vec<u64> {
    let sample = Sample::new();
    sample.import(&lines.join("\n"));
    // A second time everything is known.
    assert_eq!(sample.import(&lines.join("\n")).turns_added, 0);
    let entries = sample.entries().into_iter();
    let compactions = entries.filter_map(|e| match e.body {
        EntryBody::Compaction(c) => Some(c.through),
        _ => None,
    });
    compactions.collect()
}

#[test]
fn a_compaction_ends_before_what_it_keeps() {
    let hi = |id: &str| message(id, json!({"role": "user", "content": id}));
    let kept = |value: Value| {
        let mut compaction = json!({"type": "compaction", "summary": "s"});
        compaction.as_object_mut().unwrap().extend(value.as_object().unwrap().clone());
        entry("z", compaction)
    };
    let level = entry("l", json!({"type": "thinking_level_change"}));
    let cases = [
        (json!({"firstKeptEntryId": "a"}), 0),
        (json!({"firstKeptEntryId": "b"}), 1),
        (json!({"firstKeptEntryId": "l"}), 1),
        (json!({"firstKeptEntryId": "c"}), 2),
        (json!({"firstKeptEntryId": "gone"}), 3),
        (json!({"firstKeptEntryIndex": 1}), 0),
        (json!({"firstKeptEntryIndex": 4}), 2),
        (json!({"firstKeptEntryIndex": 99}), 3),
        (json!({}), 3),
    ];
    for (kept_from, wanted) in cases {
        let lines = [header(), hi("a"), level.clone(), hi("b"), hi("c"), kept(kept_from.clone()), hi("d")];
        assert_eq!(boundaries(&lines), [wanted], "{kept_from}");
    }
}

#[test]
fn what_holds_no_turn_is_counted_by_kind() {
    let sample = Sample::new();
    let kinds = ["model_change", "thinking_level_change", "session_info", "label", "custom"];
    let mut lines = vec![header()];
    lines.extend(kinds.iter().map(|kind| entry(kind, json!({"type": kind}))));
    lines.push(entry("x", json!({"type": "novel"})));
    lines.push(message("y", json!({"role": "robot"})));
    let report = sample.import(&lines.join("\n"));
    assert!(kinds.iter().all(|kind| report.skipped[*kind] == 1));
    assert_eq!(report.unknown_kinds.keys().collect::<Vec<_>>(), ["message/robot", "novel"]);
}

#[test]
fn times_come_from_the_record_or_else_from_the_message() {
    let sample = Sample::new();
    let user = |timestamp: Value| json!({"role": "user", "content": "x", "timestamp": timestamp});
    let lines = [
        header(),
        message("a", user(1.into())),
        json!({"type": "message", "id": "b", "message": user(1_500.into())}).to_string(),
        json!({"type": "message", "id": "c", "message": user(Value::Null)}).to_string(),
    ];
    sample.import(&lines.join("\n"));
    let times: Vec<_> = sample.turns().iter().map(|t| t.said_at.map(|at| at.utc())).collect();
    let wanted = [Some("2026-03-01T10:00:00Z"), Some("1970-01-01T00:00:01.500Z"), None];
    assert_eq!(times, wanted.map(|t| t.map(str::to_owned)));
}

#[test]
fn a_repeated_id_loses_nothing() {
    let sample = Sample::new();
    let say = |words: &str| message("a", json!({"role": "user", "content": words}));
    let none = json!({"type": "message", "message": {"role": "user", "content": "three"}}).to_string();
    let lines = [header(), say("one"), say("two"), none.clone(), none];
    assert_eq!(sample.import(&lines.join("\n")).turns_added, 4);
    assert_eq!(sample.import(&lines.join("\n")).turns_known, 4);
}

#[test]
fn what_the_model_was_not_shown_stays_out_of_its_context() {
    let bash = |id: &str, command: &str, hidden: Value| {
        let mut run =
            json!({"role": "bashExecution", "command": command, "output": "printed", "exitCode": 0});
        run["excludeFromContext"] = hidden;
        message(id, run)
    };
    let lines = [
        header(),
        message("a", json!({"role": "user", "content": "hi"})),
        bash("b", "secret-one", json!(true)),
        bash("c", "seen-one", json!(false)),
        message("d", json!({"role": "user", "content": "go on"})),
    ];
    let sample = Sample::new();
    for length in [3, lines.len(), lines.len()] {
        sample.import(&lines[..length].join("\n"));
    }
    assert_eq!(
        sample.marks(),
        [(MarkKind::RolledBack, Some("printed".to_owned()), "pi excluded".to_owned())]
    );
    let reader = sample.ledger.reader(Scope::All);
    let session = reader.sessions(None).unwrap()[0].id;
    for provider in sayso::view::context::Provider::ALL {
        let context = reader.context(session, provider, None).unwrap().input.to_string();
        assert!(!context.contains("secret-one") && context.contains("seen-one"), "{context}");
    }
    assert_eq!(sample.said().len(), 4);
}
