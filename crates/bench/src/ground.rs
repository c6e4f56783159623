//! What the rows stand on: folders, how much to do, and the large ledgers, made once.

use std::path::{Path, PathBuf};

use anyhow::Result;
use sayso::{Durability, Host, SystemHost};
use tempfile::TempDir;

use crate::Arguments;
use crate::clock::{Took, micros, time};
use crate::corpus;
use crate::ours::Ours;
use crate::rivals::raw::{New, Raw};

/// Turns of a session that are written one after the other, before another session's.
const STRETCH: u64 = 50;
/// Turns in one transaction.
pub(crate) const BATCH: u64 = 1_000;
/// Turns between two looks at the clock.
pub(crate) const STEP: u64 = 10_000;
pub(crate) const SEED: u64 = 20_261_130;

pub(crate) struct Ground {
    folder: TempDir,
    /// Where other programs are kept from run to run.
    pub(crate) programs: PathBuf,
    pub(crate) turns: u64,
    pub(crate) rounds: usize,
    pub(crate) quick: bool,
    large: Option<Large>,
}

/// The same turns in a ledger and in a table made by hand.
pub(crate) struct Large {
    pub(crate) ours: Ours,
    pub(crate) raw: Raw,
    /// What each step of the import took: Sayso, and by hand.
    pub(crate) steps: Vec<(Took, Took)>,
    pub(crate) turns: u64,
}

impl Ground {
    pub(crate) fn new(arguments: &Arguments) -> Result<Self> {
        let scratch = std::path::absolute(&arguments.scratch)?;
        Ok(Self {
            folder: TempDir::new_in(&scratch)?,
            programs: scratch,
            turns: arguments.turns,
            rounds: arguments.rounds,
            quick: arguments.quick,
            large: None,
        })
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// So many, or fewer where only the working is tried.
    pub(crate) fn some(&self, full: usize) -> usize {
        if self.quick { (full / 8).max(5) } else { full }
    }

    pub(crate) fn sessions(&self) -> usize {
        usize::try_from(self.turns / 1_000).unwrap_or(1).max(4)
    }

    /// The large ledgers; made on first use.
    pub(crate) fn large(&mut self) -> Result<&mut Large> {
        if self.large.is_none() {
            self.large = Some(Large::make(self)?);
        }
        self.large.as_mut().ok_or_else(|| anyhow::anyhow!("just made"))
    }
}

/// In which session the turn with this number stands, and how many it has before.
pub(crate) fn place(number: u64, sessions: u64) -> (u64, u64) {
    let (round, within) = (number / (STRETCH * sessions), number % (STRETCH * sessions));
    (within / STRETCH, round * STRETCH + within % STRETCH)
}

impl Large {
    fn make(ground: &Ground) -> Result<Self> {
        let sessions = ground.sessions();
        let ours = Ours::open(&ground.path("large.db"), Durability::Normal, sessions)?;
        let raw = Raw::open(&ground.path("large-raw.db"), "NORMAL")?;
        let names: Vec<String> = ours.sessions.iter().map(|s| s.id.to_string()).collect();
        let mut steps = Vec::new();
        let mut random = corpus::Random::new(SEED);
        eprintln!("writing {} turns on both sides", ground.turns);
        for start in (0..ground.turns).step_by(STEP as usize) {
            let end = (start + STEP).min(ground.turns);
            let texts: Vec<String> = (start..end).map(|n| corpus::turn(SEED, n)).collect();
            let numbers: Vec<u64> = (start..end).collect();
            let own = || import(&ours, &numbers, &texts, sessions as u64);
            let mut by_hand = || import_raw(&raw, &names, (&numbers, &texts), &mut random);
            // The side that goes first changes from step to step.
            let (a, b) = if steps.len() % 2 == 0 {
                let a = time(own);
                (a, time(&mut by_hand))
            } else {
                let b = time(&mut by_hand);
                (time(own), b)
            };
            a.0?;
            b.0?;
            steps.push((a.1, b.1));
        }
        anyhow::ensure!(ours.count()? == ground.turns && raw.count()? == ground.turns, "rows are missing");
        Ok(Self { ours, raw, steps, turns: ground.turns })
    }

    /// Processor time for one turn in each step: Sayso, and by hand.
    pub(crate) fn costs(&self) -> (Vec<f64>, Vec<f64>) {
        let per = |took: &Took| micros(took.cpu) / self.turns.min(STEP) as f64;
        self.steps.iter().map(|(a, b)| (per(a), per(b))).unzip()
    }
}

/// An id as Sayso makes it: 48 bits of the time now, so that ids of one import lie side by side in an index, 80 random bits.
pub(crate) fn fresh(random: &mut corpus::Random) -> u128 {
    let low = (u128::from(random.next()) << 16) | u128::from(random.next() & 0xFFFF);
    let now = u128::from(SystemHost.now().0.unsigned_abs());
    (now << 80) | (low & ((1 << 80) - 1))
}

fn import(ours: &Ours, numbers: &[u64], texts: &[String], sessions: u64) -> Result<()> {
    let batch = BATCH as usize;
    for (numbers, texts) in numbers.chunks(batch).zip(texts.chunks(batch)) {
        let session = |n: &u64| usize::try_from(place(*n, sessions).0).unwrap_or(0);
        ours.import(numbers.iter().zip(texts).map(|(n, text)| (session(n), text.as_str(), None)))?;
    }
    Ok(())
}

fn import_raw(
    raw: &Raw,
    names: &[String],
    (numbers, texts): (&[u64], &[String]),
    random: &mut corpus::Random,
) -> Result<()> {
    let batch = BATCH as usize;
    let sessions = names.len() as u64;
    for (numbers, texts) in numbers.chunks(batch).zip(texts.chunks(batch)) {
        let new = numbers.iter().zip(texts).filter_map(|(n, text)| {
            let (session, before) = place(*n, sessions);
            let session = names.get(usize::try_from(session).ok()?)?;
            Some(New { id: fresh(random), session, seq: i64::try_from(before).ok()? + 1, text })
        });
        raw.import(new)?;
    }
    Ok(())
}
