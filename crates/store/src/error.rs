//! Errors, typed by the decision that a caller takes.

use std::path::PathBuf;

use sayso_model::{EntryId, OutputId, ProjectId, QuoteRefusal, RelayRefusal, SessionId, SpeakerId, TurnId};

/// The driver's or the system's error behind one of ours.
pub type Cause = Box<dyn std::error::Error + Send + Sync + 'static>;

/// Why a store could not answer.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A command cannot be applied; nothing of the batch was written.
    #[error("command {index} of the batch was refused")]
    Refused {
        /// Which command, from 0.
        index: usize,
        /// Why.
        #[source]
        refusal: Refusal,
    },
    /// Others held the ledger until the deadline.
    #[error("the ledger is locked by another program: try again, or close the program that holds it")]
    Busy(#[source] Cause),
    /// The disk or the quota is full; nothing of the batch was written.
    #[error("the disk is full: free some space and try again; nothing was half written")]
    Full(#[source] Cause),
    /// The ledger may not be written or its folder not be made.
    #[error("{} cannot be opened for writing: check the folder and its permissions, or name another file", path.display())]
    Denied {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: Cause,
    },
    /// There is no file, and none was to be made.
    #[error("there is no ledger at {}: `sayso import` or `sayso append` makes one, or choose another with --ledger", path.display())]
    Missing {
        /// The file.
        path: PathBuf,
    },
    /// A backup never goes over something.
    #[error("{} is there already: name a new file for the backup", path.display())]
    BackupExists {
        /// The file.
        path: PathBuf,
    },
    /// The storage cannot be copied into a file.
    #[error("a ledger in memory has no file to back up")]
    NoFile,
    /// The file is something else.
    #[error("{} is not a Sayso ledger: choose another file with --ledger", path.display())]
    NotALedger {
        /// The file.
        path: PathBuf,
    },
    /// A newer program wrote the ledger.
    #[error(
        "the ledger has schema {found}, this program knows up to {known}: use a newer program; nothing was changed"
    )]
    Future {
        /// The ledger's schema.
        found: u32,
        /// The newest known here.
        known: u32,
    },
    /// Stored data is damaged.
    #[error("the ledger is damaged ({what}): run `sayso verify` to see where, and restore a backup")]
    Damaged {
        /// What was found.
        what: String,
        /// The driver's error, where there is one.
        #[source]
        cause: Option<Cause>,
    },
    /// The index of the search is damaged; what was said is not part of it.
    #[error(
        "the index of the search is damaged: run `sayso doctor --reindex`, which makes it anew from the turns"
    )]
    IndexDamaged(#[source] Cause),
    /// The commit began and its end is not known.
    #[error(
        "it is not known whether that was written: do the same again; with the same keys nothing is written twice"
    )]
    CommitUnknown(#[source] Cause),
    /// The operation needs scope all.
    #[error("this needs to see the whole ledger: leave the scope out")]
    NeedsWholeLedger,
    /// Something else went wrong below.
    #[error("the ledger's storage failed: {context}")]
    Storage {
        /// While doing what.
        context: &'static str,
        /// Why.
        #[source]
        cause: Cause,
    },
}

impl StoreError {
    /// Whether waiting and trying the same again may help.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self, Self::Busy(_))
    }

    /// The refusal, if the batch was refused.
    #[must_use]
    pub const fn refusal(&self) -> Option<&Refusal> {
        match self {
            Self::Refused { refusal, .. } => Some(refusal),
            _ => None,
        }
    }
}

/// Why a command cannot be applied. Unknown and out of scope are the same answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No such project.
    #[error("there is no project {0}: see `sayso projects`")]
    UnknownProject(ProjectId),
    /// No such session.
    #[error("there is no session {0}: see `sayso sessions`")]
    UnknownSession(SessionId),
    /// No such speaker.
    #[error("there is no speaker {0}: make it first")]
    UnknownSpeaker(SpeakerId),
    /// No such turn (or other entry).
    #[error("there is no turn {0}: see `sayso show` on its session")]
    UnknownTurn(TurnId),
    /// No such output.
    #[error("there is no output {0}: store it first")]
    UnknownOutput(OutputId),
    /// The output is still being written.
    #[error("output {0} is still being written: finish it, or close it as it is, before a turn names it")]
    OutputGrowing(OutputId),
    /// The output is not being written, or by somebody else.
    #[error("output {0} takes no more bytes, it was finished, closed or erased meanwhile: start a new one")]
    OutputEnded(OutputId),
    /// The bytes are not stored.
    #[error("there is no stored blob {0}: store the bytes first")]
    UnknownBlob(sayso_model::Digest),
    /// The id is in use.
    #[error("the id {0} is in use: take a fresh one")]
    IdTaken(String),
    /// A project cannot become part of itself, nor a session move to where it is.
    #[error("that is project {0} already: name another one")]
    SameProject(ProjectId),
    /// The alias belongs to another project.
    #[error("the alias {value:?} belongs to project {owner}: use that one")]
    ProjectAliasTaken {
        /// The alias.
        value: String,
        /// Whose it is.
        owner: ProjectId,
    },
    /// The alias belongs to another session of the project.
    #[error("the alias {value:?} belongs to session {owner}: use that one")]
    SessionAliasTaken {
        /// The alias.
        value: String,
        /// Whose it is.
        owner: SessionId,
    },
    /// The speaker exists.
    #[error("that speaker exists as {0}: use that one")]
    SpeakerTaken(SpeakerId),
    /// The session is closed.
    #[error("session {0} is closed: reopen it or choose another")]
    SessionClosed(SessionId),
    /// The session is open.
    #[error("session {0} is open: there is nothing to reopen")]
    NotClosed(SessionId),
    /// The entry is not pinned.
    #[error("entry {0} is not pinned: there is nothing to unpin")]
    NotPinned(EntryId),
    /// The entry has no such text.
    #[error(
        "entry {0} holds no words that could be taken away: name a turn or a summary (with the quote, a turn that holds one)"
    )]
    NothingToRedact(EntryId),
    /// There is no range to bring back there.
    #[error("part {part} of turn {turn} is no tool result with its text: name the part that holds one")]
    NothingToReinject {
        /// The turn.
        turn: TurnId,
        /// The place of the part, from 0.
        part: u32,
    },
    /// Another compaction counts.
    #[error("entry {0} is not the session's latest summary: choose again for the one that is")]
    NotTheLatest(EntryId),
    /// Somebody appended meanwhile.
    #[error("the session's last entry is {actual}, not {expected}: read what is new, then decide again")]
    HeadMoved {
        /// What the caller expected.
        expected: u64,
        /// What is there.
        actual: u64,
    },
    /// The key was used for other content.
    #[error(
        "the key {key:?} was used for other content in this session, as {written}: take a fresh key for new content"
    )]
    Conflict {
        /// The key.
        key: String,
        /// What was written under it.
        written: EntryId,
    },
    /// The turn is somebody else's.
    #[error(
        "turn {0} was said by another speaker, and nobody edits the words of others: answer it with a new turn"
    )]
    NotTheSpeaker(TurnId),
    /// The turn was superseded before.
    #[error("turn {of} was edited before: edit {by}, which took its place")]
    Superseded {
        /// The turn.
        of: TurnId,
        /// What took its place.
        by: TurnId,
    },
    /// The turn holds a quote.
    #[error("turn {0} holds a quote, which is never edited: forward the source again with another note")]
    HoldsQuote(TurnId),
    /// The source cannot be quoted.
    #[error("turn {source_turn} cannot be forwarded")]
    Quote {
        /// The turn.
        source_turn: TurnId,
        /// Why.
        #[source]
        reason: QuoteRefusal,
    },
    /// The quotes of one forward are too long together.
    #[error(
        "the messages hold {chars} characters together, at most {limit} go at once: forward fewer, or select parts"
    )]
    ForwardTooLong {
        /// Characters together.
        chars: usize,
        /// The limit.
        limit: usize,
    },
    /// A boundary lies past the session's end.
    #[error("the session ends at entry {last}, a compaction through {through} is not possible")]
    BoundaryPastEnd {
        /// What was asked.
        through: u64,
        /// The last entry.
        last: u64,
    },
    /// There is no such entry to fork at.
    #[error("there is no entry {through} to fork at: the session has entries 1 to {last}")]
    NoForkPoint {
        /// What was asked.
        through: u64,
        /// The last entry.
        last: u64,
    },
    /// A session and its forks stay in one project.
    #[error(
        "session {session} shares its beginning with {with}, and both stay in one project: merge the projects instead"
    )]
    SharesBeginning {
        /// The session.
        session: SessionId,
        /// Its parent, or a fork of it.
        with: SessionId,
    },
    /// It was erased, and does not come back.
    #[error("{0} was erased from this ledger and is not brought back")]
    Erased(String),
    /// What is restored parts from what is here.
    #[error(
        "session {session} went on separately: from entry {seq} on it is not what stands here. Nothing was merged; keep the \
         other copy in a ledger of its own"
    )]
    Diverged {
        /// The session.
        session: SessionId,
        /// The first place where they differ; 0 for the beginning itself.
        seq: u64,
    },
    /// A text, commitment or hash of an entry does not fit the others.
    #[error(
        "entry {seq} of session {session} is not what was written there: export it again where it comes from"
    )]
    NotAsWritten {
        /// The session.
        session: SessionId,
        /// The place.
        seq: u64,
    },
    /// The id belongs to a speaker with another kind or name.
    #[error(
        "the id {0} is another speaker here: export again where it comes from, or import into another ledger"
    )]
    AnotherSpeaker(SpeakerId),
    /// Forks share what would be erased.
    #[error(
        "session {session} is the beginning of its fork {fork}: erase the forks with it (--forks), or leave it"
    )]
    HasForks {
        /// The session.
        session: SessionId,
        /// A fork of it.
        fork: SessionId,
    },
    /// A value has a wrong shape.
    #[error("{what} has {found} {unit}, at most {limit} are possible: make it shorter")]
    TooLarge {
        /// Which value.
        what: &'static str,
        /// What is counted.
        unit: &'static str,
        /// Its size.
        found: usize,
        /// The bound.
        limit: usize,
    },
    /// A value is missing.
    #[error("{what} is empty: give one")]
    Missing {
        /// Which value.
        what: &'static str,
    },
    /// A request or a delivery does not take a step.
    #[error(transparent)]
    Relay(RelayRefusal),
    /// Values that do not go together.
    #[error("{0}")]
    Contradiction(&'static str),
}
