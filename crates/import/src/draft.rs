//! A turn as a format read it, before it has a session.

use std::path::PathBuf;

use sayso::SpeakerKind;
use sayso::store::{OutputState, StreamKind};
use sayso_model::limits::TURN_PARTS;
use sayso_model::{PartBody, SaidAt, ToolResult};

/// A speaker by kind and name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Who {
    pub(crate) kind: SpeakerKind,
    pub(crate) name: String,
}

impl Who {
    pub(crate) fn new(kind: SpeakerKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

/// What a record says about itself.
#[derive(Debug, Clone)]
pub(crate) struct Meta {
    /// The idempotency key of what becomes of it.
    pub(crate) key: String,
    pub(crate) said_at: Option<SaidAt>,
    pub(crate) repairs: u64,
    /// Which of the session's entries, in the order of the file, it answers.
    pub(crate) answers: Option<usize>,
    /// Whether the program copied it from the session that this one comes from.
    pub(crate) copied: bool,
}

/// A turn to write.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) meta: Meta,
    pub(crate) speaker: Who,
    pub(crate) parts: Vec<DraftPart>,
}

/// A part to write.
#[derive(Debug)]
pub(crate) struct DraftPart {
    /// Who says it, where that is not the turn's speaker.
    pub(crate) by: Option<Who>,
    pub(crate) body: PartBody,
    /// Bytes to store beside it.
    pub(crate) whole: Option<Whole>,
}

/// Everything a tool printed, or an attachment's bytes.
#[derive(Debug)]
pub(crate) struct Whole {
    pub(crate) exit: Option<i32>,
    pub(crate) state: OutputState,
    pub(crate) streams: Vec<(StreamKind, Source)>,
}

/// Where bytes come from.
#[derive(Debug)]
pub(crate) enum Source {
    Bytes(Vec<u8>),
    File(PathBuf),
}

impl Whole {
    /// One stream of these bytes.
    pub(crate) fn of(source: Source, exit: Option<i32>) -> Self {
        Self { exit, state: OutputState::Complete, streams: vec![(StreamKind::Stdout, source)] }
    }

    fn held_bytes(&self) -> usize {
        let held = self.streams.iter().map(|(_, source)| match source {
            Source::Bytes(bytes) => bytes.len(),
            Source::File(_) => 0,
        });
        held.sum()
    }
}

impl DraftPart {
    pub(crate) fn new(body: PartBody) -> Self {
        Self { by: None, body, whole: None }
    }

    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::new(PartBody::Text(text.into()))
    }

    pub(crate) fn by(mut self, who: Who) -> Self {
        self.by = Some(who);
        self
    }
}

impl Draft {
    pub(crate) fn new(meta: Meta, speaker: Who, parts: Vec<DraftPart>) -> Self {
        let mut draft = Self { meta, speaker, parts };
        draft.fit();
        draft
    }

    /// A message may have no content and is a turn all the same; one may have more blocks than a turn has parts, and
    /// keeps its text all the same, since parts are joined by LF when they are read.
    fn fit(&mut self) {
        if self.parts.is_empty() {
            self.parts.push(DraftPart::text(""));
        }
        if self.parts.len() <= TURN_PARTS {
            return;
        }
        let mut fitted: Vec<DraftPart> = Vec::new();
        for part in self.parts.drain(..) {
            match (fitted.last_mut(), &part.body) {
                (Some(DraftPart { by, body: PartBody::Text(text), .. }), PartBody::Text(more))
                    if *by == part.by =>
                {
                    text.push('\n');
                    text.push_str(more);
                }
                _ => fitted.push(part),
            }
        }
        self.parts = fitted;
    }

    /// The turn's text as it will be read.
    pub(crate) fn spoken(&self) -> String {
        let texts = self.parts.iter().filter_map(|part| match &part.body {
            PartBody::Text(text) => Some(text.as_str()),
            PartBody::ToolResult(result) => Some(result.text.as_str()),
            PartBody::Reasoning(..) | PartBody::ToolCall(_) | PartBody::Attachment(_) => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// The first line that a person said here.
    pub(crate) fn human_line(&self) -> Option<&str> {
        let said = |part: &&DraftPart| part.by.as_ref().unwrap_or(&self.speaker).kind == SpeakerKind::Owner;
        let texts = self.parts.iter().filter(said).filter_map(|part| match &part.body {
            PartBody::Text(text) => Some(text),
            _ => None,
        });
        texts.flat_map(|t| t.lines()).map(str::trim).find(|line| !line.is_empty())
    }

    /// The tool result in it, and the part that holds it.
    pub(crate) fn result(&mut self) -> Option<(&ToolResult, &mut Option<Whole>)> {
        self.parts.iter_mut().find_map(|part| match &part.body {
            PartBody::ToolResult(result) => Some((result, &mut part.whole)),
            _ => None,
        })
    }

    /// Commands that writing it takes.
    pub(crate) fn commands(&self) -> usize {
        1 + self.parts.iter().filter(|p| p.whole.is_some()).count()
    }

    /// Bytes that it holds.
    pub(crate) fn bytes(&self) -> usize {
        let texts = self.parts.iter().map(|p| p.body.text().len());
        let wholes = self.parts.iter().filter_map(|p| p.whole.as_ref()).map(Whole::held_bytes);
        texts.sum::<usize>() + wholes.sum::<usize>()
    }
}
