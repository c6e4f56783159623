//! Checks and chores of the repository: `cargo xtask ci`, `cargo xtask live`, `cargo xtask bench`, `cargo xtask record`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a surface: what it says is for people"
)]

mod bench;
mod ci;
mod live;
mod record;
mod shell;
mod workspace;

use std::ffi::OsString;
use std::path::PathBuf;

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
    /// Record the demo sessions anew, from the real agent programs.
    Record,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().chore {
        Chore::Ci => ci::ci(),
        Chore::Live { sayso } => live::live(sayso),
        Chore::Bench { arguments } => bench::bench(&arguments),
        Chore::Record => record::record(),
    }
}
