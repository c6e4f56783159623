//! Afterwards: what the processes were told, held against what is in the ledger.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use sayso::{Ledger, Options, Scope};

use super::Place;
use super::journal::{Line, read};

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Settled {
    turns: Times,
    forwards: Times,
    searches: Times,
    missed: Vec<String>,
    lost: Vec<String>,
    doubled: Vec<String>,
    strangers: Vec<String>,
    errors: Vec<String>,
    entries: u64,
    problems: Vec<String>,
}

/// Microseconds that things took.
#[derive(Debug, Default)]
struct Times(Vec<u64>);

impl Times {
    /// The value below which this share of all lies, in milliseconds.
    fn at(&self, share: f64) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        let at = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
        sorted.get(at).copied().unwrap_or_default() as f64 / 1_000.0
    }

    fn line(&self, what: &str) -> String {
        let (p50, p99, max) = (self.at(0.5), self.at(0.99), self.at(1.0));
        format!("{what:<9} {:>7}   p50 {p50:.2} ms, p99 {p99:.2} ms, max {max:.2} ms", self.0.len())
    }
}

impl Settled {
    /// Reads the journals and the ledger.
    pub(super) fn of(place: &Place, processes: usize) -> Result<Self> {
        let mut settled = Self::default();
        let mut told = BTreeMap::new();
        let mut begun = BTreeSet::new();
        for n in 0..processes {
            for line in read(&place.journal(n))? {
                settled.take(line, &mut told, &mut begun);
            }
        }
        let ledger = Ledger::open(&place.ledger(), &Options { create: false, ..Options::default() })?;
        settled.look(&ledger, &told, &begun)?;
        let report = ledger.reader(Scope::All).verify(&BTreeMap::new())?;
        settled.entries = report.entries;
        settled.problems = report.problems.into_iter().map(|problem| problem.what).collect();
        Ok(settled)
    }

    fn take(&mut self, line: Line, told: &mut BTreeMap<String, String>, begun: &mut BTreeSet<String>) {
        match line {
            Line::Begin { key } => drop(begun.insert(key)),
            Line::Done { key, id, took } => {
                let times = if key.starts_with("turn") { &mut self.turns } else { &mut self.forwards };
                times.0.push(took);
                // The same key again must have given the same turn.
                if let Some(before) = told.insert(key.clone(), id.clone())
                    && before != id
                {
                    self.doubled.push(key);
                }
            }
            Line::Found { took } => self.searches.0.push(took),
            Line::Missed { key } => self.missed.push(key),
            Line::Error { what } => self.errors.push(what),
        }
    }

    /// Counts every key in the ledger: what was acknowledged is there once; what was only begun, at most once.
    fn look(
        &mut self,
        ledger: &Ledger,
        told: &BTreeMap<String, String>,
        begun: &BTreeSet<String>,
    ) -> Result<()> {
        let reader = ledger.reader(Scope::All);
        let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for session in reader.sessions(None)? {
            for entry in reader.walk(session.id, 0) {
                let entry = entry?;
                if let Some(turn) = entry.turn() {
                    let key = key_of(&turn.text(), turn.quote.is_some());
                    found.entry(key).or_default().push(entry.id.to_string());
                }
            }
        }
        let there = |key: &String, id: &String| found.get(key).is_some_and(|ids| ids.contains(id));
        self.lost.extend(told.iter().filter(|(key, id)| !there(key, id)).map(|(key, _)| key.clone()));
        self.doubled.extend(found.iter().filter(|(_, ids)| ids.len() > 1).map(|(key, _)| key.clone()));
        self.strangers.extend(found.into_keys().filter(|key| !begun.contains(key)));
        Ok(())
    }

    pub(super) fn print(&self) {
        println!("{}", self.turns.line("writes"));
        println!("{}", self.forwards.line("forwards"));
        println!("{}", self.searches.line("searches"));
        println!(
            "lost {}, doubled {}, never begun {}, not found by a search {}, errors {}",
            self.lost.len(),
            self.doubled.len(),
            self.strangers.len(),
            self.missed.len(),
            self.errors.len()
        );
        println!("verify: {} entries, {} problems", self.entries, self.problems.len());
    }

    pub(super) fn check(&self) -> Result<()> {
        let wrong = [
            ("lost", &self.lost),
            ("doubled", &self.doubled),
            ("never begun", &self.strangers),
            ("not found by a search", &self.missed),
            ("errors", &self.errors),
            ("problems", &self.problems),
        ];
        for (what, found) in wrong {
            let some: Vec<&String> = found.iter().take(5).collect();
            ensure!(found.is_empty(), "{what}: {} such as {some:?}", found.len());
        }
        let nothing = self.turns.0.is_empty() || self.forwards.0.is_empty() || self.searches.0.is_empty();
        ensure!(!nothing, "nothing was written, forwarded or searched");
        Ok(())
    }
}

/// The key under which a turn was written, told from its text.
fn key_of(text: &str, forward: bool) -> String {
    let first = text.split(' ').next().unwrap_or_default();
    match first.strip_prefix('w').and_then(|rest| rest.split_once('x')) {
        Some((n, round)) if !forward => format!("turn-{n}-{round}"),
        _ => first.to_owned(),
    }
}
