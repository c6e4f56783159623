//! Folding a text and splitting it into runs.

use std::ops::Range;

use sayso_model::hidden::is_ignorable;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;
use unicode_segmentation::UnicodeSegmentation;

/// What stands between two runs of a folded text; never inside one.
const BETWEEN: char = '\n';

/// A run of a folded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Run<'f> {
    /// Its folded characters.
    pub text: &'f str,
    /// Whether words stand inside longer runs of its script.
    pub dense: bool,
}

/// The runs of a text, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Runs {
    /// All runs, with [`BETWEEN`] between two.
    folded: String,
    runs: Vec<Piece>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Piece {
    /// Where it starts in the folded text.
    start: usize,
    /// Where its first cluster starts in the text as it was.
    origin: usize,
    dense: bool,
}

impl Runs {
    /// Folds and splits a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let mut runs = Self { folded: String::with_capacity(text.len()), runs: Vec::new() };
        let mut open = None;
        each_folded(text, |c, cluster| runs.push(c, cluster.start, &mut open));
        runs
    }

    fn push(&mut self, c: char, origin: usize, open: &mut Option<bool>) {
        let Some(dense) = class(c, *open) else {
            *open = if is_ignorable(c) { *open } else { None };
            return;
        };
        if *open != Some(dense) {
            if !self.runs.is_empty() {
                self.folded.push(BETWEEN);
            }
            self.runs.push(Piece { start: self.folded.len(), origin, dense });
            *open = Some(dense);
        }
        self.folded.push(c);
    }

    /// The runs.
    pub fn iter(&self) -> impl Iterator<Item = Run<'_>> {
        self.folded.split(BETWEEN).zip(&self.runs).map(|(text, piece)| Run { text, dense: piece.dense })
    }

    /// Every place where a dense run occurs, as bytes of the folded text, in order.
    pub(super) fn dense<'s>(&'s self, wanted: &'s str) -> impl Iterator<Item = Range<usize>> + 's {
        let step = wanted.chars().next().map_or(1, char::len_utf8);
        let mut from = 0;
        std::iter::from_fn(move || {
            let at = from + self.folded.get(from..)?.find(wanted)?;
            from = at + step;
            Some(at..at + wanted.len())
        })
    }

    /// The first place where a whole word is equal.
    pub(super) fn word(&self, wanted: &str) -> Option<Range<usize>> {
        let ends = |at: usize| self.folded.get(at..).is_none_or(|r| r.is_empty() || r.starts_with(BETWEEN));
        let starts = |at: usize| self.folded.get(..at).is_none_or(|r| r.is_empty() || r.ends_with(BETWEEN));
        self.dense(wanted).find(|at| starts(at.start) && ends(at.end))
    }

    /// The bytes of the text as it was that a place in its folded form stands for.
    pub(super) fn origin(&self, text: &str, place: &Range<usize>) -> Range<usize> {
        let run = self.runs.partition_point(|r| r.start <= place.start).saturating_sub(1);
        let Some(run) = self.runs.get(run) else { return 0..0 };
        let mut folded = run.start;
        let mut found: Option<Range<usize>> = None;
        let rest = text.get(run.origin..).unwrap_or_default();
        // A cluster may fold to the end of one run and the start of the next.
        let mut inside = false;
        walk(rest, |c, cluster| {
            inside = inside || self.starts_with(run, c);
            if !inside || (class(c, Some(run.dense)) != Some(run.dense)) {
                return folded < place.end;
            }
            if folded >= place.start {
                let start = found.as_ref().map_or(cluster.start, |f| f.start);
                found = Some(start..cluster.end);
            }
            folded += c.len_utf8();
            folded < place.end
        });
        found.map_or(0..0, |f| run.origin + f.start..run.origin + f.end)
    }

    fn starts_with(&self, run: &Piece, c: char) -> bool {
        self.folded.get(run.start..).is_some_and(|r| r.starts_with(c))
    }
}

/// Each folded character with the bytes of the cluster that it comes from.
fn each_folded(text: &str, mut each: impl FnMut(char, Range<usize>)) {
    walk(text, |c, cluster| {
        each(c, cluster);
        true
    });
}

/// The same, for as long as `each` says to go on.
fn walk(text: &str, mut each: impl FnMut(char, Range<usize>) -> bool) {
    let mut at = 0;
    while let Some(rest) = text.get(at..).filter(|r| !r.is_empty()) {
        let mut chars = rest.chars();
        let first = chars.next().unwrap_or_default();
        if is_simple(first) && chars.next().is_none_or(is_simple) {
            let end = at + first.len_utf8();
            if !each(first.to_ascii_lowercase(), at..end) {
                return;
            }
            at = end;
            continue;
        }
        let cluster = rest.graphemes(true).next().unwrap_or(rest);
        let place = at..at + cluster.len();
        for c in cluster.nfkc().flat_map(char::to_lowercase) {
            if !each(if c == 'ς' { 'σ' } else { c }, place.clone()) {
                return;
            }
        }
        at = place.end;
    }
}

/// Whether a character, followed by another of these, is a cluster of its own and its own compatibility form.
const fn is_simple(c: char) -> bool {
    matches!(c, '\0'..='\x7F' | 'ぁ'..='ゖ' | 'ァ'..='ヺ' | 'ー' | '\u{4E00}'..='\u{9FFF}' | '가'..='힣')
}

/// Whether a character belongs to a dense run (`Some(true)`), to a word (`Some(false)`) or to none; a mark belongs to the
/// run that is open.
fn class(c: char, open: Option<bool>) -> Option<bool> {
    if c.is_ascii() {
        return c.is_ascii_alphanumeric().then_some(false);
    }
    // Letters of dense scripts, nearly all that such texts have; looking them up in tables costs more than all the rest.
    if is_simple(c) {
        return Some(true);
    }
    class_of_others(c, open)
}

fn class_of_others(c: char, open: Option<bool>) -> Option<bool> {
    if is_ignorable(c) {
        return None;
    }
    if is_combining_mark(c) {
        return open;
    }
    c.is_alphanumeric().then(|| is_dense(c))
}

const fn is_dense(c: char) -> bool {
    matches!(c,
        '\u{0E00}'..='\u{0EFF}' | '\u{1000}'..='\u{109F}' | '\u{1100}'..='\u{11FF}' | '\u{1780}'..='\u{17FF}'
        | '\u{2E80}'..='\u{2FDF}' | '\u{3005}'..='\u{3007}' | '\u{3021}'..='\u{3029}' | '\u{3038}'..='\u{303B}'
        | '\u{3040}'..='\u{31BF}' | '\u{31F0}'..='\u{31FF}' | '\u{3400}'..='\u{4DBF}' | '\u{4E00}'..='\u{9FFF}'
        | '\u{A960}'..='\u{A97F}' | '\u{AC00}'..='\u{D7FF}' | '\u{F900}'..='\u{FAFF}' | '\u{1AFF0}'..='\u{1B16F}'
        | '\u{20000}'..='\u{3FFFF}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(text: &str) -> Vec<(String, bool)> {
        Runs::of(text).iter().map(|r| (r.text.to_owned(), r.dense)).collect()
    }

    #[test]
    fn runs_are_words_and_dense_runs() {
        let words = |all: &[(&str, bool)]| all.iter().map(|(t, d)| ((*t).to_owned(), *d)).collect::<Vec<_>>();
        assert_eq!(
            split("GPT모델, v2.5!"),
            words(&[("gpt", false), ("모델", true), ("v2", false), ("5", false)])
        );
        assert_eq!(split("Ｆｕｌｌ ﾃﾞｰﾀ会議"), words(&[("full", false), ("データ会議", true)]));
        assert_eq!(split("ÉTÉ e\u{301}te\u{301}"), words(&[("été", false), ("été", false)]));
        assert_eq!(split("\u{1112}\u{1161}\u{11AB}글"), words(&[("한글", true)]));
        assert_eq!(split("so\u{AD}ft a\u{200B}b ΣΑΣ σας"), {
            words(&[("soft", false), ("ab", false), ("σασ", false), ("σασ", false)])
        });
        assert_eq!(split("snake_case 👩‍💻"), words(&[("snake", false), ("case", false)]));
        assert_eq!(split("!?"), Vec::new());
    }

    #[test]
    fn the_short_way_says_what_the_tables_say() {
        for c in ('\u{80}'..=char::MAX).filter(|c| is_simple(*c)) {
            assert_eq!(class_of_others(c, None), Some(true), "{c:?}");
        }
    }

    #[test]
    fn a_place_is_found_again_in_the_text_as_it_was() {
        for (text, wanted, expected) in [
            ("Ｆｕｌｌ ﾃﾞｰﾀ会議 x", "タ会", "ﾀ会"),
            ("x \u{1112}\u{1161}\u{11AB}글", "한", "\u{1112}\u{1161}\u{11AB}"),
            ("a보\u{200B}고서b", "고서", "고서"),
            ("a보\u{200B}고서b", "보고", "보\u{200B}고"),
            ("㍿", "会社", "㍿"),
            ("İx", "i\u{307}x", "İx"),
        ] {
            let runs = Runs::of(text);
            let place = runs.dense(wanted).next().unwrap();
            assert_eq!(text.get(runs.origin(text, &place)), Some(expected), "{text}");
        }
    }
}
