//! What a compaction took out of the context comes back: words that nobody could guess prove it.

mod codex;
mod pi;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use sayso::{Host, SystemHost};
use serde_json::Value;

use super::agents::{Agents, Stage};
use super::check::Report;
use super::model::{Model, Request};
use super::sayso::Sayso;
use super::seen::{self, Seen};

/// Tries both programs, each on a ledger of its own.
pub(super) fn run(report: &mut Report, agents: &Agents, sayso: &Sayso, model: &Model, scratch: &Path) {
    let codex = Scene::new("codex", agents, sayso, model, &scratch.join("returns-codex"));
    if let Some(scene) = report.check("setup makes Codex call Sayso", codex) {
        // The report counts what failed; what could not be tried after that is not a failure of its own.
        let _complete = codex::run(report, &scene);
    }
    let pi = Scene::new("pi", agents, sayso, model, &scratch.join("returns-pi"));
    if let Some(scene) = report.check("setup gives pi its extension", pi) {
        let _complete = pi::run(report, &scene);
    }
}

/// A project with a long file, whose middle and end hold words that nobody could guess.
struct Scene<'a> {
    agents: &'a Agents,
    sayso: &'a Sayso,
    model: &'a Model,
    stage: Stage,
    /// The text of the file.
    file: String,
    /// A word in the line about the ferry, which the summary names.
    ferry: String,
    /// A word in a line far from there, which only the later question names.
    island: String,
}

/// The file's name, as the summary names it too.
const FILE: &str = "ferries.log";
/// What the line about the ferry also says, and the summary.
const FERRY: &str = "우미나리";
/// What the line about the island also says, and the later question.
const ISLAND: &str = "매화도";
/// Bytes that a hook of Codex may add.
const ROOM: usize = 80_000;

impl<'a> Scene<'a> {
    fn new(
        program: &str,
        agents: &'a Agents,
        sayso: &'a Sayso,
        model: &'a Model,
        root: &Path,
    ) -> Result<Self> {
        let mut stage = Stage::new(root)?;
        let ledger = stage.root().join("ledger.db");
        stage.set("SAYSO_LEDGER", &ledger);
        stage.configure(&model.url())?;
        sayso.setup(&stage, program)?;
        let (ferry, island) = (word(), word());
        let lines = if program == "pi" { 2_600 } else { 900 };
        let file = text(lines, &ferry, &island);
        std::fs::write(stage.project("lantern")?.join(FILE), &file)?;
        Ok(Self { agents, sayso, model, stage, file, ferry, island })
    }

    /// The session that the ledger has.
    fn session(&self) -> Result<String> {
        let sessions = self.sayso.sessions(&self.stage)?;
        ensure!(sessions.len() == 1, "{} sessions, not one", sessions.len());
        Ok(sessions.into_iter().next().context("no session")?.address)
    }

    /// The whole output is stored, though none of these requests held the words.
    fn stored(&self, requests: &[Request]) -> Result<()> {
        for request in requests {
            ensure!(seen::count(request, &self.ferry) == 0, "the model saw the word before the compaction");
        }
        let entries = self.sayso.entries(&self.stage, &self.session()?)?;
        let outputs = entries.iter().flat_map(outputs).collect::<Vec<_>>();
        let output = outputs.first().context("no stored output")?;
        let stored = self.sayso.stored(&self.stage, output)?;
        ensure!(stored == self.file, "{} bytes are stored, {} were printed", stored.len(), self.file.len());
        Ok(())
    }

    /// The word stands once, in the message right behind the summary.
    fn behind_summary(&self, request: &Request, summary: &str) -> Result<Seen> {
        let texts = seen::texts(request);
        let at =
            texts.iter().rposition(|seen| seen.text.contains(summary)).context("the summary is not there")?;
        let back = texts.get(at + 1).context("nothing stands behind the summary")?.clone();
        ensure!(back.text.contains(&self.ferry), "behind the summary stands: {:.300}", back.text);
        ensure!(seen::count(request, &self.ferry) == 1, "the word stands there more than once");
        ensure!(back.text.len() < ROOM, "{} bytes came back", back.text.len());
        Ok(back)
    }

    /// Both words stand there once each.
    fn once(&self, request: &Request) -> Result<()> {
        for word in [&self.ferry, &self.island] {
            let count = seen::count(request, word);
            ensure!(count == 1, "a word stands there {count} times");
        }
        Ok(())
    }

    /// What came back is the ledger's own, and no turn.
    fn no_turns(&self) -> Result<()> {
        let entries = self.sayso.entries(&self.stage, &self.session()?)?;
        let is_back = |entry: &&Value| {
            entry["kind"] == "turn" && entry["text"].as_str().is_some_and(|text| text.contains("[sayso 0"))
        };
        ensure!(entries.iter().filter(is_back).count() == 0, "what came back was stored as a turn");
        let recorded = entries.iter().filter(|entry| entry["kind"] == "reinjection").count();
        ensure!(recorded == 2, "{recorded} re-injections, not two");
        let failures = self.sayso.doctor(&self.stage)?.into_iter().filter(|line| line.get("event").is_some());
        ensure!(failures.count() == 0, "the doctor names failures");
        Ok(())
    }
}

/// The ids of the outputs in an entry's parts.
fn outputs(entry: &Value) -> Vec<String> {
    let parts = entry["parts"].as_array().into_iter().flatten();
    parts.filter_map(|part| part["output"].as_str().map(str::to_owned)).collect()
}

/// A word that nobody could guess.
fn word() -> String {
    SystemHost.random().iter().take(8).map(|byte| char::from(b'a' + byte % 26)).collect()
}

fn text(lines: usize, ferry: &str, island: &str) -> String {
    let mut text = String::new();
    for n in 1..=lines {
        let words = match n {
            // Where the programs cut: Codex in the middle, pi at the beginning.
            _ if n == lines * 2 / 5 => format!("{FERRY}호 막배 {ferry}"),
            _ if n == lines * 7 / 10 && lines < 2_000 || n == lines / 8 && lines > 2_000 => {
                format!("{ISLAND} 첫배 {island}")
            }
            _ => "잔잔함, nothing of note on the quay".to_owned(),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{n:05} {words}");
    }
    text
}
