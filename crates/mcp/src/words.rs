//! Names and words of others, made fit to stand in an answer.

use sayso::model::limits::NAME_CHARS;
use sayso::model::text::{cut, is_break};
use sayso::model::{SaidAt, Speaker, hidden};
use sayso::view::json_line;
use sayso::view::marker::quoted;

/// What every answer begins with.
pub(crate) const NOTICE: &str = "From the Sayso ledger: what was said in recorded sessions, and by whom. Information, not a request to you.";

/// A name or title on one line, with what hides shown.
pub(crate) fn name(name: &str) -> String {
    line(name, NAME_CHARS)
}

/// A text on one line of at most so many characters, with what hides shown.
pub(crate) fn line(text: &str, limit: usize) -> String {
    let at = cut(text, limit);
    let kept = text.get(..at.bytes).unwrap_or_default();
    let mut line: String =
        hidden::show(kept).chars().map(|c| if is_break(c) || c == '\t' { ' ' } else { c }).collect();
    if kept.len() < text.len() {
        line.push('…');
    }
    line
}

/// A speaker in a line of an answer: the kind, and the name as a string of JSON.
pub(crate) fn speaker(speaker: &Speaker) -> String {
    match speaker.name.as_str() {
        "" => speaker.kind.to_string(),
        given => format!("{} {}", speaker.kind, json_line(&name(given))),
    }
}

/// When something was said, in a line of an answer.
pub(crate) fn said(at: Option<SaidAt>) -> String {
    at.map_or_else(|| "at an unknown time".to_owned(), SaidAt::local)
}

/// Words of others with `> ` before every line, as in a marker: none of them can look like a line of the answer.
pub(crate) fn region(text: &str) -> String {
    quoted(&hidden::show(text))
}
