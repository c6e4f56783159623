//! OpenAI Chat Completions.

use sayso_model::Entry;
use serde_json::{Value, json};

use super::items::{Call, Item, items};
use super::returned::Ranges;

/// The `messages` array of a request to OpenAI's Chat Completions API, or to one of the many servers that speak it.
///
/// Agents' words are assistant messages. A group of parallel calls is the `tool_calls` of one assistant message, that of
/// the words right before it where there are any, and one `tool` message for each call follows in the same order. All
/// else is user messages. Content of one block is a plain string, which every server takes; of several, a list of text
/// blocks, so that what one block says never runs into the next.
///
/// ```
/// # use sayso_view::example;
/// let entries = [example::entry(1, example::owner(), vec![example::part(sayso_model::PartBody::Text("hi".into()))])];
/// let messages = sayso_view::context::openai_chat(&entries);
/// assert_eq!(messages.to_string(), r#"[{"role":"user","content":"hi"}]"#);
/// ```
#[must_use]
pub fn openai_chat(entries: &[Entry]) -> Value {
    messages(items(entries, &Ranges::default()))
}

pub(super) fn messages(items: Vec<Item>) -> Value {
    let mut messages = Vec::new();
    for item in items {
        match item {
            Item::User(blocks) => messages.push(message("user", content(&blocks))),
            Item::Assistant(blocks) => messages.push(message("assistant", content(&blocks))),
            Item::Calls(calls) => add_calls(&mut messages, &calls),
        }
    }
    Value::Array(messages)
}

fn message(role: &str, content: Value) -> Value {
    json!({"role": role, "content": content})
}

fn content(blocks: &[String]) -> Value {
    match blocks {
        [only] => json!(only),
        several => several.iter().map(|text| json!({"type": "text", "text": text})).collect(),
    }
}

fn add_calls(messages: &mut Vec<Value>, calls: &[Call]) {
    let tool_calls: Value = calls.iter().map(call).collect();
    match messages.last_mut().and_then(words) {
        Some(message) => _ = message.insert("tool_calls".to_owned(), tool_calls),
        None => messages.push(json!({"role": "assistant", "content": null, "tool_calls": tool_calls})),
    }
    messages.extend(calls.iter().map(output));
}

/// The assistant message that a model's calls belong to: its words right before them.
fn words(last: &mut Value) -> Option<&mut serde_json::Map<String, Value>> {
    let message = last.as_object_mut()?;
    (message.get("role")?.as_str()? == "assistant").then_some(message)
}

fn call(call: &Call) -> Value {
    json!({"id": call.id, "type": "function", "function": {"name": call.tool, "arguments": call.arguments}})
}

fn output(call: &Call) -> Value {
    json!({"role": "tool", "tool_call_id": call.id, "content": call.output})
}
