//! A streaming reader of JSON lines as they really are.
//!
//! It never caps a line and holds one at a time. Several values on one line are several records. Blanks, control characters
//! and byte order marks between values are passed over. A line that breaks in the middle gives the values before the break
//! and counts as one broken line; reading goes on at a value that was glued to the broken one, if there is one, else at the
//! next line. A last line without its end gives the values that are complete; the rest is pending and not read, since its
//! writer may be about to finish it.
//!
//! What JSON does not allow is read where it is clear, and counted. What cannot be UTF-8 becomes U+FFFD. Control characters
//! in strings stay, and so do backslashes that escape nothing; between tokens, control characters are blanks. A number that
//! no computer holds is a string of its digits, `NaN` and `Infinity` are strings, and an array or object inside of 127 others
//! is a string of its text.

use std::io::{self, BufRead};

use serde::Serialize;
use serde_json::{Deserializer, Value};

use crate::json::{self, End};
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
    /// Other places of it that were changed, so that it could be read.
    pub mended: u64,
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
    /// How many lines were read, with this one.
    lines: u64,
    ordinal: u64,
    damage: Vec<Damage>,
    broken: u64,
    unreadable: u64,
    pending: u64,
}

/// Places of damage that are remembered at most.
const PLACES: usize = 64;

/// What could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Damage {
    /// The line, from 1.
    pub line: u64,
    /// How it is damaged.
    pub kind: DamageKind,
}

/// How a line is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum DamageKind {
    /// It breaks in the middle of a value.
    #[serde(rename = "broken_line")]
    Broken,
    /// It holds a complete value that cannot be read.
    #[serde(rename = "unreadable")]
    Unreadable,
}

impl DamageKind {
    /// The kind under which it is counted.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Broken => "broken_line",
            Self::Unreadable => "unreadable",
        }
    }
}

/// What stands at a place of a line.
enum Found {
    Value(Readable, usize),
    /// A complete value that cannot be read.
    Unreadable(usize),
    Incomplete,
    Broken,
}

/// A value, and what was done to read it.
struct Readable {
    value: Value,
    repairs: u64,
    mended: u64,
}

impl<R: BufRead> Records<R> {
    /// A reader from the start of a file.
    pub fn new(from: R) -> Self {
        Self {
            from,
            line: Vec::new(),
            start: 0,
            at: 0,
            lines: 0,
            ordinal: 0,
            damage: Vec::new(),
            broken: 0,
            unreadable: 0,
            pending: 0,
        }
    }

    /// Bytes that were read as complete records or passed over.
    #[must_use]
    pub const fn offset(&self) -> u64 {
        self.start + self.at as u64
    }

    /// How often a line broke in the middle, or held a value that cannot be read.
    #[must_use]
    pub const fn damaged(&self, kind: DamageKind) -> u64 {
        match kind {
            DamageKind::Broken => self.broken,
            DamageKind::Unreadable => self.unreadable,
        }
    }

    /// The first places at which that was so, at most 64.
    #[must_use]
    pub fn damage(&self) -> &[Damage] {
        &self.damage
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
        self.lines += 1;
        Ok(self.from.read_until(b'\n', &mut self.line)? > 0)
    }

    fn rest(&self) -> &[u8] {
        self.line.get(self.at..).unwrap_or_default()
    }

    /// The next value of the line that is held.
    fn value(&mut self) -> Option<Record> {
        loop {
            self.at += json::blanks(self.rest());
            if self.rest().is_empty() {
                return None;
            }
            match find(self.rest(), self.line.ends_with(b"\n")) {
                Found::Value(readable, length) => return Some(self.record(readable, length)),
                Found::Unreadable(length) => {
                    self.hurt(DamageKind::Unreadable);
                    self.at += length;
                }
                Found::Incomplete => {
                    self.pending = self.rest().len() as u64;
                    return None;
                }
                Found::Broken => {
                    self.hurt(DamageKind::Broken);
                    self.at = glued(&self.line, self.at).unwrap_or(self.line.len());
                }
            }
        }
    }

    fn hurt(&mut self, kind: DamageKind) {
        match kind {
            DamageKind::Broken => self.broken += 1,
            DamageKind::Unreadable => self.unreadable += 1,
        }
        if self.damage.len() < PLACES {
            self.damage.push(Damage { line: self.lines, kind });
        }
    }

    fn record(&mut self, readable: Readable, length: usize) -> Record {
        let Readable { value, repairs, mended } = readable;
        let bytes = self.rest().get(..length).unwrap_or_default();
        let digest = digest(bytes);
        let record = Record { ordinal: self.ordinal, offset: self.offset(), digest, repairs, mended, value };
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

/// What stands at the start of `bytes`, which is not empty; `ended` is whether the line has its end.
fn find(bytes: &[u8], ended: bool) -> Found {
    let mut values = Deserializer::from_slice(bytes).into_iter::<Value>();
    let found = match values.next() {
        Some(Ok(value)) => Found::Value(Readable { value, repairs: 0, mended: 0 }, values.byte_offset()),
        _ => match json::end(bytes) {
            End::Whole(length) => repaired(bytes, length),
            End::CutOff if !ended => return Found::Incomplete,
            End::CutOff | End::Broken => return Found::Broken,
        },
    };
    // A number or a word at the very end may go on; only what closes itself is complete there.
    let closes_itself = matches!(bytes.first(), Some(b'{' | b'[' | b'"'));
    if ended || closes_itself { found } else { Found::Incomplete }
}

fn repaired(bytes: &[u8], length: usize) -> Found {
    match readable(bytes.get(..length).unwrap_or_default()) {
        Some(readable) => Found::Value(readable, length),
        None => Found::Unreadable(length),
    }
}

fn readable(bytes: &[u8]) -> Option<Readable> {
    let (text, repairs) = repair(bytes);
    let (text, mended) = json::mend(&text);
    serde_json::from_str(&text).ok().map(|value| Readable { value, repairs, mended })
}

/// Where, behind a break, an object starts that was glued to what was broken off: from there on the line is nothing but
/// complete values. Where the broken value itself wants a value, an object belongs to it.
fn glued(line: &[u8], broken: usize) -> Option<usize> {
    if !line.ends_with(b"\n") {
        return None;
    }
    let mut cut = Cut::default();
    for (at, pair) in line.windows(2).enumerate().skip(broken) {
        if pair == b"{\"" && at > broken && cut.is_free() && is_whole(line.get(at..).unwrap_or_default()) {
            return Some(at);
        }
        cut.take(pair.first().copied().unwrap_or_default());
    }
    None
}

/// How far a value is that breaks off somewhere.
#[derive(Default)]
struct Cut {
    /// The brackets that are open.
    open: Vec<u8>,
    /// The last byte that is no blank, outside of strings.
    last: u8,
    in_string: bool,
    escaped: bool,
}

impl Cut {
    fn take(&mut self, byte: u8) {
        if self.in_string {
            self.in_string = self.escaped || byte != b'"';
            self.escaped = !self.escaped && byte == b'\\';
            return;
        }
        match byte {
            b'"' => self.in_string = true,
            b'{' | b'[' => self.open.push(byte),
            b'}' | b']' => _ = self.open.pop(),
            _ => {}
        }
        if byte > b' ' {
            self.last = byte;
        }
    }

    /// Whether an object that starts here is no part of it.
    fn is_free(&self) -> bool {
        let in_array = self.open.last() == Some(&b'[');
        self.in_string || !(self.last == b':' || in_array && matches!(self.last, b'[' | b','))
    }
}

/// Whether complete values and nothing else stand here.
fn is_whole(bytes: &[u8]) -> bool {
    let mut at = 0;
    loop {
        let rest = bytes.get(at..).unwrap_or_default();
        at += json::blanks(rest);
        let rest = bytes.get(at..).unwrap_or_default();
        match json::end(rest) {
            _ if rest.is_empty() => return true,
            End::Whole(length) => at += length,
            End::CutOff | End::Broken => return false,
        }
    }
}

/// The one value in bytes that hold nothing else, as a record without a place.
pub(crate) fn only(bytes: &[u8]) -> Option<Record> {
    let start = json::blanks(bytes);
    let rest = bytes.get(start..).unwrap_or_default();
    let End::Whole(length) = json::end(rest) else { return None };
    let (whole, behind) = rest.split_at_checked(length)?;
    let Readable { value, repairs, mended } = readable(whole)?;
    let digest = digest(whole);
    (json::blanks(behind) == behind.len()).then_some(Record {
        ordinal: 0,
        offset: start as u64,
        digest,
        repairs,
        mended,
        value,
    })
}

fn digest(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().get(..16).unwrap_or_default().to_owned()
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
        let cases: [(&[u8], &[&str], u64, u64); 19] = [
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
            // Broken off behind a comma, where only a key could come.
            (b"{\"b\":1,{\"a\":1}\n", &["{\"a\":1}"], 1, 0),
            (b"{\"b\":[1],{\"a\":1}{\"c\":2}\n", &["{\"a\":1}", "{\"c\":2}"], 1, 0),
            (b"{\"b\":[1,{\"a\":1}\n", &[], 1, 0),
            (b"{\"a\":1,{\"b\":2}", &[], 1, 0),
            (b"{\"a\":1}\n{\"b\":\"2", &["{\"a\":1}"], 0, 7),
            (b"{\"a\":1}{\"b\":\xE4\xB8", &["{\"a\":1}"], 1, 0),
            (b"{\"a\":1}{\"b\":\"\xE4\xB8", &["{\"a\":1}"], 0, 8),
            (b"12", &[], 0, 2),
        ];
        for (text, wanted, broken, pending) in cases {
            let (values, records) = read(text);
            assert_eq!(values, wanted, "{text:?}");
            assert_eq!(
                (records.damaged(DamageKind::Broken), records.pending()),
                (broken, pending),
                "{text:?}"
            );
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
    fn what_json_does_not_allow_is_read_and_counted() {
        let deep = format!("{}{}", "[".repeat(4000), "]".repeat(4000));
        let cases: [(&[u8], &str, u64); 7] = [
            (b"{\"a\":\"\x00\x1b[0m\"}\n", "{\"a\":\"\\u0000\\u001b[0m\"}", 2),
            (b"{\"a\":\x00 1}\n", "{\"a\":1}", 1),
            (b"{\"a\":1e999}\n", "{\"a\":\"1e999\"}", 1),
            (b"{\"a\":NaN}\n", "{\"a\":\"NaN\"}", 1),
            (b"{\"a\":\"\\x1b\"}\n", "{\"a\":\"\\\\x1b\"}", 1),
            (b"{\"a\":\"\\ud83d\x01\"}", "{\"a\":\"\u{FFFD}\\u0001\"}", 1),
            (deep.as_bytes(), "", 1),
        ];
        for (text, wanted, mended) in cases {
            let mut records = Records::new(text);
            let record = records.next().unwrap().unwrap();
            assert_eq!(record.mended, mended, "{text:?}");
            if !wanted.is_empty() {
                assert_eq!(record.value.to_string(), wanted, "{text:?}");
            }
            assert!(records.next().is_none() && records.damage().is_empty(), "{text:?}");
        }
    }

    #[test]
    fn damage_has_its_line() {
        let (values, records) = read(b"{\"a\":1}\n{\"b\":}\n\n{\"c\":3}\n{\"d\"\n{\"e\":");
        assert_eq!((values.len(), records.pending()), (2, 5));
        let broken = |line| Damage { line, kind: DamageKind::Broken };
        assert_eq!(records.damage(), [broken(2), broken(5)]);
    }

    #[test]
    fn one_value_may_stand_on_several_lines() {
        let value = |text: &str| only(text.as_bytes()).map(|record| record.value.to_string());
        assert_eq!(value(" {\n\"a\": 1\n}\n").as_deref(), Some("{\"a\":1}"));
        assert_eq!(value("\u{FEFF}{\"a\":\"\n\"}\0").as_deref(), Some("{\"a\":\"\\n\"}"));
        assert_eq!([value(""), value("{} {}"), value("{")], [None, None, None]);
    }

    #[test]
    fn a_very_long_line_is_one_record() {
        let line = format!("{{\"a\":\"{}\"}}\n", "x".repeat(25_000_000));
        assert_eq!(Records::new(line.as_bytes()).count(), 1);
    }
}
