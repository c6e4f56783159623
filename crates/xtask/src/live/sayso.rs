//! The program under test, driven as a person or a script would drive it: by its command line and its JSON.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::agents::Stage;
use crate::shell::Finished;

/// The program.
#[derive(Debug, Clone)]
pub(crate) struct Sayso {
    program: PathBuf,
}

/// One line of `sessions --json`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub(crate) struct SessionLine {
    /// The session's address.
    pub(crate) address: String,
}

/// One line of `show SESSION --json`.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct TurnLine {
    /// The turn's address.
    pub(crate) address: String,
    /// Who said it.
    pub(crate) speaker: SpeakerLine,
    /// What was said.
    #[serde(default)]
    pub(crate) text: String,
}

/// The speaker of a turn.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct SpeakerLine {
    /// `owner`, `person`, `agent`, `tool` or `system`.
    pub(crate) kind: String,
}

/// What `forward --json` answers.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct ForwardLine {
    /// The address of the new turn, which holds the quote.
    pub(crate) address: String,
}

impl Sayso {
    /// The program at `program`.
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.program
    }

    fn run(&self, stage: &Stage, arguments: &[&str]) -> Result<Finished> {
        let mut command = stage.command(&self.program, &stage.home());
        stage.run(command.args(arguments))
    }

    fn output(&self, stage: &Stage, arguments: &[&str]) -> Result<String> {
        let finished = self.run(stage, arguments)?.ok();
        finished.with_context(|| format!("sayso {}", arguments.join(" ")))
    }

    fn lines<T: DeserializeOwned>(&self, stage: &Stage, arguments: &[&str]) -> Result<Vec<T>> {
        let output = self.output(stage, arguments)?;
        let lines = output.lines().map(serde_json::from_str);
        lines
            .collect::<Result<_, _>>()
            .with_context(|| format!("sayso {}: not the JSON that was agreed", arguments.join(" ")))
    }

    /// Lets an agent program of this stage call it, as a person would.
    pub(crate) fn setup(&self, stage: &Stage, agent: &str) -> Result<()> {
        let shown = self.output(stage, &["setup", agent])?;
        ensure!(shown.contains("+++ "), "setup showed no difference: {shown}");
        Ok(())
    }

    /// A stored output, whole.
    pub(crate) fn stored(&self, stage: &Stage, output: &str) -> Result<String> {
        self.output(stage, &["output", output])
    }

    /// Every entry of a session, as `show` tells it.
    pub(crate) fn entries(&self, stage: &Stage, session: &str) -> Result<Vec<Value>> {
        self.lines(stage, &["show", session, "--json"])
    }

    /// Imports one transcript.
    pub(crate) fn import(&self, stage: &Stage, transcript: &Path) -> Result<()> {
        let path = transcript.to_str().context("a path that is not text")?;
        let lines: Vec<Value> = self.lines(stage, &["import", path, "--json"])?;
        ensure!(!lines.is_empty(), "import printed no summary");
        Ok(())
    }

    /// All sessions of the ledger.
    pub(crate) fn sessions(&self, stage: &Stage) -> Result<Vec<SessionLine>> {
        self.lines(stage, &["sessions", "--json"])
    }

    /// All turns of a session; compactions and marks are left out.
    pub(crate) fn turns(&self, stage: &Stage, session: &str) -> Result<Vec<TurnLine>> {
        let turns = self
            .entries(stage, session)?
            .into_iter()
            .filter(|entry| entry["kind"] == "turn")
            .map(serde_json::from_value);
        turns.collect::<Result<_, _>>().context("a turn is not the JSON that was agreed")
    }

    /// Forwards one turn into a session.
    pub(crate) fn forward(&self, stage: &Stage, turn: &str, to: &str) -> Result<ForwardLine> {
        let mut lines = self.lines(stage, &["forward", turn, "--to", to, "--json"])?;
        lines.pop().context("forward printed nothing")
    }

    /// The marker of a turn, as the model must see it.
    pub(crate) fn marker(&self, stage: &Stage, turn: &str) -> Result<String> {
        let marker = self.output(stage, &["show", turn, "--as", "marker"])?;
        ensure!(marker.starts_with("<quote id="), "not a marker: {marker:.60}");
        Ok(marker.trim_end_matches(['\r', '\n']).to_owned())
    }

    /// What the doctor found. Its exit code may say that something is wrong: that is its job.
    pub(crate) fn doctor(&self, stage: &Stage) -> Result<Vec<Value>> {
        let finished = self.run(stage, &["doctor", "--json"])?;
        let values = serde_json::Deserializer::from_str(&finished.stdout).into_iter();
        let values: Vec<Value> = values.collect::<Result<_, _>>().context("sayso doctor --json")?;
        ensure!(!values.is_empty(), "doctor printed nothing: {}", finished.stderr.trim());
        Ok(values)
    }
}
