//! Words in a user message: the owner's stand bare, everyone else's between two lines that say whose they are.

use sayso_model::{Attachment, Entry, Kept, Part, PartBody, Speaker, SpeakerKind, ToolCall, ToolResult};

use crate::guard::guard;
use crate::marker::{Message, Profile, REDACTED, render};
use crate::names::{capped, json_line, label};

/// A turn as one user message, as a context shows it: the owner's words bare, everyone else's with a label, a quote as its
/// marker; empty where there is nothing to show.
#[must_use]
pub fn message(entry: &Entry) -> String {
    if let Some(message) = Message::of(entry) {
        return render(&message, Profile::V1);
    }
    let Some(turn) = entry.turn() else { return String::new() };
    let blocks = turn.parts.iter().filter_map(|part| block(turn.speaker_of(part), part));
    blocks.collect::<Vec<_>>().join("\n")
}

/// A part of a user message; `None` where there is nothing to show.
pub(super) fn block(speaker: &Speaker, part: &Part) -> Option<String> {
    match &part.body {
        PartBody::Text(text) => words(speaker, kept(part, text)),
        PartBody::Attachment(attachment) => Some(said_by(speaker, &attached(attachment, part.kept))),
        PartBody::ToolResult(result) => Some(orphan(speaker, result, part)),
        PartBody::ToolCall(call) if speaker.kind != SpeakerKind::Agent => Some(ran(speaker, call, part)),
        PartBody::Reasoning(..) | PartBody::ToolCall(_) => None,
    }
}

/// A command that somebody else than the model ran: words, no call, since no provider would take it for another's.
fn ran(speaker: &Speaker, call: &ToolCall, part: &Part) -> String {
    said_by(speaker, &guard(&format!("Ran {}: {}", capped(&call.tool), kept(part, &call.arguments))))
}

pub(super) fn kept<'a>(part: &Part, text: &'a str) -> &'a str {
    match part.kept {
        Kept::Whole => text,
        Kept::Redacted => REDACTED,
    }
}

fn words(speaker: &Speaker, text: &str) -> Option<String> {
    (!text.is_empty()).then(|| said_by(speaker, &guard(text)))
}

fn said_by(speaker: &Speaker, text: &str) -> String {
    if speaker.is_owner() {
        text.to_owned()
    } else {
        between(&label(speaker.kind, &speaker.name), "not the owner", text)
    }
}

/// Text between a line that says whose it is and a line that ends it.
pub(super) fn between(who: &str, standing: &str, text: &str) -> String {
    format!("[{who}, {standing}]\n{text}\n[end {who}]")
}

fn attached(attachment: &Attachment, is: Kept) -> String {
    let name = match is {
        Kept::Whole => attachment.name.as_str(),
        Kept::Redacted => REDACTED,
    };
    let facts = [name, &attachment.media_type].into_iter().filter(|fact| !fact.is_empty());
    let facts: Vec<String> = facts.map(|fact| json_line(capped(fact).as_ref())).collect();
    format!("[{}]", format!("attachment {}", facts.join(", ")).trim_end())
}

/// Whether a part shows in a context as words, so that calls before and after it were not made side by side.
pub(super) fn shows(part: &Part) -> bool {
    match &part.body {
        PartBody::Text(text) => !kept(part, text).is_empty(),
        PartBody::Attachment(_) | PartBody::ToolResult(_) => true,
        PartBody::Reasoning(..) | PartBody::ToolCall(_) => false,
    }
}

/// A result that answers no call: words of a tool, no function output.
fn orphan(speaker: &Speaker, result: &ToolResult, part: &Part) -> String {
    let name = if result.tool.is_empty() { &speaker.name } else { &result.tool };
    let who = label(SpeakerKind::Tool, name);
    between(&who, "not the owner; no call in this context waits for it", &guard(kept(part, &result.text)))
}
