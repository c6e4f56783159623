//! Reading the records of an export, one at a time.

use std::io::{self, BufRead};

use super::check::Chain;
use super::forms::Record;

/// Why no further record was read.
#[derive(Debug)]
pub(super) enum Broken {
    /// The file cannot be read.
    Read(io::Error),
    /// A record is not what was written.
    Edited,
    /// The file ends without the last record.
    CutOff,
    /// The record is as it was written, and cannot be read all the same.
    Unusable(serde_json::Error),
}

/// The records of an export.
pub(super) struct Records<R> {
    from: R,
    chain: Chain,
    line: Vec<u8>,
    /// The number of the last record that was read, from 1.
    pub(super) number: u64,
    /// Bytes read.
    pub(super) bytes: u64,
    next: Option<Record>,
}

impl<R: BufRead> Records<R> {
    pub(super) fn new(from: R) -> Self {
        Self { from, chain: Chain::start(), line: Vec::new(), number: 0, bytes: 0, next: None }
    }

    /// The next line, checked; `None` at the end of the file.
    fn line(&mut self) -> Result<Option<&[u8]>, Broken> {
        self.line.clear();
        let read = self.from.read_until(b'\n', &mut self.line).map_err(Broken::Read)?;
        if read == 0 {
            return Ok(None);
        }
        self.bytes += read as u64;
        let line = self.line.strip_suffix(b"\n").ok_or(Broken::CutOff)?;
        self.number += 1;
        self.chain.record(line).map(Some).ok_or(Broken::Edited)
    }

    /// Looks at every line without keeping any: whether each is what was written, up to the last.
    pub(super) fn check(mut self) -> Result<(), (u64, Broken)> {
        let mut ended = false;
        loop {
            match self.line() {
                Ok(None) if ended => return Ok(()),
                Ok(None) => return Err((self.number, Broken::CutOff)),
                Ok(Some(_)) if ended => return Err((self.number, Broken::Edited)),
                Ok(Some(record)) => ended = record.starts_with(br#"{"type":"end","#),
                Err(broken) => return Err((self.number, broken)),
            }
        }
    }

    /// The next record.
    pub(super) fn next(&mut self) -> Result<Option<Record>, Broken> {
        if self.next.is_some() {
            return Ok(self.next.take());
        }
        let Some(record) = self.line()? else { return Ok(None) };
        let mut json = record.to_vec();
        json.push(b'}');
        serde_json::from_slice(&json).map(Some).map_err(Broken::Unusable)
    }

    /// The next record, if it is what is wanted; else it stays.
    pub(super) fn next_if(&mut self, wanted: impl FnOnce(&Record) -> bool) -> Result<Option<Record>, Broken> {
        let found = self.next()?;
        match found {
            Some(record) if wanted(&record) => Ok(Some(record)),
            found => {
                self.next = found;
                Ok(None)
            }
        }
    }
}
