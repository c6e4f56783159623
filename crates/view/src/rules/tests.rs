//! The checks themselves, on lists that providers take and on lists that they refuse.

use serde_json::{Value, json};

use super::faults;
use crate::context::Provider::{self, *};

#[track_caller]
fn taken(provider: Provider, messages: Value) {
    assert_eq!(faults(provider, &messages), [""; 0], "{messages}");
}

#[track_caller]
fn refused(provider: Provider, messages: Value, why: &str) {
    let found = faults(provider, &messages);
    assert!(found.iter().any(|fault| fault.contains(why)), "{why}: {found:?} in {messages}");
}

fn chat_call(id: &str) -> Value {
    json!({"id": id, "type": "function", "function": {"name": "w", "arguments": "{}"}})
}

fn chat_calls(ids: &[&str]) -> Value {
    let calls: Vec<Value> = ids.iter().map(|id| chat_call(id)).collect();
    json!({"role": "assistant", "content": null, "tool_calls": calls})
}

fn chat_output(id: &str) -> Value {
    json!({"role": "tool", "tool_call_id": id, "content": "1"})
}

fn user(text: &str) -> Value {
    json!({"role": "user", "content": text})
}

#[test]
fn chat_takes_parallel_calls_with_their_outputs() {
    let done = json!({"role": "assistant", "content": "done"});
    let developer = json!({"role": "developer", "content": "s"});
    let calls = chat_calls(&["call_1", "call_2"]);
    let (one, two) = (chat_output("call_1"), chat_output("call_2"));
    taken(OpenAiChat, json!([developer, user("q"), calls, one, two, done]));
    taken(OpenAiChat, json!([user("q"), calls, two, one]));
}

#[test]
fn chat_refuses_what_breaks_a_pair() {
    let (call, calls, output) = (chat_calls(&["a"]), chat_calls(&["a", "b"]), chat_output("a"));
    let cases = [
        (json!([user("q"), call, user("interrupting"), output]), "before the outputs"),
        (json!([user("q"), call]), "have no output"),
        (json!([user("q"), calls, output]), "have no output"),
        (json!([user("q"), calls, output, user("x"), chat_output("b")]), "before the outputs"),
        (json!([user("q"), output]), "no open call"),
        (json!([user("q"), call, output, output]), "no open call"),
        (json!([user("q"), chat_calls(&["a", "a"]), output, output]), "used twice"),
        (json!([user("q"), call, output, call, output]), "used twice"),
        (json!([user("q"), chat_calls(&[])]), "empty list"),
    ];
    for (messages, why) in cases {
        refused(OpenAiChat, messages, why);
    }
}

#[test]
fn chat_refuses_what_has_a_wrong_shape() {
    let long = "x".repeat(65);
    let object = json!({"id": "a", "type": "function", "function": {"name": "w", "arguments": {}}});
    let named = json!({"id": "a", "type": "function", "function": {"name": "a b", "arguments": "{}"}});
    let cases = [
        (json!([user("")]), "says nothing"),
        (json!([{"role": "assistant", "content": null}]), "says nothing"),
        (json!([{"role": "user", "content": [{"type": "text", "text": ""}]}]), "says nothing"),
        (json!([{"role": "user", "content": "q", "name": "x"}]), "fields"),
        (json!([{"role": "robot", "content": "q"}]), "role"),
        (json!([chat_calls(&[&long]), chat_output(&long)]), "not allowed"),
        (json!([{"role": "assistant", "tool_calls": [object]}, chat_output("a")]), "arguments"),
        (json!([{"role": "assistant", "tool_calls": [named]}, chat_output("a")]), "tool's name"),
        (json!({"messages": []}), "no array"),
    ];
    for (messages, why) in cases {
        refused(OpenAiChat, messages, why);
    }
}

fn tool_use(id: &str) -> Value {
    json!({"type": "tool_use", "id": id, "name": "w", "input": {"c": "A"}})
}

fn tool_result(id: &str) -> Value {
    json!({"type": "tool_result", "tool_use_id": id, "content": "1"})
}

fn block(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn says(role: &str, blocks: &[Value]) -> Value {
    json!({"role": role, "content": blocks})
}

#[test]
fn anthropic_takes_parallel_calls_with_their_results() {
    let thinking = json!({"type": "thinking", "thinking": "..", "signature": "sig"});
    let failed =
        json!({"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": [block("boom")]});
    let calls = says("assistant", &[thinking, block("checking"), tool_use("a"), tool_use("b")]);
    let results = says("user", &[tool_result("a"), failed, block("also: be brief")]);
    taken(Anthropic, json!([user("weather in A and B?"), calls, results]));
    taken(Anthropic, json!([]));
}

#[test]
fn anthropic_refuses_what_breaks_a_pair() {
    let q = user("q");
    let one = says("assistant", &[tool_use("a")]);
    let two = says("assistant", &[tool_use("a"), tool_use("b")]);
    let result = |ids: &[&str]| says("user", &ids.iter().map(|id| tool_result(id)).collect::<Vec<_>>());
    let words = says("assistant", &[block("...")]);
    let cases = [
        (json!([result(&["toolu_9"])]), "for calls []"),
        (json!([q, two, result(&["a"]), words, result(&["b"])]), "for calls"),
        (json!([q, one, says("user", &[block("first"), tool_result("a")])]), "behind something else"),
        (json!([q, one]), "have no result"),
        (json!([q, one, q]), "for calls"),
        (json!([q, one, result(&["a", "a"])]), "for calls"),
        (json!([q, one, result(&["a"]), one, result(&["a"])]), "used twice"),
        (json!([q, says("assistant", &[tool_result("a")])]), "of the assistant"),
        (json!([says("user", &[tool_use("a")])]), "of the user"),
    ];
    for (messages, why) in cases {
        refused(Anthropic, messages, why);
    }
}

#[test]
fn anthropic_refuses_what_has_a_wrong_shape() {
    let q = user("q");
    let with = |block: Value, result: Value| json!([q, says("assistant", &[block]), says("user", &[result])]);
    let text = json!({"type": "tool_use", "id": "a", "name": "w", "input": "{}"});
    let cases = [
        (json!([says("assistant", &[block("hi")])]), "not the user's"),
        (json!([q, q]), "not the assistant's"),
        (json!([user(" \n")]), "blank"),
        (json!([says("user", &[])]), "says nothing"),
        (with(text, tool_result("a")), "input"),
        (with(tool_use("a|b"), tool_result("a|b")), "not allowed"),
        (with(tool_use(&"x".repeat(65)), tool_result(&"x".repeat(65))), "not allowed"),
        (json!([q, says("assistant", &[json!({"type": "thinking", "thinking": "hm"})])]), "signature"),
        (json!([{"role": "user", "content": "q", "id": "x"}]), "fields"),
    ];
    for (messages, why) in cases {
        refused(Anthropic, messages, why);
    }
}

fn input(text: &str) -> Value {
    json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]})
}

fn function_call(id: &str) -> Value {
    json!({"type": "function_call", "id": format!("fc_{id}"), "call_id": id, "name": "w", "arguments": "{}"})
}

fn function_output(id: &str) -> Value {
    json!({"type": "function_call_output", "call_id": id, "output": "1"})
}

#[test]
fn responses_takes_calls_before_their_outputs() {
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"});
    let blocks = json!({"type": "function_call_output", "call_id": "b", "output": [{"type": "input_text", "text": "2"}]});
    let done =
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]});
    let (a, b) = (function_call("a"), function_call("b"));
    taken(OpenAiResponses, json!([input("q"), reasoning, a, b, function_output("a"), blocks, done]));
}

#[test]
fn responses_refuses_what_breaks_a_pair() {
    let (call, output, q) = (function_call("a"), function_output("a"), input("q"));
    let reasoning = json!({"type": "reasoning", "id": "rs_1", "summary": []});
    let cases = [
        (json!([function_output("call_9")]), "no open call"),
        (json!([q, reasoning, input("next")]), "nothing came"),
        (json!([q, reasoning]), "nothing came"),
        (json!([call]), "have no output"),
        (json!([output, call]), "no open call"),
        (json!([call, q, output]), "stands between"),
        (json!([call, output, output]), "no open call"),
        (json!([call, function_call("b"), output, function_call("c")]), "among outputs"),
        (json!([call, output, call, output]), "used twice"),
        (
            json!([{"type": "message", "role": "user", "content": [{"type": "output_text", "text": "q"}]}]),
            "message",
        ),
    ];
    for (messages, why) in cases {
        refused(OpenAiResponses, messages, why);
    }
}
