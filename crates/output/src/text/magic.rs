//! What is binary: known formats by their first bytes, and text that is none.

use infer::MatcherType;

use super::clean::Cleaned;

/// A stream that is not text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Binary {
    /// What kind of file, such as `image`; empty where only its bytes say that it is no text.
    pub kind: &'static str,
    /// Its media type; empty where not known.
    pub media_type: &'static str,
    /// Its size in bytes.
    pub bytes: u64,
}

/// The format that the first bytes are the mark of.
///
/// A mark of printable ASCII, such as `BM` or `MZ`, also starts words: it counts only where a NUL follows. `%PDF-` counts always.
pub(crate) fn magic(head: &[u8], bytes: u64) -> Option<Binary> {
    let found = infer::get(head)?;
    let kind = if found.mime_type() == "application/pdf" { "document" } else { kind(found.matcher_type())? };
    let printable = head.iter().take(4).all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\r' | b'\t'));
    let sure = !printable || head.starts_with(b"%PDF-") || memchr::memchr(0, head).is_some();
    (sure && !utf16(head)).then_some(Binary { kind, media_type: found.mime_type(), bytes })
}

fn utf16(head: &[u8]) -> bool {
    head.starts_with(&[0xFF, 0xFE]) || head.starts_with(&[0xFE, 0xFF])
}

const fn kind(matched: MatcherType) -> Option<&'static str> {
    match matched {
        MatcherType::App => Some("program"),
        MatcherType::Archive => Some("archive"),
        MatcherType::Audio => Some("audio"),
        MatcherType::Book | MatcherType::Doc => Some("document"),
        MatcherType::Font => Some("font"),
        MatcherType::Image => Some("image"),
        MatcherType::Video => Some("video"),
        MatcherType::Text | MatcherType::Custom => None,
    }
}

/// Whether what was taken for text is none: NULs that are more than one and at least 1 %, or over 10 % controls in at least 64 characters.
pub(crate) fn verdict(cleaned: &Cleaned, bytes: u64) -> Option<Binary> {
    let seen = cleaned.chars + cleaned.nuls;
    let nuls = cleaned.nuls > 1 && cleaned.nuls * 100 >= seen;
    let controls = cleaned.chars >= 64 && cleaned.controls * 10 > cleaned.chars;
    (nuls || controls).then_some(Binary { kind: "", media_type: "", bytes })
}
