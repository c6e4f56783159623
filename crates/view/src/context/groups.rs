//! Which runs of calls a context shows, and where.

use std::collections::HashMap;

use sayso_model::limits::EARLY_ENTRIES;
use sayso_model::{Entry, PartBody};

use super::current::current;
use super::pairing::{Pairs, Place, Run};
use super::summary;

/// Runs of calls by the place at which they are shown, all calls of a run or none.
///
/// A run stands where its first call stands. One that began before the boundary of a compaction is shown only where a
/// call or a result of it stands behind the boundary, and at the first of those, so that a result never comes without
/// its call.
#[derive(Debug)]
pub(super) struct Groups {
    shown: HashMap<Place, Vec<Place>>,
}

impl Groups {
    pub(super) fn of(entries: &[Entry], pairs: &Pairs, through: u64) -> Self {
        let shown = |run: &Run| Some((shown_at(entries, pairs, through, run)?, run.calls.clone()));
        Self { shown: pairs.runs().iter().filter_map(shown).collect() }
    }

    /// Every call that is shown.
    pub(super) fn calls(&self) -> impl Iterator<Item = Place> + '_ {
        self.shown.values().flatten().copied()
    }

    /// The run that is shown at this place.
    pub(super) fn at(&self, place: Place) -> Option<&[Place]> {
        self.shown.get(&place).map(Vec::as_slice)
    }
}

fn shown_at(entries: &[Entry], pairs: &Pairs, through: u64, run: &Run) -> Option<Place> {
    let behind = |place: &Place| seq(entries, *place) > through;
    let first = run.calls.first().copied().filter(behind);
    first.or_else(|| pairs.places(run).filter(behind).min())
}

fn seq(entries: &[Entry], (index, _): Place) -> u64 {
    entries.get(index).map_or(0, |entry| entry.seq)
}

/// Whether a context of these entries may need entries before them: a result has no call here, a call no result, or a
/// run of calls may have begun earlier.
///
/// For readers that load the end of a session: the entries stand without gaps up to the session's last. A true answer
/// does not say that something is there to be found; whoever looks back sets a limit.
#[must_use]
pub fn looks_back(entries: &[Entry]) -> bool {
    let first = entries.first().map_or(0, |entry| entry.seq);
    if first <= 1 {
        return false;
    }
    let through = summary::through(entries);
    let entries = &*current(entries, through);
    let pairs = Pairs::of(entries);
    let near = |place: Place| seq(entries, place) <= first.saturating_add(EARLY_ENTRIES);
    let mut shown = pairs.runs().iter().filter(|run| shown_at(entries, &pairs, through, run).is_some());
    let misses = |run: &Run| run.calls.iter().any(|call| near(*call) && pairs.result(*call).is_none());
    shown.any(|run| run.cut || misses(run))
        || pairs.early().iter().any(|result| near(*result))
        || has_orphan(entries, &pairs, through)
}

/// Whether a result behind the boundary has no call here.
fn has_orphan(entries: &[Entry], pairs: &Pairs, through: u64) -> bool {
    let mut later = entries.iter().enumerate().filter(|(_, entry)| entry.seq > through);
    later.any(|(index, entry)| {
        let parts = entry.turn().map_or(&[][..], |turn| &turn.parts);
        let result =
            |at: usize| matches!(parts.get(at), Some(part) if matches!(part.body, PartBody::ToolResult(_)));
        (0..parts.len()).any(|at| result(at) && !pairs.is_answer((index, at)))
    })
}
