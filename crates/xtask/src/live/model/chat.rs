//! The answer in OpenAI's chat completions form, streamed: what pi speaks.

use anyhow::Result;
use serde_json::{Value, json};

use super::http::{Events, pieces};
use super::{Answer, Usage};

/// Whether the program asks for a summary of the conversation so far.
pub(super) fn asks_for_summary(body: &Value) -> bool {
    body.get("messages")
        .and_then(Value::as_array)
        .and_then(|messages| messages.first())
        .is_some_and(|first| first.to_string().contains("context summarization assistant"))
}

/// Streams one answer.
pub(super) fn answer(events: &mut Events<'_>, answer: &Answer) -> Result<()> {
    let id = format!("chatcmpl-{}", answer.number);
    let chunk = |delta: Value, finish: Option<&str>, usage: Option<Value>| {
        let mut chunk = json!({
            "id": id, "object": "chat.completion.chunk", "created": 0, "model": super::MODEL,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}],
        });
        if let (Some(usage), Some(object)) = (usage, chunk.as_object_mut()) {
            object.insert("usage".to_owned(), usage);
        }
        chunk.to_string()
    };
    events.send(None, &chunk(json!({"role": "assistant", "content": ""}), None, None))?;
    for piece in pieces(&answer.step.say) {
        events.send(None, &chunk(json!({"content": piece}), None, None))?;
    }
    for (index, call) in answer.step.calls.iter().enumerate() {
        let delta = json!({"tool_calls": [{
            "index": index, "id": answer.call_id(index), "type": "function",
            "function": {"name": call.tool, "arguments": call.arguments.to_string()},
        }]});
        events.send(None, &chunk(delta, None, None))?;
    }
    let finish = if answer.step.calls.is_empty() { "stop" } else { "tool_calls" };
    let usage = usage(&answer.usage);
    events.send(None, &chunk(json!({}), Some(finish), Some(usage)))?;
    events.send(None, "[DONE]")
}

fn usage(usage: &Usage) -> Value {
    json!({
        "prompt_tokens": usage.input, "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
    })
}
