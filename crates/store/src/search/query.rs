//! A query, and where a text has it.

use std::collections::BTreeSet;
use std::ops::Range;

use super::fold::{Run, Runs};

/// Steps that are spent on giving the runs of a query places of their own; more than any query of a person needs.
const STEPS: usize = 20_000;

/// What is searched for: distinct runs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    words: BTreeSet<String>,
    dense: BTreeSet<String>,
}

impl Query {
    /// The query that a text is.
    ///
    /// ```
    /// use sayso_store::search::Query;
    /// let found = |query: &str, text: &str| Query::new(query).find(text).map(|at| text[at].to_owned());
    /// assert_eq!(found("고서", "월간 보고서입니다").as_deref(), Some("고서"));
    /// assert_eq!(found("보고 고서", "월간 보고서입니다"), None);
    /// assert_eq!(found("PLAN", "The plan stands.").as_deref(), Some("plan"));
    /// assert_eq!(found("plan", "Planning goes on."), None);
    /// ```
    #[must_use]
    pub fn new(text: &str) -> Self {
        let mut query = Self::default();
        for run in Runs::of(text).iter() {
            let into = if run.dense { &mut query.dense } else { &mut query.words };
            into.insert(run.text.to_owned());
        }
        query
    }

    /// Whether there is nothing to search for: no letter and no digit.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.dense.is_empty()
    }

    /// Its runs.
    pub fn runs(&self) -> impl Iterator<Item = Run<'_>> {
        let words = self.words.iter().map(|text| Run { text, dense: false });
        words.chain(self.dense.iter().map(|text| Run { text, dense: true }))
    }

    /// The bytes of the first of the places where a text has this query; `None` where it does not have it.
    #[must_use]
    pub fn find(&self, text: &str) -> Option<Range<usize>> {
        if self.is_empty() {
            return None;
        }
        let runs = Runs::of(text);
        let words = self.words.iter().map(|w| runs.word(w)).collect::<Option<Vec<_>>>()?;
        let dense = self.places(&runs)?;
        let first = words.into_iter().chain(dense).min_by_key(|place| place.start)?;
        Some(runs.origin(text, &first))
    }

    /// A place for each dense run, none of them overlapping another.
    fn places(&self, runs: &Runs) -> Option<Vec<Range<usize>>> {
        let total: usize = self.dense.iter().map(|d| d.chars().count()).sum();
        let mut candidates = Vec::with_capacity(self.dense.len());
        for wanted in &self.dense {
            // The others cannot cover more places than these, whichever they take.
            let enough = 1 + total + self.dense.len() * wanted.chars().count();
            let found: Vec<_> = runs.dense(wanted).take(enough).collect();
            if found.is_empty() {
                return None;
            }
            candidates.push(found);
        }
        candidates.sort_by_key(Vec::len);
        let mut taken = Vec::with_capacity(candidates.len());
        let mut steps = STEPS;
        assign(&candidates, &mut taken, &mut steps).then_some(taken)
    }
}

fn assign(candidates: &[Vec<Range<usize>>], taken: &mut Vec<Range<usize>>, steps: &mut usize) -> bool {
    let Some((own, others)) = candidates.split_first() else { return true };
    for place in own {
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        if taken.iter().any(|t| t.start < place.end && place.start < t.end) {
            continue;
        }
        taken.push(place.clone());
        if assign(others, taken, steps) {
            return true;
        }
        taken.pop();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_a_query_take_places_of_their_own() {
        for (query, text, found) in [
            ("보고 고서", "보고서", false),
            ("보고 고서", "보고서 고서", true),
            ("보고 고서", "고서와 보고서", true),
            ("가나 나가", "가나가 가나", true),
            ("고 보고서", "보고서", false),
            ("보고 보고", "보고서", true),
            ("会議 議", "会議", false),
            ("보고", "보 고", false),
            ("보고", "보x고", false),
            ("고", "보고서", true),
            ("서", "보고서", true),
            ("plan The", "the plan", true),
            ("lan", "the plan", false),
            ("", "the plan", false),
            ("…", "…", false),
        ] {
            assert_eq!(Query::new(query).find(text).is_some(), found, "{query:?} in {text:?}");
        }
    }
}
