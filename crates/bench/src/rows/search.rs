//! Target 6: searching.

use std::collections::HashMap;

use anyhow::{Result, ensure};
use sayso::Search;

use crate::clock::{micros, time};
use crate::corpus;
use crate::ground::{Ground, Large, SEED};
use crate::ours::statements;
use crate::report::{Goal, Report, short};
use crate::rivals::raw;
use crate::stats::quantile;

/// What is searched for.
pub(crate) const WORDS: [&str; 6] = ["article", "기사", "요약", "보고서", "会議", "数据"];
/// Turns that no index holds yet.
const LATER: usize = 1_000;

pub(crate) fn run(ground: &mut Ground, report: &mut Report) -> Result<()> {
    let (rounds, reps, quick) = (ground.rounds, ground.some(200), ground.quick);
    let folder = ground.folder().to_owned();
    let large = ground.large()?;
    let (taken, took) = time(|| large.ours.index());
    let taken = taken?;
    if taken > 0 {
        let note = format!("{taken} turns");
        let seconds = [took.wall.as_secs_f64()];
        report.figure(("6", "taking an import into the index, wall"), &seconds, Goal::None, " s", note);
    }
    newest(large, report, rounds, reps)?;
    whole(large, report)?;
    later(large, report, if quick { 3 } else { 10 })?;
    let statements =
        statements(&folder, |ours| Ok(ours.reader().search(&Search::new("테스트")).map(|_| ())?))?;
    report.conditions("search: Sayso", vec![("statements".to_owned(), statements)]);
    report.conditions("search: rusqlite by hand", vec![("statements".to_owned(), raw::LIKE.to_owned())]);
    Ok(())
}

/// The newest 20 of each word.
fn newest(large: &Large, report: &mut Report, rounds: usize, reps: usize) -> Result<()> {
    let reader = large.ours.reader();
    for word in WORDS {
        let (mut p50, mut p99, mut wall, mut ratio, mut found) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new(), 0);
        for _ in 0..rounds {
            let (mut each, mut waited) = (Vec::new(), Vec::new());
            for _ in 0..reps {
                let (hits, took) = time(|| reader.search(&Search::new(word)));
                found = hits?.len();
                each.push(micros(took.cpu) / 1e3);
                waited.push(micros(took.wall) / 1e3);
            }
            let (rows, took) = time(|| large.raw.like(word));
            rows?;
            p50.push(quantile(&each, 0.5));
            p99.push(quantile(&each, 0.99));
            wall.push(quantile(&waited, 0.99));
            ratio.push(quantile(&each, 0.5) / (micros(took.cpu) / 1e3));
        }
        let note = format!(
            "{found} hits; p50 {} ms; p99 on the wall {} ms",
            short(quantile(&p50, 0.5)),
            short(quantile(&wall, 0.5))
        );
        report.figure(
            ("6", &format!("newest 20 of {word}, p99 of CPU")),
            &p99,
            Goal::AtMost(1.0),
            " ms",
            note,
        );
        report.ratio(
            "6",
            &format!("newest 20 of {word}: CPU p50 / LIKE over the raw table"),
            &ratio,
            Goal::None,
            "",
        );
    }
    Ok(())
}

/// Whether every turn that has a word is found.
fn whole(large: &Large, report: &mut Report) -> Result<()> {
    let mut truth: HashMap<&str, u64> = HashMap::new();
    for number in 0..large.turns {
        let text = corpus::turn(SEED, number);
        for word in WORDS {
            *truth.entry(word).or_default() += u64::from(corpus::has(&text, word));
        }
    }
    for word in WORDS {
        let search = Search { limit: usize::MAX, ..Search::new(word) };
        let found = large.ours.reader().search(&search)?.len() as f64;
        let there = truth.get(word).copied().unwrap_or(0) as f64;
        let note = format!("{found} found, {there} by looking at every turn");
        report.figure(
            ("6", &format!("hits of {word} / all that there are")),
            &[found / there],
            Goal::AtLeast(1.0),
            "x",
            note,
        );
        ensure!(found <= there, "{word}: {note}", note = "more was found than there is");
    }
    Ok(())
}

/// A search after 1,000 turns that no index holds.
fn later(large: &Large, report: &mut Report, times: usize) -> Result<()> {
    let reader = large.ours.reader();
    let (mut first, mut second) = (Vec::new(), Vec::new());
    for n in 0..times {
        let number = |i: usize| large.turns + (n * LATER + i) as u64;
        let texts: Vec<String> = (0..LATER).map(|i| corpus::turn(SEED, number(i))).collect();
        large.ours.import(texts.iter().enumerate().map(|(i, text)| (i / 50, text.as_str(), None)))?;
        for costs in [&mut first, &mut second] {
            let (hits, took) = time(|| reader.search(&Search::new("article")));
            ensure!(hits?.len() == 20, "hits are missing");
            costs.push(micros(took.wall) / 1e3);
        }
        large.ours.index()?;
    }
    let note = "it takes 512 of them into the index on its way";
    report.figure(
        ("6", "the first search after 1,000 turns outside of the index"),
        &first,
        Goal::None,
        " ms",
        note,
    );
    report.figure(("6", "the second"), &second, Goal::None, " ms", note);
    Ok(())
}
