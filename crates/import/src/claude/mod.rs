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
use sayso_model::SaidAt;
use sayso_model::limits::KEY_BYTES;
use serde_json::Value;

use crate::draft::{Draft, Meta, Who};
use crate::formats::Format;
use crate::records::Record;
use crate::sink::{Sink, Summary, Through};
use crate::values::{elements, named, plain, take, take_words, text};

use edges::Edges;
use home::Place;
use queue::{Item, Queue, Waiting};
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
        for Waiting { item, meta, .. } in self.queue.settle() {
            let meta = Meta { said_at: item.said_at.or(meta.said_at), ..meta };
            sink.message(self.queued(item).draft(meta))?;
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
        let typed = content::typed_words(&content);
        let standing = self.standing(&value, &content);
        let mut said = Said::new(&self.owner, standing, content, &self.tools);
        if let Some((result, whole)) = said.only_result() {
            *whole = results::whole(take(&mut value, "toolUseResult"), result, &self.place);
        }
        match if self.is_beside(&value) { None } else { self.queue.cover(&typed) } {
            Some(covered) => self.covered(covered, said, meta, sink),
            None => {
                let draft = said.draft(meta);
                self.title(&draft, sink);
                self.message(draft, sink)
            }
        }
    }

    /// Whose words a record of the role user holds. Where one that may start a conversation hands on a plan, it cannot be told
    /// from what the program does with a plan of the model.
    fn standing(&self, value: &Value, content: &Value) -> Standing {
        let standing = Standing::of(value, self.is_side(value));
        let told = value.get("origin").is_some_and(Value::is_object);
        let may_be_handed_on = standing == Standing::Mixed && !told && self.edges.starts();
        if may_be_handed_on && content::is_plan(content) { Standing::Program } else { standing }
    }

    fn message(&mut self, draft: Draft, sink: &mut Sink<'_>) -> Done {
        if draft.speaker.kind != SpeakerKind::System {
            self.edges.speaks();
        }
        sink.message(draft)
    }

    /// A record that shows words which waited in the queue. What of them was written before, when the record was not there
    /// yet, is not written again: the record adds the rest.
    fn covered(&mut self, covered: Vec<Waiting>, mut said: Said, meta: Meta, sink: &mut Sink<'_>) -> Done {
        let (mut known, mut files, mut others) = (None, 0, Vec::new());
        for Waiting { item, operation, meta } in covered {
            sink.report.skip(operation.word());
            let queued = self.queued(item);
            if sink.known(&meta.key)?.is_some() {
                (known, files) = (Some(meta.key), files + queued.files());
            } else {
                others.push(queued);
            }
        }
        let Some(known) = known else { return self.message(said.draft(meta), sink) };
        said.without_words(files, others);
        if said.is_empty() {
            self.edges.speaks();
            return sink.again(&known);
        }
        self.message(said.draft(meta), sink)
    }

    /// The summary after a compaction stands for everything before it, but for messages that the boundary names as kept.
    fn summary(&mut self, content: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        self.edges.speaks();
        let kept = self.kept.take().and_then(|uuid| self.edges.place_of(&uuid));
        let through = kept.map_or(Through::Last, Through::Entries);
        let text = content::typed(&content);
        let speaker =
            Who::new(SpeakerKind::Agent, self.model.as_deref().unwrap_or(Format::ClaudeCode.program()));
        sink.compaction(Summary { meta, speaker, through, text })
    }

    fn assistant(&mut self, mut value: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        if !self.is_beside(&value) {
            self.settle(sink)?;
        }
        let mut message = take(&mut value, "message");
        if !message.is_object() {
            sink.report.unknown("assistant/message");
            return Ok(());
        }
        let answer = answers::answer(&mut message, &value, &self.tools, meta);
        self.tools.extend(answer.calls);
        if answer.draft.speaker.kind == SpeakerKind::Agent {
            self.edges.speaks();
            if !self.is_beside(&value) {
                self.model = Some(answer.draft.speaker.name.clone());
            }
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
                let typed = content::typed_words(&prompt);
                let said = Said::new(&self.owner, standing, prompt, &self.tools);
                match if self.is_beside(&value) { None } else { self.queue.cover_ahead(&typed) } {
                    Some(covered) => self.covered(covered, said, meta, sink),
                    None => self.message(said.draft(meta), sink),
                }
            }
            "teammate_mailbox" => match Said::mail(mail(&mut attachment)) {
                Some(said) => self.message(said.draft(meta), sink),
                None => {
                    sink.report.skip("attachment/teammate_mailbox");
                    Ok(())
                }
            },
            known if kinds::is_attachment(known) => {
                if known == "hook_additional_context" {
                    sink.see(&hook_words(take(&mut attachment, "content")))?;
                }
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
                let said = Said::new(&self.owner, Standing::Mixed, content, &self.tools);
                return self.message(said.draft(meta), sink);
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
                self.queue.pull_back(&content::typed_words(&content), &mut sink.report);
                sink.report.skip("queue-operation/popAll");
            }
            other => sink.report.unknown(&format!("queue-operation/{other}")),
        }
    }

    /// Words that stand in the queue alone.
    fn queued(&self, item: Item) -> Said {
        Said::new(&self.owner, Standing::asked(self.place.is_agent()), item.content, &self.tools)
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

    /// Whether a record belongs to a conversation beside the file's own.
    fn is_beside(&self, value: &Value) -> bool {
        self.is_side(value) && !self.place.is_agent()
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

/// The messages of other agents that an attachment hands on: who sent each, and its text.
fn mail(attachment: &mut Value) -> Vec<(Option<String>, String)> {
    let messages = elements(take(attachment, "messages")).into_iter().map(|mut message| {
        let from = named(&message, "from").map(str::to_owned);
        (from, if message.is_object() { take_words(&mut message, "text") } else { plain(message) })
    });
    messages.filter(|(_, text)| !text.is_empty()).collect()
}

/// What a hook added to the context: a list of texts, or one.
fn hook_words(content: Value) -> String {
    match content {
        Value::Array(texts) => texts.into_iter().map(plain).collect::<Vec<_>>().join("\n"),
        other => plain(other),
    }
}

fn program() -> Who {
    Who::new(SpeakerKind::System, Format::ClaudeCode.program())
}
