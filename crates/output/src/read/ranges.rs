//! Lines and bytes of an output.

use std::io::{self, Read, Write};
use std::str::FromStr;

use crate::capture::Source;
use crate::limits::READ_BYTES;

/// A range of lines (from 1) or bytes (from 0), the last included: `30000:31023`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// The first.
    pub first: u64,
    /// The last; to the end if absent.
    pub last: Option<u64>,
}

/// A range that cannot be read as one.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is no range: write A:B, A: or A, the first not after the last")]
pub struct RangeError {
    /// What was given.
    pub given: String,
}

impl FromStr for Range {
    type Err = RangeError;

    /// ```
    /// use sayso_output::read::Range;
    /// assert_eq!("5:9".parse(), Ok(Range { first: 5, last: Some(9) }));
    /// assert_eq!("5:".parse(), Ok(Range { first: 5, last: None }));
    /// assert_eq!("5".parse(), Ok(Range { first: 5, last: Some(5) }));
    /// ```
    fn from_str(given: &str) -> Result<Self, RangeError> {
        let number = |text: &str| text.parse::<u64>().ok();
        let range = match given.split_once(':') {
            None => number(given).map(|n| (n, Some(n))),
            Some(("", last)) => number(last).map(|last| (0, Some(last))),
            Some((first, "")) => number(first).map(|first| (first, None)),
            Some((first, last)) => number(first).zip(number(last)).map(|(first, last)| (first, Some(last))),
        };
        let right = range.filter(|(first, last)| last.is_none_or(|last| *first <= last));
        right.map(|(first, last)| Self { first, last }).ok_or_else(|| RangeError { given: given.to_owned() })
    }
}

/// What was written, and of how much.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Count {
    /// Bytes written.
    pub bytes: u64,
    /// Lines written, an unfinished one among them.
    pub lines: u64,
}

/// Writes a range of lines, their ends with them. What lies behind the end is empty.
///
/// # Errors
///
/// What reading or writing says.
pub fn lines(input: &mut dyn Read, range: Range, out: &mut dyn Write) -> io::Result<Count> {
    let (mut buffer, mut line, mut count) = (vec![0; READ_BYTES], 1, Count::default());
    let last = range.last.unwrap_or(u64::MAX);
    let mut begun = false;
    while line <= last {
        let read = read(input, &mut buffer)?;
        let mut bytes = buffer.get(..read).unwrap_or_default();
        if read == 0 {
            break;
        }
        if line < range.first {
            let skipped = skip(bytes, range.first - line);
            line += skipped.1;
            bytes = bytes.get(skipped.0..).unwrap_or_default();
        }
        if line >= range.first && !bytes.is_empty() {
            let (end, ended) = skip(bytes, (last - line).saturating_add(1));
            let part = bytes.get(..end).unwrap_or_default();
            out.write_all(part)?;
            line += ended;
            begun = part.last() != Some(&b'\n');
            count.bytes += part.len() as u64;
            count.lines += ended;
        }
    }
    count.lines += u64::from(begun);
    Ok(count)
}

/// The place behind so many line ends, or the end; and how many there were.
fn skip(bytes: &[u8], ends: u64) -> (usize, u64) {
    let there = bytecount::count(bytes, b'\n') as u64;
    if there < ends {
        return (bytes.len(), there);
    }
    let nth = usize::try_from(ends - 1).unwrap_or(usize::MAX);
    (memchr::memchr_iter(b'\n', bytes).nth(nth).map_or(bytes.len(), |at| at + 1), ends)
}

/// Writes a range of bytes, the first being byte 0. What lies behind the end is empty.
///
/// # Errors
///
/// What reading or writing says.
pub fn bytes(source: &dyn Source, range: Range, out: &mut dyn Write) -> io::Result<u64> {
    let first = range.first.min(source.size());
    let wanted = range.last.map_or(u64::MAX, |last| (last - range.first).saturating_add(1));
    io::copy(&mut source.open(first)?.take(wanted), out)
}

/// Writes the first lines.
///
/// # Errors
///
/// What reading or writing says.
pub fn head(input: &mut dyn Read, count: u64, out: &mut dyn Write) -> io::Result<Count> {
    if count == 0 {
        return Ok(Count::default());
    }
    lines(input, Range { first: 1, last: Some(count) }, out)
}

/// Writes the last lines.
///
/// # Errors
///
/// What reading or writing says.
pub fn tail(source: &dyn Source, count: u64, out: &mut dyn Write) -> io::Result<Count> {
    let from = tail_start(source, count)?;
    lines(&mut *source.open(from)?, Range { first: 1, last: None }, out)
}

/// Where the last lines begin: found from the end, a block at a time.
fn tail_start(source: &dyn Source, count: u64) -> io::Result<u64> {
    let (mut end, mut left, mut block) = (source.size(), count, Vec::new());
    let mut last = true;
    while end > 0 && count > 0 {
        let start = end.saturating_sub(READ_BYTES as u64);
        block.clear();
        source.open(start)?.take(end - start).read_to_end(&mut block)?;
        // The end of the last line begins none.
        let body = if last { block.strip_suffix(b"\n").unwrap_or(&block) } else { &block };
        last = false;
        for at in memchr::memrchr_iter(b'\n', body) {
            left -= 1;
            if left == 0 {
                return Ok(start + at as u64 + 1);
            }
        }
        end = start;
    }
    Ok(if count == 0 { source.size() } else { 0 })
}

pub(super) fn read(input: &mut dyn Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match input.read(buffer) {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
