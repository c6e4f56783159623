//! Counting, cutting and looking at text. Characters are Unicode scalar values.

use unicode_segmentation::UnicodeSegmentation;

/// The length in bytes of the line break at the start of `text`, 0 where there is none.
///
/// Line breaks are LF, CRLF, CR, VT, FF, NEL, LS and PS: the mandatory breaks of UAX #14.
#[must_use]
pub fn break_len(text: &str) -> usize {
    if text.starts_with("\r\n") {
        return 2;
    }
    text.chars().next().filter(|c| is_break(*c)).map_or(0, char::len_utf8)
}

/// Whether a character breaks a line.
#[must_use]
pub const fn is_break(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{0B}' | '\u{0C}' | '\u{85}' | '\u{2028}' | '\u{2029}')
}

/// The number of characters.
#[must_use]
pub fn chars(text: &str) -> usize {
    text.chars().count()
}

/// The byte at which the `index`-th character starts; `None` past the end. The end itself is a place.
#[must_use]
pub fn byte_of(text: &str, index: usize) -> Option<usize> {
    text.char_indices().map(|(at, _)| at).chain(std::iter::once(text.len())).nth(index)
}

/// Where a text was cut to at most `limit` characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CutAt {
    /// The kept part's length in bytes.
    pub bytes: usize,
    /// The kept part's length in characters.
    pub chars: usize,
    /// Whether the cut had to fall inside a grapheme cluster, because the first one alone is longer than the limit.
    pub mid_cluster: bool,
}

/// The last grapheme boundary at or before `limit` characters. Only a first cluster longer than the limit is cut inside.
///
/// ```
/// let at = sayso_model::text::cut("e\u{301}e\u{301}", 3);
/// assert_eq!((at.chars, at.mid_cluster), (2, false));
/// ```
#[must_use]
pub fn cut(text: &str, limit: usize) -> CutAt {
    let mut at = CutAt { bytes: 0, chars: 0, mid_cluster: false };
    for cluster in text.graphemes(true) {
        let chars = chars(cluster);
        if at.chars + chars > limit {
            return if at.bytes == 0 { inside(text, limit) } else { at };
        }
        at.bytes += cluster.len();
        at.chars += chars;
    }
    at
}

fn inside(text: &str, limit: usize) -> CutAt {
    CutAt { bytes: byte_of(text, limit).unwrap_or(text.len()), chars: limit, mid_cluster: limit > 0 }
}

/// Whether `at` (bytes, on a character) is a grapheme boundary of `text`.
#[must_use]
pub fn is_boundary(text: &str, at: usize) -> bool {
    unicode_segmentation::GraphemeCursor::new(at, text.len(), true).is_boundary(text, 0).unwrap_or(false)
}

/// Text with every sequence that is no UTF-8 repaired to U+FFFD, and how many were.
#[must_use]
pub fn repair(bytes: Vec<u8>) -> (String, u32) {
    match String::from_utf8(bytes) {
        Ok(text) => (text, 0),
        Err(error) => repair_chunks(error.as_bytes()),
    }
}

fn repair_chunks(bytes: &[u8]) -> (String, u32) {
    let (mut text, mut repairs) = (String::with_capacity(bytes.len()), 0);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push('\u{FFFD}');
            repairs += 1;
        }
    }
    (text, repairs)
}

/// Whether a code fence of Markdown (CommonMark 0.31, section 4.5) is still open at the end of `text`.
#[must_use]
pub fn open_fence(text: &str) -> bool {
    text.split(is_break)
        .fold(None, |open, line| match (open, fence(line)) {
            (None, Some((mark, length, _))) => Some((mark, length)),
            (Some((mark, length)), Some((m, l, true))) if m == mark && l >= length => None,
            (open, _) => open,
        })
        .is_some()
}

/// The fence that a line is: its character, its length, and whether nothing follows (so that it may close one).
fn fence(line: &str) -> Option<(char, usize, bool)> {
    let body = line.trim_start_matches(' ');
    let mark = body.chars().next().filter(|c| matches!(c, '`' | '~') && line.len() - body.len() < 4)?;
    let length = body.chars().take_while(|c| *c == mark).count();
    let rest = body.get(length..).unwrap_or_default();
    let opens = length >= 3 && !(mark == '`' && rest.contains('`'));
    opens.then_some((mark, length, rest.trim().is_empty()))
}

/// Why text that a tool printed is taken for binary, if it is.
///
/// It is when it starts with the mark of a known binary format, when over 1 % of it are NULs (one NUL is not enough),
/// or when over 10 % of at least 64 characters are controls other than tab, line breaks, backspace and escape.
#[must_use]
pub fn binary(text: &str) -> Option<&'static str> {
    const MARKS: &[(&str, &str)] = &[
        ("\u{FFFD}PNG", "PNG image"),
        ("\u{89}PNG", "PNG image"),
        ("GIF8", "GIF image"),
        ("\u{FFFD}\u{FFFD}\u{FFFD}\u{FFFD}\0\u{10}JFIF", "JPEG image"),
        ("%PDF-", "PDF"),
        ("\u{7F}ELF", "ELF program"),
        ("PK\u{3}\u{4}", "ZIP archive"),
        ("SQLite format 3\0", "SQLite database"),
    ];
    let known = MARKS.iter().find(|(mark, _)| text.starts_with(mark));
    known.map(|(_, name)| *name).or_else(|| controls(text).then_some("control characters"))
}

fn controls(text: &str) -> bool {
    let (mut total, mut nuls, mut controls) = (0usize, 0usize, 0usize);
    for c in text.chars() {
        total += 1;
        nuls += usize::from(c == '\0');
        controls += usize::from(c.is_control() && !is_break(c) && !matches!(c, '\t' | '\u{8}' | '\u{1B}'));
    }
    (nuls > 1 && nuls * 100 > total) || (total >= 64 && controls * 10 > total)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_falls_on_the_last_boundary() {
        let jamo = "\u{1112}\u{1161}\u{11AB}".repeat(1334);
        assert_eq!(cut(&jamo, 4000).chars, 3999);
        let zalgo = format!("a{}", "\u{301}".repeat(5000));
        let at = cut(&zalgo, 4000);
        assert_eq!((at.chars, at.mid_cluster), (4000, true));
        assert_eq!(cut("abc", 4000).bytes, 3);
    }

    #[test]
    fn fences_open_and_close() {
        assert!(open_fence("```rust\nfn main() {}"));
        assert!(!open_fence("```rust\nfn main() {}\n```"));
        assert!(open_fence("~~~~\n~~~\n```"));
        assert!(!open_fence("``` a`b"));
    }

    #[test]
    fn one_nul_is_not_binary() {
        assert_eq!(binary("hello\0 world"), None);
        assert!(binary("\0\0\0abc").is_some());
        assert!(binary(&"\u{1}a".repeat(40)).is_some());
        assert_eq!(binary(&"한글".repeat(400)), None);
    }
}
