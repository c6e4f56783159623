//! What JSON readers refuse and people's files hold: halves of surrogate pairs, and bytes that are no UTF-8.

use sayso_model::{escape, text};

/// The bytes of one JSON value as text, with everything that cannot be UTF-8 repaired to U+FFFD, and how often.
pub(crate) fn repair(bytes: &[u8]) -> (String, u64) {
    let (text, invalid) = text::repair(bytes.to_vec());
    let (repaired, lone) = escape::repair_halves(&text);
    let repaired = (lone > 0).then(|| repaired.into_owned());
    (repaired.unwrap_or(text), u64::from(invalid) + lone)
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
