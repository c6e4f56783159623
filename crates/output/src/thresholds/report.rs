//! What the lengths say, in words, and what each choice would do.

use std::fmt;

use super::lengths::{ExitClass, Lengths, Summary};
use super::policy::Policy;

/// What one policy would have done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// The policy.
    pub policy: Policy,
    /// Outputs that it would have put into two layers.
    pub two: u64,
    /// Of so many.
    pub of: u64,
}

impl Choice {
    /// What a policy would have done.
    #[must_use]
    pub fn of(policy: Policy, lengths: &Lengths) -> Self {
        let of = lengths.count();
        let two = match policy {
            Policy::Never => 0,
            Policy::Above(most) => lengths.above(most),
            Policy::Always => of,
        };
        Self { policy, two, of }
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (policy, share) = (self.policy, percent(self.two, self.of));
        write!(f, "{policy}: {} of {} into two layers ({share})", self.two, self.of)?;
        match (self.policy, self.two) {
            (Policy::Above(_), 0) => write!(f, ": no output was longer, this threshold would do nothing"),
            (Policy::Above(_), two) if two == self.of => {
                write!(f, ": every output was longer, this is the same as always")
            }
            _ => Ok(()),
        }
    }
}

fn percent(part: u64, of: u64) -> String {
    format!("{:.1}%", part as f64 * 100.0 / of.max(1) as f64)
}

/// Thresholds that a proposal looks at, in characters: what a person reads in a chat without scrolling, and more.
const USUAL: [u64; 6] = [500, 1_000, 2_000, 4_000, 8_000, 16_000];

/// What the lengths of a tool's outputs say.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    tool: String,
    class: ExitClass,
    lengths: Lengths,
    /// Thresholds that are looked at beside the usual ones.
    asked: Vec<u64>,
}

impl Report {
    /// A report on a tool's outputs of one class; `asked` are thresholds that someone has in mind.
    #[must_use]
    pub fn new(tool: &str, class: ExitClass, lengths: Lengths, asked: &[u64]) -> Self {
        Self { tool: tool.to_owned(), class, lengths, asked: asked.to_vec() }
    }

    /// What each policy would have done: `never`, the thresholds that were asked for, the longest tenth and hundredth, `always`.
    #[must_use]
    pub fn choices(&self) -> Vec<Choice> {
        let summary = self.lengths.summary();
        let mut thresholds = self.asked.clone();
        thresholds.extend(summary.iter().flat_map(|s| [s.p90, s.p99]));
        thresholds.sort_unstable();
        thresholds.dedup();
        let policies = thresholds.into_iter().map(Policy::Above);
        let policies = [Policy::Never].into_iter().chain(policies).chain([Policy::Always]);
        policies.map(|policy| Choice::of(policy, &self.lengths)).collect()
    }

    /// What to do about this tool: the lowest usual threshold that at most a tenth of its outputs exceed; never where none does, or
    /// where there are fewer than 30 outputs to go by.
    #[must_use]
    pub fn proposal(&self) -> Choice {
        const ENOUGH: u64 = 30;
        let seldom = |most: &u64| self.lengths.above(*most) * 10 <= self.lengths.count();
        let lowest = USUAL.into_iter().chain([self.lengths.percentile(90)]).find(seldom);
        let useful = lowest.filter(|most| self.lengths.count() >= ENOUGH && self.lengths.above(*most) > 0);
        Choice::of(useful.map_or(Policy::Never, Policy::Above), &self.lengths)
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let class = match self.class {
            ExitClass::Success => "success",
            ExitClass::Failure => "failure",
            ExitClass::Unknown => "ending unknown",
        };
        let tool = if self.tool.is_empty() { "tool not named" } else { self.tool.as_str() };
        let Some(Summary { count, mean, median, p90, p99, max }) = self.lengths.summary() else {
            return write!(f, "{tool} ({class}): no outputs yet: run it, then look again");
        };
        let outputs = if count == 1 { "output" } else { "outputs" };
        writeln!(f, "{tool} ({class}): {count} {outputs}, lengths in characters")?;
        writeln!(f, "mean {mean:.0}, median {median}, p90 {p90}, p99 {p99}, max {max}")?;
        for most in [500, 2_000] {
            let above = self.lengths.above(most);
            writeln!(f, "{} at or below {most}; {above} above", percent(count - above, count))?;
        }
        for (from, to, times) in self.lengths.histogram() {
            let bar = "#".repeat(usize::try_from(times * 40 / count).unwrap_or(40));
            writeln!(f, "{:>12} {times:>7} {bar}", format!("{from}-{to}"))?;
        }
        for choice in self.choices() {
            writeln!(f, "{choice}")?;
        }
        write!(f, "proposal: {}", self.proposal())
    }
}
