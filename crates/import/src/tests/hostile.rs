//! Files that no program should write: every field of another type or gone, lines in another order, damage between them.
//! Nothing panics, and every record is counted.

use serde_json::{Value, json};

use super::{Sample, assert_counted};

/// Sessions of every format, each with a word in every place that holds words.
fn samples() -> Vec<(&'static str, Vec<Value>)> {
    let codex = vec![
        json!({"type": "session_meta", "timestamp": "2026-03-01T10:00:00Z", "payload": {"id": "s", "cwd": "/w",
            "forked_from_id": "t", "source": {"subagent": {"thread_spawn": {"parent_thread_id": "t"}}}}}),
        json!({"type": "turn_context", "payload": {"model": "m"}}),
        json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": [
            {"type": "input_text", "text": "word1"}, {"type": "input_image", "image_url": "data:image/png;base64,aGk="}],
            "internal_chat_message_metadata_passthrough": {"content_item_metadata": [{"provenance": {"type": "user"}}]}}}),
        json!({"type": "event_msg", "payload": {"type": "user_message", "message": "word1"}}),
        json!({"type": "event_msg", "payload": {"type": "item_completed", "item": {"type": "UserMessage",
            "content": [{"type": "text", "text": "word2"}]}}}),
        json!({"type": "response_item", "payload": {"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}],
            "encrypted_content": "x"}}),
        json!({"type": "response_item", "payload": {"type": "function_call", "name": "f", "call_id": "c", "arguments": "{}"}}),
        json!({"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "c", "aggregated_output": "more",
            "exit_code": 1}}),
        json!({"type": "response_item", "payload": {"type": "function_call_output", "call_id": "c", "output": "word3"}}),
        json!({"type": "compacted", "payload": {"message": "", "replacement_history": [
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "word4"}]}]}}),
        json!({"type": "event_msg", "payload": {"type": "thread_rolled_back", "num_turns": 1}}),
        json!({"type": "response_item", "payload": {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": "word5"}]}}),
    ];
    let flat = vec![
        json!({"id": "s", "timestamp": "2025-08-26T21:21:40Z", "instructions": null}),
        json!({"record_type": "state"}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "word1"}]}),
        json!({"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}}),
        json!({"type": "function_call_output", "call_id": "c", "output": {"content": "word2", "success": true}}),
    ];
    let pi = vec![
        json!({"type": "session", "version": 3, "id": "s", "cwd": "/w", "parentSession": "/x/1_p.jsonl"}),
        json!({"type": "model_change", "id": "m", "parentId": null, "modelId": "x"}),
        json!({"type": "message", "id": "a", "parentId": "m", "timestamp": "2026-03-01T10:00:00Z", "message": {"role": "user",
            "content": [{"type": "text", "text": "word1"}, {"type": "image", "mimeType": "image/png", "data": "aGk="}],
            "timestamp": 1, "provenance": {"kind": "inter_session", "sourceSessionKey": "k"}}}),
        json!({"type": "message", "id": "b", "parentId": "a", "message": {"role": "assistant", "model": "x", "content": [
            {"type": "thinking", "thinking": "hm"}, {"type": "text", "text": "word2"},
            {"type": "toolCall", "id": "c", "name": "f", "arguments": {"a": 1}}]}}),
        json!({"type": "message", "id": "c", "parentId": "b", "message": {"role": "toolResult", "toolCallId": "c",
            "toolName": "f", "content": [{"type": "text", "text": "word3"}], "isError": false,
            "details": {"fullOutputPath": "/nowhere/pi-bash-1.log"}}}),
        json!({"type": "message", "id": "d", "parentId": "b", "message": {"role": "bashExecution", "command": "ls",
            "output": "word4", "exitCode": 0, "excludeFromContext": true}}),
        json!({"type": "branch_summary", "id": "e", "parentId": "c", "fromId": "d", "summary": "word5"}),
        json!({"type": "custom_message", "id": "f", "parentId": "e", "content": "word6", "display": true}),
        json!({"type": "compaction", "id": "g", "parentId": "f", "summary": "word7", "firstKeptEntryId": "c",
            "firstKeptEntryIndex": 2}),
        json!({"type": "session_info", "id": "h", "parentId": "g", "name": "title"}),
    ];
    let claude = vec![
        json!({"type": "user", "uuid": "a", "parentUuid": null, "sessionId": "s", "cwd": "/w", "isSidechain": false,
            "timestamp": "2026-03-01T10:00:00Z", "message": {"role": "user", "content": [
                {"type": "text", "text": "word1\n<system-reminder>r</system-reminder>"},
                {"type": "document", "title": "t", "source": {"type": "text", "media_type": "text/plain", "data": "x"}}]},
            "origin": {"kind": "human", "from": "x"}, "isMeta": false, "planContent": ""}),
        json!({"type": "queue-operation", "operation": "enqueue", "sessionId": "s", "content": "word2"}),
        json!({"type": "queue-operation", "operation": "remove", "sessionId": "s"}),
        json!({"type": "assistant", "uuid": "b", "parentUuid": "a", "sessionId": "s", "isApiErrorMessage": false,
            "message": {"model": "m", "content": [{"type": "text", "text": "word3"},
                {"type": "thinking", "thinking": "hm", "signature": "z"},
                {"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}},
                {"type": "web_search_tool_result", "tool_use_id": "w", "content": [{"title": "word4"}]}]}}),
        json!({"type": "user", "uuid": "c", "parentUuid": "b", "sessionId": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "c", "is_error": false, "content": [{"type": "text", "text": "word5"}]}]},
            "toolUseResult": {"stdout": "more", "stderr": "", "exitCode": 0}}),
        json!({"type": "user", "uuid": "d", "parentUuid": "c", "sessionId": "s", "isSidechain": true,
            "message": {"role": "user", "content": "word6"}}),
        json!({"type": "attachment", "uuid": "e", "parentUuid": "c", "sessionId": "s", "attachment": {
            "type": "queued_command", "prompt": "word7", "commandMode": "prompt", "timestamp": "2026-03-01T10:00:00Z"}}),
        json!({"type": "attachment", "uuid": "f", "parentUuid": "e", "sessionId": "s", "attachment": {
            "type": "teammate_mailbox", "messages": [{"from": "bob", "text": "word8"}]}}),
        json!({"type": "system", "subtype": "compact_boundary", "uuid": "g", "sessionId": "s",
            "compactMetadata": {"preservedSegment": {"headUuid": "c"}}}),
        json!({"type": "user", "uuid": "h", "parentUuid": "g", "sessionId": "s", "isCompactSummary": true,
            "message": {"role": "user", "content": "word9"}}),
        json!({"type": "progress", "data": {"type": "bash_progress"}, "sessionId": "s"}),
        json!({"type": "custom-title", "customTitle": "t", "sessionId": "s"}),
    ];
    vec![("codex", codex), ("flat", flat), ("pi", pi), ("claude", claude)]
}

fn joined(lines: &[Value], end: &str) -> String {
    lines.iter().map(Value::to_string).collect::<Vec<_>>().join(end)
}

/// Imports, twice: nothing panics, every record is counted, and the second import adds nothing.
fn import(name: &str, bytes: &[u8]) -> Option<Sample> {
    let sample = Sample::new();
    let report = sample.try_import(bytes).ok()?;
    assert_counted(&report);
    assert_eq!(report.bytes + report.pending, bytes.len() as u64, "{name}");
    let again = sample.try_import(bytes).unwrap();
    assert_counted(&again);
    assert_eq!((again.turns_added, again.changed), (0, 0), "{name}: {}", String::from_utf8_lossy(bytes));
    Some(sample)
}

/// Every word of a sample stands in the ledger.
fn all_there(name: &str, sample: &Sample, lines: &[Value]) {
    let text = joined(lines, "\n");
    let held = format!("{:?}", sample.entries());
    for n in 1..10 {
        let word = format!("word{n}");
        assert_eq!(held.contains(&word), text.contains(&word), "{name}: {word}");
    }
}

/// The pointers of every value inside of a value.
fn pointers(value: &Value, at: &str, found: &mut Vec<String>) {
    let mut inner = |key: &str, value: &Value| {
        let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
        pointers(value, &at, found);
        found.push(at);
    };
    match value {
        Value::Object(map) => map.iter().for_each(|(key, value)| inner(key, value)),
        Value::Array(list) => list.iter().enumerate().for_each(|(at, value)| inner(&at.to_string(), value)),
        _ => {}
    }
}

#[test]
fn a_field_of_any_other_type_does_no_harm() {
    let others = [
        Value::Null,
        json!(true),
        json!(-1),
        json!(1.5e300),
        json!(""),
        json!("odd"),
        json!([]),
        json!([[{"type": "text"}], 7, null]),
        json!({}),
        json!({"type": "text", "text": {"a": [1]}}),
    ];
    for (name, lines) in samples() {
        let mut imported = 0;
        for at in 0..lines.len() {
            let mut found = Vec::new();
            pointers(&lines[at], "", &mut found);
            for pointer in found {
                for other in &others {
                    let mut lines = lines.clone();
                    *lines[at].pointer_mut(&pointer).unwrap() = other.clone();
                    imported += usize::from(import(name, joined(&lines, "\n").as_bytes()).is_some());
                }
            }
        }
        assert!(imported > 100, "{name}: {imported}");
    }
}

#[test]
fn a_missing_field_does_no_harm() {
    for (name, lines) in samples() {
        for at in 0..lines.len() {
            let mut found = Vec::new();
            pointers(&lines[at], "", &mut found);
            for pointer in found {
                let (parent, key) = pointer.rsplit_once('/').unwrap();
                let mut lines = lines.clone();
                match lines[at].pointer_mut(parent).unwrap() {
                    Value::Object(map) => _ = map.remove(key),
                    Value::Array(list) => _ = list.remove(key.parse().unwrap()),
                    _ => {}
                }
                import(name, joined(&lines, "\n").as_bytes());
            }
        }
    }
}

#[test]
fn lines_in_any_order_keep_their_words() {
    for (name, lines) in samples() {
        for shift in 1..lines.len() - 1 {
            let mut lines = lines.clone();
            lines[1..].rotate_left(shift);
            let sample = import(name, joined(&lines, "\n").as_bytes()).unwrap();
            // What was never typed before it was taken is not said.
            if name != "claude" {
                all_there(name, &sample, &lines);
            }
        }
        let mut twice = lines.clone();
        twice.extend_from_slice(&lines[1..]);
        all_there(name, &import(name, joined(&twice, "\n").as_bytes()).unwrap(), &lines);
    }
}

#[test]
fn damage_between_lines_keeps_every_word() {
    for (name, lines) in samples() {
        let plain = joined(&lines, "\n");
        let cases = [
            ("as it is", plain.clone()),
            ("CRLF", joined(&lines, "\r\n") + "\r\n"),
            ("CR alone", joined(&lines, "\r")),
            ("glued", joined(&lines, "")),
            ("byte order mark", format!("\u{FEFF}{plain}\n")),
            ("byte order marks", joined(&lines, "\n\u{FEFF}")),
            ("NULs between", joined(&lines, "\0\0\0\n\0")),
            ("NULs at the end", format!("{plain}\n\0\0\0\0")),
            ("form feeds", joined(&lines, "\u{c}\n")),
            ("blank lines", joined(&lines, "\n\n  \t\n")),
            ("no JSON between", joined(&lines, "\n<<<<<<< HEAD\n")),
            ("cut and glued", joined(&lines, "\n{\"type\":\"mess") + "\n"),
            ("cut behind a comma", joined(&lines, "\n{\"type\":\"x\",") + "\n"),
            ("half a character", plain.replace("word", "\\ud83dword")),
            ("control characters", plain.replace("word", "\u{1}\u{7f}word")),
            ("numbers too large", plain.replace("{\"type\"", "{\"n\":[1e999,-1e999,NaN],\"type\"")),
            (
                "too deep",
                plain.replace(
                    "{\"type\"",
                    &format!("{{\"n\":{}1{},\"type\"", "[".repeat(500), "]".repeat(500)),
                ),
            ),
        ];
        for (what, text) in cases {
            let name = format!("{name}, {what}");
            let sample = import(&name, text.as_bytes()).unwrap_or_else(|| panic!("{name} was refused"));
            all_there(&name, &sample, &lines);
        }
        let bytes = plain.replace("word", "\u{1}word").into_bytes();
        let odd: Vec<u8> = bytes.into_iter().map(|byte| if byte == 1 { 0xFF } else { byte }).collect();
        all_there(name, &import(name, &odd).unwrap(), &lines);
    }
}

#[test]
fn a_file_that_ends_anywhere_is_no_panic() {
    for (name, lines) in samples() {
        let text = joined(&lines, "\n");
        for length in (0..text.len()).step_by(7) {
            import(name, &text.as_bytes()[..length]);
        }
    }
}
