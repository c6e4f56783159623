//! Parts of turns as rows.

use sayso_model::{Attachment, Kept, OutputId, Part, PartBody, SpeakerId, ToolCall, ToolResult};

use crate::cells::{Before, Cells, Opened};
use crate::fault::Fault;

/// A part's row.
#[derive(Debug)]
pub(crate) struct PartRow {
    pub(crate) no: i64,
    pub(crate) speaker: Option<SpeakerId>,
    pub(crate) shape: Shape,
    pub(crate) text: Opened,
}

#[derive(Debug, Clone, Copy)]
enum Kind {
    Text,
    Reasoning,
    ToolCall,
    ToolResult,
    Attachment,
}

impl Kind {
    fn read(word: &str) -> Option<Self> {
        match word {
            "text" => Some(Self::Text),
            "reasoning" => Some(Self::Reasoning),
            "tool_call" => Some(Self::ToolCall),
            "tool_result" => Some(Self::ToolResult),
            "attachment" => Some(Self::Attachment),
            _ => None,
        }
    }
}

/// What a part is, without its speaker and text.
#[derive(Debug)]
pub(crate) struct Shape {
    kind: Kind,
    seal: Option<String>,
    call_id: Option<String>,
    tool: Option<String>,
    outcome: Option<String>,
    media_type: Option<String>,
    output: Option<OutputId>,
}

/// The columns of a part's row, for a `SELECT` that calls the table `p`.
macro_rules! part_columns {
    () => {
        "p.no, p.speaker, p.kind, p.seal, p.call_id, p.tool, p.outcome, p.media_type, p.output, \
         p.salt, p.commitment, p.text"
    };
}
pub(crate) use part_columns;

impl PartRow {
    pub(crate) fn read(c: &mut Cells<'_>, by: &mut Before<SpeakerId>) -> Result<Option<Self>, Fault> {
        let Some(no) = c.int_opt()? else { return Ok(None) };
        let speaker = c.parse_again(by)?;
        let shape = Shape {
            kind: c.word(Kind::read)?,
            seal: c.text_opt()?,
            call_id: c.text_opt()?,
            tool: c.text_opt()?,
            outcome: c.text_opt()?,
            media_type: c.text_opt()?,
            output: c.parse_opt()?,
        };
        Ok(Some(Self { no, speaker, shape, text: c.opened()? }))
    }
}

impl Shape {
    /// The body with this text; `None` where the columns do not go together.
    pub(crate) fn into_body(self, text: String) -> Option<PartBody> {
        match self.kind {
            Kind::Text => Some(PartBody::Text(text)),
            Kind::Reasoning => Some(PartBody::Reasoning(self.seal?.parse().ok()?, text)),
            Kind::ToolCall => Some(PartBody::ToolCall(ToolCall {
                call_id: self.call_id?,
                tool: self.tool?,
                arguments: text,
            })),
            Kind::ToolResult => Some(PartBody::ToolResult(ToolResult {
                call_id: self.call_id?,
                tool: self.tool?,
                outcome: self.outcome?.parse().ok()?,
                text,
                output: self.output,
            })),
            Kind::Attachment => Some(PartBody::Attachment(Attachment {
                media_type: self.media_type?,
                name: text,
                output: self.output,
            })),
        }
    }
}

/// The columns that a part's body fills beside its text.
#[derive(Debug, Default)]
pub(crate) struct PartCells<'a> {
    pub(crate) kind: &'static str,
    pub(crate) seal: Option<&'static str>,
    pub(crate) call_id: Option<&'a str>,
    pub(crate) tool: Option<&'a str>,
    pub(crate) outcome: Option<&'static str>,
    pub(crate) media_type: Option<&'a str>,
    pub(crate) output: Option<OutputId>,
}

impl<'a> PartCells<'a> {
    pub(crate) fn of(part: &'a Part) -> Self {
        match &part.body {
            PartBody::Text(_) => Self { kind: "text", ..Self::default() },
            PartBody::Reasoning(seal, _) => {
                Self { kind: "reasoning", seal: Some(seal.as_str()), ..Self::default() }
            }
            PartBody::ToolCall(call) => Self {
                kind: "tool_call",
                call_id: Some(&call.call_id),
                tool: Some(&call.tool),
                ..Self::default()
            },
            PartBody::ToolResult(result) => Self {
                kind: "tool_result",
                call_id: Some(&result.call_id),
                tool: Some(&result.tool),
                outcome: Some(result.outcome.as_str()),
                output: result.output,
                ..Self::default()
            },
            PartBody::Attachment(attachment) => Self {
                kind: "attachment",
                media_type: Some(&attachment.media_type),
                output: attachment.output,
                ..Self::default()
            },
        }
    }
}

/// A text that may have been redacted.
pub(crate) fn kept(text: Option<String>) -> (String, Kept) {
    match text {
        Some(text) => (text, Kept::Whole),
        None => (String::new(), Kept::Redacted),
    }
}
