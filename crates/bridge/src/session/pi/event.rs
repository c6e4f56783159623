//! What pi says.

use sayso_output::envelope::{Envelope, Purpose, Received};
use sayso_relay::port::{Call, Outcome, RequestId, SessionEvent, Stop};
use serde::Deserialize;
use serde_json::Value;

use super::Response;
use crate::session::headed;

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Event {
    Response(Response),
    AgentStart,
    AgentEnd,
    MessageStart {
        message: Message,
    },
    MessageEnd {
        message: Message,
    },
    ToolExecutionEnd(ToolEnd),
    CompactionStart,
    CompactionEnd,
    AutoRetryStart,
    AutoRetryEnd,
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "role", rename_all = "camelCase")]
pub(super) enum Message {
    User {
        content: Content,
    },
    #[serde(rename_all = "camelCase")]
    Assistant {
        content: Content,
        stop_reason: String,
    },
    #[serde(other)]
    Other,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Content {
    Text(String),
    Blocks(Vec<Block>),
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase")]
pub(super) enum Block {
    Text {
        text: String,
    },
    ToolCall {
        id: String,
        name: String,
        #[serde(default)]
        arguments: Value,
    },
    #[serde(other)]
    Other,
}

impl Content {
    fn texts(&self) -> Vec<&str> {
        match self {
            Self::Text(text) => vec![text],
            Self::Blocks(blocks) => blocks.iter().filter_map(Block::text).collect(),
        }
    }

    pub(super) fn text(&self) -> String {
        self.texts().concat()
    }

    fn calls(&self) -> Vec<Call> {
        let Self::Blocks(blocks) = self else { return Vec::new() };
        blocks.iter().filter_map(Block::call).collect()
    }
}

impl Block {
    fn text(&self) -> Option<&str> {
        match self {
            Self::Text { text } => Some(text),
            _ => None,
        }
    }

    fn call(&self) -> Option<Call> {
        let Self::ToolCall { id, name, arguments } = self else { return None };
        Some(Call { id: id.clone(), tool: name.clone(), arguments: arguments.to_string() })
    }
}

impl Message {
    /// Whether it is the user's, with the words of this request.
    pub(super) fn carries(&self, request: RequestId) -> bool {
        matches!(self, Self::User { content } if headed(&content.text()) == Some(request))
    }

    /// The end of a message of the agent's, on a request.
    pub(super) fn ended(&self, request: Option<RequestId>) -> Option<SessionEvent> {
        let Self::Assistant { content, stop_reason } = self else { return None };
        let stop = match stop_reason.as_str() {
            "toolUse" => Stop::ToolCall,
            "aborted" => Stop::Aborted,
            "error" => Stop::Error,
            // `length`: it broke off for its length, and nothing more comes.
            _ => Stop::Stop,
        };
        let text_parts = content.texts().into_iter().map(str::to_owned).collect();
        Some(SessionEvent::Ended { request, message: None, text_parts, calls: content.calls(), stop })
    }
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ToolEnd {
    tool_call_id: String,
    tool_name: String,
    result: Option<ToolResult>,
    #[serde(default)]
    is_error: bool,
}

#[derive(Debug, Deserialize)]
struct ToolResult {
    content: Option<Content>,
    details: Option<Details>,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Details {
    Ours { sayso: Handed },
    Others(serde::de::IgnoredAny),
}

/// What `sayso run --json` tells of a command.
#[derive(Debug, Default, Deserialize)]
struct Handed {
    /// The texts that the command handed over for the person.
    texts: Vec<Text>,
    /// The stored output that holds all that came of it.
    output: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Text {
    person: Option<String>,
    purpose: Option<String>,
}

impl ToolEnd {
    /// What came of a tool, for its two recipients: the model has seen the content, the person is to see what was handed over for
    /// them, in order.
    pub(super) fn result(self, request: Option<RequestId>) -> SessionEvent {
        let model =
            self.result.as_ref().and_then(|r| r.content.as_ref()).map(Content::text).unwrap_or_default();
        let handed = match self.result.and_then(|result| result.details) {
            Some(Details::Ours { sayso }) => sayso,
            Some(Details::Others(_)) | None => Handed::default(),
        };
        let purpose = handed.texts.iter().find_map(|one| Purpose::parse(one.purpose.as_deref()?));
        let person: Vec<&str> = handed.texts.iter().filter_map(|one| one.person.as_deref()).collect();
        let envelope = Envelope::received(&model, &person.join("\n\n"), purpose.unwrap_or_default());
        SessionEvent::ToolResult {
            request,
            call: self.tool_call_id,
            tool: self.tool_name,
            outcome: if self.is_error { Outcome::Failed } else { Outcome::Ok },
            result: envelope.map_or(Received::Truncated(model), Received::Whole),
            output: handed.output.and_then(|id| id.parse().ok()),
        }
    }
}

/// Reads anything as a line of pi, for tests; whether it is one.
#[cfg(feature = "rehearsal")]
#[doc(hidden)]
#[must_use]
pub fn any_event(line: &str) -> bool {
    match crate::json::read::<Event>(line) {
        Ok((Event::MessageEnd { message }, _)) => message.ended(None).is_some(),
        Ok((Event::ToolExecutionEnd(tool), _)) => {
            matches!(tool.result(None), SessionEvent::ToolResult { .. })
        }
        read => read.is_ok(),
    }
}
