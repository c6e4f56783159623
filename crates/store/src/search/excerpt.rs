//! What stands around the words that were found.

use std::ops::Range;

use sayso_model::text::{chars, cut};
use unicode_segmentation::UnicodeSegmentation;

/// Characters of an excerpt at most.
const CHARS: usize = 80;
/// Characters before the words that were found at most.
const BEFORE: usize = 28;

/// A piece of a text around the words that were found in it, cut between grapheme clusters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Excerpt {
    /// The piece, as it stands in the text.
    pub text: String,
    /// The bytes of the piece that the first of the words take.
    pub words: Range<usize>,
    /// Where the piece starts: so many characters of the text stand before it.
    pub start: usize,
    /// Whether text follows it.
    pub more: bool,
}

impl Excerpt {
    /// The excerpt around these bytes of a text.
    pub(super) fn around(text: &str, words: Range<usize>) -> Self {
        let before = text.get(..words.start).unwrap_or_default();
        let start = words.start - tail(before);
        let rest = text.get(start..).unwrap_or_default();
        let end = cut(rest, CHARS).bytes;
        let clip = |at: usize| (at - start).min(end);
        Self {
            text: rest.get(..end).unwrap_or_default().to_owned(),
            words: clip(words.start)..clip(words.end),
            start: chars(text.get(..start).unwrap_or_default()),
            more: end < rest.len(),
        }
    }
}

/// How many bytes the last clusters take that are few enough characters together.
fn tail(text: &str) -> usize {
    let (mut bytes, mut count) = (0, 0);
    for cluster in text.graphemes(true).rev() {
        count += chars(cluster);
        if count > BEFORE {
            break;
        }
        bytes += cluster.len();
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_excerpt_is_cut_between_clusters() {
        let family = "👩\u{200D}👩\u{200D}👧";
        let text = format!("{}{} 보고서 {}", "x".repeat(50), family.repeat(6), "끝".repeat(90));
        let at = text.find("보고서").unwrap();
        let excerpt = Excerpt::around(&text, at..at + 9);
        assert_eq!(&excerpt.text[excerpt.words.clone()], "보고서");
        assert!(excerpt.text.starts_with(family) && excerpt.more, "{excerpt:?}");
        assert_eq!(chars(&excerpt.text), 80);
        assert_eq!(text.chars().skip(excerpt.start).take(80).collect::<String>(), excerpt.text);
        let whole = Excerpt::around("a plan", 2..6);
        assert_eq!((whole.text.as_str(), whole.start, whole.more), ("a plan", 0, false));
    }
}
