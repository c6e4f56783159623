//! Several markers in one text.

use std::ops::Range;

use sayso_model::TurnId;

use super::parse::{ParseError, open_tag, parse};
use super::region::unquoted;
use super::{Marker, RULE};

const START: &str = "<quote id=\"";
const BETWEEN: &str = "\n\n";

/// Joins rendered messages to one text, with an empty line between two.
#[must_use]
pub fn join(messages: &[String]) -> String {
    messages.join(BETWEEN)
}

/// Reads a text that [`join`] made: a message ends where an empty line and a new open tag follow. No note can hold that,
/// since what looks like a marker at a line start is escaped there.
///
/// # Errors
///
/// [`ParseError`] for the first message that is none. An empty text holds none and is no error.
pub fn split(text: &str) -> Result<Vec<Marker>, ParseError> {
    let between = format!("{BETWEEN}{START}");
    let mut starts: Vec<usize> = text.match_indices(&between).map(|(at, _)| at).collect();
    starts.push(text.len());
    let mut from = 0;
    let mut markers = Vec::new();
    for end in starts {
        let message = text.get(from..end).unwrap_or_default();
        if !text.is_empty() {
            markers.push(parse(message.as_bytes())?);
        }
        from = end + BETWEEN.len();
    }
    Ok(markers)
}

/// A marker found in a longer text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The id in its tags.
    pub id: TurnId,
    /// The bytes from the open tag through the close tag and, where it stands there, the fixed sentence. A note may follow.
    pub range: Range<usize>,
}

/// Finds markers that stand at the line starts of a longer text, such as a transcript: an open tag, lines that start with
/// `> `, the close tag of the same id. This recognises; it proves nothing about who wrote them.
pub fn find(text: &str) -> impl Iterator<Item = Found> {
    let mut from = 0;
    std::iter::from_fn(move || {
        while let Some(start) = next_start(text, from) {
            from = start + START.len();
            if let Some(found) = found_at(text, start) {
                from = found.range.end;
                return Some(found);
            }
        }
        None
    })
}

/// The ids of the markers in a text, in order.
///
/// ```
/// # use sayso_view::marker::{Message, Profile, ids_in, render};
/// # let (quote, id, speaker) = (sayso_view::example::quote("x"), sayso_view::example::turn_id(), sayso_view::example::owner());
/// let marker = render(&Message { id, quote: &quote, speaker: &speaker, note: "".into() }, Profile::V1);
/// let transcript = format!("Context:\n{marker}\n\nWhat now?");
/// assert_eq!(ids_in(&transcript), [id]);
/// ```
#[must_use]
pub fn ids_in(text: &str) -> Vec<TurnId> {
    find(text).map(|found| found.id).collect()
}

fn next_start(text: &str, from: usize) -> Option<usize> {
    let rest = text.get(from..)?;
    let mut places = rest.match_indices(START).map(|(at, _)| from + at);
    places.find(|at| *at == 0 || text.get(..*at).is_some_and(|before| before.ends_with('\n')))
}

fn found_at(text: &str, start: usize) -> Option<Found> {
    let (tag, inside) = open_tag(text.get(start..)?)?;
    let id: TurnId = tag.value("id").ok()?;
    let region: usize =
        inside.split_inclusive('\n').take_while(|line| line.starts_with("> ")).map(str::len).sum();
    let (region, rest) = inside.split_at_checked(region)?;
    unquoted(region.strip_suffix('\n')?)?;
    let after = rest.strip_prefix(&format!("</quote id=\"{id}\">"))?;
    let end = text.len() - sentence(after)?.len();
    Some(Found { id, range: start..end })
}

/// What follows the close tag and the fixed sentence; `None` where the tag's line goes on.
fn sentence(after: &str) -> Option<&str> {
    let line_ends = after.is_empty() || after.starts_with(['\n', '\r']);
    line_ends.then(|| after.strip_prefix('\n').and_then(|a| a.strip_prefix(RULE)).unwrap_or(after))
}
