//! Anthropic Messages.

use sayso_model::{Entry, Outcome};
use serde_json::{Value, json};

use super::items::{Call, Item, items};
use super::label::between;
use super::returned::Ranges;

/// The `messages` array of a request to the Anthropic Messages API. What an app tells the model as `system` is its own.
///
/// Roles alternate: what follows in the same role is one more block of the same message, and where the agent speaks
/// first, a line by the system stands before it. A group of parallel calls is `tool_use` blocks, and the next user message
/// starts with all their `tool_result` blocks in the same order. Arguments that are no JSON object are wrapped in one, as
/// `{"input": "…"}`. Blocks without anything but white space, which the API refuses, are left out.
///
/// ```
/// # use sayso_view::example;
/// let entries = [example::entry(1, example::owner(), vec![example::part(sayso_model::PartBody::Text("hi".into()))])];
/// let messages = sayso_view::context::anthropic(&entries);
/// assert_eq!(messages.to_string(), r#"[{"role":"user","content":[{"type":"text","text":"hi"}]}]"#);
/// ```
#[must_use]
pub fn anthropic(entries: &[Entry]) -> Value {
    messages(items(entries, &Ranges::default()))
}

pub(super) fn messages(items: Vec<Item>) -> Value {
    let mut messages = Messages::default();
    for item in items {
        match item {
            Item::User(blocks) => messages.add(Role::User, texts(&blocks)),
            Item::Assistant(blocks) => messages.add(Role::Assistant, texts(&blocks)),
            Item::Calls(calls) => {
                messages.add(Role::Assistant, calls.iter().map(call).collect());
                messages.add(Role::User, calls.iter().map(result).collect());
            }
        }
    }
    messages.0.into_iter().map(|(role, blocks)| json!({"role": role.as_str(), "content": blocks})).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    User,
    Assistant,
}

impl Role {
    const fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

#[derive(Debug, Default)]
struct Messages(Vec<(Role, Vec<Value>)>);

impl Messages {
    fn add(&mut self, role: Role, mut blocks: Vec<Value>) {
        if blocks.is_empty() {
            return;
        }
        if self.0.is_empty() && role == Role::Assistant {
            let opening = between("system", "not the owner", "The agent speaks first.");
            self.0.push((Role::User, texts(&[opening])));
        }
        match self.0.last_mut() {
            Some((last, before)) if *last == role => before.append(&mut blocks),
            _ => self.0.push((role, blocks)),
        }
    }
}

fn texts(blocks: &[String]) -> Vec<Value> {
    let said = blocks.iter().filter(|text| !is_blank(text));
    said.map(|text| json!({"type": "text", "text": text})).collect()
}

/// The API trims as Python does, to which some control characters are white space.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| c.is_whitespace() || c.is_control())
}

fn call(call: &Call) -> Value {
    json!({"type": "tool_use", "id": call.id, "name": call.tool, "input": input(&call.arguments)})
}

fn input(arguments: &str) -> Value {
    match serde_json::from_str(arguments) {
        Ok(Value::Object(fields)) => Value::Object(fields),
        _ => json!({"input": arguments}),
    }
}

fn result(call: &Call) -> Value {
    let failed = (call.outcome == Outcome::Failed).then(|| ("is_error", json!(true)));
    let said = (!is_blank(&call.output)).then(|| ("content", json!(call.output)));
    let fields = [("type", json!("tool_result")), ("tool_use_id", json!(call.id))].into_iter();
    fields.chain(failed).chain(said).map(|(name, value)| (name.to_owned(), value)).collect()
}
