//! `cargo xtask ci`: everything that must hold before a change is taken.

mod snapshots;

use std::ffi::OsStr;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};

use crate::{shell, workspace};

/// How long the advisory database may take to come.
const FETCH_LIMIT: Duration = Duration::from_secs(120);

/// Runs every step, also after one failed, so that one run names all that is wrong.
pub(crate) fn ci() -> Result<()> {
    let references = workspace::target().join("snapshot-references");
    let mut failed = Vec::new();
    let mut step = |name: &'static str, outcome: Result<()>| {
        if let Err(error) = outcome {
            println!("FAILED {name}: {error:#}");
            failed.push(name);
        }
    };
    step("format", cargo(&["fmt", "--all", "--check"]));
    step("clippy", clippy());
    step("documentation", documentation());
    step("tests", tests(&references));
    step("snapshots", snapshots::check(&workspace::root(), &references));
    step("licences and sources", deny());
    step("advisories", advisories());
    ensure!(failed.is_empty(), "failed: {}", failed.join(", "));
    println!("ok ci");
    Ok(())
}

fn clippy() -> Result<()> {
    cargo(&["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"])
}

fn documentation() -> Result<()> {
    let arguments = ["doc", "--workspace", "--no-deps"];
    let flags = ("RUSTDOCFLAGS", OsStr::new("-D warnings"));
    cargo_with(&arguments, &[flags])
}

/// The tests, with insta noting which snapshot files they looked at.
fn tests(references: &Path) -> Result<()> {
    if references.exists() {
        std::fs::remove_file(references)?;
    }
    let variables =
        [("INSTA_UPDATE", OsStr::new("no")), ("INSTA_SNAPSHOT_REFERENCES_FILE", references.as_os_str())];
    cargo_with(&["test", "--workspace"], &variables)
}

fn deny() -> Result<()> {
    cargo(&["deny", "check", "--hide-inclusion-graph", "licenses", "bans", "sources"])
        .context("cargo-deny comes with `cargo install cargo-deny --locked`")
}

/// The advisories, unless their database cannot be had: then the reason is printed and nothing claimed.
fn advisories() -> Result<()> {
    let mut fetch = Command::new("cargo");
    fetch.args(["deny", "fetch", "db"]).current_dir(workspace::root());
    let logs = workspace::target().join("xtask-logs");
    let fetched = shell::run(&mut fetch, &logs, FETCH_LIMIT).and_then(shell::Finished::ok);
    if fetched.is_err() {
        println!("SKIPPED advisories: the advisory database cannot be reached");
        return Ok(());
    }
    cargo(&["deny", "check", "--disable-fetch", "advisories"])
}

fn cargo(arguments: &[&str]) -> Result<()> {
    cargo_with(arguments, &[])
}

fn cargo_with(arguments: &[&str], variables: &[(&str, &OsStr)]) -> Result<()> {
    println!("== cargo {}", arguments.join(" "));
    let mut command = Command::new("cargo");
    command
        .args(arguments)
        .current_dir(workspace::root())
        .stdin(Stdio::null())
        .envs(variables.iter().copied());
    let status = command.status().context("cannot start cargo")?;
    if !status.success() {
        bail!("{status}");
    }
    Ok(())
}
