//! Claude Code sessions; the rules stand on the page [`crate::mapping::claude_code`].

mod answers;
mod content;
mod edges;
pub(crate) mod home;
mod kinds;
mod queue;
mod results;
mod said;
mod words;

use std::collections::HashMap;
use std::path::Path;

use sayso::SpeakerKind;
use sayso_model::limits::KEY_BYTES;
use sayso_model::{PartBody, SaidAt};
use serde_json::Value;

use crate::draft::{Draft, Meta, Who};
use crate::formats::Format;
use crate::records::Record;
use crate::sink::{Sink, Summary, Through};
use crate::values::{named, take, text};

use edges::Edges;
use home::Place;
use queue::{Item, Queue};
use said::{Said, Standing};

type Done = Result<(), sayso::Error>;

/// Reads a session, or what a sub-agent did.
pub(crate) struct Claude {
    owner: String,
    place: Place,
    edges: Edges,
    queue: Queue,
    /// The tools of the calls so far, by the calls' ids.
    tools: HashMap<String, String>,
    /// The model that spoke last in the session itself.
    model: Option<String>,
    /// The first record that the next summary does not stand for.
    kept: Option<String>,
}

impl Claude {
    pub(crate) fn new(owner: &str, path: &Path) -> Self {
        Self {
            owner: owner.to_owned(),
            place: Place::of(path),
            edges: Edges::default(),
            queue: Queue::default(),
            tools: HashMap::new(),
            model: None,
            kept: None,
        }
    }

    /// Takes one record.
    pub(crate) fn take(&mut self, record: Record, sink: &mut Sink<'_>) -> Done {
        if record.ordinal == 0 && self.place.is_agent() {
            sink.title(&self.place.title().unwrap_or_default());
            sink.comes_from(&self.place.caller(&record.value).unwrap_or_default());
        }
        let side = self.edges.enter(&record.value, self.place.is_agent());
        sink.turn_to(side.as_deref())?;
        let before = sink.entries();
        let meta = self.meta(&record);
        let uuid = named(&record.value, "uuid").map(str::to_owned);
        let done = self.dispatch(record.value, meta, sink);
        // A record that is no turn hands on what its child answers.
        self.edges.leave(uuid, side, (sink.entries() > before).then(|| sink.entries() - 1));
        done
    }

    /// Writes what waits.
    pub(crate) fn settle(&mut self, sink: &mut Sink<'_>) -> Done {
        sink.turn_to(None)?;
        for waiting in self.queue.settle() {
            let draft = self.queued(waiting.item, waiting.meta);
            sink.message(draft)?;
        }
        Ok(())
    }

    fn dispatch(&mut self, mut value: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "user" => return self.user(value, meta, sink),
            "assistant" => return self.assistant(value, meta, sink),
            "attachment" => return self.attachment(value, meta, sink),
            "system" => return self.system_record(value, meta, sink),
            "queue-operation" => self.queue_operation(&mut value, meta, sink),
            "progress" => progress(&value, sink),
            "custom-title" | "ai-title" if sink.entries() == 0 => {
                let key = if kind == "ai-title" { "aiTitle" } else { "customTitle" };
                sink.title(text(&value, key).unwrap_or_default());
                sink.report.skip(&kind);
            }
            known if kinds::is_record(known) => sink.report.skip(known),
            other => sink.report.unknown(other),
        }
        Ok(())
    }

    /// A record is known by its uuid; where it has none, or one that stood before, by its place and its bytes.
    fn meta(&self, record: &Record) -> Meta {
        let uuid = named(&record.value, "uuid").filter(|id| id.len() <= KEY_BYTES / 2);
        let name = match uuid.filter(|id| !self.edges.has(id)) {
            Some(uuid) => uuid.to_owned(),
            None => format!("{}-{}", record.ordinal, record.digest),
        };
        Meta {
            key: format!("{}:{name}", Format::ClaudeCode.word()),
            said_at: text(&record.value, "timestamp").and_then(SaidAt::parse),
            repairs: record.repairs,
            answers: self.edges.answered(),
            copied: false,
        }
    }

    fn user(&mut self, mut value: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        let Some(content) = said::content(&mut value) else {
            sink.report.unknown("user/message");
            return Ok(());
        };
        if value.get("isCompactSummary").and_then(Value::as_bool) == Some(true) {
            return self.summary(content, meta, sink);
        }
        let typed = content::typed(&content);
        let standing = Standing::of(&value, self.is_side(&value));
        let mut said = Said::new(&self.owner, standing, content, &self.tools);
        if let Some((result, whole)) = said.only_result() {
            *whole = results::whole(take(&mut value, "toolUseResult"), result, &self.place);
        }
        let draft = said.draft(meta);
        self.title(&draft, sink);
        let covered = if self.is_side(&value) { None } else { self.queue.cover(&typed) };
        match covered {
            Some(covered) => self.covered(covered, draft, sink),
            None => sink.message(draft),
        }
    }

    /// A record that shows words which waited in the queue. Where those were written before, when the record was not
    /// there yet, it adds nothing but its files.
    fn covered(&self, covered: Vec<queue::Waiting>, mut draft: Draft, sink: &mut Sink<'_>) -> Done {
        let mut written = false;
        for waiting in covered {
            written |= sink.known(&waiting.meta.key)?.is_some();
            sink.report.skip(waiting.operation.word());
        }
        if written {
            draft.parts.retain(|part| !matches!(part.body, PartBody::Text(_)));
        }
        if draft.parts.is_empty() {
            sink.report.turns_known += 1;
            return Ok(());
        }
        sink.message(draft)
    }

    /// The summary after a compaction stands for everything before it, but for messages that the boundary names as kept.
    fn summary(&mut self, content: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        let kept = self.kept.take().and_then(|uuid| self.edges.place_of(&uuid));
        let through = kept.map_or(Through::Last, Through::Entries);
        let text = content::typed(&content);
        let speaker =
            Who::new(SpeakerKind::Agent, self.model.as_deref().unwrap_or(Format::ClaudeCode.program()));
        sink.compaction(Summary { meta, speaker, through, text })
    }

    fn assistant(&mut self, mut value: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        if !self.is_side(&value) {
            self.settle(sink)?;
        }
        let mut message = take(&mut value, "message");
        if !message.is_object() {
            sink.report.unknown("assistant/message");
            return Ok(());
        }
        let answer = answers::answer(&mut message, &value, meta);
        self.tools.extend(answer.calls);
        if answer.draft.speaker.kind == SpeakerKind::Agent && !self.is_side(&value) {
            self.model = Some(answer.draft.speaker.name.clone());
        }
        sink.turn(answer.draft)
    }

    fn attachment(&mut self, mut value: Value, mut meta: Meta, sink: &mut Sink<'_>) -> Done {
        let mut attachment = take(&mut value, "attachment");
        let kind = text(&attachment, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "queued_command" => {
                let standing = Standing::of(&attachment, self.is_side(&value));
                meta.said_at = text(&attachment, "timestamp").and_then(SaidAt::parse).or(meta.said_at);
                let prompt = take(&mut attachment, "prompt");
                let typed = content::typed(&prompt);
                let draft = Said::new(&self.owner, standing, prompt, &self.tools).draft(meta);
                match self.queue.cover_ahead(&typed) {
                    Some(covered) => self.covered(covered, draft, sink),
                    None => sink.message(draft),
                }
            }
            known if kinds::is_attachment(known) => {
                sink.report.skip(&format!("attachment/{known}"));
                Ok(())
            }
            other => {
                sink.report.unknown(&format!("attachment/{other}"));
                Ok(())
            }
        }
    }

    fn system_record(&mut self, mut value: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        match text(&value, "subtype") {
            Some("local_command") => {
                let content = take(&mut value, "content");
                return sink
                    .message(Said::new(&self.owner, Standing::Mixed, content, &self.tools).draft(meta));
            }
            Some("compact_boundary") => {
                let kept = value.pointer("/compactMetadata/preservedSegment/headUuid");
                self.kept = kept.and_then(Value::as_str).map(str::to_owned);
                sink.report.skip("system/compact_boundary");
            }
            Some(known) if kinds::is_system(known) => sink.report.skip(&format!("system/{known}")),
            // Lines about hooks, as older versions wrote them.
            None => sink.report.skip("system"),
            Some(other) => sink.report.unknown(&format!("system/{other}")),
        }
        Ok(())
    }

    fn queue_operation(&mut self, value: &mut Value, meta: Meta, sink: &mut Sink<'_>) {
        let content = take(value, "content");
        let operation = text(value, "operation").unwrap_or_default();
        match operation {
            "enqueue" => {
                self.queue.enqueue(Item { said_at: meta.said_at, content });
                sink.report.skip("queue-operation/enqueue");
            }
            "dequeue" => self.queue.consume(queue::Operation::Dequeue, meta, &mut sink.report),
            "remove" => self.queue.consume(queue::Operation::Remove, meta, &mut sink.report),
            "popAll" => {
                self.queue.pull_back(&content::typed(&content), &mut sink.report);
                sink.report.skip("queue-operation/popAll");
            }
            other => sink.report.unknown(&format!("queue-operation/{other}")),
        }
    }

    /// Words that stand in the queue alone.
    fn queued(&self, item: Item, meta: Meta) -> Draft {
        let meta = Meta { said_at: item.said_at.or(meta.said_at), ..meta };
        Said::new(&self.owner, Standing::Mixed, item.content, &self.tools).draft(meta)
    }

    /// What a sub-agent was asked is what its conversation is called.
    fn title(&self, draft: &Draft, sink: &mut Sink<'_>) {
        if sink.entries() > 0 || draft.speaker.kind != SpeakerKind::Agent {
            return;
        }
        let said = draft.spoken();
        let line = said.lines().map(str::trim).find(|line| !line.is_empty());
        sink.title(line.unwrap_or_default());
    }

    /// Whether a record belongs to a sub-agent, whose messages of the role user are by the agent that called it.
    fn is_side(&self, value: &Value) -> bool {
        self.place.is_agent() || value.get("isSidechain").and_then(Value::as_bool) == Some(true)
    }
}

fn progress(value: &Value, sink: &mut Sink<'_>) {
    match value.pointer("/data/type").and_then(Value::as_str) {
        Some(kind) if kinds::is_progress(kind) => sink.report.skip(&format!("progress/{kind}")),
        None => sink.report.skip("progress"),
        Some(other) => sink.report.unknown(&format!("progress/{other}")),
    }
}

fn program() -> Who {
    Who::new(SpeakerKind::System, Format::ClaudeCode.program())
}
