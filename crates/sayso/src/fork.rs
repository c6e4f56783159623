//! Forking a session: another one that shares its beginning.

use sayso_model::{EntryId, SessionId};
use sayso_store::{Command, ForkSession, Session};

use crate::error::Error;
use crate::host::FreshIds;
use crate::reader::Reader;
use crate::resolve::unknown;

impl Reader {
    /// Makes a session that shares the beginning of another: up to an entry, or to its end. Nothing is copied; each goes on
    /// by itself from there.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] where the session does not show that entry; [`Error::Store`] with the refusal: the session is
    /// unknown or empty; storage errors.
    pub fn fork(
        &self,
        parent: SessionId,
        at: Option<EntryId>,
        title: impl Into<String>,
    ) -> Result<Session, Error> {
        let missing = |what, id: &dyn std::fmt::Display| unknown(what, &id.to_string(), Vec::new());
        let through = match at {
            Some(id) => self.shown_at(parent, id)?.ok_or_else(|| missing("turn", &id))?,
            None => self.session(parent)?.ok_or_else(|| missing("session", &parent))?.last_seq,
        };
        let (id, title) = (self.ledger.host.session_id(), title.into());
        let fork = ForkSession { id, parent, through, title, alias: None };
        self.ledger.write(&self.scope, vec![Command::ForkSession(fork)])?;
        self.session(id)?.ok_or_else(|| missing("session", &id))
    }

    /// The place at which a session shows an entry: one of its own, or of a beginning that it shares.
    fn shown_at(&self, session: SessionId, id: EntryId) -> Result<Option<u64>, Error> {
        let Some(entry) = self.entry(id)? else { return Ok(None) };
        let there = self.entries(session, entry.seq.saturating_sub(1), 1)?;
        Ok(there.first().filter(|found| found.id == id).map(|found| found.seq))
    }
}
