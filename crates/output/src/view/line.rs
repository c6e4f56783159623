//! One line of a view.

use std::borrow::Cow;
use std::fmt;

use sayso_model::hidden;
use sayso_model::text::is_break;
use unicode_segmentation::GraphemeCursor;

use crate::profile::Cost;

/// One line of an output as it is shown: what hides in it is written as `⟦U+202E⟧`, and a giant one lacks its middle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Its number in its stream, from 1.
    pub number: u64,
    head: String,
    tail: String,
    /// Bytes that are left out between the two.
    missing: u64,
}

impl Line {
    pub(crate) fn whole(number: u64, text: &str) -> Self {
        Self { number, head: show(text).into_owned(), tail: String::new(), missing: 0 }
    }

    /// The beginning of a line of which more bytes are missing; none may.
    pub(crate) fn part(number: u64, text: &str, missing: u64) -> Self {
        Self { missing, ..Self::whole(number, text) }
    }

    /// The beginning and the end of a line; both may have been cut inside of a cluster.
    pub(crate) fn ends(number: u64, head: &str, tail: &str, missing: u64) -> Self {
        let (kept, after) = (before(head, head.len().saturating_sub(1)), after(tail, 1));
        let lost = (head.len() - kept.len() + tail.len() - after.len()) as u64;
        let (head, tail) = (show(kept).into_owned(), show(after).into_owned());
        Self { number, head, tail, missing: missing + lost }
    }

    /// Bytes that are left out of its middle.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.missing
    }

    pub(crate) fn size(&self) -> usize {
        self.head.len() + self.tail.len()
    }

    pub(crate) fn cost(&self) -> Cost {
        Cost::line(&self.to_string())
    }

    /// The line with at most so many bytes of text, half at its beginning and half at its end.
    pub(crate) fn capped(&self, bytes: usize) -> Self {
        if self.size() <= bytes {
            return self.clone();
        }
        let whole = format!("{}{}", self.head, self.tail);
        let border = if self.missing > 0 { self.head.len() } else { whole.len() };
        let head = before(&whole, (bytes / 2).min(border));
        let wanted = if self.missing > 0 { self.tail.len() } else { whole.len() };
        let tail = after(&whole, whole.len() - (bytes / 2).min(wanted));
        let missing = self.missing + (whole.len() - head.len() - tail.len()) as u64;
        Self { number: self.number, head: head.to_owned(), tail: tail.to_owned(), missing }
    }

    /// The line cut so that it takes up no more than this, if something worth showing is left.
    pub(crate) fn within(&self, room: &Cost, least: usize) -> Option<Self> {
        let mut bytes = usize::try_from(room.bytes).unwrap_or(usize::MAX).min(self.size());
        loop {
            let line = self.capped(bytes);
            if line.cost().fits(room) {
                return Some(line);
            }
            let fewer = bytes * 7 / 8;
            if fewer < least || fewer == bytes || room.lines == 0 {
                return None;
            }
            bytes = fewer;
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.missing {
            0 => write!(f, "{}{}", self.head, self.tail),
            missing => write!(f, "{}[… {} bytes …]{}", self.head, grouped(missing), self.tail),
        }
    }
}

/// A number with its thousands apart.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// What hides is shown, other line breaks than the line feed too: one line stays one line for every reader.
fn show(text: &str) -> Cow<'_, str> {
    let shown = hidden::show(text);
    if !shown.chars().any(is_break) {
        return shown;
    }
    let coded = shown.chars().map(|c| if is_break(c) { hidden::code(c) } else { c.to_string() });
    Cow::Owned(coded.collect())
}

/// The text up to the last grapheme boundary at or before `at`; up to a character where the first cluster is longer.
fn before(text: &str, at: usize) -> &str {
    let at = text.floor_char_boundary(at);
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    let boundary = match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => cursor.prev_boundary(text, 0).ok().flatten().filter(|b| *b > 0).unwrap_or(at),
    };
    text.get(..boundary).unwrap_or_default()
}

/// The text from the first grapheme boundary at or after `at`.
fn after(text: &str, at: usize) -> &str {
    let at = text.ceil_char_boundary(at.min(text.len()));
    let mut cursor = GraphemeCursor::new(at, text.len(), true);
    let boundary = match cursor.is_boundary(text, 0) {
        Ok(true) => at,
        _ => cursor.next_boundary(text, 0).ok().flatten().unwrap_or(text.len()),
    };
    text.get(boundary..).unwrap_or_default()
}
