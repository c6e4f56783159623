//! Parts of a stored stream as they are shown: whole characters, and what stands around a match.

use sayso::model::OutputId;
use sayso::store::StreamKind;
use sayso::{Error, GrepMatch, OutputBytes, Reader};

/// Bytes of a matching line that are shown at most.
const SHOWN: usize = 1_024;

/// One stream of an output.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stream<'a> {
    pub(crate) reader: &'a Reader,
    pub(crate) output: OutputId,
    pub(crate) kind: StreamKind,
}

impl Stream<'_> {
    pub(crate) fn open(&self) -> Result<OutputBytes, Error> {
        let gone = || Error::OutputGone { id: self.output };
        self.reader.open_output(self.output, self.kind)?.ok_or_else(gone)
    }

    /// At most so many bytes from a place on.
    pub(crate) fn window(&self, from: u64, most: usize) -> Result<Vec<u8>, Error> {
        let mut window = Vec::new();
        self.open()?.range(from, from.saturating_add(most as u64), &mut window)?;
        Ok(window)
    }
}

/// What is shown of a line that matches, without its line break, and whether that is not the whole line.
pub(crate) fn around<'m>(one: &'m GrepMatch<'_>) -> (&'m [u8], bool) {
    let line = if one.cut() { one.text } else { one.text.strip_suffix(b"\r").unwrap_or(one.text) };
    let most = line.len().saturating_sub(SHOWN);
    let from = one.found.start.saturating_sub(SHOWN / 4).min(most);
    let shown = line.get(from..line.len().min(from + SHOWN)).unwrap_or_default();
    (shown, one.cut() || most > 0)
}

/// The bytes of the first characters of bytes that are shown with U+FFFD for what is no UTF-8.
pub(crate) fn bytes_of(bytes: &[u8], mut chars: usize) -> usize {
    let mut length = 0;
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            if chars == 0 {
                return length;
            }
            (chars, length) = (chars - 1, length + c.len_utf8());
        }
        if chars == 0 {
            return length;
        }
        if !chunk.invalid().is_empty() {
            (chars, length) = (chars - 1, length + chunk.invalid().len());
        }
    }
    length
}

/// The bytes without a character at their end whose rest has not come.
pub(crate) fn whole(bytes: &[u8]) -> &[u8] {
    match bytes.utf8_chunks().last() {
        Some(last) if !last.invalid().is_empty() && last.invalid().len() < 4 && starts(last.invalid()) => {
            bytes.get(..bytes.len() - last.invalid().len()).unwrap_or(bytes)
        }
        _ => bytes,
    }
}

/// Whether these bytes may become a character with what comes next.
fn starts(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_are_counted_as_they_are_shown() {
        let bytes = b"a\xFFb\xEA\xB0\x80";
        assert_eq!(String::from_utf8_lossy(bytes).chars().count(), 4);
        assert_eq!([0, 1, 2, 3, 4, 9].map(|chars| bytes_of(bytes, chars)), [0, 1, 2, 3, 6, 6]);
        assert_eq!(whole(b"a\xEA\xB0"), b"a");
        assert_eq!(whole(b"a\xFF"), b"a\xFF");
        assert_eq!(whole(b"ab"), b"ab");
    }

    #[test]
    fn of_a_long_line_what_stands_around_the_match_is_shown() {
        let shown = |text: &str, found: std::ops::Range<usize>, cut| {
            let after = sayso::LinePlace::START;
            let one = GrepMatch {
                line: 1,
                at: 0,
                text: text.as_bytes(),
                found,
                more_before: cut,
                more_behind: cut,
                after,
            };
            let (bytes, cut) = around(&one);
            (String::from_utf8(bytes.to_vec()).unwrap(), cut)
        };
        assert_eq!(shown("one plan\r", 4..8, false), ("one plan".to_owned(), false));
        let long = format!("{}plan{}", "x".repeat(2_000), "y".repeat(2_000));
        for (found, cut) in [(2_000..2_004, false), (2_000..2_004, true)] {
            let (text, cut) = shown(&long, found, cut);
            assert!(
                cut && text.len() == SHOWN && text.starts_with(&format!("{}plan", "x".repeat(SHOWN / 4)))
            );
        }
        assert!(shown(&long, 3_990..3_995, false).0.ends_with("yyy"));
        assert_eq!(shown("part", 0..4, true), ("part".to_owned(), true));
    }
}
