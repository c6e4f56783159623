//! A session as a list of items that no provider's format shows in yet.

use std::borrow::Cow;
use std::collections::HashSet;

use sayso_model::{
    Entry, EntryBody, EntryId, Kept, Outcome, Part, PartBody, Reinjection, SpeakerKind, ToolCall, Turn,
    escape,
};

use super::current::current;
use super::groups::Groups;
use super::label;
use super::pairing::{Pairs, Place};
use super::returned::{self, Ranges};
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
    /// Failed also where no result was recorded.
    pub(super) outcome: Outcome,
}

/// The items of a session's entries: the latest summary with what was brought back right behind it, then the turns after
/// its boundary.
pub(super) fn items(entries: &[Entry], ranges: &Ranges) -> Vec<Item> {
    let through = summary::through(entries);
    let entries = &*current(entries, through);
    let pairs = Pairs::of(entries);
    let groups = Groups::of(entries, &pairs, through);
    let mut list = List { entries, pairs, groups, ranges, items: Vec::new(), ids: HashSet::new() };
    if let Some(compaction) = summary::latest(entries) {
        list.items.push(Item::User(vec![summary::text(compaction, entries)]));
    }
    let behind = behind_the_summary(entries);
    behind.iter().for_each(|(entry, reinjection)| list.reinjection(entry, reinjection));
    for (index, entry) in entries.iter().enumerate().filter(|(_, entry)| entry.seq > through) {
        match &entry.body {
            EntryBody::Reinjection(_) if behind.iter().any(|(shown, _)| shown.id == entry.id) => {}
            EntryBody::Reinjection(reinjection) => list.reinjection(entry, reinjection),
            _ => list.entry(index, entry),
        }
    }
    list.items
}

/// The re-injections that were recorded right behind the latest compaction: nothing but marks stands between.
fn behind_the_summary(entries: &[Entry]) -> Vec<(&Entry, &Reinjection)> {
    let latest = entries.iter().rposition(|entry| matches!(entry.body, EntryBody::Compaction(_)));
    let Some((compaction, later)) = latest.and_then(|at| entries.get(at..)?.split_first()) else {
        return Vec::new();
    };
    let next = later.iter().take_while(|entry| entry.turn().is_none());
    next.filter_map(|entry| Some((entry, follows(entry, compaction.id)?))).collect()
}

/// The re-injection that an entry is, if it follows this compaction.
fn follows(entry: &Entry, compaction: EntryId) -> Option<&Reinjection> {
    match &entry.body {
        EntryBody::Reinjection(found) if found.of == Some(compaction) => Some(found),
        _ => None,
    }
}

/// The tool results that a context of these entries shows, each by its turn and the place of the part, from 0.
#[must_use]
pub fn shown_results(entries: &[Entry]) -> HashSet<(EntryId, usize)> {
    let through = summary::through(entries);
    let entries = &*current(entries, through);
    let pairs = Pairs::of(entries);
    let groups = Groups::of(entries, &pairs, through);
    let later = entries.iter().enumerate().filter(|(_, entry)| entry.seq > through);
    let parts = |(index, entry): (usize, &Entry)| {
        let count = entry.turn().map_or(0, |turn| turn.parts.len());
        (0..count).map(move |at| (index, at)).collect::<Vec<Place>>()
    };
    let places = later.flat_map(parts).chain(groups.calls().filter_map(|call| pairs.result(call)));
    let result =
        |place: &Place| part_at(entries, *place).is_some_and(|p| matches!(p.body, PartBody::ToolResult(_)));
    places.filter(result).filter_map(|(index, at)| Some((entries.get(index)?.id, at))).collect()
}

struct List<'a> {
    entries: &'a [Entry],
    pairs: Pairs,
    groups: Groups,
    ranges: &'a Ranges,
    items: Vec<Item>,
    /// Ids of calls that are in use.
    ids: HashSet<String>,
}

impl List<'_> {
    fn reinjection(&mut self, entry: &Entry, reinjection: &Reinjection) {
        let blocks = returned::blocks(entry, reinjection, self.ranges);
        if !blocks.is_empty() {
            self.items.push(Item::User(blocks));
        }
    }

    fn entry(&mut self, index: usize, entry: &Entry) {
        let Some(turn) = entry.turn() else { return };
        let first = self.items.len();
        let message = Message::of(entry);
        if let Some(message) = &message {
            self.items.push(Item::User(vec![render(message, Profile::V1)]));
        }
        for (at, part) in turn.parts.iter().enumerate() {
            self.calls((index, at));
            if message.is_none() || !is_note(turn, part) {
                self.part(first, (index, at), turn, part);
            }
        }
    }

    /// Adds a part. Blocks of one turn (items from `first` on) share a message as long as they stand next to each other.
    fn part(&mut self, first: usize, place: Place, turn: &Turn, part: &Part) {
        let speaker = turn.speaker_of(part);
        let agents = turn.speaker.kind == SpeakerKind::Agent && speaker.kind == SpeakerKind::Agent;
        match &part.body {
            // It stands with its call.
            PartBody::ToolResult(_) if self.pairs.is_answer(place) => {}
            PartBody::Text(text) if agents => self.assistant(first, label::kept(part, text)),
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

    /// Adds the calls that are shown at this place.
    fn calls(&mut self, place: Place) {
        let run = self.groups.at(place).map(<[Place]>::to_vec).unwrap_or_default();
        let calls: Vec<Call> = run.into_iter().filter_map(|call| self.call(call)).collect();
        if !calls.is_empty() {
            self.items.push(Item::Calls(calls));
        }
    }

    fn call(&mut self, place: Place) -> Option<Call> {
        let part = part_at(self.entries, place)?;
        let PartBody::ToolCall(call) = &part.body else { return None };
        let (outcome, output) = self.output(place);
        Some(Call {
            id: self.id(place, &call.call_id),
            tool: tool_name(&call.tool),
            arguments: arguments(part, call).into_owned(),
            output,
            outcome,
        })
    }

    fn output(&self, call: Place) -> (Outcome, String) {
        let result = self.pairs.result(call).and_then(|place| part_at(self.entries, place));
        match result.map(|part| (part, &part.body)) {
            Some((part, PartBody::ToolResult(result))) => {
                (result.outcome, mark(label::kept(part, &result.text), Shapes::Markers).into_owned())
            }
            _ => (Outcome::Failed, NO_RESULT.to_owned()),
        }
    }

    /// The id under which a call is rendered: its own, unless a provider would refuse it or it stands there already.
    fn id(&mut self, (index, at): Place, own: &str) -> String {
        if fits(own) && self.ids.insert(own.to_owned()) {
            return own.to_owned();
        }
        let entry = self.entries.get(index).map(|entry| entry.id.to_string()).unwrap_or_default();
        let made = format!("call_{entry}_{at}");
        self.ids.insert(made.clone());
        made
    }
}

fn part_at(entries: &[Entry], (index, at): Place) -> Option<&Part> {
    entries.get(index)?.turn()?.parts.get(at)
}

/// The arguments as they were written. Halves of surrogate pairs are repaired where that makes JSON of them.
fn arguments<'a>(part: &Part, call: &'a ToolCall) -> Cow<'a, str> {
    match (part.kept, call.arguments.as_str()) {
        (Kept::Redacted, _) => Cow::Borrowed(NO_ARGUMENTS),
        (Kept::Whole, "") => Cow::Borrowed("{}"),
        (Kept::Whole, arguments) => match escape::repair_halves(arguments) {
            (repaired, 1..) if is_json(&repaired) => repaired,
            _ => Cow::Borrowed(arguments),
        },
    }
}

fn is_json(text: &str) -> bool {
    serde_json::from_str::<serde_json::Value>(text).is_ok()
}

/// Characters of an id or of a tool's name that every provider takes.
const ID_CHARS: usize = 64;

fn fits(id: &str) -> bool {
    (1..=ID_CHARS).contains(&id.len()) && id.chars().all(is_plain)
}

/// The letters that every provider allows.
const fn is_plain(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '-')
}

/// The tool's name in the letters that providers allow.
fn tool_name(name: &str) -> String {
    let fit = |c: char| if is_plain(c) { c } else { '_' };
    let name: String = name.chars().take(ID_CHARS).map(fit).collect();
    if name.is_empty() { "tool".to_owned() } else { name }
}
