//! What a program around the ledger hands to its model after a compaction.

use sayso_model::{EntryBody, EntryId, MarkKind, SessionId};
use sayso_store::Placed;
use sayso_view::context::{carried_quotes, carried_ranges};

use crate::error::Error;
use crate::reader::Reader;

impl Reader {
    /// The text that stands for an entry where a program, and not [`Reader::context`], makes the model's context: for a
    /// re-injection its ranges as they are stored now, for a compaction the quotes that its summary covers. `None` for every
    /// other entry, and where there is nothing to say.
    ///
    /// The same entry gives the same text again as long as nothing of it was taken away, so that a transcript which shows the
    /// text is known to show the entry ([`carried_ids`](sayso_view::context::carried_ids) finds which).
    ///
    /// # Errors
    ///
    /// As for [`Reader::entry`].
    pub fn carried(&self, entry: EntryId) -> Result<Option<String>, Error> {
        let Some(entry) = self.entry(entry)? else { return Ok(None) };
        match &entry.body {
            EntryBody::Compaction(compaction) => {
                let quotes = self.quotes(entry.session, compaction.through)?;
                Ok(carried_quotes(&entry, &quotes))
            }
            EntryBody::Reinjection(_) => {
                let ranges = self.ranges(std::slice::from_ref(&entry))?;
                Ok(carried_ranges(&entry, &ranges))
            }
            EntryBody::Turn(_) | EntryBody::Mark(_) => Ok(None),
        }
    }

    /// What was brought back right behind a compaction, if anything was.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn brought_back_behind(
        &self,
        session: SessionId,
        compaction: EntryId,
    ) -> Result<Option<Placed>, Error> {
        self.known(session, &crate::reinject::key_behind(compaction))
    }

    /// By which way an entry was offered to its agent, if it was: the route of that mark.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn offered_by(&self, entry: EntryId) -> Result<Option<String>, Error> {
        let marks = self.marks(entry)?;
        let offered = marks.into_iter().rev().find(|mark| mark.kind == MarkKind::Offered);
        Ok(offered.map(|mark| mark.route))
    }
}
