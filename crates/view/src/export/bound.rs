//! What a tool printed, shortened: beginning and end, with what is left out between them.

use sayso_model::limits::{SHOWN_BYTES, SHOWN_LINES};

use crate::guard::lines;

/// A text that was too long to be shown whole.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Shortened<'t> {
    pub(super) head: &'t str,
    pub(super) tail: &'t str,
    /// Bytes between them.
    pub(super) left_out: u64,
}

/// The beginning and the end of a text; `None` where all of it may be shown.
pub(super) fn shorten(text: &str) -> Option<Shortened<'_>> {
    let starts: Vec<usize> = lines(text).map(|(start, _)| start).collect();
    let long = starts.len() > SHOWN_LINES;
    if !long && text.len() <= SHOWN_BYTES {
        return None;
    }
    let (first, last) = (SHOWN_LINES * 3 / 4, SHOWN_LINES / 4);
    let line = |at: usize| starts.get(at).copied().filter(|_| long);
    let head = line(first).unwrap_or(text.len()).min(text.floor_char_boundary(SHOWN_BYTES * 3 / 4));
    let enough = text.ceil_char_boundary(text.len().saturating_sub(SHOWN_BYTES / 4));
    let tail = line(starts.len().saturating_sub(last)).unwrap_or(0).max(enough).max(head);
    Some(Shortened {
        head: text.get(..head).unwrap_or_default(),
        tail: text.get(tail..).unwrap_or_default(),
        left_out: (tail - head) as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_is_whole() {
        assert_eq!(shorten(&"line\n".repeat(SHOWN_LINES - 1)), None);
        assert_eq!(shorten(&"x".repeat(SHOWN_BYTES)), None);
    }

    #[test]
    fn many_lines_keep_their_beginning_and_end() {
        let text: Vec<String> = (1..=1_000).map(|n| n.to_string()).collect();
        let text = text.join("\n");
        let short = shorten(&text).unwrap();
        assert!(short.head.starts_with("1\n") && short.head.ends_with("150\n"), "{}", short.head);
        assert!(short.tail.starts_with("951\n") && short.tail.ends_with("1000"), "{}", short.tail);
        assert_eq!(short.head.len() + short.tail.len() + short.left_out as usize, text.len());
    }

    #[test]
    fn one_long_line_is_cut_between_characters() {
        let text = "가".repeat(SHOWN_BYTES);
        let short = shorten(&text).unwrap();
        assert!(short.head.len() + short.tail.len() <= SHOWN_BYTES);
        assert!(short.head.len() > SHOWN_BYTES / 2 && short.tail.len() > SHOWN_BYTES / 8);
        assert_eq!(short.head.len() + short.tail.len() + short.left_out as usize, text.len());
    }
}
