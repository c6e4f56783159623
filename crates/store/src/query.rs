//! Reads, all of them scoped.

use std::io::{Read, Write};

use sayso_model::{
    Compaction, Digest, Entry, EntryId, LedgerId, Mark, MarkKind, OutputId, ProjectId, SessionId,
    SessionKind, Speaker, SpeakerId, SpeakerKind, UtcMs,
};

use crate::command::{Alias, Batch, Done, Placed};
use crate::error::StoreError;
use crate::search::{Hit, Progress, Search};

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
    /// Its turns.
    pub turns: u64,
    /// The place of its last entry; 0 when it has none.
    pub last_seq: u64,
    /// The hash of its last entry, or of its beginning.
    pub head: Digest,
    /// When its last turn was said or, where that is not known, recorded.
    pub last_at: Option<UtcMs>,
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

/// A ledger's storage.
///
/// Every method fails with a [`StoreError`] whose variant names the decision: wait, free space, choose another file, use
/// a newer program, restore a backup. A lookup that finds nothing is `None` or empty, never an error.
pub trait Store: Send + Sync {
    /// The ledger's id.
    fn ledger(&self) -> LedgerId;

    /// Applies a batch: all of it, or nothing. The results stand in the order of the commands.
    ///
    /// # Errors
    ///
    /// [`StoreError::Refused`] with the first command that cannot be applied; storage errors.
    fn write(&self, batch: &Batch) -> Result<Vec<Done>, StoreError>;

    /// Stores bytes under their hash, over as many transactions as it takes. Bytes that nothing refers to are harmless.
    ///
    /// # Errors
    ///
    /// Storage errors; an error of `bytes` itself as [`StoreError::Storage`].
    fn put_blob(&self, bytes: &mut dyn Read) -> Result<Blob, StoreError>;

    /// All projects, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn projects(&self, scope: &Scope) -> Result<Vec<Project>, StoreError>;

    /// One project.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn project(&self, scope: &Scope, id: ProjectId) -> Result<Option<Project>, StoreError>;

    /// The projects that a lookup finds, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_projects(&self, scope: &Scope, lookup: &Lookup) -> Result<Vec<Project>, StoreError>;

    /// The sessions of a project, or all, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn sessions(&self, scope: &Scope, project: Option<ProjectId>) -> Result<Vec<Session>, StoreError>;

    /// One session.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn session(&self, scope: &Scope, id: SessionId) -> Result<Option<Session>, StoreError>;

    /// The sessions of a project, or of all, that a lookup finds, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_sessions(
        &self,
        scope: &Scope,
        project: Option<ProjectId>,
        lookup: &Lookup,
    ) -> Result<Vec<Session>, StoreError>;

    /// One speaker. Speakers belong to the ledger, not to a project; a scope of projects finds only those that spoke or
    /// forwarded in one of them.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn speaker(&self, scope: &Scope, id: SpeakerId) -> Result<Option<Speaker>, StoreError>;

    /// The speaker of this kind and name, for a writer that wants to use it; not scoped, since it tells nothing but an id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_speaker(&self, kind: SpeakerKind, name: &str) -> Result<Option<SpeakerId>, StoreError>;

    /// One entry, its texts checked against their commitments.
    ///
    /// # Errors
    ///
    /// Storage errors; [`StoreError::Damaged`] where a text is not what was written.
    fn entry(&self, scope: &Scope, id: EntryId) -> Result<Option<Entry>, StoreError>;

    /// At most `limit` entries whose id ends with `suffix`, as places, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_entries(&self, scope: &Scope, suffix: &str, limit: usize) -> Result<Vec<Placed>, StoreError>;

    /// At most `limit` entries of a session with `seq` greater than `after`, in order. Of an unknown session, none.
    ///
    /// # Errors
    ///
    /// As for [`Store::entry`].
    fn entries(
        &self,
        scope: &Scope,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError>;

    /// The place and the content of the latest compaction of a session.
    ///
    /// # Errors
    ///
    /// As for [`Store::entry`].
    fn latest_compaction(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Result<Option<(Placed, Compaction)>, StoreError>;

    /// The turns of a session that hold a quote and have `seq` at most `through`, in order.
    ///
    /// # Errors
    ///
    /// As for [`Store::entry`].
    fn quotes(&self, scope: &Scope, session: SessionId, through: u64) -> Result<Vec<Entry>, StoreError>;

    /// Forwarded turns of a session, or of all, that are not yet in the context of their agent; by session, in order.
    ///
    /// # Errors
    ///
    /// As for [`Store::entry`].
    fn waiting(&self, scope: &Scope, session: Option<SessionId>) -> Result<Vec<Waiting>, StoreError>;

    /// The marks of an entry, in order.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn marks(&self, scope: &Scope, of: EntryId) -> Result<Vec<Mark>, StoreError>;

    /// What was written under a key of a session, for appended turns and for compactions.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn known(&self, scope: &Scope, session: SessionId, key: &str) -> Result<Option<Placed>, StoreError>;

    /// One output.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn output(&self, scope: &Scope, id: OutputId) -> Result<Option<Output>, StoreError>;

    /// At most `limit` outputs whose id ends with `suffix`, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_outputs(&self, scope: &Scope, suffix: &str, limit: usize) -> Result<Vec<OutputId>, StoreError>;

    /// Writes one stream of an output to `to`, each chunk checked against the blob's hash before it is handed out.
    /// Whether there was such an output and stream.
    ///
    /// # Errors
    ///
    /// Storage errors; [`StoreError::Damaged`] before the first wrong byte is written; an error of `to` itself as
    /// [`StoreError::Storage`] with the `std::io::Error` as its cause.
    fn read_output(
        &self,
        scope: &Scope,
        id: OutputId,
        stream: StreamKind,
        to: &mut dyn Write,
    ) -> Result<bool, StoreError>;

    /// The turns whose texts have the words of a query, the last appended first. Every turn that is committed is found.
    /// What is found, and where, is defined in [`crate::search`].
    ///
    /// # Errors
    ///
    /// Storage errors; [`StoreError::Damaged`] where a text that may be a hit is not what was written.
    fn search(&self, scope: &Scope, search: &Search) -> Result<Vec<Hit>, StoreError>;

    /// Takes at most `limit` more entries into the index of the search, in the order they were appended: one bounded step.
    /// It changes how fast a search is, never what it finds. A store without an index has nothing left to do.
    ///
    /// # Errors
    ///
    /// Storage errors; [`StoreError::Damaged`] where an entry cannot be read.
    fn index(&self, limit: usize) -> Result<Progress, StoreError>;

    /// Looks at everything: chains, texts, counters, rows, blobs. Finds damage and partial edits; a session that was
    /// rewritten as a whole only shows against heads that were kept elsewhere.
    ///
    /// # Errors
    ///
    /// [`StoreError::NeedsWholeLedger`] for a narrower scope; storage errors that keep it from looking.
    fn verify(&self, scope: &Scope) -> Result<Report, StoreError>;

    /// The hash of the entry at a place, for comparing with a head kept elsewhere; at 0 that of the session's beginning,
    /// while the session has no entry.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn hash_at(&self, scope: &Scope, session: SessionId, seq: u64) -> Result<Option<Digest>, StoreError>;
}
