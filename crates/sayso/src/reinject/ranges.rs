//! Reading what the ranges of re-injections hold now.

use sayso_model::{Entry, EntryBody, Kept, Layout, RangeSource, Reinjected, TextRange, text};
use sayso_output::as_shown;
use sayso_view::context::{RangeText, Ranges};

use crate::error::Error;
use crate::reader::Reader;

impl Reader {
    /// What the ranges of the re-injections among these entries hold; a range that is gone, or lies outside the scope, is
    /// left out.
    ///
    /// # Errors
    ///
    /// Storage errors, among them that bytes are not what was written.
    pub fn ranges(&self, entries: &[Entry]) -> Result<Ranges, Error> {
        let mut ranges = Ranges::default();
        for entry in entries {
            let EntryBody::Reinjection(reinjection) = &entry.body else { continue };
            for (place, item) in reinjection.items.iter().enumerate() {
                if let Some(range) = self.range(item, reinjection.layout)? {
                    ranges.insert(entry.id, place, range);
                }
            }
        }
        Ok(ranges)
    }

    fn range(&self, item: &Reinjected, layout: Layout) -> Result<Option<RangeText>, Error> {
        match item.source {
            RangeSource::Output(id, stream) => {
                let Some(output) = self.output(id)? else { return Ok(None) };
                let Some(mut bytes) = self.open_output(id, stream)? else { return Ok(None) };
                let mut held = Vec::new();
                match item.range {
                    TextRange::Lines { first, last } => _ = bytes.lines(first, last, &mut held)?,
                    TextRange::Bytes { start, len } => {
                        _ = bytes.range(start, start.saturating_add(len), &mut held)?;
                    }
                }
                Ok(Some(read(held, layout, bytes.size(), output.exit)))
            }
            RangeSource::Result => self.range_of_result(item, layout),
        }
    }

    fn range_of_result(&self, item: &Reinjected, layout: Layout) -> Result<Option<RangeText>, Error> {
        let Some(entry) = self.entry(item.turn)? else { return Ok(None) };
        let part = entry.turn().and_then(|turn| turn.parts.get(usize::try_from(item.part).ok()?));
        let Some(whole) = part.filter(|part| part.kept == Kept::Whole).and_then(|part| part.spoken()) else {
            return Ok(None);
        };
        Ok(Some(read(pick(whole, item.range).to_vec(), layout, whole.len() as u64, None)))
    }
}

/// What a layout shows of the bytes of a range.
fn read(bytes: Vec<u8>, layout: Layout, of: u64, exit: Option<i32>) -> RangeText {
    let (held, _) = text::repair(bytes);
    let text = match layout {
        Layout::V1 => held.clone(),
        Layout::V2 => as_shown(&held),
    };
    let cleaned = text != held;
    RangeText { text, of, exit, cleaned }
}

/// The bytes of a range, as far as the text has them.
fn pick(text: &str, range: TextRange) -> &[u8] {
    let place = |place: u64| usize::try_from(place).unwrap_or(usize::MAX).min(text.len());
    // Where so many lines end.
    let end = |lines: u64| match lines.checked_sub(1) {
        Some(before) => {
            let ends = text.match_indices('\n').nth(usize::try_from(before).unwrap_or(usize::MAX));
            ends.map_or(text.len(), |(at, _)| at + 1)
        }
        None => 0,
    };
    let (from, to) = match range {
        TextRange::Lines { first, last } => (end(first.saturating_sub(1)), end(last)),
        TextRange::Bytes { start, len } => (place(start), place(start.saturating_add(len))),
    };
    text.as_bytes().get(from..to).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_is_taken_as_far_as_there_is_text() {
        let text = "one\ntwo\nthree\nfour";
        let lines = |first, last| pick(text, TextRange::Lines { first, last });
        assert_eq!([lines(1, 1), lines(2, 3), lines(4, 9)], [&b"one\n"[..], b"two\nthree\n", b"four"]);
        assert_eq!([lines(5, 9), lines(1, u64::MAX)], [&b""[..], text.as_bytes()]);
        let bytes = |start, len| pick(text, TextRange::Bytes { start, len });
        assert_eq!([bytes(0, 3), bytes(4, 7), bytes(16, 9)], [&b"one"[..], b"two\nthr", b"ur"]);
        assert_eq!(bytes(99, u64::MAX), b"");
    }
}
