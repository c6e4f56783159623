//! `cargo xtask bench`: builds the measuring program in the release profile and runs it.

use std::ffi::OsString;
use std::process::Command;

use anyhow::{Result, ensure};

use crate::workspace;

/// Measures with these arguments; ledgers and other programs stand in Cargo's output folder unless they say otherwise.
pub(crate) fn bench(arguments: &[OsString]) -> Result<()> {
    // The program itself is measured too, as its users start it.
    let mut build = Command::new(env!("CARGO"));
    build.args(["build", "--quiet", "--release", "--package", "sayso-bench", "--package", "sayso-cli"]);
    let status = build.current_dir(workspace::root()).status()?;
    ensure!(status.success(), "building the program: {status}");
    let mut command = Command::new(env!("CARGO"));
    command.args(["run", "--quiet", "--release", "--package", "sayso-bench", "--"]);
    if !arguments.iter().any(|a| a.to_string_lossy().starts_with("--scratch")) {
        command.arg("--scratch").arg(workspace::target().join("bench"));
    }
    let status = command.args(arguments).current_dir(workspace::root()).status()?;
    ensure!(status.success(), "the measurements: {status}");
    Ok(())
}
