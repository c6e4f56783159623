//! What is part of the conversation now: without turns that were taken back, and edits where what they edit stood.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use sayso_model::{Entry, EntryBody, EntryId, MarkKind};

/// The entries as they count now. What a summary stands for stays as it is: an edit of a turn up to the boundary stands at its
/// own place, where it is news.
///
/// A turn that supersedes another has the other's place, and its `seq`. What was rolled back or abandoned is left out,
/// with its place: so are its edits, and what a left out edit superseded stands again.
pub(super) fn current(entries: &[Entry], through: u64) -> Cow<'_, [Entry]> {
    let out = left_out(entries);
    let later: HashMap<EntryId, u64> =
        entries.iter().filter(|entry| entry.seq > through).map(|entry| (entry.id, entry.seq)).collect();
    let edited = |entry: &Entry| {
        let of = entry.turn()?.supersedes?;
        later.get(&of).is_some_and(|seq| *seq < entry.seq).then_some(of)
    };
    let is_out = |entry: &Entry| entry.turn().is_some() && out.contains(&entry.id);
    let edits: HashMap<EntryId, &Entry> = entries
        .iter()
        .filter(|entry| !is_out(entry))
        .filter_map(|entry| Some((edited(entry)?, entry)))
        .collect();
    if out.is_empty() && edits.is_empty() {
        return Cow::Borrowed(entries);
    }
    let standing = |entry: &Entry| {
        if entry.seq <= through {
            return Some(entry.clone());
        }
        if is_out(entry) || edited(entry).is_some() {
            return None;
        }
        let mut last = entry;
        while let Some(edit) = edits.get(&last.id) {
            last = edit;
        }
        Some(Entry { seq: entry.seq, ..last.clone() })
    };
    Cow::Owned(entries.iter().filter_map(standing).collect())
}

/// The turns whose last mark says that they are no longer part of the conversation.
fn left_out(entries: &[Entry]) -> HashSet<EntryId> {
    let mut out = HashSet::new();
    for entry in entries {
        let EntryBody::Mark(mark) = &entry.body else { continue };
        match (mark.kind, mark.of) {
            (MarkKind::RolledBack | MarkKind::Abandoned, Some(of)) => _ = out.insert(of),
            (MarkKind::Restored, Some(of)) => _ = out.remove(&of),
            _ => {}
        }
    }
    out
}
