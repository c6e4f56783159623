//! What reads are given and give back.

use std::collections::BTreeMap;

use sayso_model::limits::READ_ORDER;
use sayso_model::{
    Digest, Entry, EntryId, LedgerId, MarkKind, OutputId, ProjectId, SessionId, SessionKind, UtcMs,
};

pub use sayso_model::StreamKind;

use crate::command::{Alias, Placed};

/// What a reader or writer may see.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    /// The whole ledger.
    All,
    /// These projects.
    Projects(Vec<ProjectId>),
}

impl Scope {
    /// Whether a project lies inside.
    #[must_use]
    pub fn sees(&self, project: ProjectId) -> bool {
        match self {
            Self::All => true,
            Self::Projects(projects) => projects.contains(&project),
        }
    }
}

/// The keys of a session.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct KnownKeys {
    /// What was written, by its key.
    pub placed: BTreeMap<String, Placed>,
    /// Whether there are keys beside whose text was taken away: only [`Store::known`](crate::Store::known) finds those.
    pub forgotten: bool,
}

/// A project as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Project {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// When it was made.
    pub created_at: UtcMs,
    /// Turns in all its sessions.
    pub turns: u64,
    /// When the last entry of its sessions was said or, where that is not known, recorded.
    pub last_at: Option<UtcMs>,
}

/// A session as it is read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: SessionId,
    /// Its project.
    pub project: ProjectId,
    /// Where it was forked off another session, whose entries up to there are its beginning.
    pub fork: Option<ForkPoint>,
    /// The ledger that it was made in, where that is another one: it came here through an export.
    pub origin: Option<LedgerId>,
    /// Its kind.
    pub kind: SessionKind,
    /// Its channel.
    pub channel: Option<String>,
    /// Its title; may be empty.
    pub title: String,
    /// When it was made.
    pub created_at: UtcMs,
    /// Whether it takes no more turns.
    pub closed: bool,
    /// Its own turns, without those of a beginning that it shares.
    pub turns: u64,
    /// The place of its last entry; 0 when it has none.
    pub last_seq: u64,
    /// The hash of its last entry, or of its beginning.
    pub head: Digest,
    /// When its last turn was said or, where that is not known, recorded.
    pub last_at: Option<UtcMs>,
}

/// Where a session was forked off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ForkPoint {
    /// The session that holds the entry.
    pub session: SessionId,
    /// The entry's place.
    pub seq: u64,
}

/// A way to look something up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// By an alias.
    Alias(Alias),
    /// By the exact name or title, or the value of any alias. An empty one finds nothing: a session may have no title.
    Name(String),
    /// By the end of its id, in upper case.
    Suffix(String),
}

/// A forwarded turn and how far it got.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The turn.
    pub entry: Entry,
    /// The last mark it reached; `None` when it was only recorded.
    pub state: Option<MarkKind>,
}

/// One capture of what a tool produced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// Its id.
    pub id: OutputId,
    /// The project of its session.
    pub project: ProjectId,
    /// The session whose tool produced it.
    pub session: SessionId,
    /// The tool's name; may be empty.
    pub tool: String,
    /// Whether all of it is there.
    pub state: OutputState,
    /// The exit code, where known.
    pub exit: Option<i32>,
    /// When it was recorded.
    pub recorded_at: UtcMs,
    /// What it holds.
    pub streams: Vec<OutputStream>,
    /// How its tool was run and how it ended, as far as known.
    pub run: Run,
    /// Whether it is still being written, or was left by a writer that ended before it was done. It is then
    /// [`OutputState::Partial`], no turn names it, and [`crate::Command::CloseOutput`] ends it as it is.
    pub growing: bool,
}

/// How a tool was run and how it ended, as far as known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Run {
    /// The command line, or another label for what was run; at most [`sayso_model::limits::COMMAND_CHARS`] characters.
    pub command: Option<String>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended because its time was over: it has no exit code of its own then.
    pub timed_out: bool,
    /// How long it ran, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Whether another process still held a pipe when reading ended, so that more may have come.
    pub pipe_held: bool,
    /// The charset of its streams, where one was declared; at most [`sayso_model::limits::NAME_LENGTH`] characters.
    pub charset: Option<String>,
    /// The order in which the streams were read.
    pub order: ReadOrder,
}

/// The order in which the two streams of an output were read: runs of bytes of one of them, from the beginning. At most
/// [`READ_ORDER`] runs are kept; of what came later the order is not known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ReadOrder(Vec<(StreamKind, u64)>);

impl ReadOrder {
    /// Notes that these bytes of a stream were read next.
    pub fn push(&mut self, kind: StreamKind, bytes: u64) {
        let full = self.0.len() >= READ_ORDER;
        match self.0.last_mut() {
            _ if bytes == 0 => {}
            // The last run stays as it was: more of its stream may have come after something that was not noted.
            _ if full => {}
            Some((last, length)) if *last == kind => *length = length.saturating_add(bytes),
            _ => self.0.push((kind, bytes)),
        }
    }

    /// The runs, from the beginning.
    #[must_use]
    pub fn runs(&self) -> &[(StreamKind, u64)] {
        &self.0
    }

    /// As it is stored: `o512 e30 o7` for 512 bytes of stdout, 30 of stderr, 7 of stdout; empty where nothing is known.
    #[must_use]
    pub fn to_text(&self) -> String {
        let word = |(kind, bytes): &(StreamKind, u64)| match kind {
            StreamKind::Stdout => format!("o{bytes}"),
            StreamKind::Stderr => format!("e{bytes}"),
        };
        self.0.iter().map(word).collect::<Vec<_>>().join(" ")
    }

    /// The order that [`ReadOrder::to_text`] wrote.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let mut order = Self::default();
        for word in text.split(' ').filter(|_| !text.is_empty()) {
            let (kind, bytes) = match word.split_at_checked(1)? {
                ("o", bytes) => (StreamKind::Stdout, bytes),
                ("e", bytes) => (StreamKind::Stderr, bytes),
                _ => return None,
            };
            order.push(kind, bytes.parse().ok()?);
        }
        (order.to_text() == text).then_some(order)
    }
}

/// Whether all of an output is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputState {
    /// All of it.
    Complete,
    /// The beginning, up to a cap.
    Capped,
    /// What came so far, or before something broke.
    Partial,
}

impl OutputState {
    /// The state's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Capped => "capped",
            Self::Partial => "partial",
        }
    }

    /// The state of this word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Complete, Self::Capped, Self::Partial].into_iter().find(|s| s.as_str() == text)
    }
}

/// One stream of an output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OutputStream {
    /// Which.
    pub kind: StreamKind,
    /// Its bytes.
    pub blob: Blob,
    /// How many bytes there had been, where fewer were kept and that is known.
    pub total: Option<u64>,
}

impl OutputStream {
    /// A stream of which nothing is known to be missing.
    #[must_use]
    pub const fn new(kind: StreamKind, blob: Blob) -> Self {
        Self { kind, blob, total: None }
    }
}

/// Stored bytes, named by their BLAKE3 hash.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blob {
    /// The hash of all bytes.
    pub hash: Digest,
    /// How many bytes.
    pub bytes: u64,
}

/// A stream of an output while its bytes are read in parts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenStream {
    /// The output.
    pub output: OutputId,
    /// Which of its streams.
    pub kind: StreamKind,
    /// Its bytes as they were when it was opened.
    pub blob: Blob,
    /// What the backend checks parts of it against.
    pub checks: Vec<Digest>,
}

/// What a collection did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Collected {
    /// Blobs that were deleted.
    pub blobs: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Blobs that nothing refers to, and that are deleted once their grace is over.
    pub waiting: u64,
    /// Their bytes.
    pub waiting_bytes: u64,
}

/// What `verify` found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// Entries looked at.
    pub entries: u64,
    /// Every session's head as it is stored, in the order of their ids.
    pub heads: Vec<SessionHead>,
    /// What is wrong; empty when nothing was found.
    pub problems: Vec<Problem>,
}

/// The end of a session's chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SessionHead {
    /// The project.
    pub project: ProjectId,
    /// The session.
    pub session: SessionId,
    /// The last entry's place.
    pub seq: u64,
    /// The last entry's hash.
    pub hash: Digest,
}

/// Something wrong in stored data.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Problem {
    /// The session, where it belongs to one.
    pub session: Option<SessionId>,
    /// The place in the session, where it has one.
    pub seq: Option<u64>,
    /// The entry, where it is one.
    pub entry: Option<EntryId>,
    /// What is wrong, in words.
    pub what: String,
}
