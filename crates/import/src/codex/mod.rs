//! Codex rollouts.
//!
//! The items that a model was sent and gave are what is imported; events only tell which of the user items a person
//! wrote. A person's words are announced near their item, before or after it, so the records between two outputs of the
//! model are held together until the next output comes: a [`segment`].

mod events;
mod fork;
mod items;
mod outputs;
mod segment;

use std::collections::HashMap;

use sayso::SpeakerKind;
use sayso_model::SaidAt;
use serde_json::Value;

use crate::draft::{Meta, Who};
use crate::formats::Format;
use crate::records::Record;
use crate::sink::{Sink, Through};
use crate::values::{elements, named, take, take_words, text};

use events::Announced;
use fork::Fork;
use outputs::Wholes;
use segment::{Segment, Slot};

/// Reads a rollout.
pub(crate) struct Codex {
    format: Format,
    owner: String,
    model: Option<String>,
    /// The tools of the calls so far, by the calls' ids.
    tools: HashMap<String, String>,
    wholes: Wholes,
    segment: Segment,
    fork: Fork,
}

impl Codex {
    pub(crate) fn new(format: Format, owner: &str) -> Self {
        Self {
            format,
            owner: owner.to_owned(),
            model: None,
            tools: HashMap::new(),
            wholes: Wholes::default(),
            segment: Segment::default(),
            fork: Fork::default(),
        }
    }

    /// Takes the header.
    pub(crate) fn head(&mut self, header: &Record, sink: &mut Sink<'_>) {
        let payload = header.value.get("payload").unwrap_or(&header.value);
        self.fork = Fork::of(payload);
        sink.comes_from(&Fork::source(payload).unwrap_or_default());
    }

    /// Takes one record behind the header.
    pub(crate) fn take(&mut self, record: Record, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        let mut meta = meta(&record);
        meta.copied = self.fork.copied(&record.value, meta.said_at);
        let value = record.value;
        match self.format {
            Format::CodexFlat => self.bare(value, meta, sink),
            _ => self.envelope(value, meta, sink),
        }
    }

    /// Writes what is held.
    pub(crate) fn settle(&mut self, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.segment.settle(&self.owner, sink)
    }

    fn bare(&mut self, value: Value, meta: Meta, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        if text(&value, "record_type") == Some("state") {
            sink.report.skip("state");
            return Ok(());
        }
        self.item(value, meta, sink)
    }

    fn envelope(&mut self, mut value: Value, meta: Meta, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        let payload = take(&mut value, "payload");
        let kind = text(&value, "type").unwrap_or_default();
        match kind {
            // The compaction itself holds the summary too.
            "response_item" if is_summary(&value) => sink.report.skip("response_item/compaction_output"),
            "response_item" => return self.item(payload, meta, sink),
            "event_msg" => self.event(payload, meta, sink),
            "compacted" => self.compacted(payload, meta),
            "turn_context" => {
                self.model = named(&payload, "model").map(str::to_owned).or_else(|| self.model.take());
                sink.report.skip(kind);
            }
            "session_meta"
            | "world_state"
            | "inter_agent_communication"
            | "inter_agent_communication_metadata"
            | "token_usage_record" => sink.report.skip(kind),
            other => sink.report.unknown(other),
        }
        Ok(())
    }

    fn event(&mut self, mut payload: Value, meta: Meta, sink: &mut Sink<'_>) {
        let kind = text(&payload, "type").unwrap_or_default().to_owned();
        if !events::is_known(&kind) {
            return sink.report.unknown(&format!("event_msg/{kind}"));
        }
        if let Some(announced) = Announced::of(&kind, &mut payload) {
            return self.segment.push(Slot::Said(announced, meta));
        }
        if let Some(turns) = events::rolled_back(&kind, &payload) {
            self.segment.push(Slot::RolledBack(turns));
        }
        if let Some((call, whole)) = outputs::ended(&kind, &mut payload)
            && let Some(whole) = self.segment.offer(&call, whole)
        {
            self.wholes.keep(call, whole);
        }
        sink.report.skip(&format!("event_msg/{kind}"));
    }

    fn compacted(&mut self, mut payload: Value, meta: Meta) {
        let summary = take_words(&mut payload, "message");
        let summary = if summary.is_empty() {
            last_summary(take(&mut payload, "replacement_history"))
        } else {
            summary
        };
        let speaker = self.agent();
        self.segment.push(Slot::Compacted(crate::sink::Summary {
            meta,
            speaker,
            through: Through::Last,
            text: summary,
        }));
    }

    fn agent(&self) -> Who {
        Who::new(SpeakerKind::Agent, self.model.clone().unwrap_or_else(|| self.format.program().to_owned()))
    }

    fn system(&self) -> Who {
        Who::new(SpeakerKind::System, self.format.program())
    }
}

/// The words of the last message of a new history, where they are a summary and not just the last thing said.
fn last_summary(history: Value) -> String {
    let messages: Vec<(bool, String)> = elements(history).into_iter().filter_map(told).collect();
    let starts = ["Another language model", "<summary", "Summary", "# Summary", "## Summary"];
    match messages.last() {
        Some((by_model, words)) if *by_model || starts.iter().any(|s| words.trim_start().starts_with(s)) => {
            words.clone()
        }
        // The summary itself is sealed: what stands beside it is all that can be read of what the model goes on with.
        _ => messages.into_iter().map(|(_, words)| words).collect::<Vec<_>>().join("\n\n"),
    }
}

/// The words of a message of a history, and whether the model said them.
fn told(mut item: Value) -> Option<(bool, String)> {
    let message = text(&item, "type") == Some("message");
    let by_model = text(&item, "role") == Some("assistant");
    let (words, _) = crate::blocks::joined(take(&mut item, "content"));
    (message && !words.is_empty()).then_some((by_model, words))
}

/// Items have no lasting ids of their own, so a record is known by its place and its bytes.
fn meta(record: &Record) -> Meta {
    Meta {
        key: format!("codex:{}-{}", record.ordinal, record.digest),
        said_at: text(&record.value, "timestamp").and_then(SaidAt::parse),
        repairs: record.repairs,
        answers: None,
        copied: false,
    }
}

/// Whether a record says of itself that a compaction wrote it.
fn is_summary(record: &Value) -> bool {
    record.pointer("/metadata/compaction_output").and_then(Value::as_bool) == Some(true)
}
