//! The turns of a pi session, and of one of OpenClaw's, which looks the same.
//!
//! Every entry counts, also those on branches that were left: they are marked elsewhere, not
//! dropped.

use serde_json::Value;

use super::tallies::Tallies;
use super::{Counts, string, written};

/// The types of an entry that hold no turn.
const PASSED: [&str; 6] =
    ["session", "session_info", "model_change", "thinking_level_change", "label", "custom"];

/// Models by which OpenClaw itself speaks.
const MIRRORS: [&str; 2] = ["gateway-injected", "delivery-mirror"];

/// How a text begins with which OpenClaw wakes its agent.
const WAKES: [&str; 6] = [
    "[OpenClaw heartbeat poll]",
    "[OpenClaw exec completion]",
    "[OpenClaw cron wake]",
    "[OpenClaw session event]",
    "Read HEARTBEAT.md if it exists",
    "[cron:",
];

/// Whose session it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Program {
    Pi,
    OpenClaw,
}

/// Counts a session, whose first record is its header.
pub(super) fn session(records: &[Value], program: Program) -> Counts {
    let mut tallies = Tallies::default();
    entries(records.get(1..).unwrap_or_default(), program, &mut tallies);
    tallies.finish()
}

/// Counts the entries of one session.
pub(super) fn entries(entries: &[Value], program: Program, tallies: &mut Tallies) {
    tallies.session();
    entries.iter().for_each(|each| entry(each, program, tallies));
}

/// Counts one entry of the file.
fn entry(entry: &Value, program: Program, tallies: &mut Tallies) {
    match string(entry, "type") {
        Some("message") => message(entry.get("message").unwrap_or(&Value::Null), program, tallies),
        Some("custom_message") => tallies.turn("system", &whole("system", entry)),
        Some("branch_summary") => tallies.turn("system", &[("system", written(entry.get("summary")))]),
        Some("compaction") => tallies.compaction(&written(entry.get("summary"))),
        Some("compact") if program == Program::OpenClaw => tallies.skip("compact"),
        Some(kind) if PASSED.contains(&kind) => tallies.skip(kind),
        _ => tallies.unknown(),
    }
}

/// Counts one message.
fn message(message: &Value, program: Program, tallies: &mut Tallies) {
    let openclaw = program == Program::OpenClaw;
    let model = string(message, "model").unwrap_or_default();
    match string(message, "role") {
        Some("user") if openclaw => owners(message, tallies),
        Some("user") => tallies.turn("human", &whole("human", message)),
        Some("assistant") if openclaw && MIRRORS.contains(&model) => {
            tallies.turn("system", &whole("system", message));
        }
        Some("assistant") => tallies.turn("agent", &whole("agent", message)),
        Some("toolResult") => {
            let text = texts(message.get("content")).join("\n");
            tallies.turn("tool", &[("tool", text)]);
        }
        Some("bashExecution") => tallies.turn("tool", &[("tool", written(message.get("output")))]),
        Some("custom" | "hookMessage") => tallies.turn("system", &whole("system", message)),
        Some("system") if openclaw => tallies.turn("system", &whole("system", message)),
        _ => tallies.unknown(),
    }
}

/// The texts of a content, all by one; one empty text where there is nothing in it.
fn whole<'a>(kind: &'a str, message: &Value) -> Vec<(&'a str, String)> {
    let content = message.get("content");
    let texts = texts(content);
    if texts.is_empty() && is_empty(content) {
        return vec![(kind, String::new())];
    }
    texts.into_iter().map(|text| (kind, text)).collect()
}

fn is_empty(content: Option<&Value>) -> bool {
    content.is_none_or(|content| content.is_null() || content.as_array().is_some_and(Vec::is_empty))
}

/// The texts of a content.
fn texts(content: Option<&Value>) -> Vec<String> {
    let blocks = match content {
        Some(Value::Array(blocks)) => blocks.as_slice(),
        Some(one) => std::slice::from_ref(one),
        None => &[],
    };
    let text = |block: &Value| match block {
        Value::String(text) => Some(text.clone()),
        _ if string(block, "type") == Some("text") => Some(written(block.get("text"))),
        _ => None,
    };
    blocks.iter().filter_map(text).collect()
}

/// A message of the role user in OpenClaw: the program sets notes before what was written.
fn owners(message: &Value, tallies: &mut Tallies) {
    let provenance = message.get("provenance").and_then(|provenance| string(provenance, "kind"));
    let role = match provenance {
        Some("internal_system") => "system",
        Some("inter_session") => "agent",
        _ => "human",
    };
    let content = message.get("content");
    let mut parts: Vec<(&str, String)> = Vec::new();
    for text in texts(content) {
        parts
            .extend(halves(&text).map(|(by_program, text)| (if by_program { "system" } else { role }, text)));
    }
    let others = content.and_then(Value::as_array).is_some_and(|blocks| blocks.len() > texts(content).len());
    if parts.is_empty() && !others {
        parts.push((role, String::new()));
    }
    let by_role = others || parts.iter().any(|(kind, _)| *kind == role);
    tallies.turn(if by_role { role } else { "system" }, &parts);
}

/// The program's part of a text and the rest, each with whether it is the program's.
fn halves(text: &str) -> impl Iterator<Item = (bool, String)> {
    let mut rest = text;
    if WAKES.iter().any(|wake| text.trim_start().starts_with(wake)) {
        rest = "";
    }
    while let Some(behind) = behind_note(rest) {
        rest = behind.trim_start_matches('\n');
    }
    let notes = &text[..text.len() - rest.len()];
    let all_notes = !notes.is_empty() && rest.trim().is_empty();
    let before = if all_notes { text } else { notes.strip_suffix('\n').unwrap_or(notes) };
    let before = (!notes.is_empty()).then(|| (true, before.to_owned()));
    before.into_iter().chain((!all_notes).then(|| (false, rest.to_owned())))
}

/// What stands behind the note that a text begins with, if it begins with one.
fn behind_note(text: &str) -> Option<&str> {
    let mut lines = text.split_inclusive('\n');
    let first = lines.next()?;
    if first.starts_with("System: [") {
        return Some(&text[first.len()..]);
    }
    if !first.trim_end().ends_with("(untrusted metadata):") {
        return None;
    }
    let fence = lines.next().filter(|line| line.starts_with("```"))?;
    let mut length = first.len() + fence.len();
    for line in lines {
        length += line.len();
        if line.trim_end_matches('\n') == "```" {
            return Some(&text[length..]);
        }
    }
    None
}
