//! Content blocks, which all formats have in some spelling.

use base64::Engine as _;
use base64::alphabet::STANDARD;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use sayso_model::{Attachment, PartBody};
use serde_json::Value;

use crate::draft::{DraftPart, Source, Whole};
use crate::values::{named, take, take_text, take_words, text};

/// One block of a message's content.
#[derive(Debug)]
pub(crate) enum Block {
    Text(String),
    Attached(DraftPart),
    /// It says nothing that can be read.
    Sealed,
}

/// The blocks of a content: what is no list is one block.
pub(crate) fn blocks(content: Value) -> Vec<Block> {
    match content {
        Value::Null => Vec::new(),
        Value::Array(blocks) => blocks.into_iter().map(block).collect(),
        other => vec![block(other)],
    }
}

fn block(mut value: Value) -> Block {
    if let Value::String(text) = value {
        return Block::Text(text);
    }
    let kind = text(&value, "type").unwrap_or_default().to_owned();
    match kind.as_str() {
        "input_text" | "output_text" | "text" | "summary_text" | "reasoning_text" => {
            Block::Text(take_words(&mut value, "text"))
        }
        "encrypted_content" => Block::Sealed,
        "input_image" => Block::Attached(linked(&take(&mut value, "image_url"))),
        "image" => {
            let media_type = take_text(&mut value, "mimeType");
            Block::Attached(attached(media_type, String::new(), decode(&take_text(&mut value, "data"))))
        }
        _ => Block::Attached(unknown(value)),
    }
}

/// A block of a kind that nobody has seen here yet: its name says what stood there, and its bytes are kept as JSON.
pub(crate) fn unknown(block: Value) -> DraftPart {
    let kind = text(&block, "type").unwrap_or_default().to_owned();
    attached("application/json".to_owned(), kind, Some(block.to_string().into_bytes()))
}

/// The text parts and attachments of a content, in order.
pub(crate) fn parts(content: Value) -> Vec<DraftPart> {
    let parts = blocks(content).into_iter().filter_map(|block| match block {
        Block::Text(text) => Some(DraftPart::text(text)),
        Block::Attached(part) => Some(part),
        Block::Sealed => None,
    });
    parts.collect()
}

/// The texts of a content joined by LF, and its attachments.
pub(crate) fn joined(content: Value) -> (String, Vec<DraftPart>) {
    let (mut texts, mut attached) = (Vec::new(), Vec::new());
    for block in blocks(content) {
        match block {
            Block::Text(text) => texts.push(text),
            Block::Attached(part) => attached.push(part),
            Block::Sealed => {}
        }
    }
    (texts.join("\n"), attached)
}

/// An image by its link: its bytes where the link holds them, else the link as its name.
fn linked(link: &Value) -> DraftPart {
    let url = link.as_str().or_else(|| named(link, "url")).unwrap_or_default();
    let inside = url.strip_prefix("data:").and_then(|rest| rest.split_once(";base64,"));
    match inside {
        Some((media_type, data)) => attached(media_type.to_owned(), String::new(), decode(data)),
        None => attached(String::new(), url.to_owned(), None),
    }
}

/// An attachment, with its bytes where they are there.
pub(crate) fn attached(media_type: String, name: String, bytes: Option<Vec<u8>>) -> DraftPart {
    let mut part = DraftPart::new(PartBody::Attachment(Attachment { media_type, name, output: None }));
    part.whole = bytes.map(|bytes| Whole::of(Source::Bytes(bytes), None));
    part
}

/// The bytes that base64 stands for; none for anything else, or for nothing.
pub(crate) fn decode(data: &str) -> Option<Vec<u8>> {
    const ENGINE: GeneralPurpose = GeneralPurpose::new(
        &STANDARD,
        GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
    );
    ENGINE.decode(data).ok().filter(|bytes| !bytes.is_empty())
}
