//! The OpenAI Responses API.

use sayso_model::Entry;
use serde_json::{Value, json};

use super::items::{Call, Item, items};
use super::returned::Ranges;

/// The `input` array of a request to the OpenAI Responses API.
///
/// Agents' words are assistant messages with `output_text`; calls are `function_call` items, each group of parallel ones
/// followed by its `function_call_output` items in the same order; all else is user messages with `input_text`.
///
/// ```
/// # use sayso_view::example;
/// let entries = [example::entry(1, example::owner(), vec![example::part(sayso_model::PartBody::Text("hi".into()))])];
/// let input = sayso_view::context::openai_responses(&entries);
/// assert_eq!(input[0]["content"][0]["text"], "hi");
/// ```
#[must_use]
pub fn openai_responses(entries: &[Entry]) -> Value {
    input(&items(entries, &Ranges::default()))
}

pub(super) fn input(items: &[Item]) -> Value {
    Value::Array(items.iter().flat_map(item).collect())
}

fn item(item: &Item) -> Vec<Value> {
    match item {
        Item::User(blocks) => vec![message("user", "input_text", blocks)],
        Item::Assistant(blocks) => vec![message("assistant", "output_text", blocks)],
        Item::Calls(calls) => calls.iter().map(call).chain(calls.iter().map(output)).collect(),
    }
}

fn message(role: &str, kind: &str, blocks: &[String]) -> Value {
    let content: Vec<Value> = blocks.iter().map(|text| json!({"type": kind, "text": text})).collect();
    json!({"type": "message", "role": role, "content": content})
}

fn call(call: &Call) -> Value {
    json!({"type": "function_call", "call_id": call.id, "name": call.tool, "arguments": call.arguments})
}

fn output(call: &Call) -> Value {
    json!({"type": "function_call_output", "call_id": call.id, "output": call.output})
}
