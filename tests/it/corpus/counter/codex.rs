//! The turns of a Codex session.
//!
//! The items say what was in the conversation; the events say which user items a person wrote.
//! An event may come before or after its item, so both are gathered until the model's next
//! output and settled there.

use serde_json::Value;

use super::{Counts, block, string, texts};

/// The types of a block that holds text.
const TEXT: [&str; 3] = ["input_text", "output_text", "text"];

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

/// Counts a session whose records are in envelopes.
pub(super) fn enveloped(records: &[Value]) -> Counts {
    let mut count = Count::default();
    for record in records {
        let payload = record.get("payload").unwrap_or(&Value::Null);
        match string(record, "type") {
            Some("response_item") if is_summary(record) => {}
            Some("response_item") => count.item(payload),
            Some("event_msg") => count.segment.event(payload),
            Some("compacted") => count.counts.compactions += 1,
            _ => {}
        }
    }
    count.finish()
}

/// Whether a record is the summary that a compaction wrote: the compaction itself holds it too.
fn is_summary(record: &Value) -> bool {
    let flag = record.get("metadata").and_then(|metadata| metadata.get("compaction_output"));
    flag.and_then(Value::as_bool).unwrap_or(false)
}

/// Counts a session of bare items.
pub(super) fn flat(records: &[Value]) -> Counts {
    let mut count = Count::default();
    for record in records {
        count.item(record);
    }
    count.finish()
}

/// A count under way.
#[derive(Default)]
struct Count {
    counts: Counts,
    segment: Segment,
}

impl Count {
    /// Counts one item. An output of the model or of a tool ends the segment before it.
    fn item(&mut self, item: &Value) {
        let kind = string(item, "type").unwrap_or_default();
        let role = string(item, "role").unwrap_or_default();
        if ends_segment(kind, role) {
            self.settle();
        }
        let counts = &mut self.counts;
        match (kind, role) {
            ("message", "user") => self.segment.items.push(UserItem::new(item)),
            ("message", "assistant") | ("agent_message", _) => counts.agent.add(&content(item)),
            ("message", "developer" | "system") => counts.system.add(&content(item)),
            ("reasoning", _) => counts.agent.add(""),
            _ if CALLS.contains(&kind) => counts.agent.add(""),
            _ => {
                if let Some(text) = tool_text(kind, item) {
                    counts.tool.add(&text);
                }
            }
        }
    }

    /// Counts the user items of the segment and begins the next one.
    fn settle(&mut self) {
        std::mem::take(&mut self.segment).settle(&mut self.counts);
    }

    /// Settles the last segment.
    fn finish(mut self) -> Counts {
        self.settle();
        self.counts
    }
}

/// Whether an item is an output, that is the end of a segment.
fn ends_segment(kind: &str, role: &str) -> bool {
    match kind {
        "message" => role == "assistant",
        "reasoning" | "agent_message" => true,
        _ => kind.ends_with("_call") || kind.ends_with("_output"),
    }
}

/// The text of a message.
fn content(item: &Value) -> String {
    texts(item.get("content"), &TEXT).join("\n")
}

/// What a tool answered, if the item is an answer.
fn tool_text(kind: &str, item: &Value) -> Option<String> {
    match kind {
        "function_call_output" | "custom_tool_call_output" => Some(output(item.get("output"))),
        "tool_search_output" => Some(compact(item.get("tools"))),
        _ if kind.starts_with("mcp_") && kind.ends_with("_output") => Some(output(item.get("output"))),
        _ => None,
    }
}

/// The text of an output, whichever of its forms it has.
fn output(output: Option<&Value>) -> String {
    match output {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(_)) => texts(output, &TEXT).join("\n"),
        Some(object) => string(object, "content")
            .or_else(|| string(object, "output"))
            .map_or_else(|| compact(output), str::to_owned),
        None => String::new(),
    }
}

/// The JSON of a value without any spaces. Nothing and null are the empty text.
fn compact(value: Option<&Value>) -> String {
    value.filter(|value| !value.is_null()).map(Value::to_string).unwrap_or_default()
}

/// What stands between two outputs.
#[derive(Default)]
struct Segment {
    /// The user items, in file order.
    items: Vec<UserItem>,
    /// What the events say a person wrote, in file order.
    announced: Vec<Announced>,
}

/// A text that an event calls the person's.
struct Announced {
    text: String,
    /// It comes from a finished item, and not from a message event.
    from_item: bool,
}

/// A message with the role of a user, written by a person or by the program.
struct UserItem {
    /// All texts, joined.
    text: String,
    /// The texts that the program did not put there, joined.
    own: String,
    /// The texts, one by one.
    blocks: Vec<String>,
    /// Whether there is a block that the program did not put there.
    open: bool,
    /// Whether an event announced it.
    matched: bool,
    /// What the item itself says of its blocks, where it says it: whether a person wrote at least one.
    author: Option<bool>,
}

impl UserItem {
    fn new(item: &Value) -> Self {
        let content = item.get("content");
        let blocks = texts(content, &TEXT);
        let own: Vec<&str> = blocks.iter().copied().filter(|text| !is_wrapped(text)).collect();
        Self {
            text: blocks.join("\n"),
            own: own.join("\n"),
            open: !own.is_empty() || has_attachment(content),
            blocks: blocks.into_iter().map(str::to_owned).collect(),
            matched: false,
            author: author(item),
        }
    }

    /// Whether the announced text is this item's.
    fn says(&self, text: &str) -> bool {
        self.own == text || self.blocks.iter().any(|block| block == text)
    }
}

/// Whether the newer metadata of an item names a person as the source of one of its blocks.
fn author(item: &Value) -> Option<bool> {
    let metadata = item.get("internal_chat_message_metadata_passthrough")?;
    let blocks = metadata.get("content_item_metadata")?.as_array()?;
    let sources: Vec<&str> =
        blocks.iter().filter_map(|block| string(block.get("provenance")?, "type")).collect();
    (!sources.is_empty()).then(|| sources.contains(&"user"))
}

/// Whether the program put this text there.
fn is_wrapped(text: &str) -> bool {
    let text = text.trim_start();
    WRAPPERS.iter().any(|wrapper| text.starts_with(wrapper))
}

/// Whether a content has a block that is not text.
fn has_attachment(content: Option<&Value>) -> bool {
    let blocks = content.and_then(Value::as_array);
    blocks.is_some_and(|blocks| blocks.iter().any(|each| block(each, &TEXT).is_none()))
}

impl Segment {
    /// Gathers the text that an event announces, if it announces one.
    fn event(&mut self, event: &Value) {
        match string(event, "type") {
            Some("user_message") => {
                if let Some(text) = string(event, "message").filter(|text| !text.is_empty()) {
                    self.announced.push(Announced { text: text.to_owned(), from_item: false });
                }
            }
            Some("item_completed") => self.completed(event.get("item").unwrap_or(&Value::Null)),
            _ => {}
        }
    }

    /// Gathers the text of a finished item, if it is a user's.
    fn completed(&mut self, item: &Value) {
        if string(item, "type") == Some("UserMessage") {
            self.announced.push(Announced { text: content(item), from_item: true });
        }
    }

    /// Decides who wrote each user item, and counts it.
    fn settle(mut self, counts: &mut Counts) {
        let missing = self.match_announced();
        let demote = !missing.is_empty();
        for item in &self.items {
            let human = item.author.unwrap_or(item.matched || (item.open && !demote));
            let tally = if human { &mut counts.human } else { &mut counts.system };
            tally.add(&item.text);
        }
        for text in &missing {
            counts.human.add(text);
        }
    }

    /// Marks the items that were announced and returns the texts that no item says.
    fn match_announced(&mut self) -> Vec<String> {
        let mut missing = Vec::new();
        for announced in self.without_repeats() {
            let text = announced.text;
            match self.items.iter_mut().find(|item| !item.matched && item.says(&text)) {
                Some(item) => item.matched = true,
                None if text.is_empty() => {}
                None => missing.push(text),
            }
        }
        missing
    }

    /// Takes the announced texts, without the finished items that a message event repeats.
    fn without_repeats(&mut self) -> Vec<Announced> {
        let all = std::mem::take(&mut self.announced);
        let messages: Vec<String> =
            all.iter().filter(|each| !each.from_item).map(|each| each.text.clone()).collect();
        all.into_iter().filter(|each| !each.from_item || !messages.contains(&each.text)).collect()
    }
}
