//! Reading what the ranges of re-injections hold now.

use std::io::{self, Write};

use sayso_model::{Entry, EntryBody, Kept, RangeSource, Reinjected, TextRange, text};
use sayso_view::context::{RangeText, Ranges};

use crate::error::Error;
use crate::reader::Reader;

impl Reader {
    /// What the ranges of the re-injections among these entries hold; a range that is gone, or lies outside the scope, is
    /// left out.
    ///
    /// # Errors
    ///
    /// Storage errors, among them that bytes are not what was written.
    pub fn ranges(&self, entries: &[Entry]) -> Result<Ranges, Error> {
        let mut ranges = Ranges::default();
        for entry in entries {
            let EntryBody::Reinjection(reinjection) = &entry.body else { continue };
            for (place, item) in reinjection.items.iter().enumerate() {
                if let Some(range) = self.range(item)? {
                    ranges.insert(entry.id, place, range);
                }
            }
        }
        Ok(ranges)
    }

    fn range(&self, item: &Reinjected) -> Result<Option<RangeText>, Error> {
        match item.source {
            RangeSource::Output(id, stream) => {
                let Some(output) = self.output(id)? else { return Ok(None) };
                let Some(found) = output.streams.iter().find(|s| s.kind == stream) else { return Ok(None) };
                let mut pick = Pick::new(item.range);
                match self.read_output(id, stream, &mut pick) {
                    Ok(_) => {}
                    // It had what it wanted.
                    Err(_) if pick.enough => {}
                    Err(error) => return Err(error),
                }
                let (text, _) = text::repair(pick.bytes);
                Ok(Some(RangeText { text, of: found.blob.bytes, exit: output.exit }))
            }
            RangeSource::Result => self.range_of_result(item),
        }
    }

    fn range_of_result(&self, item: &Reinjected) -> Result<Option<RangeText>, Error> {
        let Some(entry) = self.entry(item.turn)? else { return Ok(None) };
        let part = entry.turn().and_then(|turn| turn.parts.get(usize::try_from(item.part).ok()?));
        let Some(whole) = part.filter(|part| part.kept == Kept::Whole).and_then(|part| part.spoken()) else {
            return Ok(None);
        };
        let mut pick = Pick::new(item.range);
        // The only failure is having enough.
        let _ = pick.write_all(whole.as_bytes());
        let (text, _) = text::repair(pick.bytes);
        Ok(Some(RangeText { text, of: whole.len() as u64, exit: None }))
    }
}

/// Takes a range out of bytes that pass by, and ends the reading where it has it.
struct Pick {
    range: TextRange,
    /// The line, from 1, or the number of bytes that passed.
    at: u64,
    bytes: Vec<u8>,
    enough: bool,
}

impl Pick {
    const fn new(range: TextRange) -> Self {
        let at = match range {
            TextRange::Lines { .. } => 1,
            TextRange::Bytes { .. } => 0,
        };
        Self { range, at, bytes: Vec::new(), enough: false }
    }

    fn lines(&mut self, bytes: &[u8], first: u64, last: u64) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            if self.at > last {
                break;
            }
            if self.at >= first {
                self.bytes.extend_from_slice(line);
            }
            self.at += u64::from(line.ends_with(b"\n"));
        }
        self.enough = self.at > last;
    }

    fn span(&mut self, bytes: &[u8], start: u64, len: u64) {
        let skipped = usize::try_from(start.saturating_sub(self.at)).unwrap_or(usize::MAX).min(bytes.len());
        let wanted = usize::try_from(len).unwrap_or(usize::MAX).saturating_sub(self.bytes.len());
        let rest = bytes.get(skipped..).unwrap_or_default();
        self.bytes.extend_from_slice(rest.get(..wanted).unwrap_or(rest));
        self.at += bytes.len() as u64;
        self.enough = self.bytes.len() as u64 >= len;
    }
}

impl Write for Pick {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.range {
            TextRange::Lines { first, last } => self.lines(bytes, first, last),
            TextRange::Bytes { start, len } => self.span(bytes, start, len),
        }
        if self.enough { Err(io::Error::other("the range is read")) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pick(range: TextRange, chunks: &[&str]) -> String {
        let mut pick = Pick::new(range);
        for chunk in chunks {
            if pick.write_all(chunk.as_bytes()).is_err() {
                break;
            }
        }
        String::from_utf8(pick.bytes).unwrap()
    }

    #[test]
    fn a_range_is_the_same_however_the_bytes_come() {
        for chunks in [&["one\ntwo\nthree\nfour"][..], &["on", "e\nt", "wo\n", "three", "\nfour"]] {
            let lines = |first, last| pick(TextRange::Lines { first, last }, chunks);
            assert_eq!([lines(1, 1), lines(2, 3), lines(4, 9)], ["one\n", "two\nthree\n", "four"]);
            let bytes = |start, len| pick(TextRange::Bytes { start, len }, chunks);
            assert_eq!([bytes(0, 3), bytes(4, 7), bytes(16, 9)], ["one", "two\nthr", "ur"]);
        }
    }
}
