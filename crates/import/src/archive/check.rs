//! The check at the end of every record: BLAKE3 over the check of the record before it and the record itself. It finds lines
//! that were edited, left out, put in or moved. It proves nothing against somebody who computes it anew.

use sayso::model::Digest;

/// What stands between a record and its check.
const BEFORE: &str = ",\"check\":\"";
/// What stands behind it.
const AFTER: &str = "\"}";
/// Hexadecimal digits of a check.
const DIGITS: usize = 64;

/// The check of the last record that was written or read.
#[derive(Debug, Clone, Copy)]
pub(super) struct Chain(Digest);

impl Chain {
    pub(super) const fn start() -> Self {
        Self(Digest::ZERO)
    }

    /// The check of a record: an object without its closing brace.
    fn next(self, record: &[u8]) -> Digest {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0.0).update(record);
        Digest(*hasher.finalize().as_bytes())
    }

    /// The line of a record, an object as JSON.
    pub(super) fn line(&mut self, json: &str) -> String {
        let record = json.strip_suffix('}').unwrap_or(json);
        self.0 = self.next(record.as_bytes());
        format!("{record}{BEFORE}{}{AFTER}\n", self.0)
    }

    /// The record of a line without its line end, as JSON without the closing brace; `None` where the check does not fit.
    pub(super) fn record<'l>(&mut self, line: &'l [u8]) -> Option<&'l [u8]> {
        let at = line.len().checked_sub(BEFORE.len() + DIGITS + AFTER.len())?;
        let (record, tail) = line.split_at_checked(at)?;
        let digits = tail.strip_prefix(BEFORE.as_bytes())?.strip_suffix(AFTER.as_bytes())?;
        let found = Digest::parse(std::str::from_utf8(digits).ok()?)?;
        self.0 = self.next(record);
        (found == self.0).then_some(record)
    }
}
