//! Target 3: many writers at once.

use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, ensure};
use sayso::{Durability, NewTurn, Scope, SpeakerKind};
use serde_json::{Value, json};

use crate::clock::{micros, time};
use crate::corpus;
use crate::ground::{Ground, SEED};
use crate::ours::{Ours, wal};
use crate::report::{Goal, Report, short};
use crate::stats::{quantile, ratios};

const THREADS: [usize; 4] = [1, 4, 16, 64];
const PROCESSES: usize = 4;

/// What many appends gave: how many in a second, and what each took in milliseconds.
#[derive(Debug, Default)]
struct Burst {
    rate: f64,
    each: Vec<f64>,
}

pub(crate) fn run(ground: &mut Ground, report: &mut Report) -> Result<()> {
    threads(ground, report)?;
    processes(ground, report)
}

fn threads(ground: &Ground, report: &mut Report) -> Result<()> {
    let ours = Ours::open(&ground.path("writers.db"), Durability::Full, 64)?;
    burst(&ours, 16, ground.some(60))?;
    let mut written = 16 * ground.some(60);
    let mut found: Vec<Vec<Burst>> = THREADS.iter().map(|_| Vec::new()).collect();
    let mut start = 0;
    for _ in 0..ground.rounds {
        for (count, bursts) in THREADS.iter().zip(&mut found) {
            let each = ground.some(if *count == 1 { 160 } else { 60 });
            let before = wal(&ours.path);
            bursts.push(burst(&ours, *count, each)?);
            start = start.max(before);
            written += count * each;
        }
    }
    ensure!(ours.count()? == written as u64, "{} turns are there, not {written}", ours.count()?);
    let rates = |bursts: &[Burst]| -> Vec<f64> { bursts.iter().map(|b| b.rate).collect() };
    let one = found.first().map(|b| rates(b)).unwrap_or_default();
    for (count, bursts) in THREADS.iter().zip(&found) {
        let goal = match count {
            16 => Goal::AtLeast(5.0),
            64 => Goal::AtLeast(10.0),
            _ => Goal::None,
        };
        let what = format!("{count} appenders in one process / one: appends a second");
        report.ratio("3", &what, &ratios(&rates(bursts), &one), goal, latencies(bursts));
    }
    let mut facts = ours.facts()?;
    facts.push((
        "log".to_owned(),
        format!("{start} KiB before the last bursts, {} KiB after", wal(&ours.path)),
    ));
    facts.push(("rows read back".to_owned(), format!("{written}, as many as were appended; no errors")));
    report.conditions("writers: threads of one process", facts);
    Ok(())
}

fn latencies(bursts: &[Burst]) -> String {
    let each: Vec<f64> = bursts.iter().flat_map(|b| b.each.iter().copied()).collect();
    let at = |share| short(quantile(&each, share));
    format!("p50 {} ms, p99 {} ms, max {} ms", at(0.5), at(0.99), at(1.0))
}

/// So many threads append at once, each to a session of its own.
fn burst(ours: &Ours, threads: usize, each: usize) -> Result<Burst> {
    let texts: Vec<String> = (0..each).map(|n| corpus::turn(SEED, n as u64)).collect();
    let texts = &texts;
    let (all, took) = time(|| {
        thread::scope(|scope| {
            let work = |number: usize| scope.spawn(move || appends(ours, number, texts));
            let running: Vec<_> = (0..threads).map(work).collect();
            let done = running
                .into_iter()
                .map(|t| t.join().unwrap_or_else(|_| Err(anyhow::anyhow!("a thread panicked"))));
            done.collect::<Result<Vec<_>>>()
        })
    });
    let each_took: Vec<f64> = all?.concat();
    Ok(Burst { rate: (threads * each) as f64 / took.wall.as_secs_f64(), each: each_took })
}

fn appends(ours: &Ours, session: usize, texts: &[String]) -> Result<Vec<f64>> {
    let one = |text: &String| {
        let (done, took) = time(|| ours.append(session, text));
        done.map(|_| micros(took.wall) / 1e3)
    };
    texts.iter().map(one).collect()
}

fn processes(ground: &Ground, report: &mut Report) -> Result<()> {
    let ours = Ours::open(&ground.path("processes.db"), Durability::Full, PROCESSES)?;
    let each = ground.some(160);
    let mut written = 0;
    let (mut one, mut four) = (Vec::new(), Vec::new());
    for _ in 0..ground.rounds {
        one.push(crowd(&ours, 1, each)?);
        four.push(crowd(&ours, PROCESSES, each)?);
        written += each * (1 + PROCESSES);
    }
    ensure!(ours.count()? == written as u64, "{} turns are there, not {written}", ours.count()?);
    let rates = |bursts: &[Burst]| -> Vec<f64> { bursts.iter().map(|b| b.rate).collect() };
    let what = format!("{PROCESSES} processes / one: appends a second");
    let note = format!("{}; of one: {}", latencies(&four), latencies(&one));
    report.ratio("3", &what, &ratios(&rates(&four), &rates(&one)), Goal::None, note);
    let facts =
        vec![("rows read back".to_owned(), format!("{written}, as many as were appended; no errors"))];
    report.conditions("writers: processes", facts);
    Ok(())
}

/// So many processes append at once.
fn crowd(ours: &Ours, processes: usize, each: usize) -> Result<Burst> {
    let program = std::env::current_exe()?;
    let start = |number: usize| {
        let session = ours.session(number)?.id.to_string();
        let mut command = Command::new(&program);
        command.arg("--worker").arg(&ours.path).arg(session).arg(each.to_string());
        Ok(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?)
    };
    let running = (0..processes).map(start).collect::<Result<Vec<_>>>()?;
    let mut burst = Burst::default();
    let mut slowest: f64 = 0.0;
    for child in running {
        let done = child.wait_with_output()?;
        ensure!(done.status.success(), "a process that appends: {}", done.status);
        let said: Value = serde_json::from_slice(&done.stdout)?;
        let each = said.get("each").and_then(Value::as_array).context("what each took")?;
        burst.each.extend(each.iter().filter_map(Value::as_f64));
        slowest = slowest.max(said.get("seconds").and_then(Value::as_f64).context("how long it took")?);
    }
    burst.rate = (processes * each) as f64 / slowest;
    Ok(burst)
}

/// Appends to a session in a process of its own.
pub(crate) fn worker(ledger: &str, session: &str, count: usize) -> Result<()> {
    let ledger = sayso::Ledger::open(ledger.as_ref(), &sayso::Options::default())?;
    let session = ledger.reader(Scope::All).session(session.parse()?)?.context("the session")?;
    let texts: Vec<String> = (0..count).map(|n| corpus::turn(SEED, n as u64)).collect();
    let mut each = Vec::new();
    let (done, took) = time(|| {
        for text in &texts {
            let turn = NewTurn::text(SpeakerKind::Owner, "Kim", text.as_str());
            let (done, took) = time(|| ledger.append(&session, turn));
            done?;
            each.push(micros(took.wall) / 1e3);
        }
        Ok::<_, anyhow::Error>(())
    });
    done?;
    println!("{}", json!({"seconds": took.wall.as_secs_f64(), "each": each}));
    Ok(())
}
