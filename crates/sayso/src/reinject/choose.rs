//! Which ranges come back: candidates in, plan out. It knows no store.

use sayso_model::limits::REINJECTED_ITEMS;
use sayso_model::{EntryId, OutputId, RangeSource, TextRange, Why};
use sayso_output::as_shown;
use sayso_view::context::TokenCounter;
use sayso_view::guard::guard;

use super::passages::{AROUND, Hits, Passage, Terms, Units, Worth, around, failing, hits, passages};

/// Tokens that the label around a range takes, rather too many than too few.
const LABEL_TOKENS: u64 = 220;
/// Tokens that the best match may grow to.
const BEST_TOKENS: u64 = 8_000;
/// Tokens that any other range may grow to.
const OTHER_TOKENS: u64 = 1_500;
/// Passages of one text at most.
const PASSAGES: usize = 3;
/// A match that is worth less than this part of the best one is none.
const WEAK: f64 = 0.5;

/// A tool's result that may come back, in one stream.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    /// The turn that holds the result.
    pub(super) turn: EntryId,
    /// The place of the result among its parts, from 0.
    pub(super) part: u32,
    /// The place of the turn in its session.
    pub(super) seq: u64,
    /// What a range would be a range of.
    pub(super) source: RangeSource,
    /// The tool's name; may be empty.
    pub(super) tool: String,
    /// The call's arguments; empty where it is not known.
    pub(super) arguments: String,
    /// What is known of its text.
    pub(super) text: Held,
    /// Why it may come back, with where in its text; matches are found here.
    pub(super) reasons: Vec<Reason>,
    /// Whether the context shows it: as a tool's result.
    pub(super) shown: bool,
    /// The ranges of it that the context shows since they were brought back before.
    pub(super) brought: Vec<TextRange>,
}

/// What is known of a candidate's text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Held {
    /// Its beginning, which is searched; whether its bytes are those that are stored.
    Text(String, bool),
    /// It is no text.
    Binary,
    /// It is not there any more.
    Gone,
    /// More was there than is looked at.
    Unread,
}

/// Why a candidate may come back, apart from matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reason {
    /// Why.
    pub(super) why: Why,
    /// The line of its text, where that is known.
    pub(super) line: Option<u64>,
    /// Words that tell which of its text; may be empty.
    pub(super) words: String,
}

/// What is asked for.
#[derive(Clone, Copy)]
pub(super) struct Ask<'a> {
    /// The new words; empty at a compaction.
    pub(super) words: &'a str,
    /// Tokens that all ranges may take together.
    pub(super) tokens: u64,
    /// Who counts them.
    pub(super) counter: &'a dyn TokenCounter,
}

/// A range that was considered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Considered {
    /// The turn that holds the result.
    pub turn: EntryId,
    /// The place of the result among its parts, from 0.
    pub part: u32,
    /// The place of the turn in its session.
    pub seq: u64,
    /// What it is a range of.
    pub source: RangeSource,
    /// The tool's name; may be empty.
    pub tool: String,
    /// The range; `None` where it came to none.
    pub range: Option<TextRange>,
    /// Why, the weightiest first.
    pub why: Vec<Why>,
    /// Tokens it takes, or would take, with its label.
    pub tokens: u64,
    /// What becomes of it.
    pub fate: Verdict,
}

/// What becomes of a range that was considered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// It comes back.
    Chosen,
    /// The context shows it.
    Shown,
    /// It is no longer there.
    Gone,
    /// It is no text.
    Binary,
    /// There was too much to look at.
    Unread,
    /// What is left of the budget does not hold it.
    NoRoom,
    /// As many as may come back at once come before it.
    Enough,
}

/// A range in the making.
struct Slice<'c> {
    candidate: &'c Candidate,
    at: usize,
    text: &'c str,
    units: &'c Units,
    first: usize,
    last: usize,
    why: Vec<Why>,
    weight: f64,
    grows: u64,
}

/// What was looked at of a candidate.
#[derive(Default)]
struct Looked {
    units: Units,
    hits: Hits,
}

/// The ranges that were considered, those that come back first, in the order in which they are shown.
pub(super) fn choose(candidates: &[Candidate], ask: &Ask<'_>) -> Vec<Considered> {
    let terms = Terms::of(ask.words);
    let looked: Vec<Looked> = candidates.iter().map(|candidate| look(candidate, &terms)).collect();
    let total = looked.iter().map(|l| l.units.len()).sum();
    let worth = Worth::of(&terms, total, looked.iter().map(|l| &l.hits));
    let mut considered = Vec::new();
    let mut slices = Vec::new();
    for (at, (candidate, looked)) in candidates.iter().zip(&looked).enumerate() {
        match refused(candidate) {
            Some(_) if candidate.reasons.is_empty() => {}
            Some(fate) => considered.push(left(candidate, None, whys(candidate), 0, fate)),
            None => slices.extend(of_candidate(at, candidate, looked, &terms, &worth)),
        }
    }
    let best = slices.iter().map(|s| s.0).fold(0.0, f64::max);
    let mut slices: Vec<Slice<'_>> =
        slices.into_iter().filter_map(|(score, slice)| weigh(score, best, slice)).collect();
    slices.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(b.candidate.seq.cmp(&a.candidate.seq)));
    let (mut chosen, mut rest) = take(slices, ask);
    rest.append(&mut considered);
    grow(&mut chosen, ask);
    let mut all: Vec<Considered> = chosen.iter().map(|s| told(s, ask, Verdict::Chosen)).collect();
    all.append(&mut rest);
    all
}

fn look(candidate: &Candidate, terms: &Terms) -> Looked {
    match &candidate.text {
        Held::Text(text, exact) => {
            let units = Units::of(text, *exact);
            let hits = if candidate.shown { Hits::new() } else { hits(text, &units, terms) };
            Looked { units, hits }
        }
        Held::Binary | Held::Gone | Held::Unread => Looked::default(),
    }
}

const fn refused(candidate: &Candidate) -> Option<Verdict> {
    match candidate.text {
        _ if candidate.shown => Some(Verdict::Shown),
        Held::Gone => Some(Verdict::Gone),
        Held::Binary => Some(Verdict::Binary),
        Held::Unread => Some(Verdict::Unread),
        Held::Text(..) => None,
    }
}

fn whys(candidate: &Candidate) -> Vec<Why> {
    let mut whys: Vec<Why> = candidate.reasons.iter().map(|reason| reason.why).collect();
    whys.sort_unstable();
    whys.dedup();
    whys
}

/// The slices of one candidate: where its words match, or else where its reasons say. The number is what a match is worth.
fn of_candidate<'c>(
    at: usize,
    candidate: &'c Candidate,
    looked: &'c Looked,
    terms: &Terms,
    worth: &Worth,
) -> Vec<(f64, Slice<'c>)> {
    let Held::Text(text, _) = &candidate.text else { return Vec::new() };
    let units = &looked.units;
    let slice = |first, last| Slice {
        candidate,
        at,
        text,
        units,
        first,
        last,
        why: whys(candidate),
        weight: 0.0,
        grows: OTHER_TOKENS,
    };
    let free = |unit| !candidate.brought.iter().any(|range| units.is_in(unit, *range));
    // Words that the call itself has say that all of its output is about them.
    let about = worth.sum(&terms.found(&candidate.arguments)) / 2.0;
    let mut found: Vec<Passage> = passages(&looked.hits, units.len(), worth, PASSAGES, free);
    found.iter_mut().for_each(|passage| passage.score += about);
    if !candidate.reasons.is_empty() {
        found.truncate(1);
    }
    if found.is_empty() && about > 0.0 && units.len() > 0 && free(0) {
        found.push(Passage { first: 0, last: AROUND.min(units.len() - 1), score: about });
    }
    let mut slices: Vec<(f64, Slice<'c>)> =
        found.iter().map(|passage| (passage.score, slice(passage.first, passage.last))).collect();
    if slices.is_empty() && !candidate.reasons.is_empty() {
        let place = where_to_look(candidate, text, units);
        slices.extend(place.map(|(first, last)| (0.0, slice(first, last))));
    }
    slices
}

/// Which of a text its reasons mean: a line, the words of the summary's line, where what failed says why, else the beginning.
fn where_to_look(candidate: &Candidate, text: &str, units: &Units) -> Option<(usize, usize)> {
    let last = units.len().checked_sub(1)?;
    if let Some(unit) = candidate.reasons.iter().find_map(|r| units.at_line(r.line?)) {
        return Some(around(unit, last));
    }
    let by_words = candidate.reasons.iter().filter(|r| !r.words.is_empty()).find_map(|reason| {
        let terms = Terms::of(&reason.words);
        let hits = hits(text, units, &terms);
        let worth = Worth::of(&terms, units.len(), std::iter::once(&hits));
        passages(&hits, units.len(), &worth, 1, |_| true).pop()
    });
    match by_words {
        Some(passage) => Some((passage.first, passage.last)),
        None if candidate.reasons.iter().any(|r| r.why == Why::Failure) => failing(text, units),
        None => Some((0, (2 * AROUND).min(last))),
    }
}

/// Gives a slice its weight; `None` for a match that is worth too little beside the best one and has no other reason.
fn weigh(score: f64, best: f64, mut slice: Slice<'_>) -> Option<Slice<'_>> {
    let matches = score > 0.0 && score >= best * WEAK;
    if !matches && slice.candidate.reasons.is_empty() {
        return None;
    }
    if matches {
        slice.why.push(Why::Match);
        slice.why.sort_unstable();
        slice.grows = if score >= best { BEST_TOKENS } else { OTHER_TOKENS };
        slice.weight = 2.0 + 3.0 * score / best;
    }
    slice.weight += whys(slice.candidate).into_iter().map(weight).sum::<f64>();
    Some(slice)
}

const fn weight(why: Why) -> f64 {
    match why {
        Why::Pin => 8.0,
        Why::Cited => 4.0,
        Why::Failure => 3.0,
        Why::Read => 2.0,
        Why::Match => 0.0,
    }
}

impl Slice<'_> {
    fn unit_tokens(&self, unit: usize, ask: &Ask<'_>) -> u64 {
        // The break at its end is one, too.
        ask.counter.count(&guard(&as_shown(self.units.text(self.text, unit)))) + 1
    }

    fn tokens(&self, ask: &Ask<'_>) -> u64 {
        LABEL_TOKENS + (self.first..=self.last).map(|unit| self.unit_tokens(unit, ask)).sum::<u64>()
    }

    /// Takes units away at both ends until it fits: at the beginning only, of the end of what failed.
    fn shrink(&mut self, most: u64, ask: &Ask<'_>) {
        let mut tokens = self.tokens(ask);
        let tail = self.why.first() == Some(&Why::Failure) && self.last + 1 == self.units.len();
        let mut front = true;
        while tokens > most && self.first < self.last {
            let unit = if front { self.first } else { self.last };
            tokens -= self.unit_tokens(unit, ask);
            if front {
                self.first += 1;
            } else {
                self.last -= 1;
            }
            front = tail || !front;
        }
    }

    fn is_free(&self, unit: usize) -> bool {
        unit < self.units.len() && !self.candidate.brought.iter().any(|range| self.units.is_in(unit, *range))
    }

    fn clashes(&self, other: &Slice<'_>) -> bool {
        self.at == other.at && self.first <= other.last && other.first <= self.last
    }
}

/// The first slices that fit, and the others with what keeps them out.
fn take<'c>(slices: Vec<Slice<'c>>, ask: &Ask<'_>) -> (Vec<Slice<'c>>, Vec<Considered>) {
    let (mut chosen, mut rest): (Vec<Slice<'c>>, Vec<Considered>) = (Vec::new(), Vec::new());
    let mut left = ask.tokens;
    for mut slice in slices {
        keep_free(&mut slice);
        slice.shrink(OTHER_TOKENS.min(left), ask);
        let tokens = slice.tokens(ask);
        let fate = if (slice.first..=slice.last).any(|unit| !slice.is_free(unit)) {
            Verdict::Shown
        } else if chosen.len() >= REINJECTED_ITEMS || chosen.iter().any(|other| slice.clashes(other)) {
            Verdict::Enough
        } else if tokens > left {
            Verdict::NoRoom
        } else {
            left -= tokens;
            chosen.push(slice);
            continue;
        };
        rest.push(told(&slice, ask, fate));
    }
    (chosen, rest)
}

/// Cuts off what was brought back before, on either side of the middle.
fn keep_free(slice: &mut Slice<'_>) {
    let middle = usize::midpoint(slice.first, slice.last);
    let start =
        (slice.first..=middle).rev().find(|unit| !slice.is_free(*unit)).map_or(slice.first, |unit| unit + 1);
    let end = (middle..=slice.last)
        .find(|unit| !slice.is_free(*unit))
        .map_or(slice.last, |unit| unit.saturating_sub(1));
    if start <= end {
        (slice.first, slice.last) = (start, end);
    }
}

/// Widens the chosen slices with what is left of the budget, the first ones first, line by line on either side.
fn grow(chosen: &mut [Slice<'_>], ask: &Ask<'_>) {
    let mut left = ask.tokens.saturating_sub(chosen.iter().map(|slice| slice.tokens(ask)).sum());
    for at in 0..chosen.len() {
        let Some((slice, others)) = split_at(chosen, at) else { continue };
        let own = slice.tokens(ask);
        let mut room = left.min(slice.grows.saturating_sub(own));
        let before = room;
        let taken = |slice: &Slice<'_>, unit: usize| {
            others.iter().any(|o| o.at == slice.at && (o.first..=o.last).contains(&unit))
        };
        let (mut up, mut down) = (true, true);
        while up || down {
            if down {
                down = widen(slice, slice.last + 1, &mut room, ask, &taken);
            }
            if up {
                up = match slice.first.checked_sub(1) {
                    Some(unit) => widen(slice, unit, &mut room, ask, &taken),
                    None => false,
                };
            }
        }
        left -= before - room;
    }
}

fn split_at<'a, 'c>(chosen: &'a mut [Slice<'c>], at: usize) -> Option<(&'a mut Slice<'c>, Vec<Taken>)> {
    let others = chosen.iter().enumerate().filter(|(other, _)| *other != at);
    let others = others.map(|(_, s)| Taken { at: s.at, first: s.first, last: s.last }).collect();
    Some((chosen.get_mut(at)?, others))
}

/// What another slice has.
struct Taken {
    at: usize,
    first: usize,
    last: usize,
}

fn widen(
    slice: &mut Slice<'_>,
    unit: usize,
    room: &mut u64,
    ask: &Ask<'_>,
    taken: &impl Fn(&Slice<'_>, usize) -> bool,
) -> bool {
    if !slice.is_free(unit) || taken(slice, unit) {
        return false;
    }
    let tokens = slice.unit_tokens(unit, ask);
    if tokens > *room {
        return false;
    }
    *room -= tokens;
    (slice.first, slice.last) = (slice.first.min(unit), slice.last.max(unit));
    true
}

fn told(slice: &Slice<'_>, ask: &Ask<'_>, fate: Verdict) -> Considered {
    let range = slice.units.range(slice.first, slice.last);
    left(slice.candidate, range, slice.why.clone(), slice.tokens(ask), fate)
}

fn left(
    candidate: &Candidate,
    range: Option<TextRange>,
    why: Vec<Why>,
    tokens: u64,
    fate: Verdict,
) -> Considered {
    let Candidate { turn, part, seq, source, .. } = *candidate;
    Considered { turn, part, seq, source, tool: candidate.tool.clone(), range, why, tokens, fate }
}

impl Considered {
    /// The stored output, if it is one.
    #[must_use]
    pub const fn output(&self) -> Option<OutputId> {
        self.source.output()
    }
}
