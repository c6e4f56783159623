//! What an entry is, as it stands in its record.

use std::collections::HashMap;

use sayso::model::canon::commit;
use sayso::model::{
    Address, Attachment, Compaction, Cut, Digest, EntryBody, EntryId, Hop, Kept, Mark, MarkKind, Origin,
    Outcome, OutputId, Part, PartBody, ProjectId, Quote, Salt, Seal, SessionKind, Span, Speaker, SpeakerId,
    ToolCall, ToolResult, Turn, UtcMs,
};
use sayso::store::ArchivedEntry;
use serde::{Deserialize, Serialize};

use super::reinjection::ReinjectionForm;
use super::words::{Grain, Hash, Said, Word};

/// The speakers that came before.
pub(super) type Sayers = HashMap<SpeakerId, Speaker>;

/// A body with the salts of its texts and their commitments.
pub(super) type Taken = (EntryBody, Vec<Option<Salt>>, Vec<Digest>);

#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Body {
    Turn(TurnForm),
    Compaction(CompactionForm),
    Reinjection(ReinjectionForm),
    Mark(MarkForm),
    /// Only place and hash are left.
    Erased(bool),
}

/// A text and its salt; where it was taken away, its commitment.
#[derive(Debug, Serialize, Deserialize)]
struct Text {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<Grain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    commitment: Option<Hash>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct TurnForm {
    speaker: Word<SpeakerId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_at: Option<Said>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reply_to: Option<Word<EntryId>>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    supersedes: Option<Word<EntryId>>,
    #[serde(default, skip_serializing_if = "is_zero")]
    repairs: u32,
    parts: Vec<PartForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    quote: Option<Box<QuoteForm>>,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape that serde asks for
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

#[derive(Debug, Serialize, Deserialize)]
struct PartForm {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    by: Option<Word<SpeakerId>>,
    #[serde(flatten)]
    shape: Shape,
    #[serde(flatten)]
    text: Text,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Text,
    Reasoning {
        seal: Word<Seal>,
    },
    ToolCall {
        call_id: String,
        tool: String,
    },
    ToolResult {
        call_id: String,
        tool: String,
        outcome: Word<Outcome>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Word<OutputId>>,
    },
    Attachment {
        media_type: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        output: Option<Word<OutputId>>,
    },
}

#[derive(Debug, Serialize, Deserialize)]
struct QuoteForm {
    origin: Word<Address>,
    origin_kind: Word<SessionKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    origin_channel: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    span: Option<(u32, u32)>,
    speaker: Word<SpeakerId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_at: Option<Said>,
    kept: u32,
    total: u64,
    cut: Word<Cut>,
    open_fence: bool,
    hops: Vec<HopForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    nested: Option<Word<Address>>,
    forwarded_by: Word<SpeakerId>,
    forwarded_at: i64,
    source: Hash,
    #[serde(flatten)]
    text: Text,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project_title: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    session_title: Option<Text>,
}

#[derive(Debug, Serialize, Deserialize)]
struct HopForm {
    address: Word<Address>,
    by: Word<SpeakerId>,
    at: i64,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct CompactionForm {
    speaker: Word<SpeakerId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    said_at: Option<Said>,
    through: u64,
    #[serde(flatten)]
    text: Text,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MarkForm {
    kind: Word<MarkKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    of: Option<Word<EntryId>>,
    route: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<Text>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    project: Option<Word<ProjectId>>,
}

/// The texts of a body in the order of the chain, to be written.
struct Giving<'a>(Box<dyn Iterator<Item = Text> + 'a>);

impl<'a> Giving<'a> {
    fn of(entry: &'a ArchivedEntry) -> Self {
        let texts = entry.entry.body.texts().into_iter().zip(&entry.salts).zip(&entry.commitments);
        Self(Box::new(texts.map(|((text, salt), commitment)| match salt {
            Some(salt) => Text { text: Some(text.to_owned()), salt: Some(Grain(*salt)), commitment: None },
            None => Text { text: None, salt: None, commitment: Some(Hash(*commitment)) },
        })))
    }

    fn next(&mut self) -> Text {
        self.0.next().unwrap_or(Text { text: None, salt: None, commitment: None })
    }
}

impl Body {
    pub(super) fn of(entry: &ArchivedEntry) -> Self {
        let mut texts = Giving::of(entry);
        match &entry.entry.body {
            EntryBody::Turn(turn) => Self::Turn(turn_form(turn, &mut texts)),
            EntryBody::Compaction(c) => Self::Compaction(CompactionForm {
                speaker: Word(c.speaker.id),
                said_at: c.said_at.map(Said::from),
                through: c.through,
                text: texts.next(),
            }),
            EntryBody::Reinjection(reinjection) => Self::Reinjection(ReinjectionForm::of(reinjection)),
            EntryBody::Mark(Mark { kind: MarkKind::Erased, of: None, .. }) => Self::Erased(true),
            EntryBody::Mark(mark) => Self::Mark(MarkForm {
                kind: Word(mark.kind),
                of: mark.of.map(Word),
                route: mark.route.clone(),
                title: mark.title.as_ref().map(|_| texts.next()),
                project: mark.project.map(Word),
            }),
        }
    }
}

fn turn_form(turn: &Turn, texts: &mut Giving<'_>) -> TurnForm {
    let parts = turn.parts.iter().map(|part| PartForm {
        by: part.by.as_ref().map(|s| Word(s.id)),
        shape: shape(&part.body),
        text: texts.next(),
    });
    TurnForm {
        speaker: Word(turn.speaker.id),
        said_at: turn.said_at.map(Said::from),
        reply_to: turn.reply_to.map(Word),
        supersedes: turn.supersedes.map(Word),
        repairs: turn.repairs,
        parts: parts.collect(),
        quote: turn.quote.as_ref().map(|quote| Box::new(quote_form(quote, texts))),
    }
}

fn shape(body: &PartBody) -> Shape {
    match body {
        PartBody::Text(_) => Shape::Text,
        PartBody::Reasoning(seal, _) => Shape::Reasoning { seal: Word(*seal) },
        PartBody::ToolCall(call) => {
            Shape::ToolCall { call_id: call.call_id.clone(), tool: call.tool.clone() }
        }
        PartBody::ToolResult(result) => Shape::ToolResult {
            call_id: result.call_id.clone(),
            tool: result.tool.clone(),
            outcome: Word(result.outcome),
            output: result.output.map(Word),
        },
        PartBody::Attachment(attachment) => Shape::Attachment {
            media_type: attachment.media_type.clone(),
            output: attachment.output.map(Word),
        },
    }
}

fn quote_form(q: &Quote, texts: &mut Giving<'_>) -> QuoteForm {
    let hop = |h: &Hop| HopForm { address: Word(h.address), by: Word(h.by.id), at: h.at.0 };
    QuoteForm {
        origin: Word(q.origin.address),
        origin_kind: Word(q.origin.session_kind),
        origin_channel: q.origin.channel.clone(),
        span: q.span.map(|span| (span.start(), span.len())),
        speaker: Word(q.speaker.id),
        said_at: q.said_at.map(Said::from),
        kept: q.kept,
        total: q.total,
        cut: Word(q.cut),
        open_fence: q.open_fence,
        hops: q.hops.iter().map(hop).collect(),
        nested: q.nested.map(Word),
        forwarded_by: Word(q.forwarded_by.id),
        forwarded_at: q.forwarded_at.0,
        source: Hash(q.source),
        text: texts.next(),
        project_title: q.project_title.as_ref().map(|_| texts.next()),
        session_title: q.session_title.as_ref().map(|_| texts.next()),
    }
}

/// The texts of a body as they are read, in the order of the chain.
#[derive(Default)]
struct Taking {
    salts: Vec<Option<Salt>>,
    commitments: Vec<Digest>,
}

impl Taking {
    fn text(&mut self, text: Text) -> Option<(String, Kept)> {
        match text {
            Text { text: Some(text), salt: Some(salt), commitment: None } => {
                self.salts.push(Some(salt.0));
                self.commitments.push(commit(&salt.0, text.as_bytes()));
                Some((text, Kept::Whole))
            }
            Text { text: None, salt: None, commitment: Some(commitment) } => {
                self.salts.push(None);
                self.commitments.push(commitment.0);
                Some((String::new(), Kept::Redacted))
            }
            _ => None,
        }
    }

    /// A text that may not be there at all.
    fn text_opt(&mut self, text: Option<Text>) -> Option<Option<String>> {
        match text {
            Some(text) => self.text(text).map(|(text, _)| Some(text)),
            None => Some(None),
        }
    }
}

impl Body {
    /// The body; `None` where it names a speaker that did not come before, or its values do not go together.
    pub(super) fn taken(self, sayers: &Sayers) -> Option<Taken> {
        let mut texts = Taking::default();
        let body = match self {
            Self::Turn(turn) => EntryBody::Turn(turn.taken(sayers, &mut texts)?),
            Self::Compaction(c) => {
                let (summary, kept) = texts.text(c.text)?;
                let (speaker, said_at) = (sayers.get(&c.speaker.0)?.clone(), said(c.said_at)?);
                EntryBody::Compaction(Compaction { speaker, said_at, through: c.through, summary, kept })
            }
            Self::Reinjection(reinjection) => EntryBody::Reinjection(reinjection.taken()),
            Self::Mark(mark) => EntryBody::Mark(Mark {
                kind: mark.kind.0,
                of: mark.of.map(|id| id.0),
                route: mark.route,
                title: texts.text_opt(mark.title)?,
                project: mark.project.map(|id| id.0),
            }),
            Self::Erased(_) => EntryBody::Mark(Mark::new(MarkKind::Erased, None, "")),
        };
        Some((body, texts.salts, texts.commitments))
    }
}

fn said(at: Option<Said>) -> Option<Option<sayso::model::SaidAt>> {
    match at {
        Some(at) => at.at().map(Some),
        None => Some(None),
    }
}

impl TurnForm {
    fn taken(self, sayers: &Sayers, texts: &mut Taking) -> Option<Turn> {
        let parts = self.parts.into_iter().map(|part| part.taken(sayers, texts)).collect::<Option<_>>()?;
        let quote = self.quote.map(|quote| quote.taken(sayers, texts));
        let quote = match quote {
            Some(quote) => Some(Box::new(quote?)),
            None => None,
        };
        Some(Turn {
            speaker: sayers.get(&self.speaker.0)?.clone(),
            said_at: said(self.said_at)?,
            reply_to: self.reply_to.map(|id| id.0),
            supersedes: self.supersedes.map(|id| id.0),
            repairs: self.repairs,
            parts,
            quote,
        })
    }
}

impl PartForm {
    fn taken(self, sayers: &Sayers, texts: &mut Taking) -> Option<Part> {
        let by = match self.by {
            Some(id) => Some(sayers.get(&id.0)?.clone()),
            None => None,
        };
        let (text, kept) = texts.text(self.text)?;
        let body = match self.shape {
            Shape::Text => PartBody::Text(text),
            Shape::Reasoning { seal } => PartBody::Reasoning(seal.0, text),
            Shape::ToolCall { call_id, tool } => {
                PartBody::ToolCall(ToolCall { call_id, tool, arguments: text })
            }
            Shape::ToolResult { call_id, tool, outcome, output } => {
                let output = output.map(|id| id.0);
                PartBody::ToolResult(ToolResult { call_id, tool, outcome: outcome.0, text, output })
            }
            Shape::Attachment { media_type, output } => {
                PartBody::Attachment(Attachment { media_type, name: text, output: output.map(|id| id.0) })
            }
        };
        Some(Part { by, body, kept })
    }
}

impl QuoteForm {
    fn taken(self, sayers: &Sayers, texts: &mut Taking) -> Option<Quote> {
        let sayer = |id: &Word<SpeakerId>| sayers.get(&id.0).cloned();
        let hop = |h: &HopForm| Some(Hop { address: h.address.0, by: sayer(&h.by)?, at: UtcMs(h.at) });
        let span = match self.span {
            Some((start, len)) => Some(Span::new(start, len).ok()?),
            None => None,
        };
        let (text, _) = texts.text(self.text)?;
        Some(Quote {
            origin: Origin {
                address: self.origin.0,
                session_kind: self.origin_kind.0,
                channel: self.origin_channel,
            },
            span,
            speaker: sayer(&self.speaker)?,
            said_at: said(self.said_at)?,
            text,
            project_title: texts.text_opt(self.project_title)?,
            session_title: texts.text_opt(self.session_title)?,
            kept: self.kept,
            total: self.total,
            cut: self.cut.0,
            open_fence: self.open_fence,
            hops: self.hops.iter().map(hop).collect::<Option<_>>()?,
            nested: self.nested.map(|address| address.0),
            forwarded_by: sayer(&self.forwarded_by)?,
            forwarded_at: UtcMs(self.forwarded_at),
            source: self.source.0,
        })
    }
}
