//! JSON of others, where half a surrogate pair may stand alone: what cut a text by UTF-16 code units wrote it.

use std::borrow::Cow;

use serde::de::DeserializeOwned;

/// Reads JSON; half pairs that stand alone become U+FFFD. With how many there were.
///
/// # Errors
///
/// What is wrong with it otherwise.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<(T, u32), serde_json::Error> {
    if let Ok(value) = serde_json::from_str(text) {
        return Ok((value, 0));
    }
    let (mended, repairs) = mend(text);
    serde_json::from_str(&mended).map(|value| (value, repairs))
}

fn mend(text: &str) -> (Cow<'_, str>, u32) {
    let (mut mended, mut repairs, mut rest) = (String::new(), 0, text);
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        mended.push_str(before);
        let (length, right) = match (half(escape), half(escape.get(6..).unwrap_or_default())) {
            (Some(Half::High), Some(Half::Low)) => (12, true),
            (Some(_), _) => (6, false),
            (None, _) => (1 + escape.chars().nth(1).map_or(0, char::len_utf8), true),
        };
        let (whole, after) = escape.split_at(length);
        mended.push_str(if right { whole } else { "\\ufffd" });
        repairs += u32::from(!right);
        rest = after;
    }
    if repairs == 0 {
        return (Cow::Borrowed(text), 0);
    }
    mended.push_str(rest);
    (Cow::Owned(mended), repairs)
}

#[derive(Clone, Copy)]
enum Half {
    High,
    Low,
}

/// Which half of a pair an escape at the beginning is.
fn half(escape: &str) -> Option<Half> {
    let digits = escape.strip_prefix("\\u")?.get(..4)?;
    match u16::from_str_radix(digits, 16).ok()? {
        0xD800..=0xDBFF => Some(Half::High),
        0xDC00..=0xDFFF => Some(Half::Low),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_pairs_are_replaced_and_counted() {
        for (json, text, repairs) in [
            (r#""\ud83d""#, "\u{FFFD}", 1),
            (r#""a\ud83d\ude00b\ude00""#, "a😀b\u{FFFD}", 1),
            (r#""\ud83d\ud83d\ude00""#, "\u{FFFD}😀", 1),
            (r#""\\ud83d \"\ud83d가""#, "\\ud83d \"\u{FFFD}가", 1),
            (r#""\ud83d\ude00""#, "😀", 0),
        ] {
            assert_eq!(read::<String>(json).unwrap(), (text.to_owned(), repairs), "{json}");
        }
        for broken in [r#""\"#, r#""\ud8"#, r#""\가"#, "", "\\", "\"\\"] {
            assert!(read::<String>(broken).is_err(), "{broken}");
        }
    }
}
