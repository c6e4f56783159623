//! What the processes say of what they did, together.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sayso::store::Requests;
use sayso::{Ledger, Options, Scope};

use super::work::{KINDS, Kind};

/// The times of each kind of work, in microseconds.
#[derive(Debug, Default)]
pub(super) struct Told(BTreeMap<String, Vec<u64>>);

impl Told {
    /// Takes in what one process says: a line for each kind, the times behind it.
    pub(super) fn add(&mut self, said: &str) -> Result<()> {
        for line in said.lines() {
            let (kind, times) = line.split_once(' ').unwrap_or((line, ""));
            let times = times.split_whitespace().map(str::parse).collect::<Result<Vec<u64>, _>>();
            let times = times.with_context(|| format!("not the times of a load: {line:.80}"))?;
            self.0.entry(kind.to_owned()).or_default().extend(times);
        }
        Ok(())
    }

    /// How often each kind was done.
    pub(super) fn counts(&self) -> Vec<usize> {
        KINDS.iter().map(|kind| self.count(*kind)).collect()
    }

    fn count(&self, kind: Kind) -> usize {
        self.0.get(kind.word()).map_or(0, Vec::len)
    }

    pub(super) fn print(&self, time: Duration, processes: usize, threads: usize) {
        let all: usize = self.counts().iter().sum();
        let a_second = all as f64 / time.as_secs_f64().max(1.0);
        println!(
            "{} s, {processes} processes of {threads} threads: {all} done, {a_second:.0} a second",
            time.as_secs()
        );
        for kind in KINDS {
            let mut times = self.0.get(kind.word()).cloned().unwrap_or_default();
            times.sort_unstable();
            let at = |share: f64| {
                let place = (times.len().saturating_sub(1) as f64 * share).round() as usize;
                times.get(place).copied().unwrap_or_default() as f64 / 1_000.0
            };
            let (count, p50, p99, max) = (times.len(), at(0.5), at(0.99), at(1.0));
            println!("{:<8} {count:>8}   p50 {p50:.2} ms, p99 {p99:.2} ms, max {max:.2} ms", kind.word());
        }
    }

    /// Holds the ledger against what was acknowledged.
    pub(super) fn settle(&self, path: &Path) -> Result<()> {
        let ledger = Ledger::open(path, &Options { create: false, ..Options::default() })?;
        let reader = ledger.reader(Scope::All);
        let sessions = reader.sessions(None)?;
        let turns: u64 = sessions.iter().map(|session| session.turns).sum();
        let requests = reader.requests(Requests::All(None))?.len();
        let of = |kind| self.count(kind) as u64;
        let expected =
            of(Kind::Append) + of(Kind::Batch) * 3 + of(Kind::Forward) + of(Kind::Relay) + of(Kind::Output);
        let report = reader.verify(&BTreeMap::new())?;
        drop(ledger);
        let bytes = |ending: &str| {
            let mut file = path.as_os_str().to_owned();
            file.push(ending);
            std::fs::metadata(file).map_or(0, |about| about.len())
        };
        println!(
            "{turns} turns of {expected} acknowledged, {requests} requests; {} entries, {} problems; the file {} bytes, its log {} bytes",
            report.entries,
            report.problems.len(),
            bytes(""),
            bytes("-wal")
        );
        ensure!(turns == expected, "{expected} turns were acknowledged, {turns} are there");
        ensure!(requests as u64 == of(Kind::Relay), "{} requests were acknowledged", of(Kind::Relay));
        ensure!(report.problems.is_empty(), "{:?}", report.problems.first());
        Ok(())
    }
}
