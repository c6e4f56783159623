//! Counting tokens without a vocabulary.

use serde_json::Value;

/// Counts the tokens of a text. A counter with the model's own vocabulary is exact; [`Scripts`] estimates.
pub trait TokenCounter {
    /// How many tokens the text has, rather too many than too few.
    fn count(&self, text: &str) -> u64;
}

/// Estimates by script, since a rule such as four bytes a token is wrong by a factor for Korean or Chinese.
///
/// Assumed, in twelfths of a token a character: an ASCII letter or digit 3 (the common four characters a token), a space 2,
/// ASCII punctuation 6; a Hangul syllable, a Han character or kana 12, which is a little more than current byte-pair
/// vocabularies take on average; another letter 6; a Hangul jamo, an emoji or another symbol 24. These are assumptions meant
/// to err on the high side for prose; they are no measurement of a certain model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Scripts;

/// Parts of a token that the weights count in.
const TWELFTHS: u64 = 12;

impl TokenCounter for Scripts {
    fn count(&self, text: &str) -> u64 {
        text.chars().map(weight).sum::<u64>().div_ceil(TWELFTHS)
    }
}

fn weight(c: char) -> u64 {
    match c {
        ' ' => 2,
        c if c.is_ascii_alphanumeric() => 3,
        c if c.is_ascii() => 6,
        '\u{AC00}'..='\u{D7A3}'
        | '\u{3040}'..='\u{30FF}'
        | '\u{3400}'..='\u{9FFF}'
        | '\u{F900}'..='\u{FAFF}' => 12,
        '\u{1100}'..='\u{11FF}' | '\u{3130}'..='\u{318F}' | '\u{20000}'..='\u{3FFFF}' => 24,
        c if c.is_alphabetic() => 6,
        _ => 24,
    }
}

/// Tokens that an item or a block of content costs beside its text.
const AROUND: u64 = 4;

/// The tokens of a rendered context: every string in it, and a few around each object.
pub(super) fn of(value: &Value, counter: &dyn TokenCounter) -> u64 {
    match value {
        Value::Array(items) => items.iter().map(|item| of(item, counter)).sum(),
        Value::Object(fields) => {
            let texts = fields.iter().filter(|(name, _)| !matches!(name.as_str(), "type" | "role"));
            AROUND + texts.map(|(name, field)| field_of(name, field, counter)).sum::<u64>()
        }
        Value::String(text) => counter.count(text),
        Value::Null | Value::Bool(_) | Value::Number(_) => 0,
    }
}

/// The tokens of a field; arguments that are an object are read by the model as JSON, names and all.
fn field_of(name: &str, field: &Value, counter: &dyn TokenCounter) -> u64 {
    match field {
        Value::Object(_) if name == "input" => counter.count(&field.to_string()),
        _ => of(field, counter),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn korean_is_not_counted_as_bytes() {
        assert_eq!(Scripts.count("abcd"), 1);
        assert_eq!(Scripts.count("안녕하세요"), 5);
        assert_eq!(Scripts.count(""), 0);
        assert_eq!(Scripts.count("🙂"), 2);
    }

    #[test]
    fn arguments_count_with_their_names() {
        let block = serde_json::json!({"type": "tool_use", "input": {"abcd": 1}});
        assert_eq!(of(&block, &Scripts), AROUND + Scripts.count(r#"{"abcd":1}"#));
    }
}
