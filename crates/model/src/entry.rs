//! What has a place in a session: turns, compactions, re-injections and marks.

use crate::canon::Digest;
use crate::id::{EntryId, OutputId, ProjectId, SessionId};
use crate::quote::Quote;
use crate::reinjection::Reinjection;
use crate::said::{SaidAt, UtcMs};
use crate::speaker::{Speaker, kinds};

/// One entry of a session, as it is read back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The entry's id.
    pub id: EntryId,
    /// The project of its session.
    pub project: ProjectId,
    /// Its session.
    pub session: SessionId,
    /// Its place: gap-free from 1, given by the store.
    pub seq: u64,
    /// When the ledger recorded it.
    pub recorded_at: UtcMs,
    /// The hash of its canonical form, which holds the hash of the entry before it.
    pub hash: Digest,
    /// What it is.
    pub body: EntryBody,
}

impl Entry {
    /// The turn, if the entry is one.
    #[must_use]
    pub fn turn(&self) -> Option<&Turn> {
        match &self.body {
            EntryBody::Turn(turn) => Some(turn),
            EntryBody::Compaction(_) | EntryBody::Reinjection(_) | EntryBody::Mark(_) => None,
        }
    }
}

/// What an entry is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EntryBody {
    /// A contribution by one speaker.
    Turn(Turn),
    /// A summary that stands for the entries up to a boundary; they stay.
    Compaction(Compaction),
    /// Ranges of earlier tool output that stand in the context again.
    Reinjection(Reinjection),
    /// A state that something reached.
    Mark(Mark),
}

impl EntryBody {
    /// The mark, if the entry is one.
    #[must_use]
    pub const fn mark(&self) -> Option<&Mark> {
        match self {
            Self::Mark(mark) => Some(mark),
            Self::Turn(_) | Self::Compaction(_) | Self::Reinjection(_) => None,
        }
    }

    /// Everyone who stands in it, in their order: who says it, who says its parts, whom its quote names.
    #[must_use]
    pub fn speakers(&self) -> Vec<&Speaker> {
        match self {
            Self::Turn(turn) => {
                let parts = turn.parts.iter().filter_map(|p| p.by.as_ref());
                let quote = turn.quote.iter().flat_map(|q| {
                    let hops = q.hops.iter().map(|h| &h.by);
                    [&q.speaker, &q.forwarded_by].into_iter().chain(hops)
                });
                std::iter::once(&turn.speaker).chain(parts).chain(quote).collect()
            }
            Self::Compaction(compaction) => vec![&compaction.speaker],
            Self::Mark(_) | Self::Reinjection(_) => Vec::new(),
        }
    }
}

/// One contribution by one speaker, made of ordered parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Turn {
    /// Who said it.
    pub speaker: Speaker,
    /// When, where the source knew.
    pub said_at: Option<SaidAt>,
    /// The turn it answers, where the app says so.
    pub reply_to: Option<EntryId>,
    /// The turn of the same session and speaker that it supersedes.
    pub supersedes: Option<EntryId>,
    /// How many sequences were repaired to U+FFFD on the way in.
    pub repairs: u32,
    /// The parts, in order. A turn that holds a quote has its note as its text.
    pub parts: Vec<Part>,
    /// The quote it holds.
    pub quote: Option<Box<Quote>>,
}

impl Turn {
    /// The turn's text: its text and tool result parts joined by LF. Spans count over this.
    #[must_use]
    pub fn text(&self) -> String {
        self.joined(|_| true)
    }

    /// The texts of those spoken parts that `wanted` lets through, joined by LF.
    #[must_use]
    pub fn joined(&self, wanted: impl Fn(&Part) -> bool) -> String {
        let spoken = self.parts.iter().filter(|p| wanted(p));
        let texts: Vec<&str> = spoken.filter_map(Part::spoken).collect();
        texts.join("\n")
    }

    /// Whether a text of it was taken away: of a part, or of the quote it holds (a quote is never empty otherwise).
    #[must_use]
    pub fn is_redacted(&self) -> bool {
        let quote = self.quote.as_ref().is_some_and(|q| q.text.is_empty());
        quote || self.parts.iter().any(|p| p.kept == Kept::Redacted)
    }

    /// Who says this part: its own speaker, else the turn's.
    #[must_use]
    pub fn speaker_of<'a>(&'a self, part: &'a Part) -> &'a Speaker {
        part.by.as_ref().unwrap_or(&self.speaker)
    }
}

/// One part of a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Part {
    /// Who says this part, where it is not the turn's speaker.
    pub by: Option<Speaker>,
    /// What it is.
    pub body: PartBody,
    /// Whether its text is still there.
    pub kept: Kept,
}

impl Part {
    /// The text that counts as the turn's: of text and tool results.
    #[must_use]
    pub fn spoken(&self) -> Option<&str> {
        match &self.body {
            PartBody::Text(text) => Some(text),
            PartBody::ToolResult(result) => Some(&result.text),
            PartBody::Reasoning(..) | PartBody::ToolCall(_) | PartBody::Attachment(_) => None,
        }
    }
}

/// Whether a text is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is.
    Whole,
    /// It was redacted: text and salt are gone, the commitment stays.
    Redacted,
}

/// What a part is. Each has exactly one text, which enters the chain as a commitment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PartBody {
    /// Words.
    Text(String),
    /// What a model thought, or the provider's sealed form of it.
    Reasoning(Seal, String),
    /// A call of a tool.
    ToolCall(ToolCall),
    /// What a tool answered, as the model saw it.
    ToolResult(ToolResult),
    /// A file or image.
    Attachment(Attachment),
}

impl PartBody {
    /// The one text of the part.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Text(text) | Self::Reasoning(_, text) => text,
            Self::ToolCall(call) => &call.arguments,
            Self::ToolResult(result) => &result.text,
            Self::Attachment(attachment) => &attachment.name,
        }
    }
}

impl PartBody {
    /// The one text of the part, to be taken away.
    pub fn text_mut(&mut self) -> &mut String {
        match self {
            Self::Text(text) | Self::Reasoning(_, text) => text,
            Self::ToolCall(call) => &mut call.arguments,
            Self::ToolResult(result) => &mut result.text,
            Self::Attachment(attachment) => &mut attachment.name,
        }
    }
}

kinds! {
    /// Whether reasoning can be read.
    Seal, "form of reasoning", "open, sealed" {
        /// Plain text.
        Open = "open",
        /// Opaque to everyone but the provider that made it.
        Sealed = "sealed",
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolCall {
    /// The id that the result answers to; empty where the source had none.
    pub call_id: String,
    /// The tool's name.
    pub tool: String,
    /// The arguments, as the model wrote them.
    pub arguments: String,
}

/// What a tool answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolResult {
    /// The call it answers; empty where the source had none.
    pub call_id: String,
    /// The tool's name, where the source says it; else empty.
    pub tool: String,
    /// Whether it worked, as far as the source says.
    pub outcome: Outcome,
    /// What the model saw.
    pub text: String,
    /// The whole output, where more is stored than the model saw.
    pub output: Option<OutputId>,
}

kinds! {
    /// Whether a tool call worked, as far as its source says.
    Outcome, "outcome", "ok, failed, unknown" {
        /// It worked.
        Ok = "ok",
        /// It failed.
        Failed = "failed",
        /// The source does not say.
        Unknown = "unknown",
    }
}

/// A file or image beside the words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attachment {
    /// Its media type, where known; else empty.
    pub media_type: String,
    /// Its name or reference; may be empty.
    pub name: String,
    /// Its stored bytes.
    pub output: Option<OutputId>,
}

/// A summary that now stands for the entries before a boundary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compaction {
    /// Who wrote the summary.
    pub speaker: Speaker,
    /// When, where the source knew.
    pub said_at: Option<SaidAt>,
    /// The last entry it stands for (its `seq`); 0 where it stands for none.
    pub through: u64,
    /// The summary.
    pub summary: String,
    /// Whether the summary is still there.
    pub kept: Kept,
}

/// A state that an entry, or the session itself, reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// Which state.
    pub kind: MarkKind,
    /// The entry that reached it; `None` for the session.
    pub of: Option<EntryId>,
    /// By which way, such as the name of a hook; may be empty.
    pub route: String,
    /// The title that the session has from here on, where it was renamed.
    pub title: Option<String>,
    /// The project that the session belongs to from here on, where it was moved.
    pub project: Option<ProjectId>,
}

impl Mark {
    /// A mark without a title and without a project.
    pub fn new(kind: MarkKind, of: Option<EntryId>, route: impl Into<String>) -> Self {
        Self { kind, of, route: route.into(), title: None, project: None }
    }

    /// Whether the session is closed from here on; `None` where the mark says nothing about that.
    #[must_use]
    pub const fn closes(&self) -> Option<bool> {
        match self.kind {
            MarkKind::Closed => Some(true),
            MarkKind::Reopened => Some(false),
            _ => None,
        }
    }
}

kinds! {
    /// The states that are marked.
    MarkKind, "mark", "offered, in_context, closed, reopened, rolled_back, abandoned, restored, derived, renamed, moved, \
     redacted, quote_redacted, pinned, unpinned, erased, shown, settled" {
        /// A forwarded turn was handed to a running agent.
        Offered = "offered",
        /// The agent's transcript shows the marker of a forwarded turn.
        InContext = "in_context",
        /// The session was closed: it takes no more turns.
        Closed = "closed",
        /// The session was opened again.
        Reopened = "reopened",
        /// The turn was taken back: the conversation went on as if it had not been said.
        RolledBack = "rolled_back",
        /// The turn stands on a branch that was left: the conversation went on from an earlier turn.
        Abandoned = "abandoned",
        /// A turn that was rolled back or abandoned is part of the conversation again.
        Restored = "restored",
        /// The session comes from another one, which the route names; the entry is the last that was copied from there.
        Derived = "derived",
        /// The session has another title.
        Renamed = "renamed",
        /// The session belongs to another project.
        Moved = "moved",
        /// The texts of an entry were taken away.
        Redacted = "redacted",
        /// The text of the quote that a turn holds was taken away.
        QuoteRedacted = "quote_redacted",
        /// An entry is kept at hand.
        Pinned = "pinned",
        /// It no longer is.
        Unpinned = "unpinned",
        /// An entry was erased. Without an entry it stands in the place of the one that was.
        Erased = "erased",
        /// Words of the entry were delivered to a person; the route names the channel and the part.
        Shown = "shown",
        /// The agent's work on what stood in the session by then ended, and the turn was the last one at that moment; the route
        /// names the program and its hook. It says nothing about whether anything was answered.
        Settled = "settled",
    }
}

impl MarkKind {
    /// Whether it says how far a forwarded turn got on its way to an agent.
    #[must_use]
    pub const fn is_delivery(self) -> bool {
        matches!(self, Self::Offered | Self::InContext)
    }

    /// Whether it says that a turn is part of the conversation, or no longer. Of several on one turn the last counts.
    #[must_use]
    pub const fn is_standing(self) -> bool {
        matches!(self, Self::RolledBack | Self::Abandoned | Self::Restored)
    }

    /// Whether it says that an entry is kept at hand, or no longer.
    #[must_use]
    pub const fn is_pin(self) -> bool {
        matches!(self, Self::Pinned | Self::Unpinned)
    }

    /// Whether it belongs to the session, never to an entry.
    #[must_use]
    pub const fn is_of_session(self) -> bool {
        matches!(self, Self::Closed | Self::Reopened | Self::Renamed | Self::Moved)
    }

    /// Whether it belongs to an entry, always.
    #[must_use]
    pub const fn is_of_entry(self) -> bool {
        !self.is_of_session() && !matches!(self, Self::Derived)
    }

    /// Whether a command of its own writes it, together with what it says.
    #[must_use]
    pub const fn has_command(self) -> bool {
        matches!(
            self,
            Self::Renamed | Self::Moved | Self::Redacted | Self::QuoteRedacted | Self::Erased | Self::Shown
        )
    }
}
