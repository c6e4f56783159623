//! What the model was shown, read from a request body.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::model::Request;

/// One text of a request, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    /// The role of the message that holds it.
    pub(crate) role: String,
    /// The text.
    pub(crate) text: String,
}

/// Every text of every message, in either form.
pub(crate) fn texts(request: &Request) -> Vec<Seen> {
    let items = request.body.get("input").or_else(|| request.body.get("messages")).and_then(Value::as_array);
    items.into_iter().flatten().flat_map(item_texts).collect()
}

/// How often a word stands anywhere in a request, outputs of tools included.
pub(crate) fn count(request: &Request, word: &str) -> usize {
    request.body.to_string().matches(word).count()
}

fn item_texts(item: &Value) -> Vec<Seen> {
    let role = item.get("role").and_then(Value::as_str).unwrap_or_default();
    let text_of = |part: &Value| {
        let text = part.get("text").and_then(Value::as_str)?;
        Some(Seen { role: role.to_owned(), text: text.to_owned() })
    };
    match item.get("content") {
        Some(Value::Array(parts)) => parts.iter().filter_map(text_of).collect(),
        Some(Value::String(text)) => vec![Seen { role: role.to_owned(), text: text.clone() }],
        _ => Vec::new(),
    }
}

/// Fails unless the request holds the marker exactly once, byte for byte, and no other one.
pub(crate) fn marker_once(request: &Request, marker: &str) -> Result<()> {
    let texts = texts(request);
    let exact: usize = texts.iter().map(|seen| seen.text.matches(marker).count()).sum();
    let openings =
        texts.iter().flat_map(|seen| seen.text.lines()).filter(|line| line.starts_with("<quote id=")).count();
    ensure!(
        exact == 1 && openings == 1,
        "the marker stands there {exact} times, quotes begin {openings} times"
    );
    Ok(())
}

/// Where a text stands among the texts of a request.
pub(crate) fn position(request: &Request, text: &str) -> Result<usize> {
    texts(request)
        .iter()
        .position(|seen| seen.text.contains(text))
        .with_context(|| format!("the model was not shown: {text:.80}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const MARKER: &str = "<quote id=\"01A\">\n> {}\n> hi\n</quote id=\"01A\">";

    fn request(texts: &[&str]) -> Request {
        let content = texts.iter().map(|text| json!({"type": "input_text", "text": text}));
        let content: Vec<Value> = content.collect();
        Request { body: json!({"input": [{"type": "message", "role": "developer", "content": content}]}) }
    }

    #[test]
    fn one_marker_is_one() {
        marker_once(&request(&["before", MARKER]), MARKER).unwrap();
    }

    #[test]
    fn none_two_and_changed_ones_are_refused() {
        let changed = MARKER.replace("hi", "ho");
        for texts in [&["before"][..], &[MARKER, MARKER], &[&changed], &[MARKER, &changed]] {
            assert!(marker_once(&request(texts), MARKER).is_err(), "{texts:?}");
        }
    }
}
