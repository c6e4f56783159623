//! Files that are still being written.

use sayso_model::MarkKind::RolledBack;
use serde_json::json;

use super::claude;
use super::codex::{agent, announced, completed, line, meta, user};
use super::pi::{header, message};
use super::{Sample, assert_counted};

/// Whether a turn was imported by a speaker who did not say it, and stands once more by the right one.
fn is_corrected(sample: &Sample, entry: &sayso::Entry) -> bool {
    let marks = sample.ledger.reader(sayso::Scope::All).marks(entry.id).unwrap();
    marks.iter().any(|mark| mark.route.ends_with(" corrected"))
}

/// The texts of all turns, in no order: what was decided early may stand elsewhere.
fn texts(sample: &Sample) -> Vec<String> {
    let turns = sample.entries().into_iter().filter(|e| !is_corrected(sample, e));
    let mut texts: Vec<_> = turns.filter_map(|e| e.turn().map(sayso_model::Turn::text)).collect();
    texts.sort();
    texts
}

/// The turns that still stand, with who said them. A branch may be left, and come back, more often in a file that grows.
fn standing(sample: &Sample) -> Vec<String> {
    let reader = sample.ledger.reader(sayso::Scope::All);
    let stands = |e: &sayso::Entry| {
        let marks = reader.marks(e.id).unwrap();
        let last = marks.iter().rev().map(|m| m.kind).find(|kind| kind.is_standing());
        last.is_none_or(|kind| kind == sayso_model::MarkKind::Restored)
    };
    let said = |turn: &sayso_model::Turn| format!("{} {}", turn.speaker.kind, turn.text());
    let mut said: Vec<_> =
        sample.entries().iter().filter(|e| stands(e)).filter_map(|e| e.turn()).map(said).collect();
    said.sort();
    said
}

/// Entries without the marks of branches and titles, and without what was corrected.
fn entries(sample: &Sample) -> usize {
    let is_late = |kind: sayso_model::MarkKind| kind.is_standing() || kind == sayso_model::MarkKind::Renamed;
    let branch = |e: &sayso::Entry| matches!(&e.body, sayso_model::EntryBody::Mark(m) if is_late(m.kind));
    sample.entries().iter().filter(|e| !branch(e) && !is_corrected(sample, e)).count()
}

/// Imports starts of a file and then all of it: the turns are those of importing it at once.
pub(super) fn grows_from(name: &str, text: &str, starts: impl Iterator<Item = usize>) {
    let whole = Sample::new();
    whole.import(text);
    let (wanted, stand, count) = (texts(&whole), standing(&whole), entries(&whole));
    for length in starts {
        let sample = Sample::new();
        let start = &text.as_bytes()[..length];
        if let Ok(report) = sample.try_import(start) {
            assert_counted(&report);
            assert_eq!(report.bytes + report.pending, length as u64, "{name} at {length}");
        }
        assert_eq!(sample.import(text).changed, 0, "{name} at {length}");
        assert_eq!(texts(&sample), wanted, "{name} at {length}: {}", String::from_utf8_lossy(start));
        assert_eq!(standing(&sample), stand, "{name} at {length}");
        let again = sample.import(text);
        assert_eq!((again.turns_added, entries(&sample)), (0, count), "{name} at {length}");
    }
}

/// The same, one import after the other of an ever longer file.
fn grows_step_by_step(name: &str, text: &str, starts: impl Iterator<Item = usize>) {
    let (whole, sample) = (Sample::new(), Sample::new());
    whole.import(text);
    for length in starts {
        let _ = sample.try_import(&text.as_bytes()[..length]);
    }
    assert_eq!(texts(&sample), texts(&whole), "{name}");
    assert_eq!(sample.import(text).turns_added, 0, "{name}");
}

/// Grows by single bytes.
fn by_bytes(name: &str, text: &str) {
    grows_from(name, text, 0..=text.len());
    grows_step_by_step(name, text, 0..=text.len());
}

/// Grows by whole records.
pub(super) fn by_lines(name: &str, lines: &[String]) {
    let text = lines.join("\n");
    let ends = || text.match_indices('\n').map(|(at, _)| at).chain([text.len()]);
    grows_from(name, &text, ends());
    grows_step_by_step(name, &text, ends());
}

#[test]
fn a_rollout_grows() {
    let call = json!({"type": "function_call", "name": "f", "call_id": "c", "arguments": "{}"});
    let output = json!({"type": "function_call_output", "call_id": "c", "output": "한글"});
    let end = json!({"type": "exec_command_end", "call_id": "c", "aggregated_output": "more"});
    let lines = [
        meta(),
        user(&["<environment_context>"]),
        user(&["hi 👩‍👩‍👧"]),
        announced("hi 👩‍👩‍👧"),
        line("response_item", call),
        line("response_item", output),
        line("event_msg", end),
        line("compacted", json!({"message": "sum"})),
        agent("done"),
    ];
    by_bytes("a rollout", &lines.join("\n"));
}

#[test]
fn announcements_that_come_late_or_early_change_no_text() {
    let cases: [(&str, Vec<String>); 11] = [
        (
            "typed like the program's",
            vec![user(&["<skill> is a tag"]), announced("<skill> is a tag"), agent("ok")],
        ),
        ("one of two", vec![user(&["x"]), user(&["a"]), announced("a"), announced("b"), agent("ok")]),
        ("demoted", vec![user(&["expanded"]), announced("typed"), agent("ok")]),
        ("before", vec![announced("a"), user(&["a"]), agent("ok")]),
        ("completed before", vec![completed("a"), user(&["a"]), agent("ok")]),
        ("both before", vec![completed("a"), announced("a"), user(&["a"]), agent("ok")]),
        ("both, and no item", vec![completed("a"), announced("a"), agent("ok")]),
        ("message first", vec![announced("a"), completed("a"), agent("ok")]),
        ("around", vec![completed("a"), user(&["a"]), announced("a"), agent("ok")]),
        ("twice the same", vec![announced("a"), announced("a"), user(&["a"]), user(&["a"]), agent("ok")]),
        ("another before", vec![user(&["x"]), announced("a"), user(&["a"]), agent("ok")]),
    ];
    for (name, lines) in cases {
        let lines: Vec<_> = std::iter::once(meta()).chain(lines).collect();
        by_lines(name, &lines);
    }
}

#[test]
fn what_turns_out_not_to_be_the_owners_is_corrected() {
    let sample = Sample::new();
    let lines = [meta(), user(&["expanded"]), announced("typed"), agent("ok")];
    assert_eq!(sample.import(&lines[..2].join("\n")).turns_added, 1);
    let report = sample.import(&lines.join("\n"));
    assert_eq!((report.turns_added, report.left_out), (3, 1));
    let said: Vec<_> = sample.said().into_iter().map(|(kind, _, text)| format!("{kind} {text}")).collect();
    assert_eq!(said, ["owner expanded", "system expanded", "owner typed", "agent ok"]);
    assert_eq!(sample.marks(), [(RolledBack, Some("expanded".to_owned()), "codex corrected".to_owned())]);
    let context = sample.ledger.reader(sayso::Scope::All);
    let context =
        context.context(report.session.unwrap(), sayso::view::context::Provider::OpenAiChat, None).unwrap();
    assert_eq!(context.input.to_string().matches("expanded").count(), 1);
    let again = sample.import(&lines.join("\n"));
    assert_eq!((again.turns_added, again.left_out, sample.entries().len()), (0, 0, 5));
}

#[test]
fn an_announced_block_of_a_larger_item_is_not_stored_twice() {
    let sample = Sample::new();
    let lines = [meta(), announced("a"), user(&["<skill>", "a"])];
    sample.import(&lines[..2].join("\n"));
    sample.import(&lines.join("\n"));
    assert_eq!(texts(&sample), ["<skill>", "a"]);
}

#[test]
fn a_session_of_pi_grows() {
    let lines = [
        header(),
        message("a", json!({"role": "user", "content": "hi\u{FEFF}"})),
        message("b", json!({"role": "assistant", "content": [{"type": "text", "text": "é"}]})),
        json!({"type": "compaction", "id": "c", "summary": "s", "firstKeptEntryId": "b"}).to_string(),
        json!({"type": "message", "message": {"role": "user", "content": "no id"}}).to_string(),
    ];
    by_bytes("pi", &(lines.join("\r\n") + "\r\n"));
}

#[test]
fn a_session_of_claude_code_grows() {
    let side = json!({"isSidechain": true, "message": {"content": "find"}});
    let lines = [
        json!({"type": "file-history-snapshot", "messageId": "m", "snapshot": {}}).to_string(),
        claude::user("a", json!("hi\n<system-reminder>r</system-reminder>")),
        claude::agent("b", json!([{"type": "tool_use", "id": "1", "name": "Bash", "input": {}}])),
        claude::record("user", "c", side),
        claude::user("d", claude::result("1", "é")),
        claude::record("user", "e", json!({"isCompactSummary": true, "message": {"content": "sum"}})),
        claude::agent("f", claude::text("done")),
    ];
    by_bytes("claude code", &(lines.join("\r\n") + "\r\n"));
}

#[test]
fn untidy_lines_grow() {
    let say = |id: &str| message(id, json!({"role": "user", "content": id}));
    let text = format!(
        "\u{FEFF}{}\r\n{}{}\n\0\0\x0C{}\n{}{{\"type\":\"mess{}\n{}\n\0\0\0",
        header(),
        say("a"),
        say("b"),
        say("c"),
        say("d"),
        say("glued"),
        say("e").replace("\"e\"}", "\"\\ud83d\"}"),
    );
    by_bytes("untidy", &text);
    let sample = Sample::new();
    let report = sample.import(&text);
    assert_eq!((report.turns_added, report.skipped["broken_line"], report.repairs), (6, 1, 1));
    assert_eq!(texts(&sample), ["a", "b", "c", "d", "glued", "\u{FFFD}"]);
    assert_eq!(sample.turns().iter().map(|t| t.repairs).sum::<u32>(), 1);
}

#[test]
fn a_file_that_was_rewritten_is_named_and_nothing_is_merged() {
    let say = |id: &str, text: &str| message(id, json!({"role": "user", "content": text}));
    let sample = Sample::new();
    sample.import(&[header(), say("a", "one"), say("b", "two")].join("\n"));
    let report = sample.import(&[header(), say("a", "other"), say("b", "two"), say("c", "three")].join("\n"));
    assert_eq!((report.changed, report.late, report.turns_known, report.turns_added), (1, 0, 2, 1));
    assert_eq!(texts(&sample), ["one", "three", "two"]);
    // Records without an id are known by their place and their bytes.
    let sample = Sample::new();
    sample.import(&[meta(), user(&["one"]), agent("two")].join("\n"));
    let report = sample.import(&[meta(), user(&["other"]), agent("two"), agent("three")].join("\n"));
    assert_eq!((report.changed, report.late, report.turns_known, report.turns_added), (0, 1, 1, 2));
}

#[test]
fn a_session_without_a_title_gets_the_one_that_the_transcript_tells() {
    let untitled = |title: &str| {
        let sample = Sample::new();
        let project = sample.ledger.project(&sayso::Scope::All, "harbour").unwrap();
        let alias = sayso::store::Alias::new("codex", "s-1");
        let kind = sayso_model::SessionKind::Live;
        sample.ledger.session_as(&sayso::Scope::All, project.id, &alias, title, kind).unwrap();
        sample
    };
    let lines = [meta(), user(&["Plan the move\nsoon"]), agent("ok")];
    let sample = untitled(&crate::placeholder("codex", "s-1"));
    sample.import(&lines[..1].join("\n"));
    assert_eq!(sample.title(), "codex s-1");
    sample.import(&lines.join("\n"));
    assert_eq!(sample.title(), "Plan the move");
    let renamed =
        |sample: &Sample| sample.marks().iter().filter(|m| m.0 == sayso_model::MarkKind::Renamed).count();
    sample.import(&lines.join("\n"));
    assert_eq!(renamed(&sample), 1);
    let session = sample.ledger.reader(sayso::Scope::All).sessions(None).unwrap()[0].id;
    sample.ledger.reader(sayso::Scope::All).rename_session(session, "Mine").unwrap();
    sample.import(&[lines.join("\n"), agent("more")].join("\n"));
    assert_eq!((sample.title(), renamed(&sample)), ("Mine".to_owned(), 2));
    let named = untitled("codex by hand");
    named.import(&lines.join("\n"));
    assert_eq!((named.title(), renamed(&named)), ("codex by hand".to_owned(), 0));
}

/// A rollout with every sort of record that is held back until more is read.
fn long_rollout() -> String {
    let line = |kind: &str, payload: serde_json::Value| {
        serde_json::json!({"timestamp": "2026-11-30T22:54:11Z", "type": kind, "payload": payload}).to_string()
            + "\n"
    };
    let message = |role: &str, text: &str| serde_json::json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]});
    let mut text = line("session_meta", serde_json::json!({"id": "s1", "cwd": "/work/harbour"}));
    for n in 0..6 {
        text += &line("response_item", message("user", &format!("question {n}")));
        text += &line(
            "event_msg",
            serde_json::json!({"type": "user_message", "message": format!("question {n}")}),
        );
        text += &line("response_item", message("assistant", &format!("answer {n}")));
    }
    text
}

#[test]
fn an_import_in_steps_gives_what_one_import_gives() {
    let whole = Sample::new();
    whole.import(&long_rollout());
    for step in 1..8 {
        let sample = Sample::new();
        std::fs::write(sample.path(), long_rollout()).unwrap();
        let mut read = 0;
        loop {
            // Each time there is time for a few records more than were read before.
            read += step;
            let mut left = read;
            let more = &mut |_| {
                left -= 1;
                if left > 0 { std::ops::ControlFlow::Continue(()) } else { std::ops::ControlFlow::Break(()) }
            };
            let (_, reach) =
                crate::Importer::new("Mira").import_while(&sample.ledger, &sample.path(), more).unwrap();
            assert_eq!(
                sample.said().is_empty(),
                read < 3,
                "after {read} records some turns are decided, and written"
            );
            if reach == crate::Reach::Whole {
                break;
            }
        }
        assert_eq!(sample.said(), whole.said(), "{step} more records at a time");
        assert_eq!(sample.marks(), whole.marks());
    }
}
