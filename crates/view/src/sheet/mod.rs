//! A card's content, laid out once for terminal, Markdown and HTML.

mod html;
pub(crate) mod markdown;
mod terminal;

use sayso_model::{SaidAt, Speaker, UtcMs};

use crate::names;

/// What people see of a turn. Every string but a block's text is one line in which nothing hides.
#[derive(Debug, Clone)]
pub(crate) struct Sheet {
    /// What it is, as a class name: `quote` or `turn`.
    pub(crate) class: &'static str,
    /// The kind of the speaker.
    pub(crate) kind: &'static str,
    /// The speaker's name.
    pub(crate) name: String,
    /// What stands behind the name: state, titles.
    pub(crate) head: Vec<String>,
    /// The second line: date, counts.
    pub(crate) facts: Vec<String>,
    /// The words, in order.
    pub(crate) blocks: Vec<Block>,
    /// Where it comes from and how to get back.
    pub(crate) foot: Vec<Foot>,
}

/// Words with what stands above them.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// What they are; empty for the words that the sheet is about.
    pub(crate) label: String,
    /// The words as they were stored.
    pub(crate) text: String,
}

/// A line of the foot.
#[derive(Debug, Clone)]
pub(crate) struct Foot {
    /// What it tells.
    pub(crate) label: &'static str,
    /// In words.
    pub(crate) text: String,
    /// An address or a command, to be copied.
    pub(crate) code: Option<String>,
}

impl Sheet {
    pub(crate) fn new(class: &'static str, speaker: &Speaker) -> Self {
        Self {
            class,
            kind: speaker.kind.as_str(),
            name: names::speaker(speaker),
            head: Vec::new(),
            facts: Vec::new(),
            blocks: Vec::new(),
            foot: Vec::new(),
        }
    }
}

/// Kind and name, such as `owner · Kim`.
pub(crate) fn who(speaker: &Speaker) -> String {
    format!("{} · {}", speaker.kind, names::speaker(speaker))
}

/// A moment as people write it, with its offset; `undated` where there is none.
pub(crate) fn said(at: Option<SaidAt>) -> String {
    at.map_or_else(|| "undated".to_owned(), |at| spaced(&at.local()))
}

/// A moment in UTC as people write it.
pub(crate) fn utc(at: UtcMs) -> String {
    spaced(&at.utc())
}

fn spaced(rfc3339: &str) -> String {
    let Some((day, time)) = rfc3339.split_once('T') else {
        return rfc3339.to_owned();
    };
    let (clock, offset) = time.split_at(time.find(['+', '-', 'Z']).unwrap_or(time.len()));
    format!("{day} {clock} {}", if offset == "Z" { "+00:00" } else { offset })
}

/// A number with its thousands apart: `4,000`.
#[must_use]
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A count with its noun.
pub(crate) fn counted(number: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(number), if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_and_numbers_read_well() {
        assert_eq!(said(SaidAt::parse("2026-11-30T18:14:05.25+09:00")), "2026-11-30 18:14:05.250 +09:00");
        assert_eq!(said(None), "undated");
        assert_eq!(utc(UtcMs(0)), "1970-01-01 00:00:00 +00:00");
        assert_eq!(grouped(9_120), "9,120");
        assert_eq!(grouped(120), "120");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "session"), "1 session");
    }
}
