//! Which result answers which call, and which calls were made side by side.

use std::collections::{HashMap, HashSet, VecDeque};

use sayso_model::limits::EARLY_ENTRIES;
use sayso_model::{Entry, EntryBody, Part, PartBody, SpeakerKind, ToolResult};

use super::label;

/// A part by its place: the index of the entry and of the part in it.
pub(super) type Place = (usize, usize);

/// Calls and results of a run of entries, matched.
///
/// A result answers the nearest call before it that has its id and no result yet. A call that nothing answers so takes a
/// result that was stored too early: shortly before it, with no call of its id before that. A result without an id
/// answers the oldest open call without one of the last run.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    results: HashMap<Place, Place>,
    answers: HashSet<Place>,
    /// Places of results that were stored before their calls.
    early: Vec<Place>,
    runs: Vec<Run>,
}

/// Calls that were made side by side: no result and no words stand between them.
#[derive(Debug)]
pub(super) struct Run {
    /// The calls, in order; at least one.
    pub(super) calls: Vec<Place>,
    /// Whether it may have begun before the first entry at hand.
    pub(super) cut: bool,
}

impl Pairs {
    /// Matches the calls and results of these entries.
    pub(super) fn of(entries: &[Entry]) -> Self {
        let mut matcher = Matcher { cut: true, ..Matcher::default() };
        for (index, entry) in entries.iter().enumerate() {
            matcher.entry(index, entry);
        }
        let Matcher { mut pairs, early, .. } = matcher;
        early.into_iter().for_each(|(call, result)| pairs.pair_early(call, result));
        pairs
    }

    /// Where the result of the call at this place stands.
    pub(super) fn result(&self, call: Place) -> Option<Place> {
        self.results.get(&call).copied()
    }

    /// Whether the result at this place answers a call.
    pub(super) fn is_answer(&self, place: Place) -> bool {
        self.answers.contains(&place)
    }

    /// Results that were stored before their calls.
    pub(super) fn early(&self) -> &[Place] {
        &self.early
    }

    /// The runs, in order.
    pub(super) fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The calls of a run and their results.
    pub(super) fn places<'a>(&'a self, run: &'a Run) -> impl Iterator<Item = Place> + 'a {
        run.calls.iter().flat_map(|call| std::iter::once(*call).chain(self.result(*call)))
    }

    fn pair(&mut self, call: Place, result: Place) {
        self.results.insert(call, result);
        self.answers.insert(result);
    }

    /// Gives a call that nothing answers the result that was stored before it. The run ends with it: all is said of it, and
    /// what was rendered of it stays as it is.
    fn pair_early(&mut self, call: Place, result: Place) {
        if self.results.contains_key(&call) {
            return;
        }
        self.pair(call, result);
        self.early.push(result);
        let at = self.runs.partition_point(|run| run.calls.first().is_some_and(|first| *first <= call));
        let Some(run) = at.checked_sub(1).and_then(|at| self.runs.get_mut(at)) else { return };
        let rest = run.calls.iter().position(|other| *other > call).map(|rest| run.calls.split_off(rest));
        if let Some(calls) = rest {
            self.runs.insert(at, Run { calls, cut: false });
        }
    }
}

/// Goes through the entries in order.
#[derive(Debug, Default)]
struct Matcher<'a> {
    pairs: Pairs,
    /// Calls without a result so far, by id.
    open: HashMap<&'a str, Vec<Place>>,
    /// Those of the last run that have no id.
    nameless: VecDeque<Place>,
    /// Results that no call stands before, by id, with the entry's `seq`.
    waiting: HashMap<&'a str, (Place, u64)>,
    /// Calls with a result that was stored before them, should nothing else answer them.
    early: Vec<(Place, Place)>,
    /// The last call with an id, by the entry's `seq`.
    called: HashMap<&'a str, u64>,
    /// Whether a call that comes now is made beside the last one.
    beside: bool,
    /// Whether nothing came so far that would end a run.
    cut: bool,
}

impl<'a> Matcher<'a> {
    fn entry(&mut self, index: usize, entry: &'a Entry) {
        match &entry.body {
            EntryBody::Turn(turn) => {
                if turn.quote.is_some() {
                    self.end_run();
                }
                for (at, part) in turn.parts.iter().enumerate() {
                    let by = turn.speaker_of(part).kind;
                    self.part((index, at), entry.seq, by, part);
                }
            }
            EntryBody::Compaction(_) | EntryBody::Reinjection(_) => self.end_run(),
            EntryBody::Mark(_) => {}
        }
    }

    fn part(&mut self, place: Place, seq: u64, by: SpeakerKind, part: &'a Part) {
        match &part.body {
            PartBody::ToolCall(call) if by == SpeakerKind::Agent => self.call(place, seq, &call.call_id),
            // A command that a person ran is told in words; what it printed answers no call of the model.
            PartBody::ToolCall(_) => {
                self.end_run();
                self.nameless.clear();
            }
            PartBody::ToolResult(result) => self.result(place, seq, result),
            _ if label::shows(part) => self.end_run(),
            _ => {}
        }
    }

    fn end_run(&mut self) {
        (self.beside, self.cut) = (false, false);
    }

    fn call(&mut self, place: Place, seq: u64, id: &'a str) {
        if !self.beside {
            self.pairs.runs.push(Run { calls: Vec::new(), cut: self.cut });
            self.nameless.clear();
            self.beside = true;
        }
        if let Some(run) = self.pairs.runs.last_mut() {
            run.calls.push(place);
        }
        if id.is_empty() {
            self.nameless.push_back(place);
            return;
        }
        self.called.insert(id, seq);
        self.open.entry(id).or_default().push(place);
        let early = self.waiting.remove(id).filter(|(_, early)| seq - early <= EARLY_ENTRIES);
        self.early.extend(early.map(|(result, _)| (place, result)));
    }

    fn result(&mut self, place: Place, seq: u64, result: &'a ToolResult) {
        self.end_run();
        let id = result.call_id.as_str();
        let call =
            if id.is_empty() { self.nameless.pop_front() } else { self.open.get_mut(id).and_then(Vec::pop) };
        match call {
            Some(call) => self.pairs.pair(call, place),
            None if self.is_early(id, seq) => _ = self.waiting.insert(id, (place, seq)),
            None => {}
        }
    }

    /// Whether a result without a call may be waiting for one; a second result of a call is not.
    fn is_early(&self, id: &str, seq: u64) -> bool {
        let called = self.called.get(id).is_some_and(|call| seq - call <= EARLY_ENTRIES);
        !id.is_empty() && !called
    }
}
