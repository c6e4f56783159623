//! What the scripted model says: one step for each model call, in order.

use std::collections::VecDeque;

use serde::Deserialize;
use serde_json::Value;

/// One answer of the model: words, and the tools it asks for beside them.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Step {
    /// The text of the answer.
    #[serde(default)]
    pub(crate) say: String,
    /// A file beside the story that holds the text, for long answers.
    pub(crate) say_from: Option<String>,
    /// Tools called in this one answer; several are parallel calls.
    #[serde(default)]
    pub(crate) calls: Vec<Call>,
    /// The size of the request as the model reports it; counted from the request when absent.
    pub(crate) input_tokens: Option<u64>,
}

impl Step {
    /// An answer of words only.
    pub(crate) fn say(text: impl Into<String>) -> Self {
        Self { say: text.into(), ..Self::default() }
    }

    /// The same answer with one more tool call.
    pub(crate) fn call(mut self, tool: &str, arguments: Value) -> Self {
        self.calls.push(Call { namespace: None, tool: tool.to_owned(), arguments });
        self
    }

    /// The same answer with one more call of a tool that the program offers within a namespace.
    pub(crate) fn call_in(mut self, namespace: &str, tool: &str, arguments: Value) -> Self {
        self.calls.push(Call { namespace: Some(namespace.to_owned()), tool: tool.to_owned(), arguments });
        self
    }
}

/// One tool call.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Call {
    /// What the tool's name stands in, where the program offers it so.
    pub(crate) namespace: Option<String>,
    /// The tool's name, as the program offers it.
    pub(crate) tool: String,
    /// Its arguments, an object.
    pub(crate) arguments: Value,
}

/// What is still to be said.
#[derive(Debug, Default)]
pub(super) struct Script {
    steps: VecDeque<Step>,
    summaries: VecDeque<String>,
}

impl Script {
    /// A script of these answers and summaries.
    pub(super) fn new(steps: Vec<Step>, summaries: Vec<String>) -> Self {
        Self { steps: steps.into(), summaries: summaries.into() }
    }

    /// The next answer, if the script has one.
    pub(super) fn next(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    /// The answer to a request for a summary. The last one stays: a program that was interrupted asks again.
    pub(super) fn summary(&mut self) -> Option<Step> {
        let text = if self.summaries.len() > 1 {
            self.summaries.pop_front()
        } else {
            self.summaries.front().cloned()
        };
        text.map(Step::say)
    }

    /// How many answers have not been asked for.
    pub(super) fn left(&self) -> usize {
        self.steps.len()
    }
}
