//! Ranges of earlier tool output that stand in the context again: words with a label, never a tool's result.

use std::collections::HashMap;

use sayso_model::{Entry, EntryId, Layout, Outcome, RangeSource, Reinjected, Reinjection, SpeakerKind, Why};

use super::label::between;
use crate::guard::guard;
use crate::names::{capped, json_line, label};
use crate::sheet::{counted, grouped};

/// What the ranges of re-injections hold now, by the entry and the place of the range in it. A re-injection holds no text
/// itself; a range that is not in here is named as being no longer there.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ranges(HashMap<(EntryId, usize), RangeText>);

/// A range that was read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RangeText {
    /// Its text; what was no UTF-8 is repaired to U+FFFD.
    pub text: String,
    /// The bytes of all that it is a range of.
    pub of: u64,
    /// The exit code of the call, where it is known.
    pub exit: Option<i32>,
    /// Whether the text is what a terminal would show of other bytes.
    pub cleaned: bool,
}

impl Ranges {
    /// Adds what a range of a re-injection holds: `place` counts from 0.
    pub fn insert(&mut self, entry: EntryId, place: usize, range: RangeText) {
        self.0.insert((entry, place), range);
    }

    /// What a range of a re-injection holds, unless it is gone.
    #[must_use]
    pub fn get(&self, entry: EntryId, place: usize) -> Option<&RangeText> {
        self.0.get(&(entry, place))
    }
}

/// The blocks of a re-injection, one for each range.
pub(super) fn blocks(entry: &Entry, reinjection: &Reinjection, ranges: &Ranges) -> Vec<String> {
    let items = reinjection.items.iter().enumerate();
    let block = |(place, item)| block(entry, item, reinjection.layout, ranges.get(entry.id, place));
    items.map(block).collect()
}

/// One range as it is shown; where nothing was read, that it is gone.
#[must_use]
pub fn block(entry: &Entry, item: &Reinjected, layout: Layout, range: Option<&RangeText>) -> String {
    match layout {
        // They differ in what was read.
        Layout::V1 | Layout::V2 => told(entry, item, range),
    }
}

fn told(entry: &Entry, item: &Reinjected, range: Option<&RangeText>) -> String {
    let who = format!("{} {}", label(SpeakerKind::Tool, &item.tool), named(item));
    let call = call(item, range);
    match range {
        Some(range) => {
            let standing = format!(
                "not the owner; from earlier, shown again because {}: {} ({} in all){}{call}; {}, so it may be out of date; all of it: {}",
                reason(item.why),
                place(item),
                counted(range.of, "byte"),
                if range.cleaned { ", as a terminal would show it" } else { "" },
                age(entry, item),
                command(item),
            );
            between(&who, &standing, &guard(range.text.strip_suffix('\n').unwrap_or(&range.text)))
        }
        None => format!("[{who} is no longer there: {}{call}; {}]", place(item), age(entry, item)),
    }
}

fn named(item: &Reinjected) -> String {
    match item.source {
        RangeSource::Output(id, _) => format!("output {id}"),
        RangeSource::Result => format!("result in turn {}", item.turn),
    }
}

fn place(item: &Reinjected) -> String {
    match item.source {
        RangeSource::Output(_, stream) => format!("{} of {stream}", item.range),
        RangeSource::Result => item.range.to_string(),
    }
}

fn call(item: &Reinjected, range: Option<&RangeText>) -> String {
    let id =
        (!item.call_id.is_empty()).then(|| format!(", call {}", json_line(capped(&item.call_id).as_ref())));
    let exit = match (range.and_then(|range| range.exit), item.outcome) {
        (Some(code), _) => format!(", exit {code}"),
        (None, Outcome::Failed) => ", failed".to_owned(),
        (None, Outcome::Ok) => ", worked".to_owned(),
        (None, Outcome::Unknown) => String::new(),
    };
    id.unwrap_or_default() + &exit
}

const fn reason(why: Why) -> &'static str {
    match why {
        Why::Pin => "it is pinned",
        Why::Match => "it has words of the question",
        Why::Cited => "the summary names it",
        Why::Failure => "it failed and did not work later",
        Why::Read => "it was read again before",
    }
}

fn command(item: &Reinjected) -> String {
    match item.source {
        RangeSource::Output(id, sayso_model::StreamKind::Stdout) => format!("sayso output {id}"),
        RangeSource::Output(id, sayso_model::StreamKind::Stderr) => format!("sayso output {id} --stderr"),
        RangeSource::Result => format!("sayso show {} --as text", item.turn),
    }
}

/// How old it was when it was brought back, by the record: entries, and time where it is known to have passed.
fn age(entry: &Entry, item: &Reinjected) -> String {
    let entries = match entry.seq.saturating_sub(item.seq) {
        1 => "1 entry".to_owned(),
        number => format!("{} entries", grouped(number)),
    };
    match u64::try_from(entry.recorded_at.0.saturating_sub(item.at.0)) {
        Ok(ms) if ms >= 1_000 => format!("{entries} and {} old", span(ms / 1_000)),
        _ => format!("{entries} old"),
    }
}

/// A span of time in its two largest units.
fn span(seconds: u64) -> String {
    let units = [(86_400, "d"), (3_600, "h"), (60, "min"), (1, "s")];
    let first = units.iter().position(|(unit, _)| seconds >= *unit).unwrap_or(units.len() - 1);
    let mut left = seconds;
    let mut told = Vec::new();
    for (unit, word) in units.iter().skip(first).take(2) {
        if left / unit > 0 {
            told.push(format!("{} {word}", left / unit));
        }
        left %= unit;
    }
    told.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_two_units_at_most() {
        let spans = [1, 59, 60, 61, 3_600, 12_005, 86_400, 90_061].map(span);
        assert_eq!(spans, ["1 s", "59 s", "1 min", "1 min 1 s", "1 h", "3 h 20 min", "1 d", "1 d 1 h"]);
    }
}
