//! A ledger that cannot be used must never stop Codex; the doctor says afterwards what happened.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use rusqlite::Connection;
use serde_json::Value;

use super::agents::{Agents, Stage};
use super::check::Report;
use super::model::{Model, Step};
use super::sayso::Sayso;
use crate::workspace;

/// What is wrong with the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outage {
    /// Another process holds it.
    Locked,
    /// Its folder cannot exist.
    Missing,
    /// Its file is not a database.
    Corrupt,
}

impl Outage {
    const ALL: [Self; 3] = [Self::Locked, Self::Missing, Self::Corrupt];

    fn name(self) -> &'static str {
        match self {
            Self::Locked => "locked",
            Self::Missing => "missing",
            Self::Corrupt => "corrupt",
        }
    }
}

/// Runs Codex once with each kind of broken ledger.
pub(super) fn run(report: &mut Report, agents: &Agents, sayso: &Sayso, model: &Model, scratch: &Path) {
    for outage in Outage::ALL {
        let name = outage.name();
        let answered = answers(outage, agents, sayso, model, scratch);
        let stage = report.check(&format!("Codex answers with a {name} ledger"), answered);
        if let Some(stage) = stage {
            let named = named_by_doctor(sayso, &stage);
            report.check(&format!("the doctor names the {name} ledger"), named);
        }
    }
}

fn answers(outage: Outage, agents: &Agents, sayso: &Sayso, model: &Model, scratch: &Path) -> Result<Stage> {
    let mut stage = Stage::new(&scratch.join(format!("outage-{}", outage.name())))?;
    let ledger = stage.root().join(match outage {
        Outage::Missing => "not-a-folder/ledger.db",
        Outage::Locked | Outage::Corrupt => "ledger.db",
    });
    stage.set("SAYSO_LEDGER", &ledger);
    stage.configure(&model.url())?;
    sayso.setup(&stage, "codex")?;
    let lock = break_ledger(outage, sayso, &stage, &ledger)?;
    let answer = format!("끝났습니다, with a {} ledger.", outage.name());
    model.play(vec![Step::say(answer.clone())], Vec::new());
    let folder = stage.project("lantern")?;
    let said = stage.codex(agents, &folder, None, "Are you there? 있어?")?.ok()?;
    drop(lock);
    ensure!(said.contains(&answer), "Codex said: {said}");
    Ok(stage)
}

/// Puts the ledger into its sorry state; what is given back keeps it so until it is dropped.
fn break_ledger(outage: Outage, sayso: &Sayso, stage: &Stage, ledger: &Path) -> Result<Option<Connection>> {
    match outage {
        Outage::Locked => {
            sayso.import(stage, &demo_session())?;
            Ok(Some(lock(ledger)?))
        }
        Outage::Missing => {
            // A file where the folder should be: that stops a superuser too, unlike permissions.
            std::fs::write(stage.root().join("not-a-folder"), "")?;
            Ok(None)
        }
        Outage::Corrupt => {
            std::fs::write(ledger, "not a database, 데이터베이스가 아님\n".repeat(500))?;
            Ok(None)
        }
    }
}

fn demo_session() -> PathBuf {
    workspace::root().join("crates/cli/demo/pi.jsonl")
}

/// Holds the ledger so that nobody else can read or write it.
fn lock(ledger: &Path) -> Result<Connection> {
    let connection = Connection::open(ledger).context("cannot open the ledger to lock it")?;
    // In WAL mode only a connection that asked for the whole file before its first read keeps readers out.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    connection.execute_batch("BEGIN EXCLUSIVE")?;
    Ok(connection)
}

fn named_by_doctor(sayso: &Sayso, stage: &Stage) -> Result<()> {
    let found = sayso.doctor(stage)?;
    ensure!(
        found.iter().any(names_a_failure),
        "no object with event, time and reason in: {}",
        Value::from(found)
    );
    Ok(())
}

/// Whether somewhere inside there is an object that names a hook's event, a time and a reason.
fn names_a_failure(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(names_a_failure),
        Value::Object(object) => {
            let text = |key: &str| object.get(key).and_then(Value::as_str).unwrap_or_default();
            let event = super::agents::HOOKS.iter().any(|event| text("event").contains(event));
            let time = !text("time").is_empty() || !text("at").is_empty();
            (event && time && !text("reason").is_empty()) || object.values().any(names_a_failure)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_failure_needs_event_time_and_reason() {
        let whole = json!({"event": "UserPromptSubmit", "at": "2026-11-30T09:00:00Z", "reason": "locked"});
        assert!(names_a_failure(&json!({"hooks": {"failures": [whole]}})));
        assert!(!names_a_failure(&json!({"event": "Stop", "at": "2026-11-30T09:00:00Z"})));
        assert!(!names_a_failure(&json!({"event": "other", "at": "x", "reason": "y"})));
    }
}
