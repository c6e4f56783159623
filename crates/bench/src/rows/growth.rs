//! Target 9: whether an append costs more in a large ledger.

use anyhow::Result;
use sayso::Durability;

use crate::clock::{micros, time};
use crate::corpus;
use crate::ground::{Ground, SEED};
use crate::ours::{Ours, wal};
use crate::report::{Goal, Report, short};
use crate::stats::{mean, quantile, ratios};

const SMALL: usize = 10_000;

pub(crate) fn run(ground: &mut Ground, report: &mut Report) -> Result<()> {
    let (rounds, count, grow, quick) = (ground.rounds, ground.some(160), ground.some(600), ground.quick);
    let small = Ours::open(&ground.path("small.db"), Durability::Full, 10)?;
    let texts: Vec<String> =
        (0..if quick { 1_000 } else { SMALL }).map(|n| corpus::turn(SEED, n as u64)).collect();
    for (number, texts) in texts.chunks(1_000).enumerate() {
        small.import(texts.iter().map(|text| (number, text.as_str(), None)))?;
    }
    let path = ground.large()?.ours.path.clone();
    let sessions = ground.sessions();
    let large = Ours::open(&path, Durability::Full, sessions)?;
    let turns = (small.count()?, large.count()?);
    let mut number = 0;
    let mut step = |costs: &mut [(Vec<f64>, Vec<f64>); 2]| -> Result<()> {
        number += 1;
        let text = corpus::turn(SEED + 2, number);
        for (ours, (wall, cpu)) in [&large, &small].into_iter().zip(costs) {
            let (done, took) = time(|| ours.append(usize::try_from(number).unwrap_or(0), &text));
            done?;
            wall.push(micros(took.wall));
            cpu.push(micros(took.cpu));
        }
        Ok(())
    };
    let mut warm = Default::default();
    (0..grow).try_for_each(|_| step(&mut warm))?;
    let (mut wall, mut cpu) = ((Vec::new(), Vec::new()), (Vec::new(), Vec::new()));
    for _ in 0..rounds {
        let mut costs = Default::default();
        (0..count).try_for_each(|_| step(&mut costs))?;
        let [(large_wall, large_cpu), (small_wall, small_cpu)] = costs;
        wall.0.push(quantile(&large_wall, 0.5));
        wall.1.push(quantile(&small_wall, 0.5));
        cpu.0.push(mean(&large_cpu));
        cpu.1.push(mean(&small_cpu));
    }
    let note = format!(
        "{} beside {} turns; {} µs beside {} µs",
        turns.0.max(turns.1),
        turns.0.min(turns.1),
        short(quantile(&wall.0, 0.5)),
        short(quantile(&wall.1, 0.5))
    );
    report.ratio(
        "9",
        "append, Full, in the large ledger / in the small one: p50",
        &ratios(&wall.0, &wall.1),
        Goal::AtMost(1.2),
        note,
    );
    let note =
        format!("processor: {} µs beside {} µs", short(quantile(&cpu.0, 0.5)), short(quantile(&cpu.1, 0.5)));
    report.ratio("9", "the same, CPU", &ratios(&cpu.0, &cpu.1), Goal::None, note);
    let mut facts = large.facts()?;
    facts.push(("log, KiB".to_owned(), format!("{} beside {}", wal(&large.path), wal(&small.path))));
    report.conditions("growth: both ledgers", facts);
    Ok(())
}
