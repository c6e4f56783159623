//! The turns of a Codex session.
//!
//! The items say what was in the conversation; the events say which user items a person wrote.
//! An event may come before or after its item, so both are gathered until the model's next
//! output and settled there.

mod kinds;

use serde_json::Value;

use super::tallies::Tallies;
use super::{Counts, string, written};

/// The types of a block that holds text.
const TEXT: [&str; 5] = ["input_text", "output_text", "text", "summary_text", "reasoning_text"];

/// How a block begins that the program put there, not the person.
const WRAPPERS: [&str; 10] = [
    "<environment_context>",
    "# AGENTS.md instructions",
    "<user_instructions>",
    "<turn_aborted>",
    "<permissions instructions>",
    "<skill>",
    "<subagent_notification>",
    "<user_shell_command>",
    "<INSTRUCTIONS>",
    "<collaboration_mode>",
];

/// The calls that are a turn of the model.
const CALLS: [&str; 6] = [
    "function_call",
    "custom_tool_call",
    "local_shell_call",
    "web_search_call",
    "tool_search_call",
    "image_generation_call",
];

/// Items that hold no turn.
const PASSED_ITEMS: [&str; 5] =
    ["ghost_snapshot", "compaction", "context_compaction", "compaction_summary", "compaction_trigger"];

/// Records that hold no turn.
const PASSED: [&str; 6] = [
    "session_meta",
    "turn_context",
    "world_state",
    "inter_agent_communication",
    "inter_agent_communication_metadata",
    "token_usage_record",
];

/// How a summary begins that stands in a new history.
const SUMMARIES: [&str; 5] = ["Another language model", "<summary", "Summary", "# Summary", "## Summary"];

/// What an editor puts in front of what was typed, and what stands between.
const EDITOR: (&str, &str) = ("# Context from my IDE setup:", "\n## My request for Codex:\n");

/// Counts a session whose records are in envelopes. The first is the header.
pub(super) fn enveloped(records: &[Value]) -> Counts {
    let mut count = Count::new();
    for record in records.iter().skip(1) {
        let payload = record.get("payload").unwrap_or(&Value::Null);
        match string(record, "type") {
            Some("response_item") if is_summary(record) => {
                count.tallies.skip("response_item/compaction_output")
            }
            Some("response_item") => count.item(payload),
            Some("event_msg") => count.event(payload),
            Some("compacted") => count.segment.push(Slot::Compaction(summary(payload))),
            Some(kind) if PASSED.contains(&kind) => count.tallies.skip(kind),
            _ => count.tallies.unknown(),
        }
    }
    count.finish()
}

/// Whether a record is the summary that a compaction wrote: the compaction itself holds it too.
fn is_summary(record: &Value) -> bool {
    let flag = record.get("metadata").and_then(|metadata| metadata.get("compaction_output"));
    flag.and_then(Value::as_bool).unwrap_or(false)
}

/// The summary of a compaction.
fn summary(payload: &Value) -> String {
    let told = written(payload.get("message"));
    if !told.is_empty() {
        return told;
    }
    let history = payload.get("replacement_history").and_then(Value::as_array);
    let messages = history.into_iter().flatten().filter(|item| string(item, "type") == Some("message"));
    let said: Vec<(&Value, String)> =
        messages.map(|item| (item, content(item))).filter(|(_, text)| !text.is_empty()).collect();
    let is_last = |(item, text): &&(&Value, String)| {
        string(item, "role") == Some("assistant")
            || SUMMARIES.iter().any(|start| text.trim_start().starts_with(start))
    };
    match said.last().filter(is_last) {
        Some((_, text)) => text.clone(),
        None => said.into_iter().map(|(_, text)| text).collect::<Vec<_>>().join("\n\n"),
    }
}

/// Counts a session of bare items behind its header.
pub(super) fn flat(records: &[Value]) -> Counts {
    let mut count = Count::new();
    for record in records.iter().skip(1) {
        match string(record, "record_type") {
            Some("state") => count.tallies.skip("state"),
            _ => count.item(record),
        }
    }
    count.finish()
}

/// A count under way.
struct Count {
    tallies: Tallies,
    segment: Vec<Slot>,
}

impl Count {
    fn new() -> Self {
        let mut tallies = Tallies::default();
        tallies.session();
        Self { tallies, segment: Vec::new() }
    }

    /// Counts one item. An output of the model or of a tool ends the segment before it.
    fn item(&mut self, item: &Value) {
        let kind = string(item, "type").unwrap_or_default();
        let role = string(item, "role").unwrap_or_default();
        if ends_segment(kind, role) {
            self.settle();
        }
        let slot = match (kind, role) {
            ("message", "user") => Slot::User(UserItem::new(item)),
            ("message", "assistant") | ("agent_message", _) => Slot::Said("agent", said(item)),
            ("message", "developer" | "system") => Slot::Said("system", said(item)),
            ("reasoning", _) => Slot::Said("agent", Vec::new()),
            _ if CALLS.contains(&kind) => Slot::Said("agent", Vec::new()),
            _ if PASSED_ITEMS.contains(&kind) => return self.tallies.skip(&format!("response_item/{kind}")),
            _ => match tool_text(kind, item) {
                Some(text) => Slot::Said("tool", vec![text]),
                None => return self.tallies.unknown(),
            },
        };
        self.segment.push(slot);
    }

    /// Gathers the text that an event announces, if it announces one.
    fn event(&mut self, event: &Value) {
        let kind = string(event, "type").unwrap_or_default();
        let item = event.get("item").unwrap_or(&Value::Null);
        let announced = match kind {
            "user_message" => written(event.get("message")),
            "item_completed" if string(item, "type") == Some("UserMessage") => content(item),
            _ => String::new(),
        };
        if !kinds::EVENTS.contains(&kind) {
            self.tallies.unknown();
        } else if announced.is_empty() {
            self.tallies.skip(&format!("event_msg/{kind}"));
        } else {
            let from_item = kind == "item_completed";
            self.segment.push(Slot::Announced(Announced { text: announced, from_item, covered: false }));
        }
    }

    /// Decides who wrote each user item of the segment, and counts what stands in it.
    fn settle(&mut self) {
        let mut slots = std::mem::take(&mut self.segment);
        let demote = match_announced(&mut slots);
        for slot in slots {
            match slot {
                Slot::User(item) => item.count(demote, &mut self.tallies),
                Slot::Said(kind, texts) => {
                    let parts: Vec<(&str, String)> = texts.into_iter().map(|text| (kind, text)).collect();
                    self.tallies.turn(kind, &parts);
                }
                Slot::Announced(announced) if announced.covered => self.tallies.skip(announced.kind()),
                Slot::Announced(announced) => self.tallies.turn("human", &[("human", announced.text)]),
                Slot::Compaction(summary) => self.tallies.compaction(&summary),
            }
        }
    }

    /// Settles the last segment.
    fn finish(mut self) -> Counts {
        self.settle();
        self.tallies.finish()
    }
}

/// Marks the items that were announced; whether an announced text stands in no item.
fn match_announced(slots: &mut [Slot]) -> bool {
    let messages: Vec<String> = slots
        .iter()
        .filter_map(|slot| match slot {
            Slot::Announced(announced) if !announced.from_item => Some(announced.text.clone()),
            _ => None,
        })
        .collect();
    let mut alone = false;
    for at in 0..slots.len() {
        let Slot::Announced(announced) = &slots[at] else { continue };
        let (text, repeats) =
            (announced.text.clone(), announced.from_item && messages.contains(&announced.text));
        let claims = |slot: &mut Slot| match slot {
            Slot::User(item) => item.claim(&text),
            _ => false,
        };
        let found = !repeats && slots.iter_mut().any(claims);
        alone |= !found && !repeats;
        if let Slot::Announced(announced) = &mut slots[at] {
            announced.covered = found || repeats;
        }
    }
    alone
}

/// Whether an item is an output, that is the end of a segment.
fn ends_segment(kind: &str, role: &str) -> bool {
    match kind {
        "message" => role == "assistant",
        "reasoning" | "agent_message" => true,
        _ => kind.ends_with("_call") || kind.ends_with("_output"),
    }
}

/// The texts of a message, one by one; an empty one where there is nothing in it.
fn said(item: &Value) -> Vec<String> {
    let content = item.get("content");
    let texts = all_texts(content);
    let empty =
        content.is_none_or(|content| content.is_null() || content.as_array().is_some_and(Vec::is_empty));
    if empty { vec![String::new()] } else { texts }
}

/// The text of a message.
fn content(item: &Value) -> String {
    all_texts(item.get("content")).join("\n")
}

/// The text of each block of a content that is one of text. What is no list is one block.
fn all_texts(content: Option<&Value>) -> Vec<String> {
    blocks(content).iter().filter_map(text_of).collect()
}

fn blocks(content: Option<&Value>) -> &[Value] {
    match content {
        Some(Value::Array(blocks)) => blocks,
        None | Some(Value::Null) => &[],
        Some(one) => std::slice::from_ref(one),
    }
}

fn text_of(block: &Value) -> Option<String> {
    match block {
        Value::String(text) => Some(text.clone()),
        _ => string(block, "type").filter(|kind| TEXT.contains(kind)).map(|_| written(block.get("text"))),
    }
}

/// What a tool answered, if the item is an answer.
fn tool_text(kind: &str, item: &Value) -> Option<String> {
    match kind {
        "tool_search_output" => Some(written(item.get("tools"))),
        _ if kind.ends_with("_output") => Some(output(item.get("output"))),
        _ => None,
    }
}

/// The text of an output, whichever of its forms it has.
fn output(output: Option<&Value>) -> String {
    match output {
        Some(Value::Array(_)) => all_texts(output).join("\n"),
        Some(object @ Value::Object(_)) => string(object, "content")
            .or_else(|| string(object, "output"))
            .map_or_else(|| object.to_string(), str::to_owned),
        _ => written(output),
    }
}

/// What stands between two outputs, in file order; the output that begins it comes first.
enum Slot {
    User(UserItem),
    /// The texts of a turn that is decided.
    Said(&'static str, Vec<String>),
    Announced(Announced),
    Compaction(String),
}

/// A text that an event calls the person's.
struct Announced {
    text: String,
    /// It comes from a finished item, and not from a message event.
    from_item: bool,
    /// It stands in an item, or in another announcement.
    covered: bool,
}

impl Announced {
    fn kind(&self) -> &'static str {
        if self.from_item { "event_msg/item_completed" } else { "event_msg/user_message" }
    }
}

/// A message with the role of a user, written by a person or by the program.
struct UserItem {
    /// The texts, each with whether the program put it there.
    texts: Vec<(bool, String)>,
    /// Whether there is a block that is no text.
    attached: bool,
    /// Whether an event announced it.
    matched: bool,
    /// Whether the item itself says of its blocks who wrote them.
    told: bool,
}

impl UserItem {
    fn new(item: &Value) -> Self {
        let content = item.get("content");
        let authors = authors(item);
        let mut texts = Vec::new();
        let mut attached = false;
        for (at, block) in blocks(content).iter().enumerate() {
            match (text_of(block), authors.get(at).and_then(Option::as_deref)) {
                (Some(text), Some(author)) => texts.push((author != "user", text)),
                (Some(text), None) => texts.push((is_wrapped(&text), text)),
                (None, _) => attached |= string(block, "type") != Some("encrypted_content"),
            }
        }
        Self { texts, attached, matched: false, told: authors.iter().any(Option::is_some) }
    }

    /// Takes the announced text for this item's, if it is.
    fn claim(&mut self, text: &str) -> bool {
        if self.matched {
            return false;
        }
        let own: Vec<&str> =
            self.texts.iter().filter(|(by_program, _)| !by_program).map(|(_, text)| text.as_str()).collect();
        let whole = !own.is_empty() && own.join("\n") == text;
        let one = self.texts.iter_mut().find(|(_, own)| own == text).filter(|_| !whole);
        self.matched = whole || one.is_some();
        if let Some((by_program, _)) = one {
            *by_program = false;
        }
        self.matched
    }

    fn count(self, demote: bool, tallies: &mut Tallies) {
        let open = self.attached || self.texts.iter().any(|(by_program, _)| !by_program);
        let human = open && (self.matched || self.told || !demote);
        let kind = if human { "human" } else { "system" };
        let mut parts: Vec<(&str, String)> = Vec::new();
        for (by_program, text) in self.texts {
            match editor(&text).filter(|_| !by_program) {
                Some((before, typed)) => {
                    parts.extend([("system", before.to_owned()), (kind, typed.to_owned())]);
                }
                None => parts.push((if by_program { "system" } else { kind }, text)),
            }
        }
        if parts.is_empty() && !self.attached {
            parts.push((kind, String::new()));
        }
        tallies.turn(kind, &parts);
    }
}

/// What an editor put in front of a text and what was typed. The line break between belongs to neither.
fn editor(text: &str) -> Option<(&str, &str)> {
    let at = text.starts_with(EDITOR.0).then(|| text.find(EDITOR.1))??;
    Some((&text[..at + EDITOR.1.len() - 1], &text[at + EDITOR.1.len()..]))
}

/// Who wrote each block, where the newer metadata of an item says it.
fn authors(item: &Value) -> Vec<Option<String>> {
    let metadata = item.get("internal_chat_message_metadata_passthrough");
    let blocks =
        metadata.and_then(|metadata| metadata.get("content_item_metadata")).and_then(Value::as_array);
    let author = |block: &Value| string(block.get("provenance")?, "type").map(str::to_owned);
    blocks.into_iter().flatten().map(author).collect()
}

/// Whether the program put this text there.
fn is_wrapped(text: &str) -> bool {
    let text = text.trim_start();
    WRAPPERS.iter().any(|wrapper| text.starts_with(wrapper))
}
