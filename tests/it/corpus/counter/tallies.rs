//! Counts under way, closely: what each session says in its order, and who says which part.

use super::{Counts, Detail, digest};

#[derive(Default)]
pub(super) struct Tallies {
    counts: Counts,
    detail: Detail,
}

impl Tallies {
    /// Begins another session.
    pub(super) fn session(&mut self) {
        self.detail.sessions.push(Vec::new());
    }

    /// Counts a turn of this kind of speaker, with the texts of its parts and who says each.
    pub(super) fn turn(&mut self, kind: &str, parts: &[(&str, String)]) {
        let texts: Vec<&str> = parts.iter().map(|(_, text)| text.as_str()).collect();
        let text = texts.join("\n");
        self.counts.tally(kind).add(&text);
        self.say(kind, &text);
        self.detail.parts.extend(parts.iter().map(|(kind, text)| format!("{kind} {}", digest(text))));
    }

    pub(super) fn compaction(&mut self, summary: &str) {
        self.counts.compactions += 1;
        self.say("compaction", summary);
    }

    fn say(&mut self, what: &str, text: &str) {
        if let Some(session) = self.detail.sessions.last_mut() {
            session.push(format!("{what} {}", digest(text)));
        }
    }

    pub(super) fn skip(&mut self, kind: &str) {
        *self.detail.skipped.entry(kind.to_owned()).or_default() += 1;
    }

    pub(super) fn unknown(&mut self) {
        self.detail.unknown += 1;
    }

    pub(super) fn finish(mut self) -> Counts {
        self.detail.parts.sort();
        self.detail.sessions.retain(|session| !session.is_empty());
        self.detail.sessions.sort();
        self.counts.detail = Some(self.detail);
        self.counts
    }
}
