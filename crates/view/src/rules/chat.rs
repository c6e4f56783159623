//! OpenAI Chat Completions: an assistant message with calls is followed at once by one tool message for each of them, and
//! by nothing else before all are there; no tool message stands anywhere else.

use serde_json::Value;

use super::{Found, text};

pub(super) fn faults(messages: &[Value]) -> Vec<String> {
    let mut found = Found::default();
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        let role = text(message, "role");
        if role == "tool" {
            output(&mut found, message, &mut open);
            continue;
        }
        found
            .unless(open.is_empty(), || format!("a message of {role} stands before the outputs of {open:?}"));
        match role {
            "assistant" => open = assistant(&mut found, message),
            "user" | "system" | "developer" => said(&mut found, message),
            _ => found.faults.push(format!("role {role:?}")),
        }
    }
    found.unless(open.is_empty(), || format!("calls {open:?} have no output"));
    found.faults
}

fn output(found: &mut Found, message: &Value, open: &mut Vec<String>) {
    found.fields(message, &["role", "tool_call_id", "content"]);
    let id = text(message, "tool_call_id");
    found.unless(open.iter().any(|call| call == id), || format!("output {id} has no open call"));
    open.retain(|call| call != id);
    let content = message.get("content");
    found.unless(content.is_some_and(|c| c.is_string() || is_blocks(c)), || format!("content of {message}"));
}

/// The ids that an assistant message opens.
fn assistant(found: &mut Found, message: &Value) -> Vec<String> {
    found.fields(message, &["role", "content", "tool_calls"]);
    let Some(calls) = message.get("tool_calls") else {
        found.unless(message.get("content").is_some_and(is_said), || format!("{message} says nothing"));
        return Vec::new();
    };
    let content = message.get("content");
    found.unless(content.is_none_or(|c| c.is_null() || is_said(c)), || format!("content of {message}"));
    let calls = calls.as_array().map_or(&[][..], Vec::as_slice);
    found.unless(!calls.is_empty(), || "an empty list of calls".to_owned());
    calls.iter().map(|one| call(found, one)).collect()
}

fn call(found: &mut Found, call: &Value) -> String {
    found.fields(call, &["id", "type", "function"]);
    found.id(text(call, "id"), |_| true);
    found.unless(text(call, "type") == "function", || format!("type of {call}"));
    let function = call.get("function").unwrap_or(&Value::Null);
    found.fields(function, &["name", "arguments"]);
    found.tool(text(function, "name"));
    found.unless(function.get("arguments").is_some_and(Value::is_string), || format!("arguments of {call}"));
    text(call, "id").to_owned()
}

fn said(found: &mut Found, message: &Value) {
    found.fields(message, &["role", "content"]);
    found.unless(message.get("content").is_some_and(is_said), || format!("{message} says nothing"));
}

fn is_said(content: &Value) -> bool {
    content.as_str().is_some_and(|text| !text.is_empty()) || is_blocks(content)
}

fn is_blocks(content: &Value) -> bool {
    let blocks = content.as_array().map_or(&[][..], Vec::as_slice);
    let good = |block: &Value| text(block, "type") == "text" && !text(block, "text").is_empty();
    !blocks.is_empty() && blocks.iter().all(good)
}
