//! The turns of a pi session.
//!
//! Every entry counts, also those on branches that were left: they are marked elsewhere, not
//! dropped.

use serde_json::Value;

use super::{Counts, Tally, string, texts};

/// Counts a session.
pub(super) fn session(records: &[Value]) -> Counts {
    let mut counts = Counts::default();
    for record in records {
        entry(record, &mut counts);
    }
    counts
}

/// Counts one entry of the file.
fn entry(entry: &Value, counts: &mut Counts) {
    match string(entry, "type") {
        Some("message") => message(entry.get("message").unwrap_or(&Value::Null), counts),
        Some("custom_message") => counts.system.add(&content(entry)),
        Some("branch_summary") => counts.system.add(string(entry, "summary").unwrap_or_default()),
        Some("compaction") => counts.compactions += 1,
        _ => {}
    }
}

/// Counts one message.
fn message(message: &Value, counts: &mut Counts) {
    let Some(role) = string(message, "role") else {
        return;
    };
    if role == "bashExecution" {
        counts.tool.add(string(message, "output").unwrap_or_default());
    } else if let Some(tally) = tally(role, counts) {
        tally.add(&content(message));
    }
}

/// Whose turn a message with this role is.
fn tally<'a>(role: &str, counts: &'a mut Counts) -> Option<&'a mut Tally> {
    match role {
        "user" => Some(&mut counts.human),
        "assistant" => Some(&mut counts.agent),
        "toolResult" => Some(&mut counts.tool),
        "custom" | "hookMessage" => Some(&mut counts.system),
        _ => None,
    }
}

/// The text of a message or of an entry that has content.
fn content(value: &Value) -> String {
    texts(value.get("content"), &["text"]).join("\n")
}
