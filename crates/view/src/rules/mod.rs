//! Each provider's rules for a list of messages, as checks for tests: what the provider would refuse.
//!
//! Written apart from the code that renders and from what the providers document, not from what is rendered here.

mod anthropic;
mod chat;
mod responses;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use serde_json::Value;

use crate::context::Provider;

/// What the provider would refuse in these messages; empty where it takes them.
#[must_use]
pub fn faults(provider: Provider, messages: &Value) -> Vec<String> {
    let Some(messages) = messages.as_array() else {
        return vec!["the messages are no array".to_owned()];
    };
    match provider {
        Provider::OpenAiResponses => responses::faults(messages),
        Provider::OpenAiChat => chat::faults(messages),
        Provider::Anthropic => anthropic::faults(messages),
    }
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// Faults as they are found, and the ids that calls have used.
#[derive(Default)]
struct Found {
    faults: Vec<String>,
    ids: HashSet<String>,
}

impl Found {
    fn unless(&mut self, holds: bool, fault: impl FnOnce() -> String) {
        if !holds {
            self.faults.push(fault());
        }
    }

    /// A value's field names are among these.
    fn fields(&mut self, value: &Value, known: &[&str]) {
        let names = value.as_object().into_iter().flat_map(|fields| fields.keys());
        let strange: Vec<&String> = names.filter(|name| !known.contains(&name.as_str())).collect();
        self.unless(value.is_object() && strange.is_empty(), || format!("fields {strange:?} of {value}"));
    }

    /// A call's id is used once and is at most 64 characters long, of letters that `allowed` takes.
    fn id(&mut self, id: &str, allowed: impl Fn(char) -> bool) {
        let good = (1..=64).contains(&id.chars().count()) && id.chars().all(allowed);
        self.unless(good, || format!("the id {id:?} is not allowed"));
        let new = self.ids.insert(id.to_owned());
        self.unless(new, || format!("the id {id:?} is used twice"));
    }

    /// A tool's name has 1 to 64 letters, digits, `_` and `-`.
    fn tool(&mut self, name: &str) {
        let good = (1..=64).contains(&name.len()) && name.chars().all(is_plain);
        self.unless(good, || format!("the tool's name {name:?} is not allowed"));
    }
}

fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_-".contains(c)
}
