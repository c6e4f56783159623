//! Checks and chores of the repository: `cargo xtask ci`, `cargo xtask live`, `cargo xtask record`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a surface: what it says is for people"
)]

mod ci;
mod live;
mod record;
mod shell;
mod workspace;

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
    /// Record the demo sessions anew, from the real agent programs.
    Record,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().chore {
        Chore::Ci => ci::ci(),
        Chore::Live { sayso } => live::live(sayso),
        Chore::Record => record::record(),
    }
}
