//! What an idempotency key stands for: the content that the caller supplied, without ids, times of recording and salts.
//!
//! A store keeps `commit(salt, content)` beside the key, with a salt of its own that goes when the text goes, so that no
//! digest stays from which a short text could be guessed.

use sayso_model::canon::Form;
use sayso_model::{PartBody, SaidAt};

use crate::command::{AppendTurn, Compact, Edit, Forward, NewPart, Reinject};

/// The word for the kind of command that a key is scoped to.
pub mod kind {
    /// Appended turns.
    pub const TURN: &str = "turn";
    /// Forwarded turns.
    pub const FORWARD: &str = "forward";
    /// Compactions.
    pub const COMPACT: &str = "compact";
    /// Re-injections.
    pub const REINJECT: &str = "reinject";
}

/// The index of the salt of a key's content under its command's (or forward item's) seed.
pub const KEY_SALT: u64 = u64::MAX;

/// The content of an appended turn.
#[must_use]
pub fn turn(command: &AppendTurn) -> Vec<u8> {
    let form = Form::recorded("sayso.key.turn.v1").field(1, &command.speaker.to_bytes());
    said(form, command.said_at)
        .option(4, command.reply_to, |f, tag, id| f.field(tag, &id.to_bytes()))
        .list(5, &command.parts, part)
        .bytes()
        .to_vec()
}

/// The content of a turn that supersedes another.
#[must_use]
pub fn edit(command: &Edit) -> Vec<u8> {
    let form = Form::recorded("sayso.key.edit.v1").field(1, &command.of.to_bytes());
    form.field(2, &turn(&command.turn)).bytes().to_vec()
}

/// The content of one item of a forward.
#[must_use]
pub fn forward(command: &Forward, index: usize) -> Vec<u8> {
    let form = Form::recorded("sayso.key.forward.v1")
        .field(1, &command.by.to_bytes())
        .field(2, command.titles.as_str().as_bytes())
        .option(3, command.item_note(index), |f, tag, n| f.field(tag, n.as_bytes()));
    let form = form.option(4, command.items.get(index), |f, tag, item| {
        f.field(tag, &item.source.to_bytes())
            .option(5, item.selection, |f, tag, s| f.number(tag, s.start()).number(6, s.len()))
            .option(7, item.what, |f, tag, w| f.field(tag, w.as_str().as_bytes()))
    });
    form.bytes().to_vec()
}

/// The content of a compaction.
#[must_use]
pub fn compact(command: &Compact) -> Vec<u8> {
    let form = Form::recorded("sayso.key.compact.v1").field(1, &command.speaker.to_bytes());
    said(form, command.said_at)
        .number(4, command.through)
        .field(5, command.summary.as_bytes())
        .bytes()
        .to_vec()
}

/// The content of a re-injection: what it was asked for. Which ranges were chosen follows from the ledger as it was.
#[must_use]
pub fn reinject(command: &Reinject) -> Vec<u8> {
    let form = Form::recorded("sayso.key.reinject.v1");
    let form = form.option(1, command.of, |f, tag, id| f.field(tag, &id.to_bytes()));
    form.field(2, command.asked.as_bytes()).bytes().to_vec()
}

fn said(form: Form, at: Option<SaidAt>) -> Form {
    form.option(2, at, |f, tag, at| f.number(tag, at.ms()).number(3, at.offset_minutes()))
}

/// Outputs are named by ids that a repeated import mints anew, so only whether there is one counts.
fn part(form: Form, part: &NewPart) -> Form {
    let form = form.option(10, part.by, |f, tag, id| f.field(tag, &id.to_bytes()));
    let form = match &part.body {
        PartBody::Text(_) => form.field(11, b"text"),
        PartBody::Reasoning(seal, _) => form.field(11, b"reasoning").field(12, seal.as_str().as_bytes()),
        PartBody::ToolCall(call) => {
            form.field(11, b"tool_call").field(13, call.call_id.as_bytes()).field(14, call.tool.as_bytes())
        }
        PartBody::ToolResult(result) => form
            .field(11, b"tool_result")
            .field(12, result.outcome.as_str().as_bytes())
            .field(13, result.call_id.as_bytes())
            .field(14, result.tool.as_bytes())
            .number(15, result.output.is_some()),
        PartBody::Attachment(attachment) => form
            .field(11, b"attachment")
            .field(14, attachment.media_type.as_bytes())
            .number(15, attachment.output.is_some()),
    };
    form.field(16, part.body.text().as_bytes())
}

/// Digits of a digest that a key may end in, after a hyphen.
const DIGEST_DIGITS: usize = 16;

/// What of a key outlives the words that were written under it: a key that ends in a digest (a hyphen and 16 or more
/// hexadecimal digits) loses it, since the words could be guessed from that. Whatever comes under the same key without its
/// digest is then taken for what was written.
///
/// ```
/// use sayso_store::content::lasting;
///
/// assert_eq!(lasting("codex:12-0123456789abcdef"), "codex:12");
/// assert_eq!(lasting("turn-1"), "turn-1");
/// ```
#[must_use]
pub fn lasting(key: &str) -> &str {
    let is_digest = |end: &str| {
        end.len() >= DIGEST_DIGITS && end.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    };
    match key.rsplit_once('-') {
        Some((rest, end)) if is_digest(end) && !rest.is_empty() => rest,
        _ => key,
    }
}
