//! Anthropic Messages: the user speaks first and roles alternate; every `tool_use` is answered in the next user message, all
//! results of a message together and before anything else in it; no result without its call.

use serde_json::Value;

use super::{Found, is_plain, text};

pub(super) fn faults(messages: &[Value]) -> Vec<String> {
    let mut found = Found::default();
    let mut open: Vec<String> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        found.fields(message, &["role", "content"]);
        let role = if at % 2 == 0 { "user" } else { "assistant" };
        found.unless(text(message, "role") == role, || format!("message {at} is not the {role}'s"));
        let blocks = blocks(&mut found, message);
        if role == "user" {
            results(&mut found, &blocks, &open);
            open.clear();
        } else {
            open =
                blocks.iter().filter(|b| kind(b) == "tool_use").map(|b| text(b, "id").to_owned()).collect();
        }
        for block in &blocks {
            self::block(&mut found, role, block);
        }
    }
    found.unless(open.is_empty(), || format!("calls {open:?} have no result"));
    found.faults
}

fn kind(block: &Value) -> &str {
    text(block, "type")
}

/// The content as blocks; a plain text is one.
fn blocks(found: &mut Found, message: &Value) -> Vec<Value> {
    let blocks = match message.get("content") {
        Some(Value::String(text)) => vec![serde_json::json!({"type": "text", "text": text})],
        Some(Value::Array(blocks)) => blocks.clone(),
        _ => Vec::new(),
    };
    found.unless(!blocks.is_empty(), || format!("{message} says nothing"));
    blocks
}

/// The results that a user message starts with are those of the calls right before it, each once.
fn results(found: &mut Found, blocks: &[Value], open: &[String]) {
    let leading = blocks.iter().take_while(|b| kind(b) == "tool_result");
    let mut answered: Vec<&str> = leading.map(|b| text(b, "tool_use_id")).collect();
    let all = blocks.iter().filter(|b| kind(b) == "tool_result").count();
    found.unless(all == answered.len(), || "a result stands behind something else".to_owned());
    let mut called: Vec<&str> = open.iter().map(String::as_str).collect();
    answered.sort_unstable();
    called.sort_unstable();
    found.unless(answered == called, || format!("results {answered:?} for calls {called:?}"));
}

fn block(found: &mut Found, role: &str, block: &Value) {
    match (role, kind(block)) {
        (_, "text") => {
            found.fields(block, &["type", "text"]);
            found.unless(!text(block, "text").trim().is_empty(), || "a blank text block".to_owned());
        }
        ("user", "tool_result") => {
            found.fields(block, &["type", "tool_use_id", "content", "is_error"]);
            found.unless(block.get("content").is_none_or(is_result), || format!("content of {block}"));
            found.unless(block.get("is_error").is_none_or(Value::is_boolean), || format!("error of {block}"));
        }
        ("assistant", "tool_use") => {
            found.fields(block, &["type", "id", "name", "input"]);
            found.id(text(block, "id"), is_plain);
            found.tool(text(block, "name"));
            found.unless(block.get("input").is_some_and(Value::is_object), || format!("input of {block}"));
        }
        ("assistant", "thinking") => {
            found.unless(!text(block, "signature").is_empty(), || "thinking without a signature".to_owned());
        }
        _ => found.faults.push(format!("a block {block} of the {role}")),
    }
}

fn is_result(content: &Value) -> bool {
    let blocks = content.as_array();
    content.is_string()
        || blocks.is_some_and(|blocks| blocks.iter().all(|b| !text(b, "text").trim().is_empty()))
}
