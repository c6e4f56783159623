//! A stored stream, read in parts.

use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};
use std::ops::ControlFlow;

use sayso_model::OutputId;
use sayso_model::limits::CHUNK_BYTES;
use sayso_store::{OpenStream, StoreError, StreamKind};

use super::grep::{self, GrepMatch, LinePlace};
use super::lines;
use super::pattern::Pattern;
use crate::error::Error;
use crate::reader::Reader;

/// Bytes that one read of the ledger takes at most.
const AHEAD: usize = 16 * CHUNK_BYTES;

/// One stream of an output, as it was when it was opened: bytes at any place, at a memory that does not grow with it. Each
/// part is read by itself and checked before it is handed out; in between nothing is held, so that a slow reader keeps no
/// writer and no eraser waiting.
#[derive(Debug, Clone)]
pub struct OutputBytes {
    reader: Reader,
    stream: OpenStream,
    size: u64,
    at: u64,
    part: Vec<u8>,
    /// How much of the part was read.
    used: usize,
    /// Bytes to read at once: more as long as one part follows the other.
    ahead: usize,
}

impl Reader {
    /// One stream of an output, for reading parts of it; `None` where there is no such output or stream.
    ///
    /// # Errors
    ///
    /// Storage errors, among them that the stream is not what was written.
    pub fn open_output(&self, id: OutputId, kind: StreamKind) -> Result<Option<OutputBytes>, Error> {
        let stream = self.ledger.store.open_stream(&self.scope, id, kind)?;
        Ok(stream.map(|stream| OutputBytes {
            reader: self.clone(),
            size: stream.blob.bytes,
            stream,
            at: 0,
            part: Vec::new(),
            used: 0,
            ahead: CHUNK_BYTES,
        }))
    }

    /// Writes one stream of an output to `to`, checked before it is handed out. Whether there was such a stream.
    ///
    /// # Errors
    ///
    /// Storage errors, among them that the bytes are not what was written; an error of `to` as a storage error.
    pub fn read_output(&self, id: OutputId, stream: StreamKind, to: &mut dyn Write) -> Result<bool, Error> {
        let Some(mut bytes) = self.open_output(id, stream)? else { return Ok(false) };
        bytes.range(0, u64::MAX, to)?;
        Ok(true)
    }
}

impl OutputBytes {
    /// How many bytes it had when it was opened.
    #[must_use]
    pub const fn size(&self) -> u64 {
        self.size
    }

    /// Writes the bytes from `from` up to `to` (not with it) out, as far as there are any; how many.
    ///
    /// # Errors
    ///
    /// Storage errors, among them that bytes are not what was written; an error of `out` as a storage error.
    pub fn range(&mut self, from: u64, to: u64, out: &mut dyn Write) -> Result<u64, Error> {
        self.move_to(from);
        let mut left = to.min(self.size).saturating_sub(from);
        let mut written = 0;
        while left > 0 {
            self.ahead = self.ahead.min(usize::try_from(left).unwrap_or(AHEAD)).max(1);
            let part = self.fill()?;
            let part = part.get(..usize::try_from(left).unwrap_or(usize::MAX)).unwrap_or(part);
            if part.is_empty() {
                break;
            }
            let length = part.len();
            out.write_all(part).map_err(failed)?;
            (left, written) = (left - length as u64, written + length as u64);
            self.consume(length);
        }
        Ok(written)
    }

    /// Writes the lines from number `first` (from 1) to `last`, with it, out; the number of lines that were looked at, which
    /// is less than `last` where there are no more.
    ///
    /// # Errors
    ///
    /// As for [`OutputBytes::range`].
    pub fn lines(&mut self, first: u64, last: u64, out: &mut dyn Write) -> Result<u64, Error> {
        self.move_to(0);
        lines::copy(self, first, last, out).map_err(failed)
    }

    /// Writes the first lines out.
    ///
    /// # Errors
    ///
    /// As for [`OutputBytes::range`].
    pub fn head(&mut self, count: u64, out: &mut dyn Write) -> Result<u64, Error> {
        self.lines(1, count, out)
    }

    /// Writes the last lines out, reading from the end; how many bytes.
    ///
    /// # Errors
    ///
    /// As for [`OutputBytes::range`].
    pub fn tail(&mut self, count: u64, out: &mut dyn Write) -> Result<u64, Error> {
        let from = lines::tail_start(self, count).map_err(failed)?;
        self.range(from, u64::MAX, out)
    }

    /// Where a line begins, by its number from 1: behind the line break before it; `None` where there are fewer.
    ///
    /// # Errors
    ///
    /// As for [`OutputBytes::range`].
    pub fn place_of_line(&mut self, line: u64) -> Result<Option<u64>, Error> {
        self.move_to(0);
        let before = line.saturating_sub(1);
        let passed = lines::pass(self, before, &mut |_| Ok(())).map_err(failed)?;
        Ok((passed.ended == before).then_some(passed.bytes))
    }

    /// How many lines it has; the last needs no line break.
    ///
    /// # Errors
    ///
    /// As for [`OutputBytes::range`].
    pub fn count_lines(&mut self) -> Result<u64, Error> {
        self.lines(u64::MAX, u64::MAX, &mut io::sink())
    }

    /// Shows each line that matches, in order, until told to stop; whether it went on to the end. Memory is bounded also
    /// for giant lines: of what matches in a line of over 1 MiB, a match of over 64 KiB may be missed, see also [`GrepMatch`].
    ///
    /// # Errors
    ///
    /// As for [`OutputBytes::range`], with an error of `each` in the place of one of `out`.
    pub fn grep(
        &mut self,
        pattern: &Pattern,
        each: &mut dyn FnMut(&GrepMatch<'_>) -> io::Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>, Error> {
        self.grep_from(LinePlace::START, pattern, each)
    }

    /// The same from a place on that an earlier match gave. What is left there of a line that was shown is passed over.
    ///
    /// # Errors
    ///
    /// As for [`OutputBytes::grep`].
    pub fn grep_from(
        &mut self,
        place: LinePlace,
        pattern: &Pattern,
        each: &mut dyn FnMut(&GrepMatch<'_>) -> io::Result<ControlFlow<()>>,
    ) -> Result<ControlFlow<()>, Error> {
        let place = self.next_line(place)?;
        grep::search(self, place, pattern, each).map_err(failed)
    }

    /// Moves to a place, or to the end of the line that it stands within.
    fn next_line(&mut self, place: LinePlace) -> Result<LinePlace, Error> {
        let before = place.byte.saturating_sub(1);
        self.move_to(before);
        if place.byte == 0 {
            return Ok(place);
        }
        let passed = lines::pass(self, 1, &mut |_| Ok(())).map_err(failed)?;
        let within = u64::from(passed.bytes > 1);
        Ok(LinePlace { byte: before + passed.bytes, line: place.line + within })
    }

    fn move_to(&mut self, at: u64) {
        let here = at.checked_sub(self.at).and_then(|by| usize::try_from(by).ok());
        match here.filter(|by| *by <= self.part.len()) {
            Some(by) => self.used = by,
            None => {
                (self.at, self.used, self.ahead) = (at, 0, CHUNK_BYTES);
                self.part.clear();
            }
        }
    }

    /// What is there to be read next; empty at the end.
    fn fill(&mut self) -> Result<&[u8], Error> {
        if self.used >= self.part.len() {
            let from = self.at + self.part.len() as u64;
            let follows = !self.part.is_empty();
            self.part = if from < self.size { self.read(from)? } else { Vec::new() };
            let left = usize::try_from(self.size.saturating_sub(from)).unwrap_or(usize::MAX);
            self.part.truncate(left);
            (self.at, self.used) = (from, 0);
            if follows {
                self.ahead = (self.ahead * 2).min(AHEAD);
            }
        }
        Ok(self.part.get(self.used..).unwrap_or_default())
    }

    fn read(&mut self, from: u64) -> Result<Vec<u8>, Error> {
        loop {
            let (reader, stream) = (&self.reader, &self.stream);
            let store = &reader.ledger.store;
            if let Some(part) = store.read_stream(&reader.scope, stream, from, self.ahead)? {
                return Ok(part);
            }
            // It has grown, so its beginning is what it was; or it is gone.
            let again = store.open_stream(&reader.scope, stream.output, stream.kind)?;
            let again = again.filter(|now| now.blob.bytes >= self.size && now.blob != stream.blob);
            self.stream = again.ok_or(Error::OutputGone { id: stream.output })?;
        }
    }
}

impl Read for OutputBytes {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let part = self.fill_buf()?;
        let length = part.len().min(to.len());
        if let (Some(to), Some(part)) = (to.get_mut(..length), part.get(..length)) {
            to.copy_from_slice(part);
        }
        self.consume(length);
        Ok(length)
    }
}

impl BufRead for OutputBytes {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.fill().map_err(io::Error::other)
    }

    fn consume(&mut self, amount: usize) {
        self.used = (self.used + amount).min(self.part.len());
    }
}

impl Seek for OutputBytes {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.size.checked_add_signed(by),
            SeekFrom::Current(by) => (self.at + self.used as u64).checked_add_signed(by),
        };
        let at =
            at.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no place before the beginning"))?;
        self.move_to(at);
        Ok(at)
    }
}

/// An error on its way out of the standard library's traits: one of ours as it was, any other as one of the receiver.
fn failed(error: io::Error) -> Error {
    match error.downcast::<Error>() {
        Ok(ours) => ours,
        Err(cause) => StoreError::Storage { context: "writing an output out", cause: Box::new(cause) }.into(),
    }
}
