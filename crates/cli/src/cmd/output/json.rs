//! Outputs and parts of them as JSON.

use std::io::{self, Write};

use sayso::GrepMatch;
use sayso::store::Output;
use serde::Serialize;

use crate::fail::Failure;

/// Bytes of a line that one object has at most.
const LINE: usize = 64 * 1024;

/// What is known of an output.
#[derive(Serialize)]
pub(super) struct About<'o> {
    id: String,
    project: String,
    session: String,
    tool: &'o str,
    command: Option<&'o str>,
    state: &'static str,
    growing: bool,
    exit: Option<i32>,
    signal: Option<i32>,
    timed_out: bool,
    duration_ms: Option<u64>,
    pipe_held: bool,
    charset: Option<&'o str>,
    recorded_at: i64,
    streams: Vec<Stream>,
    read_order: String,
}

#[derive(Serialize)]
struct Stream {
    kind: &'static str,
    bytes: u64,
    total: Option<u64>,
    hash: String,
}

impl<'o> About<'o> {
    pub(super) fn of(o: &'o Output) -> Self {
        let stream = |s: &sayso::store::OutputStream| Stream {
            kind: s.kind.as_str(),
            bytes: s.blob.bytes,
            total: s.total,
            hash: s.blob.hash.to_string(),
        };
        Self {
            id: o.id.to_string(),
            project: o.project.to_string(),
            session: o.session.to_string(),
            tool: &o.tool,
            command: o.run.command.as_deref(),
            state: o.state.as_str(),
            growing: o.growing,
            exit: o.exit,
            signal: o.run.signal,
            timed_out: o.run.timed_out,
            duration_ms: o.run.duration_ms,
            pipe_held: o.run.pipe_held,
            charset: o.run.charset.as_deref(),
            recorded_at: o.recorded_at.0,
            streams: o.streams.iter().map(stream).collect(),
            read_order: o.run.order.to_text(),
        }
    }
}

/// A line that matches.
#[derive(Serialize)]
pub(super) struct Match {
    line: u64,
    at: u64,
    text: String,
    cut: bool,
}

impl Match {
    pub(super) fn of(found: &GrepMatch<'_>) -> Self {
        let text = String::from_utf8_lossy(found.text).into_owned();
        Self { line: found.line, at: found.at, text, cut: found.cut() }
    }
}

/// A line, or a piece of a giant one.
#[derive(Serialize)]
struct Line {
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<u64>,
    at: u64,
    /// What is no UTF-8 is U+FFFD here.
    text: String,
    /// Whether the line goes on in the next object.
    more: bool,
}

/// Writes one object for each line of what is written to it.
pub(super) struct Lines<'w> {
    to: &'w mut dyn Write,
    at: u64,
    line: Option<u64>,
    held: Vec<u8>,
}

impl<'w> Lines<'w> {
    pub(super) fn new(to: &'w mut dyn Write, at: u64, line: Option<u64>) -> Self {
        Self { to, at, line, held: Vec::new() }
    }

    pub(super) fn end(mut self) -> Result<(), Failure> {
        if self.held.is_empty() {
            return Ok(());
        }
        let length = self.held.len();
        self.give(length, false).map_err(|e| match e.kind() {
            io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
            _ => Failure::io("standard output cannot be written", e),
        })
    }

    fn give(&mut self, length: usize, more: bool) -> io::Result<()> {
        let text = String::from_utf8_lossy(self.held.get(..length).unwrap_or_default()).into_owned();
        let object = Line { line: self.line, at: self.at, text, more };
        writeln!(self.to, "{}", serde_json::to_string(&object).map_err(io::Error::other)?)?;
        self.at += length as u64;
        self.held.drain(..length);
        Ok(())
    }

    /// As much of a giant line as ends with a whole character.
    fn whole(&self) -> usize {
        match std::str::from_utf8(&self.held) {
            Err(error) if error.error_len().is_none() && error.valid_up_to() > 0 => error.valid_up_to(),
            _ => self.held.len(),
        }
    }
}

impl Write for Lines<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = LINE.saturating_sub(self.held.len()).max(1);
        let part = bytes.get(..room).unwrap_or(bytes);
        let ended = part.iter().position(|b| *b == b'\n');
        let taken = ended.unwrap_or(part.len());
        self.held.extend_from_slice(part.get(..taken).unwrap_or_default());
        if ended.is_some() {
            let length = self.held.len();
            self.give(length, false)?;
            // The line break itself.
            self.at += 1;
            self.line = self.line.map(|line| line + 1);
            return Ok(taken + 1);
        }
        if self.held.len() >= LINE {
            let whole = self.whole();
            self.give(whole, true)?;
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.to.flush()
    }
}
