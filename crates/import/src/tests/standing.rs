//! Turns that were taken back or left, and sessions that come from others.

use sayso_model::MarkKind::{self, Abandoned, Derived, Restored, RolledBack};
use serde_json::{Value, json};

use super::codex::{agent, announced, line, meta, user};
use super::{Sample, claude, growth};

fn rolled_back(turns: u64) -> String {
    line("event_msg", json!({"type": "thread_rolled_back", "num_turns": turns}))
}

fn marks(lines: &[String]) -> Vec<(MarkKind, Option<String>, String)> {
    let sample = Sample::new();
    sample.import(&lines.join("\n"));
    sample.marks()
}

/// The texts of the turns with marks of this kind.
fn marked(lines: &[String], kind: MarkKind) -> Vec<String> {
    marks(lines).into_iter().filter(|m| m.0 == kind).filter_map(|m| m.1).collect()
}

#[test]
fn what_was_taken_back_is_marked() {
    let start = [meta(), user(&["a"]), agent("b"), user(&["c"]), agent("d")];
    let with = |more: &[String]| [start.as_slice(), more].concat();
    let cases: [(&str, Vec<String>, &[&str]); 5] = [
        ("one", with(&[rolled_back(1), user(&["e"])]), &["c", "d"]),
        ("more than there are", with(&[rolled_back(9)]), &["a", "b", "c", "d"]),
        ("none", with(&[rolled_back(0)]), &[]),
        (
            "one after the other",
            with(&[rolled_back(1), user(&["e"]), rolled_back(2)]),
            &["c", "d", "a", "b", "e"],
        ),
        (
            "not the program's",
            with(&[user(&["<environment_context>"]), user(&["e"]), announced("e"), rolled_back(1)]),
            &["e"],
        ),
    ];
    for (name, lines, wanted) in cases {
        assert_eq!(marked(&lines, RolledBack), wanted, "{name}");
        growth::by_lines(name, &lines);
    }
}

#[test]
fn a_compaction_is_no_turn_that_could_be_taken_back() {
    let lines =
        [meta(), user(&["a"]), line("compacted", json!({"message": "s"})), agent("b"), rolled_back(1)];
    assert_eq!(marked(&lines, RolledBack), ["a", "b"]);
    let sample = Sample::new();
    let report = sample.import(&lines.join("\n"));
    assert_eq!((report.left_out, report.skipped["event_msg/thread_rolled_back"]), (2, 1));
    assert_eq!(sample.import(&lines.join("\n")).left_out, 0);
}

fn at(seconds: u32, kind: &str, payload: Value) -> String {
    let time = format!("2026-03-01T10:00:{seconds:02}.000Z");
    json!({"timestamp": time, "type": kind, "payload": payload}).to_string()
}

fn said(seconds: u32, role: &str, text: &str) -> String {
    let content = json!([{"type": if role == "user" { "input_text" } else { "output_text" }, "text": text}]);
    at(seconds, "response_item", json!({"type": "message", "role": role, "content": content}))
}

#[test]
fn a_fork_says_what_it_copied() {
    let header = at(0, "session_meta", json!({"id": "child", "forked_from_id": "parent"}));
    let lines = [
        header.clone(),
        at(1, "session_meta", json!({"id": "parent"})),
        said(1, "user", "question"),
        said(2, "assistant", "answer"),
        said(30, "user", "own"),
        said(31, "assistant", "words"),
    ];
    let derived = |of: Option<&str>| (Derived, of.map(str::to_owned), "codex parent".to_owned());
    assert_eq!(marks(&lines), [derived(Some("answer"))]);
    growth::by_lines("fork", &lines);
    // What was copied and what not is not known before its own words begin.
    assert_eq!(marks(&lines[..4]), []);
    assert_eq!(marks(&[header, said(30, "user", "own")]), [derived(None)]);
    let spawned =
        json!({"id": "c", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "parent"}}}});
    assert_eq!(marks(&[at(0, "session_meta", spawned), said(1, "user", "do it")]), [derived(None)]);
}

fn entry(id: &str, parent: &str) -> String {
    let message = json!({"role": "user", "content": id});
    json!({"type": "message", "id": id, "parentId": parent, "message": message}).to_string()
}

#[test]
fn branches_that_were_left_are_marked_until_one_comes_back() {
    let header = json!({"type": "session", "version": 3, "id": "p-1"}).to_string();
    let label = json!({"type": "label", "id": "l", "parentId": "d"}).to_string();
    let lines = [
        header,
        entry("a", "p-1"),
        entry("b", "a"),
        entry("c", "b"),
        entry("d", "a"),
        label,
        entry("e", "c"),
    ];
    assert_eq!(marked(&lines[..6], Abandoned), ["b", "c"]);
    assert_eq!(marked(&lines, Abandoned), ["d"]);
    let sample = Sample::new();
    for end in [6, 6, 7, 7] {
        sample.import(&lines[..end].join("\n"));
    }
    let mark = |kind, text: &str| (kind, Some(text.to_owned()), "pi".to_owned());
    let wanted = [
        mark(Abandoned, "b"),
        mark(Abandoned, "c"),
        mark(Restored, "b"),
        mark(Restored, "c"),
        mark(Abandoned, "d"),
    ];
    assert_eq!(sample.marks(), wanted);
}

#[test]
fn a_session_of_pi_says_which_one_it_was_branched_from() {
    let header = |id: &str| json!({"type": "session", "version": 3, "id": id}).to_string();
    let mut branched: Value = serde_json::from_str(&header("p-2")).unwrap();
    branched["parentSession"] = json!("/old/2026-03-01T10-00-00-000Z_p-1.jsonl");
    let change = json!({"type": "model_change", "id": "m", "modelId": "x"}).to_string();
    let child = [branched.to_string(), change, entry("a", "p-1"), entry("b", "a"), entry("x", "b")];
    let sample = Sample::new();
    sample.import(&[header("p-1"), entry("a", "p-1"), entry("b", "a"), entry("c", "b")].join("\n"));
    sample.import(&child.join("\n"));
    let derived = |of: Option<&str>| (Derived, of.map(str::to_owned), "pi p-1".to_owned());
    assert_eq!(sample.marks(), [derived(Some("b"))]);
    assert_eq!(sample.import(&child.join("\n")).turns_added, 0);
    assert_eq!(sample.marks().len(), 1);
    // Without the other session, nothing tells what was copied.
    assert_eq!(marks(&child), [derived(None)]);
}

#[test]
fn side_chains_come_from_their_session() {
    let side = json!({"isSidechain": true, "message": {"content": "find"}});
    let lines = [claude::user("a", json!("hi")), claude::record("user", "b", side)];
    assert_eq!(marks(&lines), [(Derived, None, "claude-code s-1/session".to_owned())]);
}
