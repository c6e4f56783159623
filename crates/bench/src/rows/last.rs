//! Target 4: the last 50 turns of a session.

use anyhow::{Context, Result, ensure};
use serde_json::json;

use crate::clock::{micros, time};
use crate::corpus::{self, Random};
use crate::ground::{Ground, Large, SEED, place};
use crate::ours::statements;
use crate::report::{Goal, Report, short};
use crate::rivals::peer;
use crate::rivals::raw;
use crate::stats::{quantile, ratios};

const TURNS: usize = 50;

/// Processor microseconds of one read, by side and round.
#[derive(Default)]
struct Costs {
    ours: Vec<f64>,
    raw: Vec<f64>,
    hashed: Vec<f64>,
    agents: Vec<f64>,
    /// On the wall.
    waited: Vec<f64>,
    agents_waited: Vec<f64>,
}

pub(crate) fn run(ground: &mut Ground, report: &mut Report) -> Result<()> {
    let agents = peer::agents(&ground.programs, &ground.path("last-agents.db"));
    let mut agents = match agents {
        Ok(peer) => Some(peer),
        Err(reason) => {
            report.skipped(
                "4",
                "the last 50 turns: openai-agents get_items(50) / Sayso",
                format!("{reason:#}"),
            );
            None
        }
    };
    let (rounds, reads) = (ground.rounds, ground.some(400));
    let folder = ground.folder().to_owned();
    let large = ground.large()?;
    if let Some(peer) = &mut agents {
        fill(large, peer)?;
    }
    let mut random = Random::new(SEED);
    // Few enough that every side has them in memory: this measures work, not the disk.
    let sessions = large.ours.sessions.len().min(40);
    let mut costs = Costs::default();
    for round in 0..=rounds {
        let picks: Vec<usize> = (0..reads).map(|_| random.below(sessions)).collect();
        let before = (costs.ours.len(), costs.agents.len());
        round_of(large, agents.as_mut(), &picks, &mut costs)?;
        // The first round warms up.
        if round == 0 {
            debug_assert_eq!(before, (0, 0));
            costs = Costs::default();
        }
    }
    tell(report, &costs);
    let statements = statements(&folder, |ours| last(ours, 0).map(|_| ()))?;
    report.conditions("last 50: Sayso", vec![("statements".to_owned(), statements)]);
    report.conditions(
        "last 50: rusqlite by hand",
        vec![("statements".to_owned(), format!("1: {}", raw::LAST))],
    );
    if let Some(peer) = &mut agents {
        report.conditions("last 50: openai-agents", peer.facts()?);
    }
    Ok(())
}

fn tell(report: &mut Report, costs: &Costs) {
    let note = |theirs: &[f64]| {
        format!(
            "processor µs for a read: {} beside {}",
            short(quantile(&costs.ours, 0.5)),
            short(quantile(theirs, 0.5))
        )
    };
    let Costs { ours, raw, hashed, agents, waited, agents_waited } = costs;
    report.ratio("4", "the last 50 turns: CPU / raw SQL", &ratios(ours, raw), Goal::AtMost(1.2), note(raw));
    let what = "the last 50 turns: CPU / raw SQL that hashes each text as well";
    report.ratio("4", what, &ratios(ours, hashed), Goal::None, note(hashed));
    if !agents.is_empty() {
        let what = "the last 50 turns: CPU of openai-agents get_items(50) / Sayso";
        report.ratio("4", what, &ratios(agents, ours), Goal::None, note(agents));
        let what = "the last 50 turns: wall of openai-agents get_items(50) / Sayso";
        let (a, b) = (short(quantile(agents_waited, 0.5)), short(quantile(waited, 0.5)));
        let note = format!("µs on the wall for a read: {b} beside {a}");
        report.ratio("4", what, &ratios(agents_waited, waited), Goal::AtLeast(6.0), note);
    }
}

/// The last turns of a session, as an app asks for them.
fn last(ours: &crate::ours::Ours, session: usize) -> Result<usize> {
    let reader = ours.reader();
    let id = ours.session(session)?.id;
    let session = reader.session(id)?.context("the session")?;
    let entries = reader.entries(id, session.last_seq.saturating_sub(TURNS as u64), TURNS)?;
    Ok(entries.iter().filter_map(|e| e.turn()).map(|t| t.text().len()).sum())
}

fn round_of(
    large: &Large,
    agents: Option<&mut peer::Peer>,
    picks: &[usize],
    costs: &mut Costs,
) -> Result<()> {
    let per = |took: crate::clock::Took| micros(took.cpu) / picks.len() as f64;
    let (ours, took) = time(|| picks.iter().map(|n| last(&large.ours, *n)).sum::<Result<usize>>());
    costs.ours.push(per(took));
    costs.waited.push(micros(took.wall) / picks.len() as f64);
    let name = |n: &usize| Ok::<_, anyhow::Error>(large.ours.session(*n)?.id.to_string());
    let names = picks.iter().map(name).collect::<Result<Vec<_>>>()?;
    let read = |name: &String| Ok(large.raw.last(name, TURNS)?.iter().map(|m| m.text.len()).sum::<usize>());
    let (raw, took) = time(|| names.iter().map(read).sum::<Result<usize>>());
    costs.raw.push(per(took));
    let hash = |name: &String| {
        let found = large.raw.last(name, TURNS)?;
        found.iter().for_each(|m| {
            std::hint::black_box(blake3::Hasher::new().update(&[7; 16]).update(m.text.as_bytes()).finalize());
        });
        Ok(found.iter().map(|m| m.text.len()).sum::<usize>())
    };
    let (hashed, took) = time(|| names.iter().map(hash).sum::<Result<usize>>());
    costs.hashed.push(per(took));
    let (ours, raw, hashed) = (ours?, raw?, hashed?);
    ensure!(ours == raw && raw == hashed && raw > 0, "the sides read {ours}, {raw} and {hashed} bytes");
    if let Some(peer) = agents {
        let ask = json!({"do": "last", "sessions": names, "limit": TURNS});
        let (took, _) = peer.work(&ask)?;
        costs.agents.push(per(took));
        costs.agents_waited.push(micros(took.wall) / picks.len() as f64);
    }
    Ok(())
}

/// The same turns for openai-agents, session by session.
fn fill(large: &Large, peer: &mut peer::Peer) -> Result<()> {
    let sessions = large.ours.sessions.len();
    let mut texts: Vec<Vec<String>> = vec![Vec::new(); sessions];
    for number in 0..large.turns {
        let session = usize::try_from(place(number, sessions as u64).0)?;
        if let Some(texts) = texts.get_mut(session) {
            texts.push(corpus::turn(SEED, number));
        }
    }
    eprintln!("writing {} turns with openai-agents", large.turns);
    for (session, texts) in large.ours.sessions.iter().zip(texts) {
        peer.work(&json!({"do": "fill", "session": session.id.to_string(), "texts": texts}))?;
    }
    let rows = peer.ask(&json!({"do": "count"}))?.get("rows").and_then(serde_json::Value::as_u64);
    ensure!(rows == Some(large.turns), "openai-agents holds {rows:?} rows, not {}", large.turns);
    Ok(())
}
