//! Looking into JSON values, and taking texts out of them without copying: they may be long.

use serde_json::{Map, Value};

/// The string under a key.
pub(crate) fn text<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// The string under a key that is not empty.
pub(crate) fn named<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    text(value, key).filter(|t| !t.is_empty())
}

/// Takes what is under a key; null where there is nothing.
pub(crate) fn take(value: &mut Value, key: &str) -> Value {
    value.get_mut(key).map(Value::take).unwrap_or_default()
}

/// Takes the string under a key; empty where there is none.
pub(crate) fn take_text(value: &mut Value, key: &str) -> String {
    match take(value, key) {
        Value::String(text) => text,
        _ => String::new(),
    }
}

/// Takes words: the string under a key; what stands there and is no string, as compact JSON.
pub(crate) fn take_words(value: &mut Value, key: &str) -> String {
    plain(take(value, key))
}

/// The elements of an array; none for anything else.
pub(crate) fn elements(value: Value) -> Vec<Value> {
    match value {
        Value::Array(elements) => elements,
        _ => Vec::new(),
    }
}

/// A string as it is, nothing for null, everything else as compact JSON.
pub(crate) fn plain(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

/// An object's map; empty for anything else.
pub(crate) fn object(value: &Value) -> Option<&Map<String, Value>> {
    value.as_object()
}
