//! The latest compaction: its summary and the quotes it covers.

use sayso_model::{Compaction, Entry, EntryBody, Kept};

use super::label::between;
use crate::guard::guard;
use crate::marker::REDACTED;
use crate::names::label;

/// Quotes that a summary names at most; the newest, since the older ones are the likelier to be settled.
const NAMED_QUOTES: usize = 50;

/// The latest compaction, by place.
pub(super) fn latest(entries: &[Entry]) -> Option<&Compaction> {
    entries.iter().rev().find_map(|entry| match &entry.body {
        EntryBody::Compaction(compaction) => Some(compaction),
        EntryBody::Turn(_) | EntryBody::Reinjection(_) | EntryBody::Mark(_) => None,
    })
}

/// The last place that the latest compaction stands for; 0 where there is none.
pub(super) fn through(entries: &[Entry]) -> u64 {
    latest(entries).map_or(0, |compaction| compaction.through)
}

/// The summary as the text of a user message.
pub(super) fn text(compaction: &Compaction, entries: &[Entry]) -> String {
    let summary = match compaction.kept {
        Kept::Whole => guard(&compaction.summary),
        Kept::Redacted => REDACTED.to_owned(),
    };
    let who = format!("summary by {}", label(compaction.speaker.kind, &compaction.speaker.name));
    let quotes = covered(compaction.through, entries);
    let quotes = quotes.map(|quotes| format!("\n\nQuotes it covers:\n{quotes}")).unwrap_or_default();
    let standing = match compaction.speaker.is_owner() {
        true => "stands for the earlier turns",
        false => "stands for the earlier turns; not the owner's words",
    };
    between(&who, standing, &format!("{summary}{quotes}"))
}

/// The quotes that a summary covers, one a line, the newest last; `None` where there are none.
pub(super) fn covered(through: u64, entries: &[Entry]) -> Option<String> {
    let covered: Vec<String> =
        entries.iter().filter(|entry| entry.seq <= through).filter_map(quote).collect();
    if covered.is_empty() {
        return None;
    }
    let older = covered.len().saturating_sub(NAMED_QUOTES);
    let more = if older > 0 { format!("- and {older} earlier ones\n") } else { String::new() };
    let named: Vec<String> = covered.into_iter().skip(older).collect();
    Some(format!("{more}{}", named.join("\n")))
}

fn quote(entry: &Entry) -> Option<String> {
    let quote = entry.turn()?.quote.as_deref()?;
    let speaker = label(quote.speaker.kind, &quote.speaker.name);
    Some(format!("- {} by {speaker}, forwarded here as turn {}", quote.origin.address, entry.id))
}
