//! What is each provider's own.

use super::*;

fn exchange() -> Vec<Entry> {
    let mut failed = result("b", "boom");
    if let PartBody::ToolResult(result) = &mut failed.body {
        result.outcome = Outcome::Failed;
    }
    session(vec![
        (owner(), vec![text("q")]),
        (agent(), vec![part(PartBody::Reasoning(Seal::Sealed, "x".into())), text("checking"), call("a")]),
        (agent(), vec![call("b"), call("lost")]),
        (tool(), vec![result("a", ""), failed]),
        (owner(), vec![text("be brief")]),
        (owner(), vec![text("please")]),
        (agent(), vec![text("done"), text("really")]),
    ])
}

const LOST: &str = "[no result was recorded for this call]";

#[test]
fn chat() {
    let call =
        |id: &str| json!({"id": id, "type": "function", "function": {"name": "bash", "arguments": "{}"}});
    let output = |id: &str, text: &str| json!({"role": "tool", "tool_call_id": id, "content": text});
    let expected = json!([
        {"role": "user", "content": "q"},
        {"role": "assistant", "content": "checking", "tool_calls": [call("a"), call("b"), call("lost")]},
        output("a", ""),
        output("b", "boom"),
        output("lost", LOST),
        {"role": "user", "content": "be brief"},
        {"role": "user", "content": "please"},
        {"role": "assistant", "content": [{"type": "text", "text": "done"}, {"type": "text", "text": "really"}]},
    ]);
    assert_eq!(openai_chat(&exchange()), expected);
    let alone = openai_chat(&session(vec![(agent(), vec![call_of("a", "{}")])]));
    assert_eq!((&alone[0]["role"], &alone[0]["content"]), (&json!("assistant"), &Value::Null));
}

#[test]
fn anthropic_messages() {
    let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "bash", "input": {}});
    let said = |text: &str| json!({"type": "text", "text": text});
    let failed = |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "is_error": true, "content": text});
    let expected = json!([
        {"role": "user", "content": [said("q")]},
        {"role": "assistant", "content": [said("checking"), call("a"), call("b"), call("lost")]},
        {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "a"},
            failed("b", "boom"),
            failed("lost", LOST),
            said("be brief"),
            said("please"),
        ]},
        {"role": "assistant", "content": [said("done"), said("really")]},
    ]);
    assert_eq!(anthropic(&exchange()), expected);
}

fn call_of(id: &str, arguments: &str) -> Part {
    let call = ToolCall { call_id: id.into(), tool: "mcp:ls 한".into(), arguments: arguments.into() };
    part(PartBody::ToolCall(call))
}

#[test]
fn anthropic_wraps_arguments_that_are_no_object() {
    let cases = [
        ("", json!({})),
        (r#"{"cmd":"ls","n":[1,2.5,null]}"#, json!({"cmd": "ls", "n": [1, 2.5, null]})),
        ("*** Begin Patch", json!({"input": "*** Begin Patch"})),
        ("[1]", json!({"input": "[1]"})),
        ("null", json!({"input": "null"})),
        (r#"{"half":"\ud83d","whole":"\ud83d\ude00"}"#, json!({"half": "\u{FFFD}", "whole": "😀"})),
    ];
    for (arguments, input) in cases {
        let messages = anthropic(&session(vec![(agent(), vec![call_of("a", arguments)])]));
        let block = &messages[1]["content"][0];
        assert_eq!((&block["input"], &block["name"]), (&input, &json!("mcp_ls__")), "{arguments}");
    }
}

#[test]
fn arguments_in_text_are_replayed_and_only_broken_json_is_mended() {
    let cases = [
        (r#"{"a": 1.10}"#, r#"{"a": 1.10}"#),
        (r#"{"half":"\ud83d"}"#, r#"{"half":"\ufffd"}"#),
        (r"/[\ud800-\udbff]/", r"/[\ud800-\udbff]/"),
        (r#"{"text":"\\ud83d"}"#, r#"{"text":"\\ud83d"}"#),
    ];
    for (arguments, wanted) in cases {
        let entries = session(vec![(agent(), vec![call_of("a", arguments)])]);
        assert_eq!(openai_chat(&entries)[0]["tool_calls"][0]["function"]["arguments"], wanted);
        assert_eq!(openai_responses(&entries)[0]["arguments"], wanted);
    }
}

#[test]
fn anthropic_starts_with_the_user_and_leaves_out_what_is_blank() {
    let entries = session(vec![
        (owner(), vec![text(" \n")]),
        (agent(), vec![text("\u{3000}\u{1F}"), text("hello ")]),
        (tool(), vec![result("x", " ")]),
        (owner(), vec![text("\t")]),
        (agent(), vec![call("a")]),
        (tool(), vec![result("a", "\n")]),
    ]);
    let messages = anthropic(&entries);
    let opening = "[system, not the owner]\nThe agent speaks first.\n[end system]";
    assert_eq!(messages[0]["content"], json!([{"type": "text", "text": opening}]));
    assert_eq!(messages[1]["content"], json!([{"type": "text", "text": "hello "}]));
    assert_eq!(messages[4]["content"], json!([{"type": "tool_result", "tool_use_id": "a"}]));
    assert_eq!(faults(Provider::Anthropic, &messages), [""; 0]);
    assert_eq!(anthropic(&session(vec![(owner(), vec![text(" ")])])), json!([]));
}

#[test]
fn ids_are_the_same_for_every_provider() {
    let entries = session(vec![
        (agent(), vec![call("call_1|fc_2"), call("한글"), call("ok-1_2")]),
        (tool(), vec![result("call_1|fc_2", "1"), result("한글", "2"), result("ok-1_2", "3")]),
    ]);
    let id = entries[0].id;
    let expected = [format!("call_{id}_0"), format!("call_{id}_1"), "ok-1_2".to_owned()];
    let (responses, chat, anthropic) =
        (openai_responses(&entries), openai_chat(&entries), anthropic(&entries));
    for (at, wanted) in expected.iter().enumerate() {
        assert_eq!(responses[at]["call_id"], **wanted);
        assert_eq!(chat[0]["tool_calls"][at]["id"], **wanted);
        assert_eq!(anthropic[1]["content"][at]["id"], **wanted);
        assert_eq!(anthropic[2]["content"][at]["content"], (at + 1).to_string());
    }
}

#[test]
fn a_turn_of_several_blocks_keeps_them_apart() {
    let mut note = forward(1, "words", "note");
    if let EntryBody::Turn(turn) = &mut note.body {
        let mut reminder = text("plan mode");
        reminder.by = Some(speaker(SpeakerKind::System, ""));
        turn.parts.push(reminder);
    }
    let messages = openai_chat(&[note]);
    let blocks = messages[0]["content"].as_array().unwrap();
    assert!(crate::marker::parse(blocks[0]["text"].as_str().unwrap().as_bytes()).is_ok());
    assert_eq!(
        blocks[1],
        json!({"type": "text", "text": "[system, not the owner]\nplan mode\n[end system]"})
    );
}
