//! A message of the role user as a turn: whose each part is, and whose the turn.

use std::collections::HashMap;

use sayso::SpeakerKind;
use sayso_model::{PartBody, ToolResult};
use serde_json::Value;

use super::content::{Block, blocks};
use super::program;
use super::words::{Whose, pieces};
use crate::draft::{Draft, DraftPart, Meta, Who, Whole};
use crate::formats::Format;
use crate::values::{named, take, text};

/// What a record says about whose its words are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Standing {
    /// A person's, but for what the program put between them.
    Mixed,
    /// A sub-agent was asked them by the agent that called it.
    Asked,
    /// The program's.
    Program,
    /// Another agent's, of this name.
    Agent(String),
}

impl Standing {
    /// The standing of a record, or of an attachment with words.
    pub(super) fn of(value: &Value, is_side: bool) -> Self {
        let yes = |key: &str| value.get(key).and_then(Value::as_bool) == Some(true);
        let origin = value.get("origin").filter(|o| o.is_object());
        let kind = origin.map(|o| text(o, "kind").unwrap_or_default());
        let by = origin.and_then(|o| named(o, "from"));
        let of_task = text(value, "commandMode") == Some("task-notification");
        match kind {
            _ if yes("isMeta") || of_task || named(value, "planContent").is_some() => Self::Program,
            Some("human" | "cli") => Self::Mixed,
            Some(_) => by.map_or(Self::Program, |by| Self::Agent(by.to_owned())),
            None if is_side => Self::Asked,
            None => Self::Mixed,
        }
    }
}

/// The content of a message, if it is one.
pub(super) fn content(value: &mut Value) -> Option<Value> {
    let mut message = take(value, "message");
    message.is_object().then(|| take(&mut message, "content"))
}

/// The parts of a message, each with its speaker.
pub(super) struct Said {
    /// Whose the turn is where no part says it.
    role: Who,
    parts: Vec<(Who, DraftPart)>,
}

impl Said {
    pub(super) fn new(
        owner: &str,
        standing: Standing,
        content: Value,
        tools: &HashMap<String, String>,
    ) -> Self {
        let role = match &standing {
            Standing::Mixed => Who::new(SpeakerKind::Owner, owner),
            Standing::Asked => Who::new(SpeakerKind::Agent, Format::ClaudeCode.program()),
            Standing::Program => program(),
            Standing::Agent(name) => Who::new(SpeakerKind::Agent, name),
        };
        let mut said = Self { role, parts: Vec::new() };
        let whole = !matches!(standing, Standing::Mixed | Standing::Asked);
        for block in blocks(content) {
            match block {
                Block::Text(text) if whole => said.push(DraftPart::text(text)),
                Block::Text(text) => said.text(&text),
                Block::Attached(part) => said.push(part),
                Block::Result(result, files) => said.result(result, files, tools),
            }
        }
        said
    }

    fn push(&mut self, part: DraftPart) {
        self.parts.push((self.role.clone(), part));
    }

    fn text(&mut self, text: &str) {
        for (whose, piece) in pieces(text) {
            let who = match whose {
                Whose::Human => self.role.clone(),
                Whose::Program => program(),
                Whose::Agent(name) => Who::new(SpeakerKind::Agent, name),
                Whose::Person(name) => Who::new(SpeakerKind::Person, name),
            };
            self.parts.push((who, DraftPart::text(piece)));
        }
    }

    fn result(&mut self, mut result: ToolResult, files: Vec<DraftPart>, tools: &HashMap<String, String>) {
        result.tool = tools.get(&result.call_id).cloned().unwrap_or_default();
        let who = Who::new(SpeakerKind::Tool, result.tool.clone());
        self.parts.push((who.clone(), DraftPart::new(PartBody::ToolResult(result))));
        self.parts.extend(files.into_iter().map(|file| (who.clone(), file)));
    }

    /// The tool's answer, where the message holds exactly one, and what may stand beside it.
    pub(super) fn only_result(&mut self) -> Option<(&ToolResult, &mut Option<Whole>)> {
        let mut results = self.parts.iter_mut().filter_map(|(_, part)| match &part.body {
            PartBody::ToolResult(result) => Some((result, &mut part.whole)),
            _ => None,
        });
        let only = results.next()?;
        results.next().is_none().then_some(only)
    }

    /// The turn. A tool's answer makes it the tool's, else words of the role make it the role's, else whoever speaks first
    /// that is not the program.
    pub(super) fn draft(self, meta: Meta) -> Draft {
        let speaker = self.speaker();
        let parts = self.parts.into_iter().map(|(who, part)| part.by(who)).collect();
        Draft::new(meta, speaker, parts)
    }

    fn speaker(&self) -> Who {
        let first =
            |wanted: &dyn Fn(&Who) -> bool| self.parts.iter().map(|(who, _)| who).find(|who| wanted(who));
        let speaker = first(&|who| who.kind == SpeakerKind::Tool)
            .or_else(|| first(&|who| *who == self.role))
            .or_else(|| first(&|who| who.kind != SpeakerKind::System))
            .or_else(|| first(&|_| true));
        speaker.unwrap_or(&self.role).clone()
    }
}
