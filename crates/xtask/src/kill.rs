//! `cargo xtask kill`: writers on one ledger are killed at random moments, as often as wanted. It is the test of the ordinary
//! run, with other numbers.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::workspace;

/// The test that does it.
const TEST: &str = "together::kills::s9_writers_killed_at_random_moments_lose_nothing_that_was_acknowledged";

/// Kills so many writers; the test prints what came of it.
pub(crate) fn kill(times: usize, writers: usize, seed: u64) -> Result<()> {
    ensure!(writers > 0, "kills need at least one writer");
    let mut command = Command::new(env!("CARGO"));
    command.args(["test", "--quiet", "--workspace", "--test", "it", "--", "--exact", TEST, "--nocapture"]);
    command.env("SAYSO_KILLS", times.to_string());
    command.env("SAYSO_WRITERS", writers.to_string());
    command.env("SAYSO_SEED", seed.to_string());
    let status = command.current_dir(workspace::root()).status()?;
    ensure!(status.success(), "the kills: {status}; the same again with --seed {seed}");
    println!("ok kill");
    Ok(())
}
