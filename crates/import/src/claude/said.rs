//! A message of the role user as a turn: whose each part is, and whose the turn.

use std::collections::HashMap;

use sayso::SpeakerKind;
use sayso_model::{PartBody, ToolResult};
use serde_json::Value;

use super::content::{Block, blocks};
use super::program;
use super::words::{Whose, is_words, pieces};
use crate::draft::{Draft, DraftPart, Meta, Who, Whole};
use crate::formats::Format;
use crate::values::{named, take, text};

/// The sender's name by which the program itself writes to agents.
const PROGRAM: &str = "system";

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
            None => Self::asked(is_side),
        }
    }

    /// Where the record itself says nothing.
    pub(super) const fn asked(is_side: bool) -> Self {
        if is_side { Self::Asked } else { Self::Mixed }
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
    parts: Vec<Spoken>,
}

/// A part of a message.
struct Spoken {
    who: Who,
    part: DraftPart,
    /// Whether the program set it among somebody's words.
    added: bool,
}

impl Spoken {
    fn new(who: Who, part: DraftPart) -> Self {
        Self { who, part, added: false }
    }

    fn is_text(&self) -> bool {
        matches!(self.part.body, PartBody::Text(_))
    }
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

    /// Messages of other agents that the program handed on: a sender and a text each.
    pub(super) fn mail(messages: Vec<(Option<String>, String)>) -> Option<Self> {
        let sender = |name: Option<String>| match name {
            Some(name) if name != PROGRAM => Who::new(SpeakerKind::Agent, name),
            _ => program(),
        };
        let parts = messages.into_iter().map(|(from, text)| Spoken::new(sender(from), DraftPart::text(text)));
        let parts: Vec<Spoken> = parts.collect();
        let role = parts.first()?.who.clone();
        Some(Self { role, parts })
    }

    fn push(&mut self, part: DraftPart) {
        self.parts.push(Spoken::new(self.role.clone(), part));
    }

    fn text(&mut self, text: &str) {
        let among_words = is_words(text);
        for (whose, piece) in pieces(text) {
            let added = among_words && whose == Whose::Program;
            let who = match whose {
                Whose::Human => self.role.clone(),
                Whose::Program => program(),
                Whose::Agent(name) => Who::new(SpeakerKind::Agent, name),
                Whose::Person(name) => Who::new(SpeakerKind::Person, name),
            };
            self.parts.push(Spoken { who, part: DraftPart::text(piece), added });
        }
    }

    fn result(&mut self, mut result: ToolResult, files: Vec<DraftPart>, tools: &HashMap<String, String>) {
        result.tool = tools.get(&result.call_id).cloned().unwrap_or_default();
        let who = Who::new(SpeakerKind::Tool, result.tool.clone());
        self.parts.push(Spoken::new(who.clone(), DraftPart::new(PartBody::ToolResult(result))));
        self.parts.extend(files.into_iter().map(|file| Spoken::new(who.clone(), file)));
    }

    /// Takes out the words and the files that stand in the ledger already, and adds the words of others at their place. What
    /// the program set among the words stays, and so do answers of tools.
    pub(super) fn without_words(&mut self, mut files: usize, others: Vec<Self>) {
        let role = self.role.clone();
        self.parts.retain(|spoken| match &spoken.part.body {
            PartBody::Text(_) => spoken.added,
            PartBody::Attachment(_) if spoken.who == role && files > 0 => {
                files -= 1;
                false
            }
            _ => true,
        });
        let words =
            others.into_iter().flat_map(|said| said.parts).filter(Spoken::is_text).collect::<Vec<_>>();
        self.parts.splice(0..0, words);
    }

    /// How many files it holds that are no tool's.
    pub(super) fn files(&self) -> usize {
        let is_file = |spoken: &&Spoken| {
            matches!(spoken.part.body, PartBody::Attachment(_)) && spoken.who.kind != SpeakerKind::Tool
        };
        self.parts.iter().filter(is_file).count()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The tool's answer, where the message holds exactly one, and what may stand beside it.
    pub(super) fn only_result(&mut self) -> Option<(&ToolResult, &mut Option<Whole>)> {
        let mut results = self.parts.iter_mut().filter_map(|spoken| match &spoken.part.body {
            PartBody::ToolResult(result) => Some((result, &mut spoken.part.whole)),
            _ => None,
        });
        let only = results.next()?;
        results.next().is_none().then_some(only)
    }

    /// The turn. A tool's answer makes it the tool's, else words of the role make it the role's, else whoever speaks first
    /// that is not the program.
    pub(super) fn draft(self, meta: Meta) -> Draft {
        let speaker = self.speaker();
        let parts = self.parts.into_iter().map(|spoken| spoken.part.by(spoken.who)).collect();
        Draft::new(meta, speaker, parts)
    }

    fn speaker(&self) -> Who {
        let first = |wanted: &dyn Fn(&Who) -> bool| {
            self.parts.iter().map(|spoken| &spoken.who).find(|who| wanted(who))
        };
        let speaker = first(&|who| who.kind == SpeakerKind::Tool)
            .or_else(|| first(&|who| *who == self.role))
            .or_else(|| first(&|who| who.kind != SpeakerKind::System))
            .or_else(|| first(&|_| true));
        speaker.unwrap_or(&self.role).clone()
    }
}
