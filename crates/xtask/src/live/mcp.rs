//! The MCP server with clients that nobody here wrote: the inspector's command line, and Codex.

mod codex;
mod inspector;

use std::path::{Path, PathBuf};

use anyhow::Result;

use super::agents::{Agents, Stage};
use super::check::Report;
use super::model::Model;
use super::sayso::Sayso;
use crate::workspace;

/// Tries both clients, each on a ledger of its own.
pub(super) fn run(report: &mut Report, agents: &Agents, sayso: &Sayso, model: &Model, scratch: &Path) {
    inspector::run(report, sayso, scratch);
    codex::run(report, agents, sayso, model, scratch);
}

/// A stage whose ledger holds the demo's two sessions.
fn stage(sayso: &Sayso, root: &Path) -> Result<Stage> {
    let mut stage = Stage::new(root)?;
    let ledger = stage.root().join("ledger.db");
    stage.set("SAYSO_LEDGER", &ledger);
    for name in ["codex.jsonl", "pi.jsonl"] {
        sayso.import(&stage, &demo(name))?;
    }
    Ok(stage)
}

fn demo(name: &str) -> PathBuf {
    workspace::root().join("crates/cli/demo").join(name)
}

/// A word that the demo's sessions say.
const WORD: &str = "24:40";
