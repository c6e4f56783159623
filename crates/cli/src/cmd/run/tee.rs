//! Where a stream is passed on to. It never refuses: what cannot be passed on is still stored.

use std::io::{self, Write};

use super::stop::Stop;

/// One stream on its way out, with its lines counted.
pub(super) struct Tee<'a> {
    to: &'a mut dyn Write,
    flushed: bool,
    stop: Option<&'a Stop>,
    failed: bool,
    ends: u64,
    open: bool,
}

impl<'a> Tee<'a> {
    pub(super) fn new(to: &'a mut dyn Write) -> Self {
        Self { to, flushed: false, stop: None, failed: false, ends: 0, open: false }
    }

    /// Flushed after each piece.
    pub(super) fn flushed(self) -> Self {
        Self { flushed: true, ..self }
    }

    /// Where nobody reads any more, the command is ended.
    pub(super) fn ended_by(self, stop: &'a Stop) -> Self {
        Self { stop: Some(stop), ..self }
    }

    /// Lines that came, an unfinished one among them.
    pub(super) const fn lines(&self) -> u64 {
        self.ends + self.open as u64
    }

    /// Whether everything was passed on.
    pub(super) const fn whole(&self) -> bool {
        !self.failed
    }

    pub(super) fn pass(&mut self, bytes: &[u8]) {
        self.ends += bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        self.open = bytes.last().map_or(self.open, |byte| *byte != b'\n');
        if self.failed {
            return;
        }
        let passed =
            self.to.write_all(bytes).and_then(|()| if self.flushed { self.to.flush() } else { Ok(()) });
        if let Err(error) = passed {
            self.failed = true;
            let closed = error.kind() == io::ErrorKind::BrokenPipe;
            self.stop.filter(|_| closed).into_iter().for_each(Stop::nobody_reads);
        }
    }
}
