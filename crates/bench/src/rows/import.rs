//! Target 5: what an import costs the processor, and how that grows.

use anyhow::{Result, ensure};

use crate::clock::{Took, micros, time};
use crate::ground::{Ground, STEP};
use crate::ours::wal;
use crate::report::{Goal, Report, short};
use crate::stats::{mean, ratios};

pub(crate) fn run(ground: &mut Ground, report: &mut Report) -> Result<()> {
    let turns = ground.turns;
    let large = ground.large()?;
    let (ours, raw) = large.costs();
    let note = format!("processor µs for a turn: {} beside {}", short(mean(&ours)), short(mean(&raw)));
    let goal = Goal::AtMost(1.3);
    report.ratio("5", "import without full-text: CPU / raw inserts", &ratios(&ours, &raw), goal, note);
    let all = [ours.iter().sum::<f64>() / raw.iter().sum::<f64>()];
    report.ratio("5", "the same, all steps together", &all, Goal::None, "");
    let index = index(large)?;
    let both: Vec<f64> = ours.iter().zip(&index).map(|(a, b)| a + b).collect();
    let ends = |costs: &[f64]| {
        let first = costs.first().copied().unwrap_or(f64::NAN);
        let last = costs.iter().skip(costs.len() - costs.len().min(5)).copied();
        (first, last.collect::<Vec<f64>>())
    };
    for (what, costs, goal) in [
        ("import and index", &both, Goal::AtMost(1.5)),
        ("import without full-text", &ours, Goal::None),
        ("raw inserts", &raw, Goal::None),
        ("index alone", &index, Goal::None),
    ] {
        let (first, last) = ends(costs);
        let grown: Vec<f64> = last.iter().map(|l| l / first).collect();
        let note =
            format!("processor µs for a turn: {} at first, {} at last", short(first), short(mean(&last)));
        report.ratio("5", &format!("{what}: the last {STEP}s of {turns} / the first"), &grown, goal, note);
    }
    let size = |path: &std::path::Path| std::fs::metadata(path).map_or(0, |m| m.len() / 1_000_000);
    let mut facts = large.ours.facts()?;
    facts.push(("log".to_owned(), format!("{} KiB after", wal(&large.ours.path))));
    facts.push(("size with the index, MB".to_owned(), size(&large.ours.path).to_string()));
    facts.push(("rows read back".to_owned(), large.ours.count()?.to_string()));
    report.conditions("import: Sayso, 1,000 turns in a batch", facts);
    let mut facts = large.raw.facts()?;
    facts.push(("rows read back".to_owned(), large.raw.count()?.to_string()));
    report.conditions("import: rusqlite by hand, 1,000 rows in a transaction", facts);
    Ok(())
}

/// Takes everything into the index; processor time for a turn, in steps as large as those of the import.
fn index(large: &crate::ground::Large) -> Result<Vec<f64>> {
    let mut costs = Vec::new();
    let (mut taken, mut took) = (0, Took::default());
    let mut all = 0;
    loop {
        let want = usize::try_from(STEP - taken)?;
        let (progress, time) = time(|| large.ours.ledger.index(want));
        let progress = progress?;
        taken += progress.indexed;
        all += progress.indexed;
        took.cpu += time.cpu;
        if taken >= STEP || progress.left == 0 {
            if taken > 0 {
                costs.push(micros(took.cpu) / taken as f64);
            }
            (taken, took) = (0, Took::default());
        }
        if progress.left == 0 {
            ensure!(all == large.turns, "{all} entries were indexed, not {}", large.turns);
            return Ok(costs);
        }
    }
}
