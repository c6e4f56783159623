//! Which result answers which call.

use std::collections::{HashMap, HashSet, VecDeque};

use sayso_model::{Entry, Part, PartBody, ToolCall, ToolResult};

/// A part by its place: the index of the entry and of the part in it.
pub(super) type Place = (usize, usize);

/// Calls without a result so far, by id.
type Open<'a> = HashMap<&'a str, VecDeque<Place>>;

/// Calls and results of a run of entries, matched.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    results: HashMap<Place, Place>,
    answers: HashSet<Place>,
    ids: HashMap<Place, String>,
}

impl Pairs {
    /// Matches each result with the nearest call before it that has the same id and no result yet. Results without an id
    /// answer calls without one, the oldest first.
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut pairs = Self::default();
        let mut open = Open::new();
        let mut taken = HashSet::new();
        for (place, part) in parts(entries) {
            match &part.body {
                PartBody::ToolCall(call) => {
                    pairs.ids.insert(place, unique(call, entries, place, &mut taken));
                    open.entry(&call.call_id).or_default().push_back(place);
                }
                PartBody::ToolResult(result) => pairs.answer(&mut open, place, result),
                PartBody::Text(_) | PartBody::Reasoning(..) | PartBody::Attachment(_) => {}
            }
        }
        pairs
    }

    fn answer(&mut self, open: &mut Open<'_>, place: Place, result: &ToolResult) {
        let Some(calls) = open.get_mut(result.call_id.as_str()) else {
            return;
        };
        let call = if result.call_id.is_empty() { calls.pop_front() } else { calls.pop_back() };
        if let Some(call) = call {
            self.results.insert(call, place);
            self.answers.insert(place);
        }
    }

    /// Where the result of the call at this place stands.
    pub(super) fn result(&self, call: Place) -> Option<Place> {
        self.results.get(&call).copied()
    }

    /// Whether the result at this place answers a call.
    pub(super) fn is_answer(&self, place: Place) -> bool {
        self.answers.contains(&place)
    }

    /// The id under which the call at this place is rendered: its own, unless it has none, is too long for a provider or
    /// stands there already.
    pub(super) fn id(&self, call: Place) -> &str {
        self.ids.get(&call).map_or("", String::as_str)
    }
}

/// Every part with its place.
pub(super) fn parts(entries: &[Entry]) -> impl Iterator<Item = (Place, &Part)> {
    let turns = entries.iter().enumerate().filter_map(|(index, entry)| Some((index, entry.turn()?)));
    turns.flat_map(|(index, turn)| turn.parts.iter().enumerate().map(move |(at, part)| ((index, at), part)))
}

/// Characters of a call's id that every provider takes.
const ID_CHARS: usize = 64;

fn unique(call: &ToolCall, entries: &[Entry], place: Place, taken: &mut HashSet<String>) -> String {
    let own = &call.call_id;
    if !own.is_empty() && sayso_model::text::chars(own) <= ID_CHARS && taken.insert(own.clone()) {
        return own.clone();
    }
    let entry = entries.get(place.0).map(|entry| entry.id.to_string()).unwrap_or_default();
    let made = format!("call_{entry}_{}", place.1);
    taken.insert(made.clone());
    made
}
