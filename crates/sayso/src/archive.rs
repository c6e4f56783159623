//! What exports take.

use std::collections::{BTreeMap, BTreeSet};

use sayso_model::{Digest, OutputId, ProjectId, SessionId, SpeakerId};
use sayso_store::{
    ArchivedEntry, ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker, Output, Salvaged, Trace,
};

use crate::error::Error;
use crate::reader::Reader;

impl Reader {
    /// A project for an export, and those that were merged into it.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn archived_project(&self, id: ProjectId) -> Result<Vec<ArchivedProject>, Error> {
        Ok(self.ledger.store.archived_project(&self.scope, id)?)
    }

    /// A session for an export.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn archived_session(&self, id: SessionId) -> Result<Option<ArchivedSession>, Error> {
        Ok(self.ledger.store.archived_session(&self.scope, id)?)
    }

    /// Sessions for an export, with all that they were forked off, each after the one that it shares entries with.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn archived_sessions(&self, wanted: &BTreeSet<SessionId>) -> Result<Vec<ArchivedSession>, Error> {
        let mut found: BTreeMap<SessionId, ArchivedSession> = BTreeMap::new();
        let mut left: Vec<SessionId> = wanted.iter().copied().collect();
        while let Some(id) = left.pop() {
            if found.contains_key(&id) {
                continue;
            }
            if let Some(session) = self.archived_session(id)? {
                left.extend(session.fork.map(|(point, _)| point.session));
                found.insert(id, session);
            }
        }
        Ok(parents_first(found))
    }

    /// The hash of the entry at a place of a session, to tell whether a copy of it is the same up to there.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn hash_at(&self, session: SessionId, seq: u64) -> Result<Option<Digest>, Error> {
        Ok(self.ledger.store.hash_at(&self.scope, session, seq)?)
    }

    /// A speaker for an export.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn archived_speaker(&self, id: SpeakerId) -> Result<Option<ArchivedSpeaker>, Error> {
        Ok(self.ledger.store.archived_speaker(&self.scope, id)?)
    }

    /// At most `limit` of a session's own entries with `seq` greater than `after`, in order.
    ///
    /// # Errors
    ///
    /// As for [`Reader::entry`].
    pub fn archived_entries(
        &self,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ArchivedEntry>, Error> {
        Ok(self.ledger.store.archived_entries(&self.scope, session, after, limit)?)
    }

    /// Every session that some row still speaks of, also in a damaged ledger, by id.
    ///
    /// # Errors
    ///
    /// [`StoreError::NeedsWholeLedger`](crate::StoreError::NeedsWholeLedger) for a narrower scope; storage errors, but for damage.
    pub fn traces(&self) -> Result<Vec<Trace>, Error> {
        Ok(self.ledger.store.traces(&self.scope)?)
    }

    /// A session for an export, where what its beginning was taken over reads; what its row says of its end is not looked at.
    /// Else why not.
    ///
    /// # Errors
    ///
    /// As for [`Reader::traces`].
    pub fn salvage_session(&self, session: SessionId) -> Result<Result<ArchivedSession, String>, Error> {
        Ok(self.ledger.store.salvage_session(&self.scope, session)?)
    }

    /// What is at the places of a session's own entries from `first` to `last`, one for each place, also in a damaged ledger.
    ///
    /// # Errors
    ///
    /// As for [`Reader::traces`].
    pub fn salvage(&self, session: SessionId, first: u64, last: u64) -> Result<Vec<Salvaged>, Error> {
        Ok(self.ledger.store.salvage(&self.scope, session, first, last)?)
    }

    /// At most `limit` keys of a session, by kind and key, after the pair given.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn archived_keys(
        &self,
        session: SessionId,
        after: (&str, &str),
        limit: usize,
    ) -> Result<Vec<ArchivedKey>, Error> {
        Ok(self.ledger.store.archived_keys(&self.scope, session, after, limit)?)
    }

    /// At most `limit` outputs of a session, by id, after the one given.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn archived_outputs(
        &self,
        session: SessionId,
        after: Option<OutputId>,
        limit: usize,
    ) -> Result<Vec<Output>, Error> {
        Ok(self.ledger.store.archived_outputs(&self.scope, session, after, limit)?)
    }
}

/// The same sessions by id, each after the one that it was forked off.
fn parents_first(mut left: BTreeMap<SessionId, ArchivedSession>) -> Vec<ArchivedSession> {
    let mut ordered = Vec::with_capacity(left.len());
    while let Some(mut next) = left.keys().next().copied() {
        while let Some((point, _)) =
            left.get(&next).and_then(|s| s.fork).filter(|(p, _)| left.contains_key(&p.session))
        {
            next = point.session;
        }
        ordered.extend(left.remove(&next));
    }
    ordered
}
