//! Parts of a stored stream, at a memory that does not grow with it.

use std::io::{self, Write};
use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter};
use regex::bytes::Regex;
use sayso::model::OutputId;
use sayso::store::StreamKind;
use sayso::{Error, Reader};

/// One stream of an output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) output: OutputId,
    pub(crate) kind: StreamKind,
}

/// A place in a stream: a byte, and the line that it stands in (from 1), where lines are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct At {
    pub(crate) byte: u64,
    pub(crate) line: u64,
}

impl At {
    pub(crate) const START: Self = Self { byte: 0, line: 1 };
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) line: u64,
    /// The line, or of a long one what stands around the match.
    pub(crate) bytes: Vec<u8>,
    pub(crate) cut: bool,
    /// Where the search goes on.
    pub(crate) after: At,
}

/// Bytes of a line that are looked at in one piece. A longer line is looked at in pieces.
const PIECE: usize = 64 * 1024;
/// Bytes by which pieces of a long line overlap: a longer match may be missed there.
const OVERLAP: usize = 4 * 1024;
/// Bytes of a matching line that are shown at most.
const SHOWN: usize = 1_024;

impl Stream<'_> {
    /// At most so many bytes from a place on.
    pub(crate) fn window(&self, from: u64, most: usize) -> Result<Vec<u8>, Error> {
        let mut window = Vec::new();
        if let Some(mut bytes) = self.reader.open_output(self.output, self.kind)? {
            bytes.range(from, from.saturating_add(most as u64), &mut window)?;
        }
        Ok(window)
    }

    /// The byte at which a line starts (from 1); `None` where there are fewer lines.
    pub(crate) fn line(&self, number: u64) -> Result<Option<u64>, Error> {
        let (mut left, mut at) = (number.saturating_sub(1), 0);
        if left == 0 {
            return Ok(Some(0));
        }
        self.read(0, &mut |bytes| {
            for index in memchr_iter(b'\n', bytes) {
                left -= 1;
                if left == 0 {
                    at += index as u64 + 1;
                    return ControlFlow::Break(());
                }
            }
            at += bytes.len() as u64;
            ControlFlow::Continue(())
        })?;
        Ok((left == 0).then_some(at))
    }

    /// The lines that match, from a place on, until told to stop.
    pub(crate) fn grep(
        &self,
        from: At,
        pattern: &Regex,
        each: &mut dyn FnMut(Match) -> ControlFlow<()>,
    ) -> Result<(), Error> {
        let mut search = Search { pattern, each, at: from, open: Vec::new(), shown: false };
        let mut stopped = false;
        self.read(from.byte, &mut |bytes| {
            let step = search.bytes(bytes);
            stopped = step.is_break();
            step
        })?;
        if !stopped {
            let _ = search.line_ends(false);
        }
        Ok(())
    }

    /// Reads from a place on until told to stop.
    fn read(&self, from: u64, each: &mut dyn FnMut(&[u8]) -> ControlFlow<()>) -> Result<(), Error> {
        let Some(mut bytes) = self.reader.open_output(self.output, self.kind)? else { return Ok(()) };
        let mut sink = Sink { each, stopped: false };
        match bytes.range(from, u64::MAX, &mut sink) {
            Err(_) if sink.stopped => Ok(()),
            read => read.map(|_| ()),
        }
    }
}

/// Takes bytes until it has enough.
struct Sink<'s> {
    each: &'s mut dyn FnMut(&[u8]) -> ControlFlow<()>,
    stopped: bool,
}

impl Write for Sink<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if (self.each)(bytes).is_break() {
            self.stopped = true;
            return Err(io::Error::other("enough was read"));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Search<'p, 'e> {
    pattern: &'p Regex,
    each: &'e mut dyn FnMut(Match) -> ControlFlow<()>,
    /// Where what is open begins.
    at: At,
    /// The beginning of a line whose end has not come, or the last of it where it is long.
    open: Vec<u8>,
    /// Whether the line that is open was shown.
    shown: bool,
}

impl Search<'_, '_> {
    fn bytes(&mut self, mut bytes: &[u8]) -> ControlFlow<()> {
        while let Some(end) = memchr(b'\n', bytes) {
            let (line, rest) = bytes.split_at(end);
            self.part(line)?;
            self.line_ends(true)?;
            bytes = rest.get(1..).unwrap_or_default();
        }
        self.part(bytes)
    }

    /// More of the line that is open, piece by piece.
    fn part(&mut self, bytes: &[u8]) -> ControlFlow<()> {
        for piece in bytes.chunks(PIECE) {
            self.open.extend_from_slice(piece);
            if self.open.len() >= 2 * PIECE {
                self.look(true)?;
                let gone = self.open.len() - OVERLAP;
                self.open.drain(..gone);
                self.at.byte += gone as u64;
            }
        }
        ControlFlow::Continue(())
    }

    fn line_ends(&mut self, broken: bool) -> ControlFlow<()> {
        let next =
            At { byte: self.at.byte + self.open.len() as u64 + u64::from(broken), line: self.at.line + 1 };
        let step = self.look(false);
        (self.at, self.shown) = (next, false);
        self.open.clear();
        step
    }

    /// Looks for the pattern in what is open.
    fn look(&mut self, goes_on: bool) -> ControlFlow<()> {
        let line = self.open.strip_suffix(b"\r").unwrap_or(&self.open);
        let Some(found) = self.pattern.find(line).filter(|_| !self.shown) else {
            return ControlFlow::Continue(());
        };
        self.shown = true;
        let cut = line.len() > SHOWN || goes_on;
        let from = if line.len() > SHOWN {
            found.start().saturating_sub(SHOWN / 4).min(line.len() - SHOWN)
        } else {
            0
        };
        let shown = line.get(from..line.len().min(from + SHOWN)).unwrap_or_default();
        let end = self.at.byte + self.open.len() as u64;
        // Where a line goes on, the next page begins within it, and may show it once more.
        let after = if goes_on {
            At { byte: end, line: self.at.line }
        } else {
            At { byte: end + 1, line: self.at.line + 1 }
        };
        (self.each)(Match { line: self.at.line, bytes: shown.to_vec(), cut, after })
    }
}

/// The bytes of the first characters of bytes that are shown with U+FFFD for what is no UTF-8.
pub(crate) fn bytes_of(bytes: &[u8], mut chars: usize) -> usize {
    let mut length = 0;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if chars == 0 {
                return length;
            }
            (chars, length) = (chars - 1, length + c.len_utf8());
        }
        if chars == 0 {
            return length;
        }
        if !chunk.invalid().is_empty() {
            (chars, length) = (chars - 1, length + chunk.invalid().len());
        }
    }
    length
}

/// The bytes without a character at their end whose rest has not come.
pub(crate) fn whole(bytes: &[u8]) -> &[u8] {
    match bytes.utf8_chunks().last() {
        Some(last) if !last.invalid().is_empty() && last.invalid().len() < 4 && starts(last.invalid()) => {
            bytes.get(..bytes.len() - last.invalid().len()).unwrap_or(bytes)
        }
        _ => bytes,
    }
}

/// Whether these bytes may become a character with what comes next.
fn starts(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_as_they_are_shown() {
        let bytes = b"a\xFFb\xEA\xB0\x80";
        assert_eq!(String::from_utf8_lossy(bytes).chars().count(), 4);
        assert_eq!([0, 1, 2, 3, 4, 9].map(|chars| bytes_of(bytes, chars)), [0, 1, 2, 3, 6, 6]);
        assert_eq!(whole(b"a\xEA\xB0"), b"a");
        assert_eq!(whole(b"a\xFF"), b"a\xFF");
        assert_eq!(whole(b"ab"), b"ab");
    }

    fn found(pieces: &[&[u8]], pattern: &str) -> Vec<(u64, String, bool, At)> {
        let mut found = Vec::new();
        let pattern = Regex::new(pattern).unwrap();
        let mut each = |one: Match| {
            found.push((one.line, String::from_utf8_lossy(&one.bytes).into_owned(), one.cut, one.after));
            ControlFlow::Continue(())
        };
        let mut search =
            Search { pattern: &pattern, each: &mut each, at: At::START, open: Vec::new(), shown: false };
        for piece in pieces {
            let _ = search.bytes(piece);
        }
        let _ = search.line_ends(false);
        found
    }

    #[test]
    fn lines_are_found_across_pieces() {
        let at = |byte, line| At { byte, line };
        let expected =
            [(1, "one plan".to_owned(), false, at(9, 2)), (3, "plan".to_owned(), false, at(20, 4))];
        assert_eq!(found(&[b"one pl", b"an\nother\nplan"], "plan$|^plan"), expected);
        let long = format!("{}needle{}\nend needle", "x".repeat(300_000), "y".repeat(300_000));
        let found = found(&[long.as_bytes()], "needle");
        assert_eq!(
            found.iter().map(|(line, _, cut, _)| (*line, *cut)).collect::<Vec<_>>(),
            [(1, true), (2, false)]
        );
        assert!(found[0].1.contains("needle") && found[0].1.len() <= SHOWN);
    }
}
