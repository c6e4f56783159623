//! How much one answer holds.

use std::io;

use sayso::model::hidden;
use sayso::model::text::{CutAt, cut};
use serde::Serialize;

/// Bytes of JSON of one answer at most: its text, its structured form, and what stands around them.
pub const ANSWER_BYTES: usize = 64 * 1024;

/// Bytes of JSON that the entries of one answer take at most, in each of its two forms. The rest of [`ANSWER_BYTES`] is for
/// what stands around them.
pub(crate) const FORM_BYTES: usize = 24 * 1024;

/// The bytes of a value's JSON.
pub(crate) fn json_len<T: Serialize + ?Sized>(value: &T) -> usize {
    let mut count = Count(0);
    // Counting never fails, and what is counted here are plain structs and strings.
    let _ = serde_json::to_writer(&mut count, value);
    count.0
}

struct Count(usize);

impl io::Write for Count {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The beginning of a text whose words take at most `room` bytes, whichever form they are written in: with what hides
/// shown, as a string of JSON, in a fence of Markdown. At least one character, so that reading on always ends.
pub(crate) fn fitting(text: &str, room: usize) -> CutAt {
    let (mut spent, mut chars) = (0, 0);
    for (c, hides) in hidden::each(text) {
        spent += cost(c, hides);
        if spent > room {
            return cut(text, chars.max(1));
        }
        chars += 1;
    }
    CutAt { bytes: text.len(), chars, mid_cluster: false }
}

/// The bytes that a text's words take at most.
pub(crate) fn costs(text: &str) -> usize {
    hidden::each(text).map(|(c, hides)| cost(c, hides)).sum()
}

fn cost(c: char, hides: bool) -> usize {
    match c {
        _ if hides => hidden::code(c).len(),
        '⟦' => 2 * c.len_utf8(),
        // A fence is longer than any run of them, at its beginning and at its end.
        '`' => 3,
        '"' | '\\' | '\n' | '\r' | '\t' => 2,
        // Breaks of lines other than those.
        '\0'..='\u{1F}' => 6,
        _ => c.len_utf8(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_cost_at_least_what_they_take() {
        for text in [
            "plain",
            "a\n\"b\"\\\t",
            "\u{202E}\0⟦",
            "\u{B}\u{C}\u{85}",
            "한글 👩\u{200D}👧",
            "``` ` ```",
            "\u{200B}\u{200B}\u{200B}",
        ] {
            let shown = hidden::show(text).into_owned();
            assert!(costs(text) >= json_len(&shown) - 2, "{text:?}");
            let at = fitting(text, 5);
            assert!(at.bytes > 0 && text.is_char_boundary(at.bytes), "{text:?}");
        }
        assert_eq!(fitting("abc", 2).bytes, 2);
        assert_eq!(fitting("abc", 3).bytes, 3);
        assert_eq!(fitting("e\u{301}e\u{301}", 5).chars, 2, "cut between clusters");
    }
}
