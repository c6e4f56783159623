//! Target 1: what a durable append costs beside rusqlite by hand and beside a file of lines.

use anyhow::{Result, ensure};
use sayso::Durability;

use crate::clock::{micros, time};
use crate::corpus::{self, Random};
use crate::ground::{Ground, SEED, fresh};
use crate::ours::{Ours, statements, wal};
use crate::report::{Goal, Report, short};
use crate::rivals::jsonl::Lines;
use crate::rivals::raw::{self, New, Raw, crockford};
use crate::stats::{mean, quantile, ratios};

/// Appends until both logs have grown to where SQLite takes them over and begins them anew.
const GROW: usize = 600;

/// Every side of the comparison, with how many it was given.
struct Sides {
    ours: Ours,
    raw: Raw,
    synced: Lines,
    lines: Lines,
    random: Random,
    count: u64,
}

/// Microseconds on the wall of each step, by side.
#[derive(Default)]
struct Steps {
    ours: Vec<f64>,
    raw: Vec<f64>,
    synced: Vec<f64>,
    lines: Vec<f64>,
}

impl Sides {
    fn open(ground: &Ground, name: &str) -> Result<Self> {
        Ok(Self {
            ours: Ours::open(&ground.path(&format!("{name}.db")), Durability::Full, 1)?,
            raw: Raw::open(&ground.path(&format!("{name}-raw.db")), "FULL")?,
            synced: Lines::open(&ground.path(&format!("{name}-synced.jsonl")))?,
            lines: Lines::open(&ground.path(&format!("{name}.jsonl")))?,
            random: Random::new(SEED),
            count: 0,
        })
    }

    /// One append on each side, each step after the other side's.
    fn step(&mut self, steps: &mut Steps) -> Result<()> {
        let mut text = corpus::turn(SEED, self.count);
        text.push_str(&corpus::turn(SEED + 1, self.count));
        self.count += 1;
        let number = fresh(&mut self.random);
        let id = crockford(number);
        let new = New { id: number, session: "session", seq: i64::try_from(self.count)?, text: &text };
        let (done, took) = time(|| self.ours.append(0, &text));
        done?;
        steps.ours.push(micros(took.wall));
        let (done, took) = time(|| self.raw.append(new));
        done?;
        steps.raw.push(micros(took.wall));
        let (done, took) = time(|| self.synced.append(&id, &text).and_then(|()| self.synced.sync()));
        done?;
        steps.synced.push(micros(took.wall));
        let (done, took) = time(|| self.lines.append(&id, &text));
        done?;
        steps.lines.push(micros(took.wall));
        Ok(())
    }

    fn steps(&mut self, count: usize) -> Result<Steps> {
        let mut steps = Steps::default();
        (0..count).try_for_each(|_| self.step(&mut steps))?;
        Ok(steps)
    }

    /// Nobody measures what was never written.
    fn check(&self) -> Result<String> {
        let found = [self.ours.count()?, self.raw.count()?, self.synced.count()?, self.lines.count()?];
        ensure!(found.iter().all(|n| *n == self.count), "{found:?} rows read back, not {}", self.count);
        Ok(format!("{} on every side", self.count))
    }
}

pub(crate) fn run(ground: &mut Ground, report: &mut Report) -> Result<()> {
    let count = ground.some(160);
    let mut sides = Sides::open(ground, "append")?;
    fresh_log(&mut sides, count, report)?;
    sides.steps(ground.some(GROW))?;
    let before = (wal(&ground.path("append.db")), wal(&ground.path("append-raw.db")));
    let rounds = (0..ground.rounds).map(|_| sides.steps(count)).collect::<Result<Vec<_>>>()?;
    let after = (wal(&ground.path("append.db")), wal(&ground.path("append-raw.db")));
    let middle = |side: fn(&Steps) -> &Vec<f64>| -> Vec<f64> {
        rounds.iter().map(|s| quantile(side(s), 0.5)).collect()
    };
    let (ours, raw, synced, lines) =
        (middle(|s| &s.ours), middle(|s| &s.raw), middle(|s| &s.synced), middle(|s| &s.lines));
    let note = |theirs: &[f64]| {
        format!("{} µs beside {} µs", short(quantile(&ours, 0.5)), short(quantile(theirs, 0.5)))
    };
    let goal = Goal::AtMost(1.15);
    report.ratio(
        "1",
        "append, Full, grown log: p50 / rusqlite by hand",
        &ratios(&ours, &raw),
        goal,
        note(&raw),
    );
    let means =
        |side: fn(&Steps) -> &Vec<f64>| -> Vec<f64> { rounds.iter().map(|s| mean(side(s))).collect() };
    let (a, b) = (means(|s| &s.ours), means(|s| &s.raw));
    report.ratio("1", "the same, mean (with checkpoints)", &ratios(&a, &b), Goal::None, "");
    let goal = Goal::AtMost(1.2);
    report.ratio(
        "1",
        "append, Full: p50 / JSONL + fdatasync for each line",
        &ratios(&ours, &synced),
        goal,
        note(&synced),
    );
    report.ratio(
        "1",
        "append, Full: p50 / JSONL never synced",
        &ratios(&ours, &lines),
        Goal::None,
        note(&lines),
    );
    let read_back = sides.check()?;
    let statements = statements(ground.folder(), |ours| ours.append(0, "one more").map(|_| ()))?;
    let state = |before: u64, after: u64| {
        let same = if before == after { "overwritten in place" } else { "still growing" };
        format!("kept; {before} KiB before, {after} KiB after the rounds: {same}")
    };
    let mut facts = sides.ours.facts()?;
    facts.push(("log".to_owned(), state(before.0, after.0)));
    facts.push(("statements of one append".to_owned(), statements));
    facts.push(("rows read back".to_owned(), read_back.clone()));
    report.conditions("append: Sayso", facts);
    let mut facts = sides.raw.facts()?;
    facts.push(("log".to_owned(), state(before.1, after.1)));
    facts.push(("statements of one append".to_owned(), format!("1: {}", raw::INSERT)));
    facts.push(("rows read back".to_owned(), read_back));
    report.conditions("append: rusqlite by hand", facts);
    Ok(())
}

/// The first appends of all, while both logs still grow.
fn fresh_log(sides: &mut Sides, count: usize, report: &mut Report) -> Result<()> {
    sides.steps(5)?;
    let rounds = (0..5).map(|_| sides.steps((count / 5).max(3))).collect::<Result<Vec<_>>>()?;
    let ours: Vec<f64> = rounds.iter().map(|s| quantile(&s.ours, 0.5)).collect();
    let raw: Vec<f64> = rounds.iter().map(|s| quantile(&s.raw, 0.5)).collect();
    report.ratio(
        "1",
        "append, Full, log still growing: p50 / rusqlite by hand",
        &ratios(&ours, &raw),
        Goal::None,
        "",
    );
    Ok(())
}
