//! A session as a list of items that no provider's format shows in yet.

use sayso_model::{Entry, Kept, Part, PartBody, Speaker, SpeakerKind, ToolCall, Turn};

use super::label;
use super::pairing::{Pairs, Place};
use super::summary;
use crate::guard::{Shapes, mark};
use crate::marker::{Message, Profile, is_note, render};

/// What the output of a call says whose result was never recorded.
const NO_RESULT: &str = "[no result was recorded for this call]";
/// Arguments of a call that were redacted, as the JSON that a provider expects there.
const NO_ARGUMENTS: &str = "{\"redacted\":\"[redacted]\"}";

/// One message, or a group of calls with their results.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Item {
    /// Blocks of a user message.
    User(Vec<String>),
    /// Blocks of an assistant's message.
    Assistant(Vec<String>),
    /// Parallel calls, in the order they were made.
    Calls(Vec<Call>),
}

/// A call and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub(super) id: String,
    pub(super) tool: String,
    pub(super) arguments: String,
    pub(super) output: String,
}

/// The items of a session's entries: the latest summary, then the turns after its boundary.
pub(super) fn items(entries: &[Entry]) -> Vec<Item> {
    let mut list = List { entries, items: Vec::new(), pairs: Pairs::of(entries), parallel: false };
    let compaction = summary::latest(entries);
    if let Some(compaction) = compaction {
        list.items.push(Item::User(vec![summary::text(compaction, entries)]));
    }
    let through = compaction.map_or(0, |c| c.through);
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.seq > through) {
        list.entry(index, entry);
    }
    list.items
}

struct List<'a> {
    entries: &'a [Entry],
    items: Vec<Item>,
    pairs: Pairs,
    /// Whether a call that comes now was made beside the last one, since no result stands between.
    parallel: bool,
}

impl List<'_> {
    fn entry(&mut self, index: usize, entry: &Entry) {
        let Some(turn) = entry.turn() else { return };
        let first = self.items.len();
        let message = Message::of(entry);
        if let Some(message) = &message {
            self.items.push(Item::User(vec![render(message, Profile::V1)]));
        }
        for (at, part) in turn.parts.iter().enumerate() {
            if message.is_none() || !is_note(turn, part) {
                self.part(first, (index, at), turn, part);
            }
        }
    }

    /// Adds a part. Blocks of one turn (items from `first` on) share a message as long as they stand next to each other.
    fn part(&mut self, first: usize, place: Place, turn: &Turn, part: &Part) {
        let speaker = turn.speaker_of(part);
        match &part.body {
            PartBody::ToolCall(call) => self.call(place, part, call),
            // It stands with its call, or went with it when that was compacted.
            PartBody::ToolResult(_) if self.pairs.is_answer(place) => self.parallel = false,
            PartBody::Text(text) if is_agent(&turn.speaker) && is_agent(speaker) => {
                self.assistant(first, label::kept(part, text));
            }
            _ => self.user(first, label::block(speaker, part)),
        }
    }

    fn assistant(&mut self, first: usize, text: &str) {
        if text.is_empty() {
            return;
        }
        match self.items.get_mut(first..).and_then(<[Item]>::last_mut) {
            Some(Item::Assistant(blocks)) => blocks.push(text.to_owned()),
            _ => self.items.push(Item::Assistant(vec![text.to_owned()])),
        }
    }

    fn user(&mut self, first: usize, block: Option<String>) {
        let Some(block) = block else { return };
        match self.items.get_mut(first..).and_then(<[Item]>::last_mut) {
            Some(Item::User(blocks)) => blocks.push(block),
            _ => self.items.push(Item::User(vec![block])),
        }
    }

    fn call(&mut self, place: Place, part: &Part, call: &ToolCall) {
        let call = Call {
            id: self.pairs.id(place).to_owned(),
            tool: tool_name(&call.tool),
            arguments: arguments(part, call),
            output: self.output(place),
        };
        match self.items.last_mut() {
            Some(Item::Calls(calls)) if self.parallel => calls.push(call),
            _ => self.items.push(Item::Calls(vec![call])),
        }
        self.parallel = true;
    }

    fn output(&self, call: Place) -> String {
        let result = self.pairs.result(call).and_then(|place| part_at(self.entries, place));
        match result {
            Some(part) => mark(label::kept(part, part.body.text()), Shapes::Markers).into_owned(),
            None => NO_RESULT.to_owned(),
        }
    }
}

fn part_at(entries: &[Entry], (index, at): Place) -> Option<&Part> {
    entries.get(index)?.turn()?.parts.get(at)
}

fn is_agent(speaker: &Speaker) -> bool {
    speaker.kind == SpeakerKind::Agent
}

fn arguments(part: &Part, call: &ToolCall) -> String {
    match (part.kept, call.arguments.as_str()) {
        (Kept::Redacted, _) => NO_ARGUMENTS.to_owned(),
        (Kept::Whole, "") => "{}".to_owned(),
        (Kept::Whole, arguments) => arguments.to_owned(),
    }
}

/// Characters of a tool's name that every provider takes.
const TOOL_CHARS: usize = 64;

/// The tool's name in the letters that providers allow.
fn tool_name(name: &str) -> String {
    let fit = |c: char| {
        if c.is_ascii_alphanumeric() || c == '_' || c == '-' { c } else { '_' }
    };
    let name: String = name.chars().take(TOOL_CHARS).map(fit).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}
