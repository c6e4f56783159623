//! Rollouts, rule by rule.

use sayso::SpeakerKind::{Agent, Owner, System, Tool};
use sayso::{Scope, SpeakerKind};
use sayso_model::{EntryBody, Outcome, PartBody};
use serde_json::{Value, json};

use super::{Sample, parts, said};

pub(super) fn line(kind: &str, payload: Value) -> String {
    json!({"timestamp": "2026-03-01T10:00:00.250Z", "type": kind, "payload": payload}).to_string()
}

pub(super) fn meta() -> String {
    line("session_meta", json!({"id": "s-1", "cwd": "/work/harbour"}))
}

pub(super) fn user(texts: &[&str]) -> String {
    let blocks: Vec<Value> = texts.iter().map(|t| json!({"type": "input_text", "text": t})).collect();
    line("response_item", json!({"type": "message", "role": "user", "content": blocks}))
}

pub(super) fn agent(text: &str) -> String {
    let content = json!([{"type": "output_text", "text": text}]);
    line("response_item", json!({"type": "message", "role": "assistant", "content": content}))
}

pub(super) fn announced(text: &str) -> String {
    line("event_msg", json!({"type": "user_message", "message": text}))
}

pub(super) fn completed(text: &str) -> String {
    let content = json!([{"type": "text", "text": text}]);
    line("event_msg", json!({"type": "item_completed", "item": {"type": "UserMessage", "content": content}}))
}

fn item(payload: Value) -> String {
    line("response_item", payload)
}

type Said = Vec<(SpeakerKind, String)>;

/// Kinds and texts of the turns of a rollout with these lines.
fn turns(lines: &[String]) -> Said {
    let lines: Vec<String> = std::iter::once(meta()).chain(lines.iter().cloned()).collect();
    said(&lines).into_iter().map(|(kind, _, text)| (kind, text)).collect()
}

fn turn(kind: SpeakerKind, text: &str) -> (SpeakerKind, String) {
    (kind, text.to_owned())
}

#[test]
fn a_session_has_its_project_title_times_and_names() {
    let sample = Sample::new();
    let context = line("turn_context", json!({"model": "gpt-5"}));
    let text = [meta(), user(&["\n  Plan the move \nsoon"]), agent("before"), context, agent("after")];
    let report = sample.import(&text.join("\n"));
    assert_eq!(sample.title(), "Plan the move");
    let reader = sample.ledger.reader(Scope::All);
    let project = reader.project(report.project.unwrap()).unwrap().unwrap();
    assert_eq!(project.name, "harbour");
    let names: Vec<_> = sample.turns().into_iter().map(|t| t.speaker.name).collect();
    assert_eq!(names, ["Mira", "Codex", "gpt-5"]);
    assert_eq!(sample.turns()[0].said_at.unwrap().utc(), "2026-03-01T10:00:00.250Z");
    assert_eq!(report.skipped.get("turn_context"), Some(&1));
}

#[test]
fn roles_decide_and_later_headers_do_not() {
    let developer = item(json!({"type": "message", "role": "developer", "content": "rules"}));
    let system = item(json!({"type": "message", "role": "system", "content": []}));
    let other = line("session_meta", json!({"id": "s-0"}));
    let lines = [other, developer, system, user(&["hi", ""]), agent("yes")];
    let wanted = [turn(System, "rules"), turn(System, ""), turn(Owner, "hi\n"), turn(Agent, "yes")];
    assert_eq!(turns(&lines), wanted);
}

#[test]
fn what_the_program_wraps_is_its_own() {
    let sample = Sample::new();
    let image = json!({"type": "input_image", "image_url": "data:image/png;base64,aGk="});
    let pictured = item(json!({"type": "message", "role": "user", "content": [image]}));
    let wrapped = "\n <environment_context>\n</environment_context>";
    let text = [meta(), user(&[wrapped, "# AGENTS.md instructions for x"]), user(&[wrapped, "hi"]), pictured];
    sample.import(&text.join("\n"));
    let turns = sample.turns();
    assert_eq!(turns.iter().map(|t| t.speaker.kind).collect::<Vec<_>>(), [System, Owner, Owner]);
    let mixed = parts(&turns[1]);
    assert_eq!(mixed.iter().map(|p| p.0).collect::<Vec<_>>(), [System, Owner]);
    let PartBody::Attachment(image) = &turns[2].parts[0].body else { panic!() };
    let mut bytes = Vec::new();
    let reader = sample.ledger.reader(Scope::All);
    reader.read_output(image.output.unwrap(), sayso::store::StreamKind::Stdout, &mut bytes).unwrap();
    assert_eq!((image.media_type.as_str(), bytes.as_slice()), ("image/png", &b"hi"[..]));
}

#[test]
fn announced_words_are_found_in_their_item() {
    let wrapped = "<skill>mine</skill>";
    let cases: [(&str, Vec<String>, Said); 8] = [
        ("after", vec![user(&["a"]), announced("a")], vec![turn(Owner, "a")]),
        ("before", vec![completed("a"), user(&["a"])], vec![turn(Owner, "a")]),
        ("twice announced", vec![completed("a"), announced("a"), user(&["a"])], vec![turn(Owner, "a")]),
        (
            "joined",
            vec![user(&[wrapped, "a", "b"]), announced("a\nb")],
            vec![turn(Owner, "<skill>mine</skill>\na\nb")],
        ),
        ("one block", vec![user(&["a", "b"]), announced("b")], vec![turn(Owner, "a\nb")]),
        ("looks wrapped", vec![user(&[wrapped]), announced(wrapped)], vec![turn(Owner, wrapped)]),
        ("empty", vec![user(&["a"]), announced("")], vec![turn(Owner, "a")]),
        (
            "extra item stays",
            vec![user(&["a"]), user(&["b"]), announced("b")],
            vec![turn(Owner, "a"), turn(Owner, "b")],
        ),
    ];
    for (name, lines, wanted) in cases {
        assert_eq!(turns(&lines), wanted, "{name}");
    }
}

#[test]
fn words_announced_and_not_sent_demote_what_was_sent() {
    let wrapped = "<environment_context/> <environment_context>";
    let lines = [
        user(&["expanded"]),
        user(&[wrapped]),
        user(&["b"]),
        announced("b"),
        announced("typed"),
        agent("ok"),
    ];
    let wanted = [
        turn(System, "expanded"),
        turn(Owner, wrapped),
        turn(Owner, "b"),
        turn(Owner, "typed"),
        turn(Agent, "ok"),
    ];
    // A text that only mentions a wrapping is not wrapped.
    assert_eq!(turns(&lines)[0], wanted[0]);
    assert_eq!(turns(&lines)[2..], wanted[2..]);
    // An earlier segment is not touched.
    let lines = [user(&["first"]), agent("ok"), user(&["expanded"]), announced("typed")];
    let wanted = [turn(Owner, "first"), turn(Agent, "ok"), turn(System, "expanded"), turn(Owner, "typed")];
    assert_eq!(turns(&lines), wanted);
}

#[test]
fn every_output_of_the_model_ends_a_segment() {
    let outputs = [
        agent("x"),
        item(json!({"type": "reasoning", "summary": []})),
        item(json!({"type": "function_call", "name": "f", "call_id": "c", "arguments": ""})),
        item(json!({"type": "function_call_output", "call_id": "c", "output": ""})),
        item(json!({"type": "agent_message", "author": "sub", "recipient": "main", "content": []})),
        item(json!({"type": "computer_call"})),
    ];
    for output in outputs {
        let lines = [user(&["a"]), output.clone(), announced("b")];
        assert_eq!(turns(&lines)[0], turn(Owner, "a"), "{output}");
    }
    // Other items do not.
    let lines = [user(&["a"]), item(json!({"type": "ghost_snapshot"})), announced("b")];
    assert_eq!(turns(&lines)[0], turn(System, "a"));
}

#[test]
fn thoughts_and_calls_are_parts_without_text() {
    let sample = Sample::new();
    let summary = json!([{"type": "summary_text", "text": "one"}, {"type": "summary_text", "text": "two"}]);
    let text = [
        meta(),
        item(json!({"type": "reasoning", "summary": summary, "content": null, "encrypted_content": "gAAA"})),
        item(json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"})),
        item(
            json!({"type": "reasoning", "summary": [], "content": [{"type": "reasoning_text", "text": "raw"}]}),
        ),
        item(
            json!({"type": "custom_tool_call", "name": "apply_patch", "call_id": "c", "input": "*** Begin"}),
        ),
        item(json!({"type": "web_search_call", "action": {"type": "search", "query": "q"}})),
        item(json!({"type": "tool_search_call", "call_id": "t", "arguments": {"query": "q"}})),
        item(json!({"type": "image_generation_call", "id": "i", "result": "aGk="})),
    ];
    sample.import(&text.join("\n"));
    let found: Vec<Vec<_>> = sample.turns().iter().map(parts).collect();
    let words: Vec<Vec<_>> =
        found.iter().map(|p| p.iter().map(|(_, w, t)| format!("{w} {t}")).collect()).collect();
    let wanted: [&[&str]; 7] = [
        &["open one\ntwo", "sealed gAAA"],
        &["sealed gAAA"],
        &["open raw"],
        &["call *** Begin"],
        &["call {\"type\":\"search\",\"query\":\"q\"}"],
        &["call {\"query\":\"q\"}"],
        &["call ", "attachment "],
    ];
    assert_eq!(words, wanted);
    assert!(sample.turns().iter().all(|t| t.text().is_empty() && t.speaker.kind == Agent));
}

#[test]
fn results_have_the_text_that_the_model_saw() {
    let sample = Sample::new();
    let call = item(json!({"type": "function_call", "name": "shell", "call_id": "c", "arguments": "{}"}));
    let blocks = json!([{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "http://x/y"},
        {"type": "input_text", "text": "b"}]);
    let output =
        |output: Value| item(json!({"type": "function_call_output", "call_id": "c", "output": output}));
    let old = "{\"output\":\"no\",\"metadata\":{\"exit_code\":1}}";
    let lines = [
        meta(),
        call,
        output(json!(old)),
        output(json!("Exit code: 0\nOutput:\nok")),
        output(blocks),
        output(json!({"content": "c", "success": false})),
        output(json!({"output": "o", "success": true})),
        output(json!({"type": "input_text", "text": "t"})),
        output(json!(3)),
        output(Value::Null),
        item(json!({"type": "tool_search_output", "call_id": "x", "tools": [{"name": "n"}]})),
        item(json!({"type": "tool_search_output", "call_id": "x"})),
    ];
    sample.import(&lines.join("\n"));
    let found: Vec<_> = sample
        .turns()
        .iter()
        .filter(|t| t.speaker.kind == Tool)
        .map(|t| match &t.parts[0].body {
            PartBody::ToolResult(r) => (r.tool.clone(), r.outcome, t.text()),
            other => panic!("{other:?}"),
        })
        .collect();
    let shell = |outcome, text: &str| ("shell".to_owned(), outcome, text.to_owned());
    let wanted = [
        shell(Outcome::Failed, old),
        shell(Outcome::Ok, "Exit code: 0\nOutput:\nok"),
        shell(Outcome::Unknown, "a\nb"),
        shell(Outcome::Failed, "c"),
        shell(Outcome::Ok, "o"),
        shell(Outcome::Unknown, "{\"type\":\"input_text\",\"text\":\"t\"}"),
        shell(Outcome::Unknown, "3"),
        shell(Outcome::Unknown, ""),
        (String::new(), Outcome::Unknown, "[{\"name\":\"n\"}]".to_owned()),
        (String::new(), Outcome::Unknown, String::new()),
    ];
    assert_eq!(found, wanted);
}

#[test]
fn a_compaction_stands_for_everything_before_it() {
    let sample = Sample::new();
    let last = json!({"type": "message", "role": "user", "content":
        [{"type": "input_text", "text": "Another language model started; its summary: s"}]});
    let kept =
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "kept"}]});
    let lines = [
        meta(),
        user(&["a"]),
        line("compacted", json!({"message": "sum"})),
        user(&["b"]),
        line("compacted", json!({"message": "", "replacement_history": [kept, last]})),
        line("compacted", json!({"message": "", "replacement_history": [kept]})),
        line("compacted", json!({"message": "", "replacement_history": [kept, {"type": "compaction"}]})),
    ];
    let report = sample.import(&lines.join("\n"));
    assert_eq!(report.compactions, 4);
    let found: Vec<_> = sample
        .entries()
        .into_iter()
        .filter_map(|e| match e.body {
            EntryBody::Compaction(c) => Some((e.seq, c.through, c.summary)),
            _ => None,
        })
        .collect();
    let summary = "Another language model started; its summary: s".to_owned();
    let wanted =
        [(2, 1, "sum".to_owned()), (4, 3, summary), (5, 4, "kept".to_owned()), (6, 5, "kept".to_owned())];
    assert_eq!(found, wanted);
    let again = sample.import(&lines.join("\n"));
    assert_eq!((again.turns_known, again.compactions, sample.entries().len()), (2, 4, 6));
}

#[test]
fn what_holds_no_turn_is_counted_by_kind_and_the_rest_is_unknown() {
    let sample = Sample::new();
    let lines = [
        meta(),
        line("event_msg", json!({"type": "token_count"})),
        line("event_msg", json!({"type": "brand_new"})),
        line("world_state", json!({})),
        line("inter_agent_communication_metadata", json!({})),
        item(json!({"type": "ghost_snapshot"})),
        item(json!({"type": "compaction", "encrypted_content": "x"})),
        item(json!({"type": "novel"})),
        item(json!({"role": "user"})),
        item(json!({"type": "message", "role": "robot"})),
        line("future", json!({})),
        "7".to_owned(),
    ];
    let report = sample.import(&(lines.join("\n") + "\n"));
    assert_eq!((report.unknown, report.records, report.turns_added), (6, 12, 0));
    let skipped: Vec<_> = report.skipped.keys().map(String::as_str).collect();
    let wanted = [
        "event_msg/token_count",
        "inter_agent_communication_metadata",
        "response_item/compaction",
        "response_item/ghost_snapshot",
        "world_state",
    ];
    assert_eq!(skipped, wanted);
    assert_eq!((report.session, sample.entries().len()), (None, 0));
}

#[test]
fn flat_files_have_items_without_envelopes() {
    let sample = Sample::new();
    let lines = [
        json!({"id": "f", "timestamp": "2025-08-26T21:21:40Z", "instructions": null}).to_string(),
        json!({"record_type": "state"}).to_string(),
        json!({"type": "message", "id": null, "role": "user", "content": [{"type": "input_text", "text": "hi"}]})
            .to_string(),
        json!({"type": "function_call", "name": "f", "call_id": "c", "arguments": "{}"}).to_string(),
        json!({"type": "function_call_output", "call_id": "c", "output": "out"}).to_string(),
        json!({"type": "error", "text": "?"}).to_string(),
    ];
    let report = sample.import(&lines.join("\n"));
    assert_eq!((report.skipped["state"], report.unknown), (1, 1));
    let (mira, codex) = ("Mira".to_owned(), "Codex".to_owned());
    let wanted = [
        (Owner, mira, "hi".to_owned()),
        (Agent, codex, String::new()),
        (Tool, "f".to_owned(), "out".to_owned()),
    ];
    assert_eq!(sample.said(), wanted);
    assert!(sample.turns().iter().all(|t| t.said_at.is_none()));
    let project = sample.ledger.reader(Scope::All).projects().unwrap();
    assert_eq!(project[0].name, "codex");
}

/// A user item that says itself who wrote each block.
fn sourced(texts: &[(&str, &str)]) -> String {
    let blocks: Vec<Value> = texts.iter().map(|(_, t)| json!({"type": "input_text", "text": t})).collect();
    let sources: Vec<Value> = texts.iter().map(|(by, _)| json!({"provenance": {"type": by}})).collect();
    item(json!({"type": "message", "role": "user", "content": blocks,
        "internal_chat_message_metadata_passthrough": {"content_item_metadata": sources}}))
}

#[test]
fn what_an_item_says_of_its_blocks_counts_more_than_how_they_start() {
    let lines = [
        meta(),
        sourced(&[("harness", "Remember the rules."), ("user", "<skill> is a word I type.")]),
        sourced(&[("harness", "Rules alone.")]),
        // Somebody else's announcement does not take it away from the person.
        announced("elsewhere"),
    ];
    let sample = Sample::new();
    sample.import(&lines.join("\n"));
    let turns = sample.turns();
    let kinds: Vec<_> = turns.iter().map(|t| t.speaker.kind).collect();
    assert_eq!(kinds, [SpeakerKind::Owner, SpeakerKind::System, SpeakerKind::Owner]);
    let first = parts(&turns[0]);
    assert_eq!(first.iter().map(|p| p.0).collect::<Vec<_>>(), [SpeakerKind::System, SpeakerKind::Owner]);
}

#[test]
fn a_summary_that_a_compaction_wrote_is_no_answer() {
    let mut summary: Value = serde_json::from_str(&agent("So far: …")).unwrap();
    summary["metadata"] = json!({"compaction_output": true});
    let compacted = line("compacted", json!({"message": "So far: …", "replacement_history": []}));
    let sample = Sample::new();
    let report = sample.import(&[meta(), user(&["hi"]), summary.to_string(), compacted].join("\n"));
    assert_eq!((report.turns_added, report.compactions), (1, 1));
    assert_eq!(report.skipped["response_item/compaction_output"], 1);
}

#[test]
fn what_an_editor_put_before_the_words_stays_the_editors() {
    let around =
        "# Context from my IDE setup:\n\n## Open tabs:\n- a.rs: src/a.rs\n\n## My request for Codex:";
    let text = format!("{around}\nFix the parser.\nNow.");
    let sample = Sample::new();
    sample.import(&[meta(), user(&[&text]), announced(&text)].join("\n"));
    let turns = sample.turns();
    assert_eq!((turns.len(), turns[0].text()), (1, text.clone()));
    let texts: Vec<_> = parts(&turns[0]).into_iter().map(|(kind, _, text)| (kind, text)).collect();
    let words = (SpeakerKind::Owner, "Fix the parser.\nNow.".to_owned());
    assert_eq!(texts, [(SpeakerKind::System, around.to_owned()), words]);
    assert_eq!(sample.title(), "Fix the parser.");
}
