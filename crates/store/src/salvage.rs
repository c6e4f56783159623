//! Reading what is left of a damaged ledger: every session that some row still speaks of, and its entries one by one, each as it
//! stands or with the reason why it does not read.

use sayso_model::{Digest, Entry, EntryId, SessionId, UtcMs};

use crate::archive::{ArchivedEntry, ArchivedSession};
use crate::error::StoreError;
use crate::query::Scope;

/// A session that some row speaks of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Trace {
    /// Its id.
    pub session: SessionId,
    /// The places of its own entries, as far as its row and theirs say: the first is one behind its fork, or 1. Where
    /// `last` lies before it there are none.
    pub first: u64,
    /// The last place that is known to have been.
    pub last: u64,
}

impl Trace {
    /// How many entries of its own are known to have been.
    #[must_use]
    pub const fn entries(&self) -> u64 {
        (self.last + 1).saturating_sub(self.first)
    }
}

/// What is at a place of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Salvaged {
    /// The entry reads whole: every text fits its commitment. Whether its hash fits the entry before it was not looked at.
    Whole(Box<ArchivedEntry>),
    /// It does not.
    Lost(Lost),
}

/// An entry that does not read whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lost {
    /// Its place.
    pub seq: u64,
    /// Why.
    pub what: String,
    /// What its row still says; enough to keep its place in the chain.
    pub place: Option<LostPlace>,
    /// What of it reads by itself, texts that do not fit left out; the speakers' names were not checked.
    pub rest: Option<Box<Entry>>,
}

/// What the row of a lost entry still says. The hash is what the entry behind it rests on, so that one shows whether it is right.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostPlace {
    /// Its id.
    pub id: EntryId,
    /// When it was recorded.
    pub recorded_at: UtcMs,
    /// Its hash.
    pub hash: Digest,
}

impl LostPlace {
    /// The place of an entry that reads.
    #[must_use]
    pub const fn of(entry: &Entry) -> Self {
        Self { id: entry.id, recorded_at: entry.recorded_at, hash: entry.hash }
    }
}

/// The part of the contract that reads damaged ledgers.
pub trait Salvage {
    /// Every session that some row still speaks of, also in a damaged ledger, by id.
    ///
    /// # Errors
    ///
    /// [`StoreError::NeedsWholeLedger`] for a narrower scope; storage errors, but for damage.
    fn traces(&self, scope: &Scope) -> Result<Vec<Trace>, StoreError>;

    /// A session for an export, where what its beginning was taken over reads; what its row says of its end is not looked at.
    /// Else why not.
    ///
    /// # Errors
    ///
    /// As for [`Salvage::traces`].
    fn salvage_session(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Result<Result<ArchivedSession, String>, StoreError>;

    /// What is at the places of a session's own entries from `first` to `last`, one for each place, also in a damaged ledger.
    ///
    /// # Errors
    ///
    /// [`StoreError::NeedsWholeLedger`] for a narrower scope; storage errors, but for damage.
    fn salvage(
        &self,
        scope: &Scope,
        session: SessionId,
        first: u64,
        last: u64,
    ) -> Result<Vec<Salvaged>, StoreError>;
}
