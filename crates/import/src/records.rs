//! A streaming reader of JSON lines as they really are.
//!
//! It never caps a line and holds one at a time. Several values on one line are several records. A byte order mark, NULs
//! and form feeds between values are passed over. A line that breaks in the middle gives the values before the break and
//! counts as one broken line; reading goes on at a value that was glued to the broken one, if there is one, else at the
//! next line. What cannot be UTF-8 is repaired to U+FFFD and counted. A last line without its end gives the values that
//! are complete; the rest is pending and not read, since its writer may be about to finish it.

use std::io::{self, BufRead};

use serde::de::IgnoredAny;
use serde_json::{Deserializer, Value};

use crate::repair::repair;

/// Bytes of a line's buffer that are kept for the next line at most.
const KEPT: usize = 1 << 20;

/// One complete JSON value.
#[derive(Debug, Clone, PartialEq)]
pub struct Record {
    /// Its place among the complete values of the file, from 0.
    pub ordinal: u64,
    /// The byte at which it starts.
    pub offset: u64,
    /// The first 16 hexadecimal digits of the BLAKE3 hash of its bytes as they stand in the file.
    pub digest: String,
    /// Sequences in it that were repaired to U+FFFD.
    pub repairs: u64,
    /// The value.
    pub value: Value,
}

/// Reads records from JSON lines.
///
/// ```
/// let text = "{\"a\":1}{\"b\":\"\\ud83d\"}\r\n{\"c\":";
/// let mut records = sayso_import::records::Records::new(text.as_bytes());
/// let values: Vec<_> = records.by_ref().map(|r| r.map(|r| r.value["b"].clone())).collect::<Result<_, _>>()?;
/// assert_eq!(values, [serde_json::Value::Null, "\u{FFFD}".into()]);
/// assert_eq!(records.pending(), 5);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Records<R> {
    from: R,
    line: Vec<u8>,
    /// Where the line starts in the file.
    start: u64,
    /// How much of the line is read.
    at: usize,
    ordinal: u64,
    broken: u64,
    unreadable: u64,
    pending: u64,
}

/// What stands at a place of a line.
enum Found {
    Value(Value, u64, usize),
    /// A complete value that cannot be held, such as one nested too deeply.
    Unreadable(usize),
    Incomplete,
    Broken,
}

impl<R: BufRead> Records<R> {
    /// A reader from the start of a file.
    pub fn new(from: R) -> Self {
        Self { from, line: Vec::new(), start: 0, at: 0, ordinal: 0, broken: 0, unreadable: 0, pending: 0 }
    }

    /// Bytes that were read as complete records or passed over.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    /// Lines that broke in the middle.
    #[must_use]
    pub const fn broken(&self) -> u64 {
        self.broken
    }

    /// Complete values that cannot be held: nested too deeply, or with a number that no computer holds.
    #[must_use]
    pub const fn unreadable(&self) -> u64 {
        self.unreadable
    }

    /// Bytes at the end that are no complete record yet; known once the reader has reached the end.
    #[must_use]
    pub const fn pending(&self) -> u64 {
        self.pending
    }

    /// Reads the next line; whether there was one.
    fn advance(&mut self) -> io::Result<bool> {
        self.start += self.line.len() as u64;
        self.at = 0;
        self.line.clear();
        self.line.shrink_to(KEPT);
        Ok(self.from.read_until(b'\n', &mut self.line)? > 0)
    }

    fn rest(&self) -> &[u8] {
        self.line.get(self.at..).unwrap_or_default()
    }

    /// The next value of the line that is held.
    fn value(&mut self) -> Option<Record> {
        loop {
            self.at += separators(self.rest());
            if self.rest().is_empty() {
                return None;
            }
            match find(self.rest(), self.line.ends_with(b"\n")) {
                Found::Value(value, repairs, length) => return Some(self.record(value, repairs, length)),
                Found::Unreadable(length) => {
                    self.unreadable += 1;
                    self.at += length;
                }
                Found::Incomplete => {
                    self.pending = self.rest().len() as u64;
                    return None;
                }
                Found::Broken => {
                    self.broken += 1;
                    self.at = glued(&self.line, self.at).unwrap_or(self.line.len());
                }
            }
        }
    }

    fn record(&mut self, value: Value, repairs: u64, length: usize) -> Record {
        let bytes = self.rest().get(..length).unwrap_or_default();
        let digest = blake3::hash(bytes).to_hex().get(..16).unwrap_or_default().to_owned();
        let record = Record { ordinal: self.ordinal, offset: self.offset(), digest, repairs, value };
        self.at += length;
        self.ordinal += 1;
        record
    }
}

impl<R: BufRead> Iterator for Records<R> {
    type Item = io::Result<Record>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(record) = self.value() {
                return Some(Ok(record));
            }
            if self.pending > 0 {
                return None;
            }
            match self.advance() {
                Ok(true) => {}
                Ok(false) => return None,
                Err(error) => return Some(Err(error)),
            }
        }
    }
}

/// The length of what stands between values.
fn separators(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += match bytes.get(at..).unwrap_or_default() {
            [b' ' | b'\t' | b'\r' | b'\n' | 0x0C | 0, ..] => 1,
            [0xEF, 0xBB, 0xBF, ..] => 3,
            _ => return at,
        };
    }
}

/// What stands at the start of `bytes`, which is not empty; `ended` is whether the line has its end.
fn find(bytes: &[u8], ended: bool) -> Found {
    let mut values = Deserializer::from_slice(bytes).into_iter::<Value>();
    if let Some(Ok(value)) = values.next() {
        return complete(Found::Value(value, 0, values.byte_offset()), bytes, ended);
    }
    // Passing over a value looks neither at surrogates nor at UTF-8, so it finds the end of one that needs repair.
    let mut values = Deserializer::from_slice(bytes).into_iter::<IgnoredAny>();
    match values.next() {
        Some(Ok(_)) => complete(repaired(bytes, values.byte_offset()), bytes, ended),
        Some(Err(error)) if error.is_eof() && !ended => Found::Incomplete,
        // The start of a byte order mark may be all there is so far.
        _ if !ended && matches!(bytes, [0xEF] | [0xEF, 0xBB]) => Found::Incomplete,
        _ => Found::Broken,
    }
}

/// Where, behind a break, an object starts that was glued to what was broken off: from there on the line is nothing but
/// complete values. What a colon, comma or bracket stands before belongs to the broken value.
fn glued(line: &[u8], broken: usize) -> Option<usize> {
    let ended = line.ends_with(b"\n");
    let starts = line.windows(2).enumerate().skip(broken + 1).filter(|(_, pair)| *pair == b"{\"");
    let free = |at: usize| {
        let before = line.get(..at).unwrap_or_default().trim_ascii_end();
        !matches!(before.last(), Some(b':' | b',' | b'['))
    };
    let mut starts = starts.map(|(at, _)| at).filter(|at| ended && free(*at));
    starts.find(|at| is_whole(line.get(*at..).unwrap_or_default()))
}

/// Whether complete values and nothing else stand here.
fn is_whole(bytes: &[u8]) -> bool {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        at += separators(rest);
        let rest = bytes.get(at..).unwrap_or_default();
        if rest.is_empty() {
            return true;
        }
        let mut values = Deserializer::from_slice(rest).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => at += values.byte_offset(),
            _ => return false,
        }
    }
}

/// A number or a word at the very end may go on; only what closes itself is complete there.
fn complete(found: Found, bytes: &[u8], ended: bool) -> Found {
    let closes_itself = matches!(bytes.first(), Some(b'{' | b'[' | b'"'));
    if ended || closes_itself { found } else { Found::Incomplete }
}

fn repaired(bytes: &[u8], length: usize) -> Found {
    let (text, repairs) = repair(bytes.get(..length).unwrap_or_default());
    match serde_json::from_str(&text) {
        Ok(value) => Found::Value(value, repairs, length),
        Err(_) => Found::Unreadable(length),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &[u8]) -> (Vec<String>, Records<&[u8]>) {
        let mut records = Records::new(text);
        let values = records.by_ref().map(|r| r.unwrap().value.to_string()).collect();
        (values, records)
    }

    #[test]
    fn values_are_found_in_untidy_lines() {
        let cases: [(&[u8], &[&str], u64, u64); 15] = [
            (b"{\"a\":1}\r\n{\"b\":2}\r\n", &["{\"a\":1}", "{\"b\":2}"], 0, 0),
            (b"\xEF\xBB\xBF{\"a\":1}\n", &["{\"a\":1}"], 0, 0),
            (b"{\"a\":1}{\"b\":2} {\"c\":3}\n", &["{\"a\":1}", "{\"b\":2}", "{\"c\":3}"], 0, 0),
            (b"{\"a\":1}\n\0\0\0\0", &["{\"a\":1}"], 0, 0),
            (b"{\"a\":1}\n\0\0{\"b\":2}\n", &["{\"a\":1}", "{\"b\":2}"], 0, 0),
            (b"{\"a\":1}\x0C\n\x0C{\"b\":2}", &["{\"a\":1}", "{\"b\":2}"], 0, 0),
            (
                b"{\"a\":1}{\"b{\"c\":{\"d\":3}}{\"e\":5}\n{\"f\":6}\n",
                &["{\"a\":1}", "{\"c\":{\"d\":3}}", "{\"e\":5}", "{\"f\":6}"],
                1,
                0,
            ),
            // Broken off behind an inner value, which is no record.
            (b"{\"a\":1}{\"b\":{\"c\":3}\n", &["{\"a\":1}"], 1, 0),
            (b"{\"a\":1}{\"b\": [{\"c\":3}\n", &["{\"a\":1}"], 1, 0),
            (b"{\"a\":1}{\"b{\"c\":3}", &["{\"a\":1}"], 1, 0),
            (b"{\"a\":1}{\"b{\"c\":3} x\n", &["{\"a\":1}"], 1, 0),
            (b"{\"a\":1}\n{\"b\":\"2", &["{\"a\":1}"], 0, 7),
            (b"{\"a\":1}{\"b\":\xE4\xB8", &["{\"a\":1}"], 1, 0),
            (b"{\"a\":1}{\"b\":\"\xE4\xB8", &["{\"a\":1}"], 0, 8),
            (b"12", &[], 0, 2),
        ];
        for (text, wanted, broken, pending) in cases {
            let (values, records) = read(text);
            assert_eq!(values, wanted, "{text:?}");
            assert_eq!((records.broken(), records.pending()), (broken, pending), "{text:?}");
            assert_eq!(records.offset() + pending, text.len() as u64, "{text:?}");
        }
    }

    #[test]
    fn a_record_knows_its_place() {
        let mut records = Records::new(&b"\n{\"a\":1} {\"b\":2}\nnull\n"[..]);
        let places: Vec<_> =
            records.by_ref().map(|r| r.unwrap()).map(|r| (r.ordinal, r.offset, r.value)).collect();
        assert_eq!(places.iter().map(|p| (p.0, p.1)).collect::<Vec<_>>(), [(0, 1), (1, 9), (2, 17)]);
        assert_eq!(places[2].2, Value::Null);
    }

    #[test]
    fn repairs_are_counted_and_the_next_value_is_read() {
        let (values, _) = read(b"{\"a\":\"\\ud83d\xFF\"}{\"b\":1}\n");
        assert_eq!(values, ["{\"a\":\"\u{FFFD}\u{FFFD}\"}", "{\"b\":1}"]);
        let first = Records::new(&b"{\"a\":\"\\ud83d\xFF\"}\n"[..]).next().unwrap().unwrap();
        assert_eq!(first.repairs, 2);
    }

    #[test]
    fn a_value_that_cannot_be_held_is_counted() {
        let deep = format!("{}{}{{\"a\":1}}\n", "[".repeat(4000), "]".repeat(4000));
        let (values, records) = read(deep.as_bytes());
        assert_eq!((values.len(), records.unreadable()), (1, 1));
    }

    #[test]
    fn a_very_long_line_is_one_record() {
        let line = format!("{{\"a\":\"{}\"}}\n", "x".repeat(25_000_000));
        assert_eq!(Records::new(line.as_bytes()).count(), 1);
    }
}
