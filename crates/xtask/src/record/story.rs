//! The stories behind the demo sessions: files under `story/`, read at run time.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::live::model::Step;

/// One session from its first prompt to its last.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Story {
    /// The program that plays it.
    pub(super) program: Program,
    /// The project folder, beside the story.
    pub(super) project: String,
    /// What the model answers when the program compacts.
    summaries: Vec<Summary>,
    /// What the person says, each with the model's answers.
    prompts: Vec<Prompt>,
}

/// A program that a story can be played on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Program {
    /// The Codex CLI.
    Codex,
    /// pi.
    Pi,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Summary {
    text: String,
}

/// One prompt, and the answers until the model has nothing more to do.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Prompt {
    /// What the person says.
    pub(super) text: String,
    /// The model's answers, one for each call of the model.
    pub(super) steps: Vec<Step>,
}

/// The folder of the stories.
pub(super) fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("story")
}

impl Story {
    /// Reads the story `name`.
    pub(super) fn read(name: &str) -> Result<Self> {
        let path = folder().join(name);
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut story: Self = toml::from_str(&text)?;
        for step in story.prompts.iter_mut().flat_map(|prompt| &mut prompt.steps) {
            if let Some(file) = step.say_from.take() {
                step.say = long_text(&file)?;
            }
        }
        Ok(story)
    }

    /// All answers, all summaries.
    pub(super) fn script(&self) -> (Vec<Step>, Vec<String>) {
        let steps = self.prompts.iter().flat_map(|prompt| prompt.steps.clone());
        let summaries = self.summaries.iter().map(|summary| summary.text.clone());
        (steps.collect(), summaries.collect())
    }

    /// What the person says, in order.
    pub(super) fn prompts(&self) -> impl Iterator<Item = &str> {
        self.prompts.iter().map(|prompt| prompt.text.as_str())
    }
}

/// A text that stands in a file of its own, without the line break at its end.
pub(crate) fn long_text(name: &str) -> Result<String> {
    let path = folder().join(name);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(text.trim_end().to_owned())
}
