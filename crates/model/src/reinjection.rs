//! Re-injections: which ranges of earlier tool output stand in the context again. They hold references, never text.

use crate::entry::Outcome;
use crate::id::{EntryId, OutputId};
use crate::said::UtcMs;
use crate::speaker::kinds;

/// Ranges of earlier tool output that stand in the context again after a compaction. The text is read anew for each
/// rendering; what is no longer there is named in its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reinjection {
    /// The compaction that it follows; `None` where it belongs to the user turn that comes next.
    pub of: Option<EntryId>,
    /// How its ranges are rendered.
    pub layout: Layout,
    /// The ranges, in the order in which they are shown: 1 to [`crate::limits::REINJECTED_ITEMS`].
    pub items: Vec<Reinjected>,
}

/// One range that stands in the context again, with what was known of its call then.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reinjected {
    /// The turn that holds the tool's result.
    pub turn: EntryId,
    /// The place of the result among the turn's parts, from 0.
    pub part: u32,
    /// What the range is a range of.
    pub source: RangeSource,
    /// The range.
    pub range: TextRange,
    /// Why it was chosen.
    pub why: Why,
    /// The id of the call; may be empty.
    pub call_id: String,
    /// The tool's name; may be empty.
    pub tool: String,
    /// Whether the call worked, as far as its source says.
    pub outcome: Outcome,
    /// The place of the turn in its session.
    pub seq: u64,
    /// When the turn was said, or recorded where that is not known.
    pub at: UtcMs,
}

/// What a range is a range of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RangeSource {
    /// A stream of a stored output.
    Output(OutputId, StreamKind),
    /// The text of the result itself, where nothing more was stored than the model saw.
    Result,
}

impl RangeSource {
    /// The stored output, if it is one.
    #[must_use]
    pub const fn output(self) -> Option<OutputId> {
        match self {
            Self::Output(id, _) => Some(id),
            Self::Result => None,
        }
    }

    /// The stream, of a stored output.
    #[must_use]
    pub const fn stream(self) -> Option<StreamKind> {
        match self {
            Self::Output(_, stream) => Some(stream),
            Self::Result => None,
        }
    }
}

/// A range of a text or of a stream's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TextRange {
    /// Whole lines, from 1, the last one with it. A line ends after its LF.
    Lines {
        /// The first line.
        first: u64,
        /// The last line.
        last: u64,
    },
    /// Bytes, where lines are too long.
    Bytes {
        /// How many bytes stand before it.
        start: u64,
        /// How many bytes it has.
        len: u64,
    },
}

impl TextRange {
    /// Whether it is a range that may exist: lines from 1 in their order, or at least one byte; up to 2^63 - 1.
    #[must_use]
    pub const fn is_some(self) -> bool {
        const MOST: u64 = i64::MAX.unsigned_abs();
        match self {
            Self::Lines { first, last } => first >= 1 && last >= first && last <= MOST,
            Self::Bytes { start, len } => len >= 1 && start <= MOST && len <= MOST - start,
        }
    }

    /// Its word and two numbers: how it is written in rows and forms.
    #[must_use]
    pub const fn parts(self) -> (RangeUnit, u64, u64) {
        match self {
            Self::Lines { first, last } => (RangeUnit::Lines, first, last),
            Self::Bytes { start, len } => (RangeUnit::Bytes, start, len),
        }
    }

    /// The range of a word and two numbers.
    #[must_use]
    pub const fn of(unit: RangeUnit, from: u64, to: u64) -> Self {
        match unit {
            RangeUnit::Lines => Self::Lines { first: from, last: to },
            RangeUnit::Bytes => Self::Bytes { start: from, len: to },
        }
    }
}

impl std::fmt::Display for TextRange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Lines { first, last } if first == last => write!(f, "line {first}"),
            Self::Lines { first, last } => write!(f, "lines {first}-{last}"),
            Self::Bytes { start, len } => {
                write!(f, "bytes {start}-{}", start.saturating_add(len).saturating_sub(1))
            }
        }
    }
}

kinds! {
    /// What a range is counted in.
    RangeUnit, "unit of a range", "lines, bytes" {
        /// Lines.
        Lines = "lines",
        /// Bytes.
        Bytes = "bytes",
    }
}

kinds! {
    /// Which stream of a tool's output.
    StreamKind, "stream", "stdout, stderr" {
        /// What was written to standard output, or the only stream there is.
        Stdout = "stdout",
        /// What was written to standard error.
        Stderr = "stderr",
    }
}

impl StreamKind {
    /// The stream of this word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok()
    }
}

kinds! {
    /// Why a range of earlier output stands in the context again.
    Why, "reason", "pin, match, cited, failure, read" {
        /// Its turn is pinned.
        Pin = "pin",
        /// It has words of the new question.
        Match = "match",
        /// The summary names it.
        Cited = "cited",
        /// It failed, and the same call did not work later.
        Failure = "failure",
        /// It was read again before.
        Read = "read",
    }
}

kinds! {
    /// How the ranges of a re-injection are rendered. What was recorded with one is always rendered with it.
    Layout, "layout", "v1, v2" {
        /// The first one: what a range holds, with all that hides in it made visible.
        V1 = "v1",
        /// What a terminal would show of the range: without escape sequences and what was overwritten.
        V2 = "v2",
    }
}

impl Layout {
    /// What is recorded now.
    pub const NEWEST: Self = Self::V2;
}
