//! pi sessions, of the versions 1 (without ids) to 3, and OpenClaw's, which have the same form.

mod tree;

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};

use sayso::SpeakerKind;
use sayso_model::limits::KEY_BYTES;
use sayso_model::{MarkKind, Outcome, PartBody, SaidAt, Seal, ToolCall, ToolResult};
use serde_json::Value;

use crate::blocks::{joined, parts};
use crate::draft::{Draft, DraftPart, Meta, Source, Who, Whole};
use crate::formats::Format;
use crate::openclaw;
use crate::records::Record;
use crate::sink::{Sink, Summary, Through};
use crate::tool;
use crate::values::{named, plain, take, take_text, take_words, text};

use tree::Tree;

type Done = Result<(), sayso::Error>;

/// Reads a session.
pub(crate) struct Pi {
    format: Format,
    owner: String,
    /// The folder of the session's file.
    folder: PathBuf,
    model: Option<String>,
    /// The ordinal of every id.
    ids: HashMap<String, u64>,
    /// How many entries stood before each record, by its ordinal.
    before: Vec<usize>,
    tree: Tree,
    /// Whether the records so far were copied from the session that this one comes from.
    copying: bool,
}

impl Pi {
    pub(crate) fn new(format: Format, owner: &str, folder: &Path) -> Self {
        Self {
            format,
            owner: owner.to_owned(),
            folder: folder.to_owned(),
            model: None,
            ids: HashMap::new(),
            before: Vec::new(),
            tree: Tree::default(),
            copying: false,
        }
    }

    /// Takes the header.
    pub(crate) fn head(&mut self, header: &Record, sink: &mut Sink<'_>) {
        self.tree.head(&header.value);
        let source = named(&header.value, "parentSession").or_else(|| named(&header.value, "branchedFrom"));
        if let Some(source) = source {
            sink.comes_from(session_of(source));
            self.copying = true;
        }
    }

    /// Marks what stands on branches that were left, and what stands there no longer.
    pub(crate) fn branches(&mut self, sink: &mut Sink<'_>) -> Done {
        let (path, left) = self.tree.sides();
        path.into_iter().try_for_each(|entry| sink.stand(entry, MarkKind::Restored))?;
        left.into_iter().try_for_each(|entry| sink.stand(entry, MarkKind::Abandoned))
    }

    /// Takes one record, which may be a header.
    pub(crate) fn take(&mut self, record: Record, sink: &mut Sink<'_>) -> Done {
        let before = sink.entries();
        let id = named(&record.value, "id").map(str::to_owned);
        let parent = record.value.get("parentId").cloned();
        let unseen = record.value.pointer("/message/excludeFromContext").and_then(Value::as_bool)
            == Some(true)
            && record.value.pointer("/message/role").and_then(Value::as_str) == Some("bashExecution");
        let done = self.dispatch(record, sink);
        let entry = (sink.entries() > before).then_some(before);
        if let Some(entry) = entry.filter(|_| unseen) {
            sink.unseen(entry)?;
        }
        // What the model never saw does not come back with its branch.
        self.tree.add(id, parent.as_ref(), entry.filter(|_| !unseen));
        done
    }

    fn dispatch(&mut self, record: Record, sink: &mut Sink<'_>) -> Done {
        // A header that was not handed on stood before everything.
        let places = usize::try_from(record.ordinal).unwrap_or(usize::MAX).saturating_add(1);
        self.before.resize(places, sink.entries());
        let mut meta = self.meta(&record);
        let mut value = record.value;
        let kind = text(&value, "type").unwrap_or_default().to_owned();
        if self.copying
            && matches!(kind.as_str(), "message" | "custom_message" | "branch_summary" | "compaction")
        {
            self.copying = sink.was_copied(&meta.key)?;
            meta.copied = self.copying;
        }
        match kind.as_str() {
            "message" => return self.message(take(&mut value, "message"), meta, sink),
            "custom_message" => {
                return sink.message(Draft::new(meta, self.system(), parts(take(&mut value, "content"))));
            }
            "branch_summary" => {
                let summary = DraftPart::text(take_words(&mut value, "summary"));
                return sink.turn(Draft::new(meta, self.system(), vec![summary]));
            }
            "compaction" => return self.compaction(value, meta, sink),
            "session_info" => {
                if sink.entries() == 0 {
                    sink.title(text(&value, "name").unwrap_or_default());
                }
                sink.report.skip(&kind);
            }
            "model_change" => {
                self.model = named(&value, "modelId").map(str::to_owned).or_else(|| self.model.take());
                sink.report.skip(&kind);
            }
            "session" | "thinking_level_change" | "label" | "custom" => sink.report.skip(&kind),
            "compact" if self.is_openclaw() => sink.report.skip(&kind),
            other => sink.report.unknown(other),
        }
        Ok(())
    }

    /// A record is known by its id; where it has none, or one that stood before, by its place and its bytes.
    fn meta(&mut self, record: &Record) -> Meta {
        let id = named(&record.value, "id").filter(|id| id.len() <= KEY_BYTES / 2);
        let fresh = id.filter(|id| !self.ids.contains_key(*id));
        let name = match fresh {
            Some(id) => {
                self.ids.insert(id.to_owned(), record.ordinal);
                id.to_owned()
            }
            None => format!("{}-{}", record.ordinal, record.digest),
        };
        Meta {
            key: format!("pi:{name}"),
            said_at: said_at(&record.value),
            repairs: record.repairs,
            answers: None,
            copied: false,
        }
    }

    fn message(&self, mut message: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        let role = text(&message, "role").unwrap_or_default().to_owned();
        match role.as_str() {
            "user" if self.is_openclaw() => sink.message(openclaw::user(&self.owner, message, meta)),
            "system" if self.is_openclaw() => {
                sink.message(Draft::new(meta, self.system(), parts(take(&mut message, "content"))))
            }
            "user" => {
                let owner = Who::new(SpeakerKind::Owner, &self.owner);
                sink.message(Draft::new(meta, owner, parts(take(&mut message, "content"))))
            }
            "assistant" => sink.turn(self.assistant(message, meta)),
            "toolResult" => sink.turn(self.tool_result(message, meta)),
            "bashExecution" => sink.turn(self.bash(message, meta)),
            "custom" | "hookMessage" => {
                sink.message(Draft::new(meta, self.system(), parts(take(&mut message, "content"))))
            }
            other => {
                sink.report.unknown(&format!("message/{other}"));
                Ok(())
            }
        }
    }

    fn is_openclaw(&self) -> bool {
        matches!(self.format, Format::OpenClaw | Format::OpenClawDatabase)
    }

    fn system(&self) -> Who {
        Who::new(SpeakerKind::System, self.format.program())
    }

    fn assistant(&self, mut message: Value, meta: Meta) -> Draft {
        let speaker = match named(&message, "model") {
            Some(model) if self.is_openclaw() && openclaw::is_gateway(model) => self.system(),
            model => Who::new(SpeakerKind::Agent, model.unwrap_or(self.format.program())),
        };
        let parts = match take(&mut message, "content") {
            Value::Array(blocks) => blocks.into_iter().flat_map(spoken).collect(),
            other => parts(other),
        };
        Draft::new(meta, speaker, parts)
    }

    fn tool_result(&self, mut message: Value, meta: Meta) -> Draft {
        let outcome = match message.get("isError").and_then(Value::as_bool) {
            Some(true) => Outcome::Failed,
            Some(false) => Outcome::Ok,
            None => Outcome::Unknown,
        };
        let whole = message.get("details").and_then(|details| full_output(details, None, &self.folder));
        let (text, attached) = joined(take(&mut message, "content"));
        let tool = take_text(&mut message, "toolName");
        let call_id = take_text(&mut message, "toolCallId");
        let result = ToolResult { call_id, tool: tool.clone(), outcome, text, output: None };
        let mut result = DraftPart::new(PartBody::ToolResult(result));
        result.whole = whole;
        let parts = std::iter::once(result).chain(attached).collect();
        Draft::new(meta, Who::new(SpeakerKind::Tool, tool), parts)
    }

    /// A command that the owner gave to the shell, with what it printed.
    fn bash(&self, mut message: Value, meta: Meta) -> Draft {
        let exit = message.get("exitCode").and_then(Value::as_i64);
        let outcome = match (exit, message.get("cancelled").and_then(Value::as_bool)) {
            (None, Some(true)) => Outcome::Failed,
            (exit, _) => tool::of_exit(exit),
        };
        let whole = full_output(&message, exit, &self.folder);
        let arguments = take_words(&mut message, "command");
        let text = take_words(&mut message, "output");
        let (call_id, tool) = (String::new(), "bash".to_owned());
        let call = ToolCall { call_id: call_id.clone(), tool: tool.clone(), arguments };
        let result = ToolResult { call_id, tool: tool.clone(), outcome, text, output: None };
        let call = DraftPart::new(PartBody::ToolCall(call)).by(Who::new(SpeakerKind::Owner, &self.owner));
        let mut result = DraftPart::new(PartBody::ToolResult(result));
        result.whole = whole;
        Draft::new(meta, Who::new(SpeakerKind::Tool, tool), vec![call, result])
    }

    fn compaction(&self, mut value: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        let model = self.model.clone().unwrap_or_else(|| self.format.program().to_owned());
        let through = self.first_kept(&value).map_or(Through::Last, Through::Entries);
        let text = take_words(&mut value, "summary");
        sink.compaction(Summary { meta, speaker: Who::new(SpeakerKind::Agent, model), through, text })
    }

    /// How many entries stand before the first record that a compaction keeps.
    fn first_kept(&self, compaction: &Value) -> Option<usize> {
        let by_id = named(compaction, "firstKeptEntryId").and_then(|id| self.ids.get(id)).copied();
        let ordinal = by_id.or_else(|| compaction.get("firstKeptEntryIndex")?.as_u64())?;
        self.before.get(usize::try_from(ordinal).ok()?).copied()
    }
}

/// The id of a session by the name of its file, as pi names them: a time, `_`, and the id.
fn session_of(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let name = name.strip_suffix(".jsonl").unwrap_or(name);
    name.rsplit('_').next().unwrap_or(name)
}

fn said_at(record: &Value) -> Option<SaidAt> {
    let written = text(record, "timestamp").and_then(SaidAt::parse);
    written.or_else(|| SaidAt::new(record.pointer("/message/timestamp")?.as_i64()?, 0))
}

/// One block of an answer.
fn spoken(mut block: Value) -> Vec<DraftPart> {
    let part = match text(&block, "type") {
        Some("thinking") => PartBody::Reasoning(Seal::Open, take_words(&mut block, "thinking")),
        Some("toolCall") => PartBody::ToolCall(ToolCall {
            call_id: take_text(&mut block, "id"),
            tool: take_text(&mut block, "name"),
            arguments: plain(take(&mut block, "arguments")),
        }),
        _ => return parts(Value::Array(vec![block])),
    };
    vec![DraftPart::new(part)]
}

/// How pi names the files with everything that a command printed.
const OUTPUT_NAME: &str = "pi-bash-";

/// The file that holds everything a command printed, while it is still there: where the transcript says, else beside the
/// transcript, where it was kept along with it.
///
/// A transcript may be hostile. So only a file with the name that pi gives is taken; links are not followed, and anything
/// but a plain file is left alone, lest the importer wait on a pipe.
fn full_output(details: &Value, exit: Option<i64>, folder: &Path) -> Option<Whole> {
    let named = PathBuf::from(named(details, "fullOutputPath")?);
    let name = named.file_name().filter(|n| n.to_string_lossy().starts_with(OUTPUT_NAME))?.to_owned();
    let places = [named, folder.join(name)];
    let plain = |path: &PathBuf| path.is_absolute() && fs::symlink_metadata(path).is_ok_and(|m| m.is_file());
    let path = places.into_iter().find(plain)?;
    let exit = exit.and_then(|code| i32::try_from(code).ok());
    Some(Whole::of(Source::File(path), exit))
}
