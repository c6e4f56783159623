//! Checks and chores of the repository: `cargo xtask ci`, `cargo xtask live`, `cargo xtask record`.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "this is a surface: what it says is for people"
)]

mod live;
mod record;
mod shell;
mod workspace;

use clap::{Parser, Subcommand};

/// Checks and chores of the repository.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Record the demo sessions anew, from the real agent programs.
    Record,
}

fn main() -> anyhow::Result<()> {
    match Arguments::parse().chore {
        Chore::Record => record::record(),
    }
}
