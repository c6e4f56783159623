//! The words that the index holds, and the expression that finds them.
//!
//! A word is itself, cut to a length; a dense run is each of its characters and each pair of neighbours. Further words,
//! which no text can hold, say in which project the session was made, which session it is, and who speaks.

use std::fmt::Display;

use sayso_model::{ProjectId, SessionId, SpeakerKind};
use sayso_store::search::{Query, Run, Runs};

/// Characters of a word that the index tells apart.
const LENGTH: usize = 64;
/// Words of a query that the index is asked for; all of them are compared afterwards.
const ASKED: usize = 48;

/// The words of a row, with a space after each.
#[derive(Debug, Default)]
pub(super) struct Words(pub(super) String);

impl Words {
    pub(super) fn text(&mut self, text: &str) {
        Runs::of(text).iter().for_each(|run| each(run, |word| self.push(word)));
    }

    pub(super) fn push(&mut self, word: impl AsRef<str>) {
        self.0.push_str(word.as_ref());
        self.0.push(' ');
    }
}

/// The words of a run.
fn each(run: Run<'_>, mut take: impl FnMut(&str)) {
    if !run.dense {
        let end = run.text.char_indices().nth(LENGTH).map_or(run.text.len(), |(at, _)| at);
        return take(run.text.get(..end).unwrap_or_default());
    }
    let mut chars = run.text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let end = at + c.len_utf8();
        take(run.text.get(at..end).unwrap_or_default());
        if let Some((_, next)) = chars.peek() {
            take(run.text.get(at..end + next.len_utf8()).unwrap_or_default());
        }
    }
}

// Private use characters are no letters, so no run has one.

pub(super) fn project(id: ProjectId) -> String {
    format!("\u{E000}{id}")
}

pub(super) fn session(id: SessionId) -> String {
    format!("\u{E001}{id}")
}

/// The expression that finds every row of a session.
pub(crate) fn asked(id: SessionId) -> String {
    quoted(&session(id))
}

pub(super) fn speaker(kind: SpeakerKind) -> String {
    format!("\u{E002}{kind}")
}

/// An expression of FTS5: all of these must be there.
#[derive(Debug, Default)]
pub(super) struct Expression(String);

impl Expression {
    /// Finds every row that can have the query.
    pub(super) fn of(query: &Query) -> Self {
        let mut all = Vec::new();
        for run in query.runs() {
            let pair = run.dense && run.text.chars().nth(1).is_some();
            // A pair of neighbours says more than each of them.
            each(run, |word| {
                if !pair || word.chars().nth(1).is_some() {
                    all.push(word.to_owned());
                }
            });
        }
        all.truncate(ASKED);
        let mut expression = Self::default();
        all.iter().for_each(|word| expression.and(&quoted(word)));
        expression
    }

    fn and(&mut self, term: &dyn Display) {
        if !self.0.is_empty() {
            self.0.push_str(" AND ");
        }
        self.0.push_str(&term.to_string());
    }

    /// And one of these.
    pub(super) fn and_any(&mut self, words: impl Iterator<Item = String>) {
        let any: Vec<String> = words.map(|w| quoted(&w)).collect();
        self.and(&format!("({})", any.join(" OR ")));
    }

    pub(super) fn as_str(&self) -> &str {
        &self.0
    }
}

/// Words hold letters, digits, marks and private use characters only: nothing that needs to be escaped.
fn quoted(word: &str) -> String {
    format!("\"{word}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_pairs_and_characters() {
        let mut words = Words::default();
        words.text("GPT 보고서, 会");
        assert_eq!(words.0, "gpt 보 보고 고 고서 서 会 ");
        let expression = |query| Expression::of(&Query::new(query)).0;
        assert_eq!(expression("보고서 GPT"), r#""gpt" AND "보고" AND "고서""#);
        assert_eq!(expression("会"), r#""会""#);
        let mut words = Words::default();
        words.text(&"가나".repeat(3));
        words.text(&"x".repeat(100));
        assert_eq!(words.0.split_whitespace().last().map(str::len), Some(LENGTH));
    }
}
