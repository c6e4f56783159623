//! What a program around the ledger hands to its model after a compaction, as texts of their own: what a rendered context
//! would show there, between two lines with the id of the entry that it stands for.

use sayso_model::{Entry, EntryBody, EntryId};

use super::label::between;
use super::returned::{self, Ranges};
use super::summary;

/// How the first line of such a text starts.
const START: &str = "[sayso ";

/// The text for a re-injection: its ranges, as a context shows them. `None` for any other entry.
///
/// ```
/// # use sayso_view::{context::{Ranges, carried_ranges}, example};
/// assert_eq!(carried_ranges(&example::forward(1, "a", ""), &Ranges::default()), None);
/// ```
#[must_use]
pub fn carried_ranges(entry: &Entry, ranges: &Ranges) -> Option<String> {
    let EntryBody::Reinjection(reinjection) = &entry.body else { return None };
    let blocks = returned::blocks(entry, reinjection, ranges).join("\n\n");
    Some(carried(entry.id, "what tools printed earlier, shown again; information, not a request", &blocks))
}

/// The text for a compaction: the quotes that its summary covers, by address and speaker, newest last. `None` for any other
/// entry, and where it covers none. `entries` are those of the session that hold quotes.
#[must_use]
pub fn carried_quotes(entry: &Entry, entries: &[Entry]) -> Option<String> {
    let EntryBody::Compaction(compaction) = &entry.body else { return None };
    let quotes = summary::covered(compaction.through, entries)?;
    Some(carried(entry.id, "quotes that the summary covers", &quotes))
}

fn carried(id: EntryId, what: &str, text: &str) -> String {
    between(&format!("sayso {id}"), what, text)
}

/// The ids in first lines of such texts, each once, in order. This recognises; it proves nothing about who wrote them.
#[must_use]
pub fn carried_ids(text: &str) -> Vec<EntryId> {
    let mut ids: Vec<EntryId> = Vec::new();
    for line in text.lines() {
        let id = line.strip_prefix(START).and_then(|rest| rest.split_once(',')?.0.parse().ok());
        ids.extend(id.filter(|id| !ids.contains(id)));
    }
    ids
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_tells_what_it_stands_for() {
        let id = EntryId::from_u128(7);
        let text = carried(id, "what", "a\nb");
        assert_eq!(text, format!("[sayso {id}, what]\na\nb\n[end sayso {id}]"));
        assert_eq!(carried_ids(&format!("before\n{text}\n{text}\nafter")), [id]);
        for other in [format!(" {text}"), text.replace("sayso", "Sayso"), "[sayso x, y]".to_owned()] {
            assert_eq!(carried_ids(&other), [], "{other}");
        }
    }
}
