//! Target 2: append and index beside programs that other languages use.

use anyhow::{Result, ensure};
use sayso::Durability;
use serde_json::json;

use crate::clock::{micros, time};
use crate::corpus;
use crate::ground::{Ground, SEED};
use crate::ours::{Ours, wal};
use crate::report::{Goal, Report, short};
use crate::rivals::peer::{self, Peer};
use crate::stats::{quantile, ratios};

pub(crate) fn run(ground: &mut Ground, report: &mut Report) -> Result<()> {
    let file = |name: &str| ground.path(name);
    let all = [
        ("openai-agents add_items", Goal::AtLeast(1.5), peer::agents(&ground.programs, &file("agents.db"))),
        ("langgraph SqliteSaver.put", Goal::None, peer::graph(&ground.programs, &file("graph.db"))),
        (
            "better-sqlite3 insert (two unique indexes)",
            Goal::None,
            peer::better(&ground.programs, &file("better.db")),
        ),
    ];
    let ours = Ours::open(&ground.path("peers.db"), Durability::Full, 1)?;
    let mut peers = Vec::new();
    for (what, goal, peer) in all {
        match peer {
            Ok(peer) => peers.push((what, goal, peer)),
            Err(reason) => report.skipped("2", what, format!("{reason:#}")),
        }
    }
    if peers.is_empty() {
        return Ok(());
    }
    measure(ground, report, &ours, &mut peers)
}

type Named = (&'static str, Goal, Peer);

fn measure(ground: &Ground, report: &mut Report, ours: &Ours, peers: &mut [Named]) -> Result<()> {
    let count = ground.some(160);
    let mut number = 0;
    let mut texts = |count: usize| -> Vec<String> {
        number += count as u64;
        let numbers = number - count as u64..number;
        numbers.map(|n| corpus::turn(SEED, n) + &corpus::turn(SEED + 1, n)).collect()
    };
    // Grows the logs on all sides.
    let first = texts(ground.some(400));
    append(ours, &first)?;
    for (_, _, peer) in peers.iter_mut() {
        peer.work(&json!({"do": "add", "session": "first", "texts": first}))?;
    }
    let before = wal(&ours.path);
    let mut own = Vec::new();
    let mut theirs = vec![(Vec::new(), Vec::new()); peers.len()];
    let mut written = first.len();
    for round in 0..ground.rounds {
        let texts = texts(count);
        own.push(append(ours, &texts)?);
        for ((_, _, peer), (p50, per)) in peers.iter_mut().zip(&mut theirs) {
            let session = format!("round {round}");
            let (took, each) = peer.work(&json!({"do": "add", "session": session, "texts": texts}))?;
            p50.push(quantile(&each, 0.5));
            per.push(micros(took.wall) / count as f64);
        }
        written += count;
    }
    let ours_per: Vec<f64> = own.iter().map(|o| o.1).collect();
    let ours_p50: Vec<f64> = own.iter().map(|o| o.0).collect();
    for ((what, goal, peer), (p50, per)) in peers.iter_mut().zip(&theirs) {
        let note = format!("{} µs beside {} µs", short(quantile(&ours_per, 0.5)), short(quantile(per, 0.5)));
        report.ratio(
            "2",
            &format!("{what} / append and index, all of a round"),
            &ratios(per, &ours_per),
            *goal,
            note,
        );
        report.ratio(
            "2",
            &format!("{what} / append and index, p50"),
            &ratios(p50, &ours_p50),
            Goal::None,
            "",
        );
        let mut facts = peer.facts()?;
        let rows = peer.ask(&json!({"do": "count"}))?.get("rows").and_then(serde_json::Value::as_u64);
        ensure!(rows == Some(written as u64), "{}: {rows:?} rows read back, not {written}", peer.name);
        facts.push(("rows read back".to_owned(), written.to_string()));
        report.conditions(&format!("peers: {}", peer.name), facts);
    }
    let mut facts = ours.facts()?;
    ensure!(ours.count()? == written as u64, "rows are missing");
    facts.push(("log".to_owned(), format!("{before} KiB before, {} KiB after", wal(&ours.path))));
    facts.push(("rows read back".to_owned(), format!("{written}, all in the index of the search")));
    report.conditions("peers: Sayso", facts);
    Ok(())
}

/// Appends, then takes all of it into the index: p50 of an append with its share of the index, and the mean.
fn append(ours: &Ours, texts: &[String]) -> Result<(f64, f64)> {
    let mut each = Vec::new();
    let (done, took) = time(|| {
        for text in texts {
            let (done, took) = time(|| ours.append(0, text));
            done?;
            each.push(micros(took.wall));
        }
        Ok::<_, anyhow::Error>(())
    });
    done?;
    let (indexed, index) = time(|| ours.index());
    ensure!(indexed? == texts.len() as u64, "not everything was indexed");
    let share = micros(index.wall) / texts.len() as f64;
    Ok((quantile(&each, 0.5) + share, micros(took.wall) / texts.len() as f64 + share))
}
