//! Lines of bytes that stream past, at constant memory. A line ends with LF, or where everything ends.

use std::io::{self, BufRead, Read, Seek, SeekFrom, Write};

use memchr::{memchr_iter, memrchr_iter};

/// Bytes that are looked at in one step from the end.
const BACK: u64 = 64 * 1024;

/// Copies the lines `first` to `last`, both from 1 and with the last; the number of lines that were looked at.
pub(super) fn copy(from: &mut dyn BufRead, first: u64, last: u64, to: &mut dyn Write) -> io::Result<u64> {
    let before = pass(from, first.saturating_sub(1).min(last), &mut |_| Ok(()))?;
    let copied = pass(from, last - before.ended, &mut |part| to.write_all(part))?;
    let open = if copied.ended > 0 || copied.open { copied.open } else { before.open };
    Ok(before.ended + copied.ended + u64::from(open))
}

/// What was passed over: how many lines ended, and whether the end of everything left another open.
pub(super) struct Passed {
    pub(super) ended: u64,
    pub(super) open: bool,
    pub(super) bytes: u64,
}

/// Passes over so many lines, or all there are, showing their bytes.
pub(super) fn pass(
    from: &mut dyn BufRead,
    lines: u64,
    show: &mut dyn FnMut(&[u8]) -> io::Result<()>,
) -> io::Result<Passed> {
    let mut passed = Passed { ended: 0, open: false, bytes: 0 };
    while passed.ended < lines {
        let part = from.fill_buf()?;
        if part.is_empty() {
            break;
        }
        let (length, ended) = ends(part, lines - passed.ended);
        let bytes = part.get(..length).unwrap_or(part);
        show(bytes)?;
        passed.open = bytes.last() != Some(&b'\n');
        passed.ended += ended;
        passed.bytes += length as u64;
        from.consume(length);
    }
    Ok(passed)
}

/// The bytes up to the end of so many lines, and how many of them end there.
fn ends(part: &[u8], lines: u64) -> (usize, u64) {
    let ends = memchr_iter(b'\n', part);
    match usize::try_from(lines - 1).ok().and_then(|before| ends.clone().nth(before)) {
        Some(at) => (at + 1, lines),
        None => (part.len(), ends.count() as u64),
    }
}

/// Where the last `count` lines begin.
pub(super) fn tail_start(from: &mut (impl Read + Seek), count: u64) -> io::Result<u64> {
    let mut end = from.seek(SeekFrom::End(0))?;
    if count == 0 {
        return Ok(end);
    }
    let (size, mut found) = (end, 0);
    let mut bytes = Vec::new();
    while end > 0 {
        let start = (end - 1) / BACK * BACK;
        from.seek(SeekFrom::Start(start))?;
        bytes.clear();
        from.by_ref().take(end - start).read_to_end(&mut bytes)?;
        for at in memrchr_iter(b'\n', &bytes) {
            let after = start + at as u64 + 1;
            // What ends everything begins no line.
            found += u64::from(after < size);
            if found == count {
                return Ok(after);
            }
        }
        end = start;
    }
    Ok(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::{BufReader, Cursor};

    const TEXTS: &[&str] =
        &["", "\n", "one", "one\n", "one\ntwo", "one\ntwo\n\nfour\n", "\n\n\n", "a\r\nb\r\nc"];

    fn plain(text: &str) -> Vec<&str> {
        text.split_inclusive('\n').collect()
    }

    #[test]
    fn lines_are_those_of_the_text() {
        for text in TEXTS {
            let lines = plain(text);
            for (first, last, capacity) in
                (1..6).flat_map(|f| (0..6).flat_map(move |l| [1, 3, 64].map(|c| (f, l, c))))
            {
                let mut out = Vec::new();
                let mut from = BufReader::with_capacity(capacity, text.as_bytes());
                let looked = copy(&mut from, first as u64, last as u64, &mut out).unwrap();
                let wanted: String = lines.iter().take(last).skip(first - 1).copied().collect();
                assert_eq!(
                    String::from_utf8(out).unwrap(),
                    wanted,
                    "{text:?} {first}..={last} by {capacity}"
                );
                assert_eq!(looked, lines.len().min(last) as u64, "{text:?} {first}..={last} by {capacity}");
            }
        }
    }

    #[test]
    fn the_last_lines_are_found_from_the_end() {
        let long = "0123456789\n".repeat(20_000);
        for text in TEXTS.iter().copied().chain([long.as_str(), long.trim_end()]) {
            let lines = plain(text);
            for count in [0, 1, 2, 3, 5, 5_957, 5_958, 5_959, 20_000, 30_000] {
                let start = tail_start(&mut Cursor::new(text), count as u64).unwrap();
                let wanted: usize = lines.iter().rev().take(count).map(|l| l.len()).sum();
                assert_eq!(text.len() as u64 - start, wanted as u64, "{count} of {} bytes", text.len());
            }
        }
    }
}
