//! What the model said.

use std::collections::HashMap;

use sayso::SpeakerKind;
use sayso_model::{PartBody, Seal, ToolCall};
use serde_json::Value;

use super::content::{self, Block, file, is_result};
use super::program;
use crate::draft::{Draft, DraftPart, Meta, Who};
use crate::formats::Format;
use crate::values::{named, plain, take, take_text, take_words, text};

/// The model that the program names where it speaks itself.
const SYNTHETIC: &str = "<synthetic>";

/// A turn of the model, and the tools of the calls in it by their ids.
pub(super) struct Answer {
    pub(super) draft: Draft,
    pub(super) calls: Vec<(String, String)>,
}

/// Reads a message; `record` is what stands around it. A message about a failed request is the program's.
pub(super) fn answer(
    message: &mut Value,
    record: &Value,
    tools: &HashMap<String, String>,
    meta: Meta,
) -> Answer {
    let model = named(message, "model").unwrap_or(Format::ClaudeCode.program());
    let failed = record.get("isApiErrorMessage").and_then(Value::as_bool) == Some(true);
    let speaker = match model {
        SYNTHETIC => program(),
        _ if failed => program(),
        model => Who::new(SpeakerKind::Agent, model),
    };
    let mut parts: Vec<DraftPart> = match take(message, "content") {
        Value::Null => Vec::new(),
        Value::Array(blocks) => blocks.into_iter().flat_map(block).collect(),
        other => block(other),
    };
    let calls = parts.iter().filter_map(|part| match &part.body {
        PartBody::ToolCall(call) if !call.call_id.is_empty() => {
            Some((call.call_id.clone(), call.tool.clone()))
        }
        _ => None,
    });
    let calls: Vec<_> = calls.collect();
    for part in &mut parts {
        name_tool(part, &calls, tools);
    }
    Answer { draft: Draft::new(meta, speaker, parts), calls }
}

/// What answers a call that the provider ran itself stands beside the call, or in a later message of the model. It is the
/// tool's.
fn name_tool(part: &mut DraftPart, calls: &[(String, String)], tools: &HashMap<String, String>) {
    let PartBody::ToolResult(result) = &mut part.body else { return };
    let here = calls.iter().find(|(id, _)| *id == result.call_id).map(|(_, tool)| tool);
    result.tool = here.or_else(|| tools.get(&result.call_id)).cloned().unwrap_or_default();
    part.by = Some(Who::new(SpeakerKind::Tool, result.tool.clone()));
}

fn block(mut value: Value) -> Vec<DraftPart> {
    if let Value::String(text) = value {
        return vec![DraftPart::text(text)];
    }
    match text(&value, "type") {
        Some("text") => vec![DraftPart::text(take_words(&mut value, "text"))],
        Some("thinking") => thought(take_words(&mut value, "thinking"), take_text(&mut value, "signature")),
        Some("redacted_thinking") => thought(String::new(), take_text(&mut value, "data")),
        Some("tool_use" | "server_tool_use" | "mcp_tool_use") => {
            let call_id = take_text(&mut value, "id");
            let tool = take_text(&mut value, "name");
            let arguments = plain(take(&mut value, "input"));
            vec![DraftPart::new(PartBody::ToolCall(ToolCall { call_id, tool, arguments }))]
        }
        Some(kind) if is_result(kind) => answered(value),
        _ => vec![file(value)],
    }
}

fn answered(value: Value) -> Vec<DraftPart> {
    let Block::Result(result, files) = content::block(value) else { return Vec::new() };
    let tool = Who::new(SpeakerKind::Tool, String::new());
    let files = files.into_iter().map(|file| file.by(tool.clone()));
    std::iter::once(DraftPart::new(PartBody::ToolResult(result))).chain(files).collect()
}

/// A thought as it can be read, and as only its provider can; where nothing can be read, the sealed form stands for it.
fn thought(open: String, sealed: String) -> Vec<DraftPart> {
    let part = |seal, text: String| DraftPart::new(PartBody::Reasoning(seal, text));
    match (open.is_empty(), sealed.is_empty()) {
        (_, true) => vec![part(Seal::Open, open)],
        (true, false) => vec![part(Seal::Sealed, sealed)],
        (false, false) => vec![part(Seal::Open, open), part(Seal::Sealed, sealed)],
    }
}
