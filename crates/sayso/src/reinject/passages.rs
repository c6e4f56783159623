//! A text as units that a range may consist of, and where words that are looked for stand in it. Values in, values out.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use sayso_model::TextRange;
use sayso_model::text::is_boundary;
use sayso_output::says_what_failed;
use sayso_store::search::Runs;

/// Bytes of a line at most; a longer one is looked at in pieces.
const LINE_BYTES: usize = 2_000;
/// Units around a word that belong to its passage, on either side.
pub(super) const AROUND: usize = 12;
/// Units from the end of what failed.
const TAIL: usize = 60;
/// Words that are looked for at most.
const TERMS: usize = 64;

/// A line, or a piece of a long one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Unit {
    start: usize,
    end: usize,
    line: u64,
    /// Whether it is a whole line.
    whole: bool,
}

/// A text in units.
#[derive(Debug, Clone, Default)]
pub(super) struct Units(Vec<Unit>);

impl Units {
    /// The units of a text. Pieces of lines are counted in bytes, so a text that had to be repaired has none.
    pub(super) fn of(text: &str, exact: bool) -> Self {
        let mut units = Vec::new();
        let (mut start, mut line) = (0, 1);
        for piece in text.split_inclusive('\n') {
            let end = start + piece.len();
            if piece.len() <= LINE_BYTES || !exact {
                units.push(Unit { start, end, line, whole: true });
            } else {
                split(text, start, end, line, &mut units);
            }
            (start, line) = (end, line + 1);
        }
        Self(units)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(super) fn text<'t>(&self, text: &'t str, unit: usize) -> &'t str {
        self.0.get(unit).and_then(|u| text.get(u.start..u.end)).unwrap_or_default()
    }

    /// The range of these units, the last one with it: lines where all of them are whole.
    pub(super) fn range(&self, first: usize, last: usize) -> Option<TextRange> {
        let units = self.0.get(first..=last)?;
        let (from, to) = (units.first()?, units.last()?);
        if units.iter().all(|unit| unit.whole) {
            return Some(TextRange::Lines { first: from.line, last: to.line });
        }
        Some(TextRange::Bytes { start: from.start as u64, len: (to.end - from.start) as u64 })
    }

    /// Whether a unit lies in a range, at least in part.
    pub(super) fn is_in(&self, unit: usize, range: TextRange) -> bool {
        let Some(unit) = self.0.get(unit) else { return false };
        match range {
            TextRange::Lines { first, last } => (first..=last).contains(&unit.line),
            TextRange::Bytes { start, len } => {
                (unit.start as u64) < start.saturating_add(len) && start < unit.end as u64
            }
        }
    }

    /// The unit that a line starts with.
    pub(super) fn at_line(&self, line: u64) -> Option<usize> {
        self.0.iter().position(|unit| unit.line == line)
    }
}

fn split(text: &str, start: usize, end: usize, line: u64, units: &mut Vec<Unit>) {
    let mut from = start;
    while from < end {
        let mut to = (from + LINE_BYTES).min(end);
        while to > from && to < end && !(text.is_char_boundary(to) && is_boundary(text, to)) {
            to -= 1;
        }
        if to == from {
            // One cluster that is longer than all of that.
            to = (from + LINE_BYTES..=end).find(|at| text.is_char_boundary(*at)).unwrap_or(end);
        }
        units.push(Unit { start: from, end: to, line, whole: false });
        from = to;
    }
}

/// Words that are looked for: whole words, and for scripts without spaces pairs of neighbours, so that 보고서 is found by
/// what 보고서를 has in common with it. A single character stands alone.
#[derive(Debug, Clone, Default)]
pub(super) struct Terms {
    words: HashMap<String, usize>,
    pairs: Vec<(String, usize)>,
}

impl Terms {
    pub(super) fn of(text: &str) -> Self {
        let mut terms = Self::default();
        for run in Runs::of(text).iter() {
            if terms.len() >= TERMS {
                break;
            }
            let next = terms.len();
            if run.dense {
                pairs(run.text).into_iter().for_each(|pair| terms.pair(pair));
            } else if !is_slight(run.text) {
                terms.words.entry(run.text.to_owned()).or_insert(next);
            }
        }
        terms
    }

    fn pair(&mut self, pair: String) {
        let next = self.len();
        if next < TERMS && !self.pairs.iter().any(|(known, _)| *known == pair) {
            self.pairs.push((pair, next));
        }
    }

    pub(super) fn len(&self) -> usize {
        self.words.len() + self.pairs.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Which of them a text has.
    pub(super) fn found(&self, text: &str) -> BTreeSet<usize> {
        let mut found = BTreeSet::new();
        for run in Runs::of(text).iter() {
            if run.dense {
                found.extend(
                    self.pairs.iter().filter(|(pair, _)| run.text.contains(pair.as_str())).map(|p| p.1),
                );
            } else {
                found.extend(self.words.get(run.text));
            }
        }
        found
    }
}

/// A letter, or two, tells nothing; a number does.
fn is_slight(word: &str) -> bool {
    const SLIGHT: [&str; 34] = [
        "about", "and", "are", "but", "can", "did", "does", "for", "from", "had", "has", "have", "how",
        "its", "not", "our", "please", "say", "says", "tell", "that", "the", "there", "this", "was", "were",
        "what", "when", "where", "which", "why", "with", "you", "your",
    ];
    (word.chars().count() < 3 && !word.chars().any(|c| c.is_ascii_digit())) || SLIGHT.contains(&word)
}

fn pairs(run: &str) -> Vec<String> {
    let letters: Vec<char> = run.chars().collect();
    match letters.as_slice() {
        [only] => vec![only.to_string()],
        letters => letters.windows(2).map(|pair| pair.iter().collect()).collect(),
    }
}

/// Which units of a text have which terms.
pub(super) type Hits = BTreeMap<usize, BTreeSet<usize>>;

pub(super) fn hits(text: &str, units: &Units, terms: &Terms) -> Hits {
    if terms.is_empty() {
        return Hits::new();
    }
    let found = (0..units.len()).map(|unit| (unit, terms.found(units.text(text, unit))));
    found.filter(|(_, terms)| !terms.is_empty()).collect()
}

/// What each term is worth: the more, the fewer units of all texts have it.
pub(super) struct Worth(Vec<f64>);

impl Worth {
    pub(super) fn of<'h>(terms: &Terms, units: usize, all: impl Iterator<Item = &'h Hits>) -> Self {
        let mut counts = vec![0usize; terms.len()];
        for term in all.flat_map(BTreeMap::values).flatten() {
            if let Some(count) = counts.get_mut(*term) {
                *count += 1;
            }
        }
        let worth = |count: &usize| match count {
            0 => 0.0,
            count => (1.0 + units as f64 / *count as f64).ln(),
        };
        Self(counts.iter().map(worth).collect())
    }

    pub(super) fn sum(&self, terms: &BTreeSet<usize>) -> f64 {
        terms.iter().filter_map(|term| self.0.get(*term)).sum()
    }
}

/// A passage of a text and what the words in it are worth.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Passage {
    pub(super) first: usize,
    pub(super) last: usize,
    pub(super) score: f64,
}

/// The best passages of a text, none overlapping another: around units with hits, where `free` says that they may be taken.
pub(super) fn passages(
    hits: &Hits,
    units: usize,
    worth: &Worth,
    limit: usize,
    free: impl Fn(usize) -> bool,
) -> Vec<Passage> {
    let mut found: Vec<Passage> =
        hits.keys().filter(|unit| free(**unit)).map(|unit| passage(hits, units, worth, *unit)).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.first.cmp(&b.first)));
    let mut taken: Vec<Passage> = Vec::new();
    for passage in found {
        if taken.len() >= limit {
            break;
        }
        if taken.iter().all(|t| passage.last < t.first || t.last < passage.first) {
            taken.push(passage);
        }
    }
    taken
}

/// Words count once each, and a little more the nearer they stand to the middle.
fn passage(hits: &Hits, units: usize, worth: &Worth, middle: usize) -> Passage {
    let first = middle.saturating_sub(AROUND);
    let last = (middle + AROUND).min(units.saturating_sub(1));
    let all: BTreeSet<usize> = hits.range(first..=last).flat_map(|(_, terms)| terms).copied().collect();
    let own = hits.get(&middle).map_or(0.0, |terms| worth.sum(terms));
    Passage { first, last, score: worth.sum(&all) + own / 4.0 }
}

/// A unit with those around it; `last` is the last there is.
pub(super) fn around(unit: usize, last: usize) -> (usize, usize) {
    (unit.saturating_sub(AROUND), (unit + AROUND).min(last))
}

/// Where a text says why something failed: its end, but where only lines before it say so, what stands around the first of them.
pub(super) fn failing(text: &str, units: &Units) -> Option<(usize, usize)> {
    let last = units.len().checked_sub(1)?;
    let end = last.saturating_sub(TAIL);
    let says = |unit: &usize| says_what_failed(units.text(text, *unit));
    let before = if (end..=last).any(|unit| says(&unit)) { None } else { (0..end).find(says) };
    Some(before.map_or((end, last), |unit| around(unit, last)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_units_and_long_ones_come_in_pieces() {
        let text = format!("one\n{}\nlast", "가".repeat(1_500));
        let units = Units::of(&text, true);
        assert_eq!(units.len(), 5);
        assert_eq!(units.range(0, 0), Some(TextRange::Lines { first: 1, last: 1 }));
        assert_eq!(units.range(4, 4), Some(TextRange::Lines { first: 3, last: 3 }));
        assert_eq!(units.range(1, 1), Some(TextRange::Bytes { start: 4, len: 1_998 }));
        assert!(units.text(&text, 2).chars().all(|c| c == '가'));
        assert_eq!(Units::of(&text, false).len(), 3);
    }

    #[test]
    fn words_of_two_characters_and_forms_of_them_are_found() {
        let found = |query: &str, text: &str| Terms::of(query).found(text).len();
        assert_eq!(found("보고", "월간보고서입니다"), 1);
        assert_eq!(found("보고서를 어디에", "월간보고서입니다"), 2);
        assert_eq!(found("what did the plan say", "The plan stands"), 1);
        assert_eq!(found("ab the", "ab the"), 0);
        assert_eq!(found("v2", "V2 works"), 1);
    }

    #[test]
    fn what_failed_comes_with_the_line_that_says_why() {
        let log = |errors: &[usize]| -> String {
            (0..900).map(|n| if errors.contains(&n) { "error: no quay\n" } else { "ok\n" }).collect()
        };
        let place = |errors: &[usize]| {
            let text = log(errors);
            failing(&text, &Units::of(&text, true))
        };
        assert_eq!(place(&[]), Some((839, 899)));
        assert_eq!(place(&[400, 500]), Some((388, 412)));
        assert_eq!(place(&[3]), Some((0, 15)));
        assert_eq!(place(&[400, 870]), Some((839, 899)));
        assert_eq!(failing("", &Units::of("", true)), None);
    }

    #[test]
    fn rare_words_decide() {
        let text =
            (0..200).map(|n| if n == 150 { "ferry timetable\n" } else { "ferry\n" }).collect::<String>();
        let (units, terms) = (Units::of(&text, true), Terms::of("ferry timetable"));
        let hits = hits(&text, &units, &terms);
        let worth = Worth::of(&terms, units.len(), std::iter::once(&hits));
        let best = passages(&hits, units.len(), &worth, 1, |_| true).remove(0);
        assert_eq!((best.first, best.last), (138, 162));
    }
}
