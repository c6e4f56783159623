//! Entries of one answer: as many as fit, and where to go on.

use std::fmt;
use std::str::FromStr;

use sayso::Reader;
use sayso::model::Entry;
use sayso::model::text::byte_of;

use crate::answer::EntryShown;
use crate::bound::{FORM_BYTES, costs, fitting, json_len};
use crate::cursor::stale;
use crate::entry::{Quotes, Read, Taken};
use crate::fail::Fault;

/// A place in a session: an entry, a piece of it, a character of that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) seq: u64,
    pub(crate) piece: usize,
    pub(crate) start: usize,
}

impl Place {
    /// Where an entry begins.
    pub(crate) const fn of(seq: u64) -> Self {
        Self { seq, piece: 0, start: 0 }
    }

    /// Whether an entry begins there.
    const fn is_beginning(self) -> bool {
        self.piece == 0 && self.start == 0
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.seq, self.piece, self.start)
    }
}

impl FromStr for Place {
    type Err = Fault;

    fn from_str(text: &str) -> Result<Self, Fault> {
        let mut numbers = text.split('.');
        let mut next = || numbers.next().ok_or_else(stale);
        let (seq, piece, start) = (next()?, next()?, next()?);
        let number = |text: &str| text.parse().map_err(|_| stale());
        Ok(Self { seq: seq.parse().map_err(|_| stale())?, piece: number(piece)?, start: number(start)? })
    }
}

/// The entries of an answer in both forms.
pub(crate) struct Page<'a> {
    reader: &'a Reader,
    quotes: Quotes,
    /// Bytes that are left, in each form.
    left: usize,
    pub(crate) text: Vec<String>,
    pub(crate) entries: Vec<EntryShown>,
}

impl<'a> Page<'a> {
    /// An empty page, with so many bytes of it taken by something else.
    pub(crate) fn new(reader: &'a Reader, quotes: Quotes, taken: usize) -> Self {
        Self { reader, quotes, left: FORM_BYTES.saturating_sub(taken), text: Vec::new(), entries: Vec::new() }
    }

    /// Adds an entry from a place on. Where it did not fit, the place at which the next page starts.
    pub(crate) fn add(&mut self, entry: Entry, from: Place) -> Result<Option<Place>, Fault> {
        let read = Read::new(self.reader, entry)?;
        let begins = from.is_beginning();
        let bytes: usize = read.texts().iter().map(|text| text.len()).sum();
        if begins && bytes <= self.left && self.add_all(&read) {
            return Ok(None);
        }
        if begins && !self.entries.is_empty() {
            return Ok(Some(from));
        }
        self.add_beginning(&read, from)
    }

    fn add_all(&mut self, read: &Read<'_>) -> bool {
        let all = read.all();
        let (text, shown) = (read.text(&all, self.quotes), read.shown(&all));
        let cost = json_len(&text).max(json_len(&shown)) + BETWEEN;
        if cost > self.left {
            return false;
        }
        self.push(text, shown, cost);
        true
    }

    fn push(&mut self, text: String, shown: EntryShown, cost: usize) {
        self.left = self.left.saturating_sub(cost);
        self.text.push(text);
        self.entries.push(shown);
    }

    /// As much of an entry as fits, piece by piece; the last piece may be cut.
    fn add_beginning(&mut self, read: &Read<'_>, from: Place) -> Result<Option<Place>, Fault> {
        let texts = read.texts();
        if from.piece > 0 && from.piece >= texts.len() {
            return Err(stale());
        }
        let bare = cost(read, &[]);
        let mut left = self.left.saturating_sub(bare + BETWEEN);
        let (mut taken, mut next) = (Vec::new(), None);
        for (piece, text) in texts.iter().enumerate().skip(from.piece) {
            let skipped = if piece == from.piece { from.start } else { 0 };
            let start = byte_of(text, skipped).ok_or_else(stale)?;
            let frame = cost(read, &[Taken { piece, bytes: start..start }]).saturating_sub(bare) + CUT_LINE;
            let rest = text.get(start..).unwrap_or_default();
            let room = left.saturating_sub(frame);
            if rest.len() <= room && costs(rest) <= room {
                left = room - costs(rest);
                taken.push(Taken { piece, bytes: start..text.len() });
                continue;
            }
            let mut place = Place { seq: from.seq, piece, start: skipped };
            if taken.is_empty() || room > WORTH_A_CUT {
                let cut = fitting(rest, room);
                taken.push(Taken { piece, bytes: start..start + cut.bytes });
                place.start += cut.chars;
            }
            next = Some(place);
            break;
        }
        let (text, shown) = (read.text(&taken, self.quotes), read.shown(&taken));
        let cost = json_len(&text).max(json_len(&shown)) + BETWEEN;
        self.push(text, shown, cost);
        Ok(next)
    }
}

/// Bytes between two entries.
const BETWEEN: usize = 4;
/// Bytes of a line that says which characters are shown.
const CUT_LINE: usize = 96;
/// Bytes that are worth cutting a piece for, where others stand before it.
const WORTH_A_CUT: usize = 2_048;

/// The bytes of a piece of an entry, in the longer of its forms.
fn cost(read: &Read<'_>, taken: &[Taken]) -> usize {
    json_len(&read.text(taken, Quotes::Cards)).max(json_len(&read.shown(taken)))
}
