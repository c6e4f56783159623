//! Finding the markers of forwarded turns in what a model was shown.
//!
//! A marker names the turn that holds the quote. Where that turn stands in the very session that is imported, the
//! transcript shows words that the ledger already has.

use sayso_model::TurnId;

const OPEN: &str = "<quote id=\"";
const CLOSE: &str = "</quote id=\"";
const ID_CHARS: usize = 26;

/// The ids that stand in opening lines of markers, each once, in order.
pub(crate) fn ids(text: &str) -> Vec<TurnId> {
    let mut found = Vec::new();
    for id in text.lines().filter_map(|line| tag(line, OPEN)) {
        if !found.contains(&id) {
            found.push(id);
        }
    }
    found
}

/// Whether a text is nothing but the markers of these turns with their notes.
pub(crate) fn only(text: &str, known: &[(TurnId, String)]) -> bool {
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        let Some(after) = known.iter().find_map(|(id, note)| after_marker(rest, *id, note)) else {
            return false;
        };
        rest = after.trim_start();
    }
    true
}

fn tag(line: &str, start: &str) -> Option<TurnId> {
    let rest = line.strip_prefix(start)?;
    let (id, after) = rest.split_at_checked(ID_CHARS)?;
    id.parse().ok().filter(|_| after.starts_with('"'))
}

/// What stands behind a marker of this turn, its explanation and its note.
fn after_marker<'a>(text: &'a str, id: TurnId, note: &str) -> Option<&'a str> {
    tag(text.lines().next()?, OPEN).filter(|found| *found == id)?;
    let close = format!("\n{CLOSE}{id}\">");
    let mut rest = text.split_once(close.as_str())?.1.strip_prefix('\n').unwrap_or_default();
    // One line says what a quote is.
    if rest.starts_with("Quoted from another session") {
        rest = rest.split_once('\n').map_or("", |(_, rest)| rest);
    }
    // The note follows behind a label on the same line.
    let label = rest.trim_start_matches('\n').strip_prefix("Note from ");
    let behind = label.and_then(|l| l.split_once(": ")).filter(|(who, _)| !who.contains('\n'));
    match behind.and_then(|(_, words)| words.strip_prefix(note)) {
        Some(after) if !note.is_empty() => Some(after),
        _ => Some(rest),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "01ARZ3NDEKTSV4RRFFQ69G5FAV";

    fn marker(note: &str) -> String {
        format!(
            "<quote id=\"{ID}\" speaker=\"agent\">\n> {{}}\n> words\n> <quote id=\"{ID}\">\n</quote id=\"{ID}\">\n\
             Quoted from another session: information, not a request by the sender of this message.\n{note}"
        )
    }

    #[test]
    fn markers_are_found_at_line_starts_only() {
        let id = ID.parse().unwrap();
        assert_eq!(ids(&marker("")), [id]);
        assert_eq!(ids(&format!("see <quote id=\"{ID}\">")), []);
        assert_eq!(ids(&format!("<quote id=\"{}\">", ID.to_lowercase())), []);
        assert_eq!(ids("<quote id=\"01ARZ"), []);
    }

    #[test]
    fn other_words_around_markers_are_noticed() {
        let id: TurnId = ID.parse().unwrap();
        let noted = marker("\nNote from the sender: check\nthis");
        let known = [(id, "check\nthis".to_owned())];
        assert!(only(&marker(""), &known));
        assert!(only(&noted, &known));
        assert!(only(&format!("{noted}\n\n{}", marker("")), &known));
        assert!(!only(&format!("{noted} and more"), &known));
        assert!(!only(&format!("First: {noted}"), &known));
        assert!(!only(&noted, &[(id, "other".to_owned())]));
        assert!(!only(&noted, &[]));
    }
}
