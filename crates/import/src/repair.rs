//! What JSON readers refuse and people's files hold: halves of surrogate pairs, and bytes that are no UTF-8.

use sayso_model::text;

/// The bytes of one JSON value as text, with everything that cannot be UTF-8 repaired to U+FFFD, and how often.
pub(crate) fn repair(bytes: &[u8]) -> (String, u64) {
    let (text, invalid) = text::repair(bytes.to_vec());
    let (text, lone) = surrogates(text);
    (text, u64::from(invalid) + lone)
}

/// Repairs escaped halves of surrogate pairs.
fn surrogates(text: String) -> (String, u64) {
    let (mut out, mut repairs, mut rest) = (String::new(), 0, text.as_str());
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
        return (text, 0);
    }
    out.push_str(rest);
    (out, repairs)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halves_are_repaired_and_pairs_stay() {
        let cases = [
            (r#""\ud83d""#, r#""\ufffd""#, 1),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#, 0),
            (r#""\ude00\ud83d""#, r#""\ufffd\ufffd""#, 2),
            (r#""\ud83d\ud83d\ude00""#, r#""\ufffd\ud83d\ude00""#, 1),
            (r#""\\ud83d""#, r#""\\ud83d""#, 0),
            (r#""\ud83d\n\t한""#, r#""\ufffd\n\t한""#, 1),
        ];
        for (given, wanted, count) in cases {
            assert_eq!(repair(given.as_bytes()), (wanted.to_owned(), count), "{given}");
        }
    }

    #[test]
    fn bytes_that_are_no_text_are_repaired() {
        assert_eq!(repair(b"\"a\xE4\xB8b\""), ("\"a\u{FFFD}b\"".to_owned(), 1));
    }
}
