//! The content of a message: a text, or blocks.

use sayso_model::{Outcome, ToolResult};
use serde_json::Value;

use super::words::{bare, hands_on_a_plan};
use crate::blocks::{attached, decode, unknown};
use crate::draft::DraftPart;
use crate::values::{named, plain, take, take_text, take_words, text};

/// One block of a content.
pub(super) enum Block {
    Text(String),
    /// An answer of a tool: the call's id, whether it worked, its content.
    Result(ToolResult, Vec<DraftPart>),
    Attached(DraftPart),
}

/// The blocks of a content: what is no list is one block.
pub(super) fn blocks(content: Value) -> Vec<Block> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(blocks) => blocks.into_iter().map(block).collect(),
        other => vec![block(other)],
    }
}

pub(super) fn block(mut value: Value) -> Block {
    if let Value::String(text) = value {
        return Block::Text(text);
    }
    match text(&value, "type") {
        Some("text") => Block::Text(take_words(&mut value, "text")),
        Some(kind) if is_result(kind) => result(value),
        _ => Block::Attached(file(value)),
    }
}

/// Whether a block of this type is an answer of a tool. Those that the provider ran itself have types of their own.
pub(super) fn is_result(kind: &str) -> bool {
    kind == RESULT || kind.ends_with("_tool_result")
}

const RESULT: &str = "tool_result";

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
                _ => decode(&data).or_else(|| Some(data.into_bytes()).filter(|bytes| !bytes.is_empty())),
            };
            attached(media_type, name, bytes)
        }
        "tool_reference" => {
            let name = format!("{kind} {}", text(&value, "tool_name").unwrap_or_default());
            attached(String::new(), name.trim_end().to_owned(), None)
        }
        _ => unknown(value),
    }
}

fn result(mut value: Value) -> Block {
    let content = take(&mut value, "content");
    // The format's default is that a call worked.
    let says_error = text(&content, "type").is_some_and(|kind| kind.ends_with("_error"));
    let outcome = match value.get("is_error").and_then(Value::as_bool) {
        Some(true) => Outcome::Failed,
        _ if says_error => Outcome::Failed,
        Some(false) | None => Outcome::Ok,
    };
    let call_id = take_text(&mut value, "tool_use_id");
    let (text, files) = answer(content, text(&value, "type") == Some(RESULT));
    Block::Result(ToolResult { call_id, tool: String::new(), outcome, text, output: None }, files)
}

/// The text of an answer, and what comes with it. What the provider's own tools give is no text mostly, and is kept as JSON.
fn answer(content: Value, plain_tool: bool) -> (String, Vec<DraftPart>) {
    let is_text = |block: &Value| block.is_string() || text(block, "type") == Some("text");
    match &content {
        Value::Array(list) if plain_tool || list.iter().all(is_text) => {}
        _ => return (plain(content), Vec::new()),
    }
    let (mut texts, mut files) = (Vec::new(), Vec::new());
    for block in blocks(content) {
        match block {
            Block::Text(text) => texts.push(text),
            Block::Attached(file) => files.push(file),
            Block::Result(inner, more) => {
                texts.push(inner.text);
                files.extend(more);
            }
        }
    }
    (texts.join("\n"), files)
}

/// The texts of a content joined by LF, without looking whose they are.
pub(super) fn typed(content: &Value) -> String {
    texts(content).join("\n")
}

/// What a person typed, as it is compared: without what the program set among the words, and without blanks around it.
/// Where nothing else is there, that counts.
pub(super) fn typed_words(content: &Value) -> String {
    let words: Vec<String> =
        texts(content).iter().map(|text| bare(text)).filter(|words| !words.is_empty()).collect();
    if words.is_empty() { typed(content).trim().to_owned() } else { words.join("\n").trim().to_owned() }
}

/// Whether a content hands on a plan.
pub(super) fn is_plan(content: &Value) -> bool {
    let said = texts(content).into_iter().find(|text| !bare(text).is_empty());
    said.is_some_and(|text| hands_on_a_plan(&bare(&text)))
}

fn texts(content: &Value) -> Vec<String> {
    let blocks = match content {
        Value::Array(blocks) => blocks.as_slice(),
        other => std::slice::from_ref(other),
    };
    let texts = blocks.iter().filter_map(|block| match block {
        Value::String(text) => Some(text.clone()),
        block if text(block, "type") == Some("text") => {
            Some(plain(block.get("text").cloned().unwrap_or_default()))
        }
        _ => None,
    });
    texts.collect()
}
