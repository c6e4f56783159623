//! Finding the markers of forwarded turns in what a model was shown.
//!
//! A marker names the turn that holds the quote. Where that turn stands in the very session that is imported, and its
//! marker stands in the transcript byte for byte, the transcript shows words that the ledger already has. Anything else,
//! such as a marker that was cut or written by hand, is text like any other.

use sayso::view::marker::{Message, Profile, find, join, render};
use sayso_model::{Entry, TurnId};

/// The ids of the markers that a text seems to hold, each once, in order.
pub(crate) fn ids(text: &str) -> Vec<TurnId> {
    let mut ids = Vec::new();
    for found in find(text) {
        if !ids.contains(&found.id) {
            ids.push(found.id);
        }
    }
    ids
}

/// The marker of an entry, if the text shows exactly that.
pub(crate) fn shown(text: &str, entry: &Entry) -> Option<String> {
    let marker = render(&Message::of(entry)?, Profile::V1);
    let mut found = find(text).filter(|found| found.id == entry.id);
    found.any(|f| text.get(f.range.start..).is_some_and(|t| t.starts_with(&marker))).then_some(marker)
}

/// Whether a text is nothing but these carried texts, and then these markers with their notes, in this order.
pub(crate) fn only(text: &str, carried: &[String], markers: &[String]) -> bool {
    let all: Vec<String> = carried.iter().chain(markers).cloned().collect();
    !all.is_empty() && text.trim_end_matches('\n') == join(&all).trim_end_matches('\n')
}

#[cfg(test)]
mod tests {
    use sayso::view::example;

    use super::*;

    #[test]
    fn only_the_exact_marker_counts() {
        let entry = example::forward(1, "the\r\nwords", "check\nthis");
        let marker = render(&Message::of(&entry).unwrap(), Profile::V1);
        assert_eq!(ids(&marker), [entry.id]);
        assert_eq!(shown(&format!("Context:\n{marker}\nmore"), &entry).as_deref(), Some(marker.as_str()));
        assert!(only(&marker, &[], std::slice::from_ref(&marker)));
        assert!(!only(&format!("{marker} and more"), &[], std::slice::from_ref(&marker)));
        let (carried, markers) = (["[sayso x]".to_owned()], [marker.clone()]);
        assert!(only(&format!("[sayso x]\n\n{marker}"), &carried, &markers));
        assert!(!only(&format!("{marker}\n\n[sayso x]"), &carried, &markers));
        assert!(!only("", &[], &[]));
        for changed in [marker.replace("words", "other words"), marker.replace("check", "chuck")] {
            assert_eq!(shown(&changed, &entry), None, "{changed}");
        }
        assert_eq!(ids(&format!("see {marker}")), []);
    }
}
