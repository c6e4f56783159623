//! What a search finds: defined here once, for the oracle and for every backend.
//!
//! # Runs
//!
//! A text is folded: each grapheme cluster is brought into compatibility form (NFKC of Unicode) and lower case, ς is σ, and
//! characters that are not seen (default-ignorable ones) are dropped. So `Ａ`, `A` and `a` are one letter, as are Hangul
//! written as syllables and as single letters. Folded text is split into runs of letters, digits and the marks on them;
//! everything else ends a run. There are two sorts of runs, and one ends where the other begins (`GPT모델` has two):
//!
//! - **words**: of scripts that set words apart;
//! - **dense** runs: Han, Kana, Bopomofo and Hangul, and Thai, Lao, Khmer and Burmese, where a word stands inside a longer run.
//!
//! # Matching
//!
//! A query is split in the same way, and each of its distinct runs must occur in the text. A word occurs where a whole word is
//! equal: `plan` does not find `planning`. A dense run occurs where its characters stand in a row inside one run, however
//! short it is: `고` and `보고` both find `보고서`. Nothing matches across the end of a run. Different runs of a query occupy
//! different places: `보고 고서` does not find a text that only has `보고서`, because both would need its middle character.
//!
//! # What is searched
//!
//! The texts of a turn are, in this order: its own text (text parts and tool results, joined by LF), the text of the quote it
//! holds, and, where outputs are asked for, each stored output that its parts name, stream by stream. All runs of a query
//! must occur in one of these texts; the first one that has them is the hit. Of an output the first
//! [`limits::SEARCHED_BYTES`](sayso_model::limits::SEARCHED_BYTES) bytes of each stream are searched, unless they are binary.
//! A kind of speaker limits the words themselves: parts and quotes of other speakers do not count. Reasoning, calls,
//! attachments' names, summaries and titles are not searched. A query without letters and digits finds nothing.

mod examine;
mod excerpt;
mod fold;
mod query;

use sayso_model::{EntryId, OutputId, ProjectId, SaidAt, SessionId, Speaker, SpeakerKind, UtcMs};

use crate::command::Placed;
use crate::query::StreamKind;

pub use examine::{examine, passes, searchable};
pub use excerpt::Excerpt;
pub use fold::{Run, Runs};
pub use query::Query;

/// Hits that a search gives unless told otherwise.
pub const HITS: usize = 20;

/// What to search for, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    /// The words.
    pub query: String,
    /// Only in this project.
    pub project: Option<ProjectId>,
    /// Only in this session.
    pub session: Option<SessionId>,
    /// Only words said by speakers of this kind.
    pub speaker: Option<SpeakerKind>,
    /// Only turns that were said, or recorded where that is not known, at this time or later.
    pub since: Option<UtcMs>,
    /// Also in the stored outputs that turns name.
    pub outputs: bool,
    /// At most so many hits.
    pub limit: usize,
    /// Only turns that were appended before this one: the last hit of the page before. Of an unknown one, nothing.
    pub before: Option<EntryId>,
}

impl Search {
    /// A search for words everywhere in the scope, newest first, without outputs.
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            project: None,
            session: None,
            speaker: None,
            since: None,
            outputs: false,
            limit: HITS,
            before: None,
        }
    }
}

/// A turn that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Where it stands.
    pub placed: Placed,
    /// In which of its texts.
    pub text: Found,
    /// Who said the words that were found.
    pub speaker: Speaker,
    /// When those were said, where known.
    pub said_at: Option<SaidAt>,
    /// When the turn was recorded.
    pub recorded_at: UtcMs,
    /// The words that were found, and what stands around them.
    pub excerpt: Excerpt,
}

/// Which text of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Found {
    /// Its own.
    Text,
    /// The quote's.
    Quote,
    /// A stream of an output that it names.
    Output(OutputId, StreamKind),
}

/// How far an index got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Progress {
    /// Entries that this step took in.
    pub indexed: u64,
    /// Entries that are not taken in yet. They are searched all the same, only more slowly.
    pub left: u64,
}
