//! `cargo xtask live`: the real agent programs and the real `sayso`, against a scripted model.
//!
//! What is shown is read from the request bodies that reached the model, not from what any program says about itself.

pub(crate) mod agents;
#[cfg(unix)]
mod bridge;
mod check;
mod forward;
mod mcp;
pub(crate) mod model;
mod outage;
mod returns;
mod sayso;
mod seen;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::workspace;
use agents::{Agents, Stage};
use check::Report;
use forward::Forward;
use model::Model;
use sayso::Sayso;

/// Runs all checks with the program at `program`, or with the one that is built here.
pub(crate) fn live(program: Option<PathBuf>) -> Result<()> {
    let scratch = workspace::target().join("live");
    std::fs::create_dir_all(&scratch)?;
    let npm = scratch.join("npm");
    if !Agents::are_installed(&npm)
        && let Err(reason) = agents::npm_answers(&scratch.join("logs"))
    {
        println!("SKIPPED live: {reason}");
        return Ok(());
    }
    let sayso = Sayso::new(match program {
        Some(program) => program.canonicalize().context("no such program")?,
        None => build()?,
    });
    let agents = Agents::install(&npm)?;
    let model = Model::start(&scratch.join("requests.jsonl"))?;
    let mut report = Report::default();
    let forward =
        Forward { agents: &agents, sayso: &sayso, model: &model, stage: stage(&scratch, &model, &sayso)? };
    // The report counts what failed; what could not be tried after a failure is not a failure of its own.
    let _complete = forward.run(&mut report);
    returns::run(&mut report, &agents, &sayso, &model, &scratch);
    outage::run(&mut report, &agents, &sayso, &model, &scratch);
    mcp::run(&mut report, &agents, &sayso, &model, &scratch);
    #[cfg(unix)]
    bridge::run(&mut report, &agents, &sayso, &model, &scratch);
    report.finish()
}

fn stage(scratch: &Path, model: &Model, sayso: &Sayso) -> Result<Stage> {
    let mut stage = Stage::new(&scratch.join("forward"))?;
    let ledger = stage.root().join("ledger.db");
    stage.set("SAYSO_LEDGER", &ledger);
    stage.configure(&model.url())?;
    sayso.setup(&stage, "codex")?;
    Ok(stage)
}

fn build() -> Result<PathBuf> {
    let status = Command::new(env!("CARGO"))
        // Of the whole workspace, so that what the tests have built serves here too.
        .args(["build", "--quiet", "--workspace", "--bin", "sayso"])
        .current_dir(workspace::root())
        .status()?;
    ensure!(status.success(), "cargo build --bin sayso: {status}");
    let name = format!("debug/sayso{}", std::env::consts::EXE_SUFFIX);
    Ok(workspace::target().join(name).canonicalize()?)
}
