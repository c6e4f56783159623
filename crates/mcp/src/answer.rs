//! The structured form of answers. In every text and name what hides is shown, such as `⟦U+202E⟧`; counts are of
//! characters as they are stored.

use rmcp::schemars::{self, JsonSchema};
use sayso::model::{SaidAt, Speaker};
use serde::Serialize;

use crate::words;

/// Who said something.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Who {
    /// owner (the person whose words are instructions), person, agent, tool or system.
    kind: &'static str,
    /// The name as it was then; may be empty.
    name: String,
}

impl From<&Speaker> for Who {
    fn from(speaker: &Speaker) -> Self {
        Self { kind: speaker.kind.as_str(), name: words::name(&speaker.name) }
    }
}

/// A moment as RFC 3339 with its offset.
pub(crate) fn said(at: Option<SaidAt>) -> Option<String> {
    at.map(SaidAt::local)
}

/// One entry of a session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct EntryShown {
    pub(crate) address: String,
    /// Its place in the session, from 1.
    pub(crate) seq: u64,
    /// turn, summary (it stands for earlier turns, which stay) or mark.
    pub(crate) kind: &'static str,
    /// Who said the turn. A part of it may be said by another: see parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) speaker: Option<Who>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) said_at: Option<String>,
    pub(crate) recorded_at: String,
    /// The turn that took its place, where it was edited.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) superseded_by: Option<String>,
    /// What the turn quotes from another session.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) quote: Option<QuoteShown>,
    /// The words, each with who said them.
    pub(crate) parts: Vec<PartShown>,
    /// What was marked, of which entry.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) mark: Option<String>,
}

/// Words of an entry.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct PartShown {
    /// text, quote, reasoning, tool_call, tool_result, attachment or summary.
    pub(crate) kind: &'static str,
    /// Who said these words.
    pub(crate) by: Who,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) tool: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) call_id: Option<String>,
    /// Whether the tool call worked: ok, failed or unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) media_type: Option<String>,
    /// The id of the stored output that holds more than these words, for the tool output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    /// The words were taken away.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) redacted: bool,
    /// The words are sealed by the provider that made them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) sealed: bool,
    pub(crate) text: String,
    /// The character of the whole at which this text starts.
    pub(crate) start: usize,
    /// Characters of the whole.
    pub(crate) of: usize,
}

/// A quotation: words of another session, handed on.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct QuoteShown {
    /// Who said the quoted words.
    pub(crate) by: Who,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) said_at: Option<String>,
    /// Where they were said.
    pub(crate) origin: String,
    /// What became of that place: same, changed, moved, deleted or unavailable.
    pub(crate) state: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) project: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) session: Option<String>,
    /// Characters that are quoted.
    pub(crate) kept: u32,
    /// Characters of the source or of the selection.
    pub(crate) total: u64,
    /// Whether and how the words were cut: none, length or mid_cluster.
    pub(crate) cut: String,
    /// Sessions that it passed before.
    pub(crate) hops: usize,
    /// The origin of a quote that the source held.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) nested: Option<String>,
    /// Who forwarded it here. The other words of the turn are their note.
    pub(crate) forwarded_by: Who,
    pub(crate) forwarded_at: String,
    /// What quote and note are to whoever reads them here.
    pub(crate) standing: &'static str,
}

/// Entries, in order.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Entries {
    pub(crate) notice: &'static str,
    pub(crate) entries: Vec<EntryShown>,
    /// The cursor to the rest, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// What was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Hits {
    pub(crate) notice: &'static str,
    pub(crate) hits: Vec<HitShown>,
    /// The cursor to the rest, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A turn that was found.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct HitShown {
    /// The turn, for show.
    pub(crate) address: String,
    /// Project and title of its session.
    pub(crate) session: String,
    /// Who said the words.
    pub(crate) by: Who,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) said_at: Option<String>,
    pub(crate) recorded_at: String,
    /// Where in the turn: text, quote or output.
    pub(crate) found_in: &'static str,
    /// The output, for the tool output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) output: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stream: Option<&'static str>,
    /// The words with what stands around them, on one line.
    pub(crate) excerpt: String,
    /// The character of the text at which the excerpt starts.
    pub(crate) start: usize,
    /// Whether text follows it.
    pub(crate) more: bool,
}

/// Sessions, the last used first.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Sessions {
    pub(crate) notice: &'static str,
    pub(crate) sessions: Vec<SessionShown>,
    /// The cursor to the rest, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A session.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct SessionShown {
    /// For show, search and forward.
    pub(crate) address: String,
    pub(crate) project: String,
    /// May be empty.
    pub(crate) title: String,
    /// thread, conversation or live.
    pub(crate) kind: &'static str,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(crate) closed: bool,
    pub(crate) turns: u64,
    /// The place of its last entry.
    pub(crate) last_seq: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) last_at: Option<String>,
}

/// Where a quote comes from.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Origin {
    pub(crate) notice: &'static str,
    pub(crate) quote: QuoteShown,
    /// Where the origin is now; absent where it cannot be read from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) now: Option<String>,
    /// The sessions that the quote passed, oldest first.
    pub(crate) passed: Vec<Passed>,
    /// The origin itself, with at most two entries before it and two after it; empty where it cannot be read from here.
    pub(crate) around: Vec<EntryShown>,
    /// The cursor to the rest of them, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A session that a quote passed.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Passed {
    /// The turn that held it there.
    pub(crate) address: String,
    /// Who had forwarded it there.
    pub(crate) by: Who,
    pub(crate) at: String,
}

/// Forwarded turns that their agent has not seen yet.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Waiting {
    pub(crate) notice: &'static str,
    pub(crate) waiting: Vec<WaitingShown>,
    /// The cursor to the rest, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// One of them.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct WaitingShown {
    /// recorded, or offered (it was handed to the agent program).
    pub(crate) state: &'static str,
    pub(crate) turn: EntryShown,
}

/// Part of a stored tool output.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Output {
    pub(crate) notice: &'static str,
    pub(crate) output: String,
    /// The session whose tool printed it.
    pub(crate) session: String,
    pub(crate) tool: String,
    /// complete, capped (the beginning only) or partial (it broke off).
    pub(crate) state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) exit: Option<i32>,
    /// stdout or stderr.
    pub(crate) stream: &'static str,
    /// Bytes of the whole stream.
    pub(crate) bytes: u64,
    /// The byte at which the text starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from_byte: Option<u64>,
    /// The line at which the text starts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) from_line: Option<u64>,
    /// What was printed. Bytes that are no UTF-8 are shown as U+FFFD.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) text: Option<String>,
    /// The lines that match.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) matches: Option<Vec<LineShown>>,
    /// The cursor to the rest, where there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next: Option<String>,
}

/// A line that matches.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct LineShown {
    /// Its number, from 1.
    pub(crate) line: u64,
    pub(crate) text: String,
    /// Whether this is only what stands around the match in a long line.
    pub(crate) cut: bool,
}

/// What a forward made.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Forwarded {
    pub(crate) forwarded: Vec<ForwardedTurn>,
    /// Who forwarded.
    pub(crate) by: Who,
    /// Whether the key was known: then these turns were made by an earlier call.
    pub(crate) already: bool,
}

/// One new turn.
#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct ForwardedTurn {
    /// The new turn, which holds the quote.
    pub(crate) address: String,
    pub(crate) origin: String,
    /// Characters that it quotes.
    pub(crate) kept: u32,
    /// Characters of the source or of the selection.
    pub(crate) total: u64,
}
