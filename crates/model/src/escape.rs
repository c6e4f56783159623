//! JSON escapes of halves of surrogate pairs, which no text in UTF-8 can hold.

use std::borrow::Cow;

/// JSON with every escaped half of a surrogate pair replaced by that of U+FFFD, and how many were.
///
/// ```
/// use sayso_model::escape::repair_halves;
/// assert_eq!(repair_halves(r#""\ud83d""#), (r#""\ufffd""#.into(), 1));
/// assert_eq!(repair_halves(r#""\ud83d\ude00 \\ud83d""#).1, 0);
/// ```
#[must_use]
pub fn repair_halves(json: &str) -> (Cow<'_, str>, u64) {
    let (mut out, mut repairs, mut rest) = (String::new(), 0, json);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        out.push_str(before);
        let (kept, length) = match unit(escape) {
            Some(0xD800..=0xDBFF) if pairs(escape) => (escape.get(..12), 12),
            Some(0xD800..=0xDFFF) => {
                repairs += 1;
                (Some("\\ufffd"), 6)
            }
            Some(_) => (escape.get(..6), 6),
            // Any other escape; the character behind may be a long one.
            None => {
                let length = 1 + escape.chars().nth(1).map_or(0, char::len_utf8);
                (escape.get(..length), length)
            }
        };
        out.push_str(kept.unwrap_or_default());
        rest = escape.get(length..).unwrap_or_default();
    }
    if repairs == 0 {
        return (Cow::Borrowed(json), 0);
    }
    out.push_str(rest);
    (Cow::Owned(out), repairs)
}

/// The number in a `\uXXXX` at the start.
fn unit(escape: &str) -> Option<u16> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    let hex = digits.bytes().all(|b| b.is_ascii_hexdigit());
    u16::from_str_radix(digits, 16).ok().filter(|_| hex)
}

/// Whether the second half of a pair follows the escape at the start.
fn pairs(escape: &str) -> bool {
    matches!(escape.get(6..).and_then(unit), Some(0xDC00..=0xDFFF))
}
