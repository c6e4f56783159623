//! The content of a message: a text, or blocks.

use sayso_model::{Outcome, ToolResult};
use serde_json::Value;

use crate::blocks::{attached, decode};
use crate::draft::DraftPart;
use crate::values::{named, take, take_text, text};

/// One block of a content.
pub(super) enum Block {
    Text(String),
    /// An answer of a tool: the call's id, whether it worked, its content.
    Result(ToolResult, Vec<DraftPart>),
    Attached(DraftPart),
}

/// The blocks of a content; anything but a text or a list has none.
pub(super) fn blocks(content: Value) -> Vec<Block> {
    match content {
        Value::String(text) => vec![Block::Text(text)],
        Value::Array(blocks) => blocks.into_iter().map(block).collect(),
        _ => Vec::new(),
    }
}

fn block(mut value: Value) -> Block {
    if let Value::String(text) = value {
        return Block::Text(text);
    }
    match text(&value, "type") {
        Some("text") => Block::Text(take_text(&mut value, "text")),
        Some("tool_result") => result(value),
        _ => Block::Attached(file(value)),
    }
}

/// An image or a document; of any other kind, its name says at least that something stood there.
pub(super) fn file(mut value: Value) -> DraftPart {
    let kind = text(&value, "type").unwrap_or_default().to_owned();
    match kind.as_str() {
        "image" | "document" => {
            let mut source = take(&mut value, "source");
            let name =
                named(&source, "url").or_else(|| named(&value, "title")).unwrap_or_default().to_owned();
            let media_type = take_text(&mut source, "media_type");
            let data = take_text(&mut source, "data");
            let bytes = match text(&source, "type") {
                Some("text") => Some(data.into_bytes()).filter(|bytes| !bytes.is_empty()),
                _ => decode(&data),
            };
            attached(media_type, name, bytes)
        }
        "tool_reference" => {
            let name = format!("{kind} {}", text(&value, "tool_name").unwrap_or_default());
            attached(String::new(), name.trim_end().to_owned(), None)
        }
        _ => attached(String::new(), kind, None),
    }
}

fn result(mut value: Value) -> Block {
    // The format's default is that a call worked.
    let outcome = match value.get("is_error").and_then(Value::as_bool) {
        Some(true) => Outcome::Failed,
        Some(false) | None => Outcome::Ok,
    };
    let call_id = take_text(&mut value, "tool_use_id");
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for block in blocks(take(&mut value, "content")) {
        match block {
            Block::Text(text) => texts.push(text),
            Block::Attached(file) => files.push(file),
            Block::Result(inner, more) => {
                texts.push(inner.text);
                files.extend(more);
            }
        }
    }
    let result = ToolResult { call_id, tool: String::new(), outcome, text: texts.join("\n"), output: None };
    Block::Result(result, files)
}

/// The texts of a content joined by LF, without looking whose they are.
pub(super) fn typed(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            let texts = blocks.iter().filter_map(|block| match block {
                Value::String(text) => Some(text.as_str()),
                block if text(block, "type") == Some("text") => Some(text(block, "text").unwrap_or_default()),
                _ => None,
            });
            texts.collect::<Vec<_>>().join("\n")
        }
        _ => String::new(),
    }
}
