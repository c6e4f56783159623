//! Erasing: what is asked for, and how far it came.

use sayso_model::{EntryId, ProjectId, Seed, SessionId, UtcMs};

use crate::query::Scope;

/// Takes something out of the ledger for good, over as many transactions as it takes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erase {
    /// Must be the whole ledger.
    pub scope: Scope,
    /// What is erased.
    pub target: Target,
    /// What happens to the forks of an erased session.
    pub forks: Forks,
    /// The id of the mark that says so, where one entry is erased.
    pub id: EntryId,
    /// When.
    pub at: UtcMs,
    /// Random bytes, as for a batch.
    pub seed: Seed,
}

/// What is erased. It is out of sight at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A project with its sessions.
    Project(ProjectId),
    /// A session with its entries and outputs.
    Session(SessionId),
    /// One turn or compaction; its place and hash stay, so that the chain holds. Titles that repeat it go with it, see
    /// [`crate::title`].
    Entry(EntryId),
}

/// What happens to the forks of an erased session, whose beginning goes with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Forks {
    /// They keep it from being erased.
    Refuse,
    /// They are erased too.
    TakeAlong,
}

/// How far erasing came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erasing {
    /// Nothing is left of it.
    Done,
    /// Everything is gone but what a log of changes may hold, which a reader in the middle of something keeps: go on later.
    Pending,
    /// The steps that were allowed were not enough: go on.
    Unfinished,
}
