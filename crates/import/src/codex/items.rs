//! Items: what a model was sent and gave.

use sayso::SpeakerKind;
use sayso_model::{PartBody, Seal, ToolCall, ToolResult};
use serde_json::Value;

use super::Codex;
use super::segment::{Slot, UserItem};
use crate::blocks::{attached, decode, joined, parts};
use crate::draft::{Draft, DraftPart, Meta, Who};
use crate::sink::Sink;
use crate::tool;
use crate::values::{named, plain, take, take_text, text};

type Done = Result<(), sayso::Error>;

impl Codex {
    /// Takes one item.
    pub(super) fn item(&mut self, mut item: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        let kind = text(&item, "type").unwrap_or_default().to_owned();
        match kind.as_str() {
            "message" => return self.message(item, meta, sink),
            "agent_message" => {
                let who = Who::new(SpeakerKind::Agent, take_text(&mut item, "author"));
                return self.output(Draft::new(meta, who, parts(take(&mut item, "content"))), sink);
            }
            "reasoning" => return self.output(Draft::new(meta, self.agent(), reasoning(item)), sink),
            "function_call"
            | "custom_tool_call"
            | "local_shell_call"
            | "web_search_call"
            | "tool_search_call"
            | "image_generation_call" => return self.call(&kind, item, meta, sink),
            "ghost_snapshot" | "compaction" | "context_compaction" | "compaction_summary"
            | "compaction_trigger" => sink.report.skip(&format!("response_item/{kind}")),
            _ if kind.ends_with("_output") => return self.result(&kind, item, meta, sink),
            _ => {
                // A call of a new kind was still made by the model.
                if kind.ends_with("_call") {
                    self.settle(sink)?;
                }
                sink.report.unknown(&format!("response_item/{kind}"));
            }
        }
        Ok(())
    }

    /// An output of the model ends what was held and is held itself: the whole of a tool's output may come after it.
    fn output(&mut self, draft: Draft, sink: &mut Sink<'_>) -> Done {
        self.settle(sink)?;
        self.segment.push(Slot::Ready(draft));
        Ok(())
    }

    fn message(&mut self, mut item: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        let content = take(&mut item, "content");
        match text(&item, "role") {
            Some("assistant") => return self.output(Draft::new(meta, self.agent(), parts(content)), sink),
            Some("developer" | "system") => {
                self.segment.push(Slot::Shown(Draft::new(meta, self.system(), parts(content))));
            }
            Some("user") => {
                let sources = sources(&item);
                self.segment.push(Slot::User(UserItem::new(meta, content, &sources)));
            }
            role => sink.report.unknown(&format!("response_item/message/{}", role.unwrap_or_default())),
        }
        Ok(())
    }

    fn call(&mut self, kind: &str, mut item: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        let call_id = call_id(&item);
        let name = named(&item, "name").unwrap_or_else(|| kind.trim_end_matches("_call")).to_owned();
        if !call_id.is_empty() {
            self.tools.insert(call_id.clone(), name.clone());
        }
        let mut parts = Vec::new();
        let call = ToolCall { call_id, tool: name, arguments: arguments(&mut item) };
        parts.push(DraftPart::new(PartBody::ToolCall(call)));
        if kind == "image_generation_call" {
            let image = decode(&take_text(&mut item, "result"));
            parts.extend(image.map(|bytes| attached("image/png".to_owned(), String::new(), Some(bytes))));
        }
        self.output(Draft::new(meta, self.agent(), parts), sink)
    }

    fn result(&mut self, kind: &str, mut item: Value, meta: Meta, sink: &mut Sink<'_>) -> Done {
        let call_id = call_id(&item);
        let tool = self.tools.get(&call_id).cloned().unwrap_or_default();
        let output = take(&mut item, if kind == "tool_search_output" { "tools" } else { "output" });
        let outcome_of = match &output {
            Value::Object(_) => output.clone(),
            _ => Value::Null,
        };
        let (text, attached) = match output {
            Value::Array(_) if kind != "tool_search_output" => joined(output),
            Value::Object(_) => (object_text(output), Vec::new()),
            other => (plain(other), Vec::new()),
        };
        let outcome = tool::of_output(&outcome_of, &text);
        let result = ToolResult { call_id: call_id.clone(), tool: tool.clone(), outcome, text, output: None };
        let parts = std::iter::once(DraftPart::new(PartBody::ToolResult(result))).chain(attached).collect();
        let mut draft = Draft::new(meta, Who::new(SpeakerKind::Tool, tool), parts);
        if let Some(ended) = self.wholes.take(&call_id) {
            ended.attach(&mut draft);
        }
        self.output(draft, sink)
    }
}

/// Who wrote each block, as newer versions say it: `user` or `harness`.
fn sources(item: &Value) -> Vec<Option<String>> {
    let blocks = item.pointer("/internal_chat_message_metadata_passthrough/content_item_metadata");
    let source = |block: &Value| block.pointer("/provenance/type").and_then(Value::as_str).map(str::to_owned);
    blocks.and_then(Value::as_array).map(|blocks| blocks.iter().map(source).collect()).unwrap_or_default()
}

fn call_id(item: &Value) -> String {
    named(item, "call_id").or_else(|| named(item, "id")).unwrap_or_default().to_owned()
}

/// The arguments as the model wrote them; of calls without any, what they are about.
fn arguments(item: &mut Value) -> String {
    for key in ["arguments", "input", "action", "revised_prompt"] {
        let value = take(item, key);
        if !value.is_null() {
            return plain(value);
        }
    }
    String::new()
}

fn object_text(mut output: Value) -> String {
    for key in ["content", "output"] {
        if output.get(key).is_some_and(Value::is_string) {
            return take_text(&mut output, key);
        }
    }
    output.to_string()
}

/// What can be read of the model's thoughts, and what only its provider can.
fn reasoning(mut item: Value) -> Vec<DraftPart> {
    let texts: Vec<String> = ["summary", "content"]
        .into_iter()
        .filter(|key| item.get(*key).is_some_and(|v| !v.is_null()))
        .collect::<Vec<_>>()
        .into_iter()
        .map(|key| joined(take(&mut item, key)).0)
        .filter(|text| !text.is_empty())
        .collect();
    let sealed = take_text(&mut item, "encrypted_content");
    let open = DraftPart::new(PartBody::Reasoning(Seal::Open, texts.join("\n")));
    let sealed = (!sealed.is_empty()).then(|| DraftPart::new(PartBody::Reasoning(Seal::Sealed, sealed)));
    // Where nothing can be read, the sealed form alone stands for it.
    match sealed {
        Some(sealed) if texts.is_empty() => vec![sealed],
        sealed => std::iter::once(open).chain(sealed).collect(),
    }
}
