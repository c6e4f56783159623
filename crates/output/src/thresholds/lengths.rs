//! The lengths of a tool's outputs.

use std::collections::BTreeMap;

use crate::capture::Ending;

/// How commands ended, as far as lengths differ by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ExitClass {
    /// Exit code 0.
    Success,
    /// Another exit code, a signal, a timeout.
    Failure,
    /// Not known.
    Unknown,
}

impl From<Ending> for ExitClass {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Exit(0) => Self::Success,
            Ending::Exit(_) | Ending::Signal(_) | Ending::Timeout => Self::Failure,
            Ending::Unknown => Self::Unknown,
        }
    }
}

/// Lengths in characters of one tool's outputs, for one class of endings. Memory: one entry for each different length.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Lengths {
    counts: BTreeMap<u64, u64>,
}

impl FromIterator<u64> for Lengths {
    fn from_iter<I: IntoIterator<Item = u64>>(lengths: I) -> Self {
        let mut all = Self::default();
        lengths.into_iter().for_each(|length| all.add(length));
        all
    }
}

/// The figures of a tool's lengths. Percentiles are lengths that occurred (nearest rank).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Summary {
    /// How many outputs.
    pub count: u64,
    /// Mean length.
    pub mean: f64,
    /// Half of them are at most so long.
    pub median: u64,
    /// Nine in ten are at most so long.
    pub p90: u64,
    /// Ninety-nine in a hundred are at most so long.
    pub p99: u64,
    /// The longest.
    pub max: u64,
}

impl Lengths {
    /// Notes one more output.
    pub fn add(&mut self, length: u64) {
        *self.counts.entry(length).or_default() += 1;
    }

    /// Notes the outputs of others too.
    pub fn join(&mut self, others: &Self) {
        for (length, count) in &others.counts {
            *self.counts.entry(*length).or_default() += count;
        }
    }

    /// How many outputs.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.values().sum()
    }

    /// How many are longer than this.
    #[must_use]
    pub fn above(&self, length: u64) -> u64 {
        let (from, to) = (std::ops::Bound::Excluded(length), std::ops::Bound::Unbounded);
        self.counts.range((from, to)).map(|(_, count)| count).sum()
    }

    /// The share that is at most so long, from 0 to 1; 1 where there are none.
    #[must_use]
    pub fn share_within(&self, length: u64) -> f64 {
        match self.count() {
            0 => 1.0,
            count => (count - self.above(length)) as f64 / count as f64,
        }
    }

    /// The figures; none without an output.
    #[must_use]
    pub fn summary(&self) -> Option<Summary> {
        let count = self.count();
        let total: u128 =
            self.counts.iter().map(|(length, times)| u128::from(*length) * u128::from(*times)).sum();
        let (max, _) = self.counts.last_key_value()?;
        let [median, p90, p99] = [50, 90, 99].map(|percent| self.percentile(percent));
        Some(Summary { count, mean: total as f64 / count as f64, median, p90, p99, max: *max })
    }

    /// The shortest length that so many percent do not exceed.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> u64 {
        let rank = (u128::from(self.count()) * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0u128;
        let found = self.counts.iter().find(|(_, count)| {
            seen += u128::from(**count);
            seen >= rank
        });
        found.map_or(0, |(length, _)| *length)
    }

    /// How many lie within each range; ranges double: 0 to 64, 65 to 128, and so on to the longest.
    #[must_use]
    pub fn histogram(&self) -> Vec<(u64, u64, u64)> {
        let max = self.counts.last_key_value().map_or(0, |(max, _)| *max);
        let (mut bars, mut from, mut to) = (Vec::new(), 0, 64u64);
        while !self.counts.is_empty() {
            bars.push((from, to, self.counts.range(from..=to).map(|(_, count)| count).sum()));
            if to >= max {
                break;
            }
            (from, to) = (to + 1, to.saturating_mul(2));
        }
        bars
    }
}
