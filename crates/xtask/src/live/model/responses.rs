//! The answer in OpenAI's Responses form, streamed: what Codex speaks.

use anyhow::Result;
use serde_json::{Value, json};

use super::Answer;
use super::http::{Events, pieces};

/// Whether the program asks for a summary of the conversation so far.
pub(super) fn asks_for_summary(body: &Value) -> bool {
    body.get("input")
        .and_then(Value::as_array)
        .and_then(|items| items.last())
        .is_some_and(|last| last.to_string().contains("CONTEXT CHECKPOINT COMPACTION"))
}

/// Streams one answer.
pub(super) fn answer(events: &mut Events<'_>, answer: &Answer) -> Result<()> {
    let items = items(answer);
    let id = format!("resp_{}", answer.number);
    let started = json!({"id": id, "object": "response", "status": "in_progress", "output": []});
    send(events, "response.created", json!({"response": started, "sequence_number": 0}))?;
    for (index, item) in items.iter().enumerate() {
        stream_item(events, index, item)?;
    }
    let (input, output) = (answer.usage.input, answer.usage.output);
    let usage = json!({
        "input_tokens": input, "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + output,
    });
    let done =
        json!({"id": id, "object": "response", "status": "completed", "output": items, "usage": usage});
    send(events, "response.completed", json!({"response": done}))
}

fn stream_item(events: &mut Events<'_>, index: usize, item: &Value) -> Result<()> {
    let is_message = item.get("type").and_then(Value::as_str) == Some("message");
    let mut opened = item.clone();
    if let (true, Some(object)) = (is_message, opened.as_object_mut()) {
        object.insert("content".to_owned(), json!([]));
    }
    send(events, "response.output_item.added", json!({"output_index": index, "item": opened}))?;
    if is_message {
        let text = item.pointer("/content/0/text").and_then(Value::as_str);
        for piece in pieces(text.unwrap_or_default()) {
            let delta = json!({
                "item_id": item.get("id"), "output_index": index, "content_index": 0, "delta": piece,
            });
            send(events, "response.output_text.delta", delta)?;
        }
    }
    send(events, "response.output_item.done", json!({"output_index": index, "item": item}))
}

fn send(events: &mut Events<'_>, name: &str, mut data: Value) -> Result<()> {
    if let Some(object) = data.as_object_mut() {
        object.insert("type".to_owned(), json!(name));
    }
    events.send(Some(name), &data.to_string())
}

fn items(answer: &Answer) -> Vec<Value> {
    let mut items = Vec::new();
    if !answer.step.say.is_empty() {
        let content = json!([{"type": "output_text", "text": answer.step.say, "annotations": []}]);
        items.push(json!({
            "type": "message", "id": format!("msg_{}", answer.number), "role": "assistant",
            "status": "completed", "content": content,
        }));
    }
    for (index, call) in answer.step.calls.iter().enumerate() {
        let mut item = json!({
            "type": "function_call", "id": format!("fc_{}_{index}", answer.number),
            "call_id": answer.call_id(index), "name": call.tool, "status": "completed",
            "arguments": call.arguments.to_string(),
        });
        if let (Some(namespace), Some(item)) = (&call.namespace, item.as_object_mut()) {
            item.insert("namespace".to_owned(), json!(namespace));
        }
        items.push(item);
    }
    items
}
