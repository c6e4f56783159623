//! What reads are given and give back.

use sayso_model::{
    Digest, Entry, EntryId, LedgerId, MarkKind, OutputId, ProjectId, SessionId, SessionKind, UtcMs,
};

use crate::command::Alias;

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
    /// By the exact name or title, or the value of any alias.
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
}

/// Whether all of an output is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OutputState {
    /// All of it.
    Complete,
    /// The beginning, up to a cap.
    Capped,
    /// What came before something broke.
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
}

/// Which stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum StreamKind {
    /// What was written to standard output, or the only stream there is.
    Stdout,
    /// What was written to standard error.
    Stderr,
}

impl StreamKind {
    /// The stream's word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }

    /// The stream of this word.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Stdout, Self::Stderr].into_iter().find(|s| s.as_str() == text)
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
