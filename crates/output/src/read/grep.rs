//! Searching an output line by line.

use std::io::{self, Read};

use grep_matcher::Matcher;
use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use super::ranges::read;
use crate::limits::{GREP_LINE_BYTES, GREP_OVERLAP_BYTES, GREP_PIECE_BYTES, READ_BYTES};

/// A pattern that cannot be searched for.
#[derive(Debug, thiserror::Error)]
#[error("the pattern cannot be read: {reason}. Write \\ before a character that stands for itself")]
pub struct PatternError {
    reason: String,
}

/// A pattern, ready to be searched for.
#[derive(Debug, Clone)]
pub struct Grep {
    matcher: RegexMatcher,
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its number, from 1.
    pub number: u64,
    /// The byte at which it begins.
    pub offset: u64,
    /// The line without its end; of a giant one the 4 KiB around the match.
    pub line: Vec<u8>,
    /// The byte within `line` at which the match begins.
    pub at: usize,
    /// Whether `line` is not the whole line.
    pub cut: bool,
}

impl Grep {
    /// A regular expression over one line, in the syntax of the crate `regex`; upper and lower case are told apart.
    ///
    /// # Errors
    ///
    /// [`PatternError`] where it is none.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        Self::build(pattern, RegexMatcherBuilder::new().line_terminator(Some(b'\n')))
    }

    /// The same without telling upper from lower case.
    ///
    /// # Errors
    ///
    /// [`PatternError`] where it is no pattern.
    pub fn ignoring_case(pattern: &str) -> Result<Self, PatternError> {
        Self::build(pattern, RegexMatcherBuilder::new().line_terminator(Some(b'\n')).case_insensitive(true))
    }

    /// Words that stand for themselves.
    ///
    /// # Errors
    ///
    /// [`PatternError`] where they hold a line feed.
    pub fn fixed(words: &str) -> Result<Self, PatternError> {
        Self::build(words, RegexMatcherBuilder::new().line_terminator(Some(b'\n')).fixed_strings(true))
    }

    fn build(pattern: &str, builder: &RegexMatcherBuilder) -> Result<Self, PatternError> {
        let mut builder = builder.clone();
        let matcher = builder.multi_line(true).build(pattern);
        matcher.map(|matcher| Self { matcher }).map_err(|e| PatternError { reason: e.to_string() })
    }

    /// Calls `hit` for every matching line until it returns `false`; gives the number of matching lines that it was called for.
    ///
    /// Lines over 1 MiB are searched in overlapping pieces: there, a match longer than 4 KiB may be missed, and `$` and `^`
    /// match at the ends of the line only.
    ///
    /// # Errors
    ///
    /// What reading says.
    pub fn search(&self, input: &mut dyn Read, hit: &mut dyn FnMut(Hit) -> bool) -> io::Result<u64> {
        let mut scan = Scan { matcher: &self.matcher, hit, number: 1, offset: 0, hits: 0, done: false };
        let (mut buffer, mut filled, mut within) = (vec![0; READ_BYTES], 0, None);
        loop {
            if filled == buffer.len() {
                buffer.resize((filled * 2).min(GREP_PIECE_BYTES), 0);
            }
            let read = read(input, buffer.get_mut(filled..).unwrap_or_default())?;
            filled += read;
            let bytes = buffer.get(..filled).unwrap_or_default();
            let used = if read == 0 { scan.last(bytes, &mut within) } else { scan.block(bytes, &mut within) };
            if read == 0 || scan.done {
                return Ok(scan.hits);
            }
            buffer.copy_within(used..filled, 0);
            filled -= used;
        }
    }
}

/// A giant line that is looked at in pieces.
struct Giant {
    /// Where it begins.
    offset: u64,
    /// Whether it was found to match.
    hit: bool,
}

struct Scan<'a> {
    matcher: &'a RegexMatcher,
    hit: &'a mut dyn FnMut(Hit) -> bool,
    number: u64,
    offset: u64,
    hits: u64,
    done: bool,
}

impl Scan<'_> {
    /// Looks at whole lines, or at a piece of a giant one; gives the bytes that are done with.
    fn block(&mut self, bytes: &[u8], within: &mut Option<Giant>) -> usize {
        if within.is_some() {
            return self.go_on(bytes, within);
        }
        let whole = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        if whole > 0 || bytes.len() < GREP_PIECE_BYTES {
            self.lines(bytes.get(..whole).unwrap_or_default());
            return whole;
        }
        *within = Some(Giant { offset: self.offset, hit: false });
        self.piece(bytes, within, false);
        let used = bytes.len() - GREP_OVERLAP_BYTES;
        self.offset += used as u64;
        used
    }

    fn go_on(&mut self, bytes: &[u8], within: &mut Option<Giant>) -> usize {
        if let Some(end) = memchr::memchr(b'\n', bytes) {
            self.piece(bytes.get(..end).unwrap_or_default(), within, true);
            *within = None;
            self.number += 1;
            self.offset += end as u64 + 1;
            return end + 1;
        }
        if bytes.len() < GREP_PIECE_BYTES {
            return 0;
        }
        self.piece(bytes, within, false);
        let used = bytes.len() - GREP_OVERLAP_BYTES;
        self.offset += used as u64;
        used
    }

    fn last(&mut self, bytes: &[u8], within: &mut Option<Giant>) -> usize {
        let mut bytes = bytes;
        while within.is_some() {
            let used = self.go_on(bytes, within);
            if used == 0 {
                self.piece(bytes, within, true);
                return 0;
            }
            bytes = bytes.get(used..).unwrap_or_default();
        }
        self.lines(bytes);
        0
    }

    fn find(&self, bytes: &[u8], at: usize) -> Option<(usize, usize)> {
        self.matcher.find_at(bytes, at).ok().flatten().map(|m| (m.start(), m.end()))
    }

    fn lines(&mut self, bytes: &[u8]) {
        let (mut at, mut counted) = (0, 0);
        while let Some((found, _)) = self.find(bytes, at).filter(|(start, _)| *start < bytes.len()) {
            if self.done {
                return;
            }
            let start = memchr::memrchr(b'\n', bytes.get(..found).unwrap_or_default()).map_or(0, |n| n + 1);
            let rest = bytes.get(found..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |n| found + n);
            self.number += bytecount::count(bytes.get(counted..start).unwrap_or_default(), b'\n') as u64;
            counted = start;
            let line = bytes.get(start..end).unwrap_or_default();
            self.tell(line, found - start, self.offset + start as u64, false);
            at = end + 1;
            if at > bytes.len() {
                break;
            }
        }
        self.number += bytecount::count(bytes.get(counted..).unwrap_or_default(), b'\n') as u64;
        self.offset += bytes.len() as u64;
    }

    /// A piece of a giant line; matches that touch an end which is none of the line's are left to the next piece.
    fn piece(&mut self, bytes: &[u8], within: &mut Option<Giant>, last: bool) {
        let Some(giant) = within.as_mut().filter(|giant| !giant.hit) else { return };
        let first = giant.offset == self.offset;
        let mut at = 0;
        while let Some((start, end)) = self.find(bytes, at) {
            if (start > 0 || first) && (end < bytes.len() || last) {
                giant.hit = true;
                let offset = giant.offset;
                return self.tell(bytes, start, offset, true);
            }
            // A match that began before this piece may also begin within it.
            at = if start == 0 { 1 } else { end.max(start + 1) };
            if at > bytes.len() {
                return;
            }
        }
    }

    fn tell(&mut self, line: &[u8], at: usize, offset: u64, giant: bool) {
        let from = if line.len() > GREP_LINE_BYTES { at.saturating_sub(GREP_LINE_BYTES / 4) } else { 0 };
        let from = (from..line.len()).find(|n| !matches!(line.get(*n), Some(0x80..=0xBF))).unwrap_or(from);
        let to = (from + GREP_LINE_BYTES).min(line.len());
        let part = line.get(from..to).unwrap_or_default();
        self.hits += 1;
        let cut = giant || part.len() < line.len();
        let hit = Hit { number: self.number, offset, line: part.to_vec(), at: at - from.min(at), cut };
        self.done = !(self.hit)(hit);
    }
}
