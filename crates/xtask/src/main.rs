//! Checks and chores of the repository: `cargo xtask ci`, `live`, `bench`, `fuzz`, `hostile`, `kill`, `load`, `record` and `soak`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a surface: what it says is for people"
)]

mod bench;
mod ci;
mod fuzz;
mod hostile;
mod kill;
mod live;
mod load;
mod record;
mod shell;
mod soak;
mod workspace;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Parser, Subcommand};

/// Checks and chores of the repository.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Check everything that must hold before a change is taken.
    Ci,
    /// Try the real agent programs and the real sayso together, against a scripted model.
    Live {
        /// The program to try; built here when it is not given.
        #[arg(long, value_name = "PATH")]
        sayso: Option<PathBuf>,
    },
    /// Measure Sayso beside what people would use instead, in the release profile.
    #[command(disable_help_flag = true)]
    Bench {
        /// What the measuring program takes; `cargo xtask bench --help` lists it
        #[arg(trailing_var_arg = true, allow_hyphen_values = true, value_name = "ARGUMENTS")]
        arguments: Vec<OsString>,
    },
    /// Run every fuzz target from its corpus on, guided by coverage; a crash fails, and its input is kept.
    Fuzz {
        /// How long each target runs.
        #[arg(long, default_value_t = 60)]
        seconds: u64,
        /// Only these targets.
        #[arg(value_name = "TARGET")]
        only: Vec<String>,
    },
    /// Give the program input that is made to hurt, and tell the most memory that it held.
    Hostile {
        /// The program to try; the one that was built beside this when it is not given.
        #[arg(long, value_name = "PATH")]
        sayso: Option<PathBuf>,
    },
    /// Kill writers of one ledger at random moments; what was acknowledged must be there.
    Kill {
        /// How many kills.
        #[arg(long, default_value_t = 1_000)]
        times: usize,
        /// How many writers at a time, each a process.
        #[arg(long, default_value_t = 4)]
        writers: usize,
        /// What the moments are drawn from.
        #[arg(long, default_value_t = 1)]
        seed: u64,
    },
    /// Let threads of several processes do everything at once on one ledger, and tell how long it takes.
    Load {
        /// How many minutes.
        #[arg(long, default_value_t = 10.0)]
        minutes: f64,
        /// How many threads, in all.
        #[arg(long, default_value_t = 64)]
        threads: usize,
        /// How many processes.
        #[arg(long, default_value_t = 8)]
        processes: usize,
    },
    /// One of these processes.
    #[command(hide = true)]
    LoadWorker {
        /// Where they meet.
        folder: PathBuf,
        /// Its number.
        n: usize,
        /// Its threads.
        threads: usize,
        /// For how long.
        seconds: u64,
    },
    /// Record the demo sessions anew, from the real agent programs.
    Record,
    /// Let several processes write, forward and search in one ledger, and kill one now and then.
    Soak {
        /// How long.
        #[arg(long, default_value_t = 120)]
        seconds: u64,
        /// How many processes.
        #[arg(long, default_value_t = 4)]
        processes: usize,
    },
    /// One of these processes.
    #[command(hide = true)]
    SoakWorker {
        /// Where they meet.
        folder: PathBuf,
        /// Its number.
        n: usize,
        /// How many there are.
        of: usize,
    },
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().chore {
        Chore::Ci => ci::ci(),
        Chore::Live { sayso } => live::live(sayso),
        Chore::Bench { arguments } => bench::bench(&arguments),
        Chore::Fuzz { seconds, only } => fuzz::fuzz(seconds, &only),
        Chore::Hostile { sayso } => hostile::hostile(sayso),
        Chore::Kill { times, writers, seed } => kill::kill(times, writers, seed),
        Chore::Load { minutes, threads, processes } => {
            load::load(Duration::try_from_secs_f64(minutes * 60.0)?, processes, threads)
        }
        Chore::LoadWorker { folder, n, threads, seconds } => {
            let until = load::Until::Time(Duration::from_secs(seconds));
            print!("{}", load::work(&folder, n, threads, until)?);
            Ok(())
        }
        Chore::Record => record::record(),
        Chore::Soak { seconds, processes } => soak::soak(seconds, processes),
        Chore::SoakWorker { folder, n, of } => soak::work(&folder, n, of),
    }
}
