//! Measures Sayso beside what people would use instead, in one run: `cargo xtask bench`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a surface: what it says is for people"
)]

mod clock;
mod corpus;
mod ground;
mod ours;
mod report;
mod rivals;
mod rows;
mod stats;

use std::path::PathBuf;

use anyhow::{Result, ensure};
use clap::Parser;

use ground::Ground;
use report::Report;

/// Measures Sayso beside what people would use instead.
#[derive(Debug, Clone, Parser)]
struct Arguments {
    /// Only these: append, peers, writers, import, last, search, growth, long, outputs, hook
    #[arg(long, value_name = "NAME", num_args = 1..)]
    only: Vec<String>,
    /// Turns in the large ledgers
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    turns: u64,
    /// Fewer turns and fewer steps in each round: whether it works, not how fast it is
    #[arg(long)]
    quick: bool,
    /// Rounds; at least 5
    #[arg(long, value_name = "N", default_value_t = 7)]
    rounds: usize,
    /// Also write the figures into this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// The folder for ledgers and other programs, on the disk that is to be measured
    #[arg(long, value_name = "FOLDER", default_value = "target/bench")]
    scratch: PathBuf,
    /// Appends in a process of its own: LEDGER SESSION COUNT
    #[arg(long, hide = true, num_args = 3)]
    worker: Vec<String>,
}

fn main() -> Result<()> {
    let mut arguments = Arguments::parse();
    if let [ledger, session, count] = arguments.worker.as_slice() {
        return rows::writers::worker(ledger, session, count.parse()?);
    }
    ensure!(arguments.rounds >= 5, "a spread needs at least 5 rounds");
    for name in &arguments.only {
        ensure!(
            rows::NAMES.contains(&name.as_str()),
            "there is no {name}; there are {}",
            rows::NAMES.join(", ")
        );
    }
    if arguments.quick {
        arguments.turns = arguments.turns.min(20_000);
    }
    std::fs::create_dir_all(&arguments.scratch)?;
    let mut report = Report::default();
    let mut ground = Ground::new(&arguments)?;
    rows::all(&arguments.only, &mut ground, &mut report)?;
    report.print();
    arguments.json.map_or(Ok(()), |path| report.write(&path))
}
