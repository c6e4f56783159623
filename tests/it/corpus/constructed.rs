//! Sessions made up for the rules that published ones seldom need: the importers and the independent count agree on them.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::compare::{Kinds, check};

fn agree_on(name: &str, path: &Path) {
    let line = check(name, path, &mut Kinds::new());
    assert!(!line.contains("refused: "), "{line}");
}

/// Writes a file of these lines and lets both read it.
fn agree(name: &str, lines: &[Value]) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, lines.iter().map(Value::to_string).collect::<Vec<_>>().join("\n") + "\n").unwrap();
    agree_on(name, &path);
}

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

#[test]
fn openclaw() {
    let user = |content: Value| json!({"type": "message", "message": {"role": "user", "content": content}});
    let from = |kind: &str| {
        json!({"type": "message", "message": {"role": "user", "content": "by another",
            "provenance": {"kind": kind, "sourceSessionKey": "k"}}})
    };
    let origin = "Sender (untrusted metadata):\n```json\n{}\n```";
    let lines = [
        json!({"type": "session", "id": "s", "cwd": "/w"}),
        user(json!("words")),
        user(json!("[cron:12 daily] look")),
        user(json!("\n[OpenClaw heartbeat poll]")),
        user(json!(format!("System: [t] up\nSystem: [t] on\n\n{origin}\n\n[Thu] words\n"))),
        user(json!([text("System: [t] up"), {"type": "image", "data": "aGk=", "mimeType": "image/png"}])),
        user(json!(format!("{origin}\nwords, and {origin}"))),
        user(json!("Sender (untrusted metadata):\n```json\nopen")),
        user(json!([])),
        from("internal_system"),
        from("inter_session"),
        from("external_user"),
        json!({"type": "message", "message": {"role": "assistant", "model": "delivery-mirror", "content": [text("sent")]}}),
        json!({"type": "message", "message": {"role": "assistant", "model": "m", "content": [text("said")]}}),
        json!({"type": "message", "message": {"role": "system", "content": "set"}}),
        json!({"type": "message", "message": {"role": "toolResult", "toolName": "t", "content": {"type": "text", "text": "one"}}}),
        json!({"type": "compact"}),
        json!({"type": "compaction", "summary": "short"}),
    ];
    for name in [
        "openclaw/s.jsonl",
        "agents/main/sessions/s.jsonl",
        ".openclaw/s.jsonl.reset.2026-04-13T00-53-49.392Z",
        ".moltbot/s.jsonl.deleted.1",
    ] {
        agree(name, &lines);
    }
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("openclaw-agent.sqlite");
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.execute_batch("CREATE TABLE transcript_events(session_id TEXT, seq INTEGER, event_json TEXT)")
        .unwrap();
    for session in ["a", "b"] {
        for (seq, line) in (0_i64..).zip(&lines) {
            let event = serde_json::to_string_pretty(line).unwrap();
            conn.execute("INSERT INTO transcript_events VALUES (?1, ?2, ?3)", (session, seq, event)).unwrap();
        }
    }
    conn.execute("INSERT INTO transcript_events VALUES ('b', 99, '{\"type\":')", ()).unwrap();
    agree_on("database", &path);
}

#[test]
fn claude_code() {
    let base = |kind: &str, uuid: &str, parent: Value, more: Value| {
        let mut record = json!({"type": kind, "uuid": uuid, "parentUuid": parent, "sessionId": "s"});
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record
    };
    let user = |uuid: &str, parent: Value, content: Value| {
        base("user", uuid, parent, json!({"message": {"content": content}}))
    };
    let agent = |uuid: &str, parent: Value, content: Value| {
        base("assistant", uuid, parent, json!({"message": {"model": "m", "content": content}}))
    };
    let queue = |operation: &str, content: Value| json!({"type": "queue-operation", "operation": operation, "sessionId": "s", "content": content});
    let plan = "Implement the following plan:\n\n# Plan";
    let reminder = "<system-reminder>r</system-reminder>";
    let mail = json!({"attachment": {"type": "teammate_mailbox", "messages": [
        {"from": "bob", "text": "hi"}, {"from": "system", "text": "gone"}, {"text": {"a": 1}}, "x"]}});
    let empty = json!({"attachment": {"type": "teammate_mailbox", "messages": []}});
    let results = json!([
        {"type": "server_tool_use", "id": "w", "name": "web_search", "input": {}},
        {"type": "web_search_tool_result", "tool_use_id": "w", "content": [{"title": "t"}]},
        {"type": "web_search_tool_result", "tool_use_id": "w", "content": [text("a"), text("b")]},
        {"type": "tool_result", "tool_use_id": "w", "content": [text("c"), {"type": "image"}]},
        {"type": "tool_result", "tool_use_id": "w", "content": {"odd": true}},
        text("so"), "bare", {"type": "new", "text": "n"},
    ]);
    let lines = [
        base("progress", "h", Value::Null, json!({"data": {"type": "hook_progress"}})),
        user("a", json!("h"), json!([text(plan), text("<ide_opened_file>f</ide_opened_file>")])),
        agent("b", json!("a"), results),
        user("c", json!("b"), json!(plan)),
        user("d", json!("gone"), json!(format!("{reminder}\n{plan}"))),
        user(
            "e",
            json!("c"),
            json!(format!("what is <system-reminder>?\n{reminder} and <system-reminder>\n{reminder}\n")),
        ),
        user(
            "f",
            json!("e"),
            json!("<command-name>x</command-name><command-args> </command-args><bash-input>ls</bash-input>"),
        ),
        user(
            "g",
            json!("f"),
            json!([{"type": "tool_result", "tool_use_id": "t", "content": 7}, text("beside"), {"a": 1}]),
        ),
        user("i", json!("g"), json!({"type": "text", "text": {"value": 1}})),
        user("j", json!("i"), json!(12)),
        base("attachment", "k", json!("j"), mail),
        base("attachment", "l", json!("k"), empty),
        queue("enqueue", json!("p")),
        queue("enqueue", json!([text("q"), {"type": "image"}])),
        queue("enqueue", json!(reminder)),
        queue("remove", Value::Null),
        queue("remove", Value::Null),
        queue("dequeue", Value::Null),
        user("m", json!("l"), json!([text(reminder), text("p\nq")])),
        agent("n", json!("m"), json!("done")),
        queue("enqueue", json!("z")),
        queue("remove", Value::Null),
    ];
    agree("11111111-2222-4333-8444-555555555555.jsonl", &lines);
    agree("agent-1.jsonl", &lines);
}

#[test]
fn codex() {
    let item = |payload: Value| json!({"type": "response_item", "payload": payload});
    let event = |payload: Value| json!({"type": "event_msg", "payload": payload});
    let input = |text: &str| json!({"type": "input_text", "text": text});
    let user = |blocks: Value| item(json!({"type": "message", "role": "user", "content": blocks}));
    let said = |words: &str| event(json!({"type": "user_message", "message": words}));
    let completed = |words: &str| {
        event(json!({"type": "item_completed", "item": {"type": "UserMessage", "content": [text(words)]}}))
    };
    let agent =
        |words: &str| item(json!({"type": "message", "role": "assistant", "content": [input(words)]}));
    let mut told = user(json!([input("<skill>by a person"), input("by the program")]));
    told["payload"]["internal_chat_message_metadata_passthrough"] = json!({"content_item_metadata": [{"provenance": {"type": "user"}}, {"provenance": {"type": "harness"}}]});
    let output =
        |output: Value| item(json!({"type": "custom_tool_call_output", "call_id": "c", "output": output}));
    let mut summary = item(json!({"type": "message", "role": "user", "content": [input("sum")]}));
    summary["metadata"] = json!({"compaction_output": true});
    let message =
        |role: &str, words: &str| json!({"type": "message", "role": role, "content": [input(words)]});
    let compacted = |history: Value| json!({"type": "compacted", "payload": {"message": "", "replacement_history": history}});
    let lines = [
        json!({"type": "session_meta", "payload": {"id": "s"}}),
        user(json!([input("<environment_context>"), input("mine")])),
        said("mine"),
        agent("1"),
        user(json!([input("expanded")])),
        said("typed"),
        completed("typed"),
        agent("2"),
        user(json!([input(" <skill> is a tag")])),
        completed(" <skill> is a tag"),
        agent("3"),
        user(json!([input("# Context from my IDE setup:\nf\n\n## My request for Codex:\nwords")])),
        told,
        said("alone"),
        agent("4"),
        user(json!([{"type": "input_image", "image_url": "u"}])),
        user(json!({"type": "input_text", "text": {"a": 1}})),
        user(json!([])),
        output(json!([input("a"), {"type": "new"}, input("b")])),
        output(json!({"content": [1], "output": "o"})),
        output(json!(7)),
        summary,
        compacted(json!([message("user", "p"), message("user", "q")])),
        compacted(json!([message("user", "p"), message("user", "## Summary\nq")])),
        compacted(json!([message("user", "p"), message("assistant", "q")])),
        event(json!({"type": "thread_rolled_back", "num_turns": 1})),
        json!({"type": "turn_context", "payload": {}}),
        item(json!({"type": "reasoning", "summary": []})),
        item(
            json!({"type": "agent_message", "author": "x", "content": [text("m"), {"type": "encrypted_content"}]}),
        ),
    ];
    agree("rollout.jsonl", &lines);
}
