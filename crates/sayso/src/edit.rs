//! Editing: a new turn takes the place of an earlier one.

use sayso_model::{EntryId, TurnId};
use sayso_store::{Fate, Placed};

use crate::error::Error;
use crate::ledger::{NewTurn, first};
use crate::reader::Reader;
use crate::resolve::unknown;

impl Reader {
    /// Appends a turn that supersedes an earlier one of the same session and speaker. The earlier one stays readable,
    /// and quotes of it keep the words they were taken from.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for an unknown turn, [`Error::Erased`] for an erased one; [`Error::Store`] with the refusal: another speaker's turn, one that was
    /// superseded before or holds a quote, a closed session, a key used for other content; storage errors.
    pub fn edit(&self, of: TurnId, turn: &NewTurn) -> Result<(Fate, Placed), Error> {
        let entry = self.entry(of)?.ok_or_else(|| unknown("turn", &of.to_string(), Vec::new()))?;
        let written = self.ledger.transact(&self.scope, |plan| plan.edit(of, entry.session, turn.clone()));
        let (_, done) = written.map_err(|error| self.or_erased(error))?;
        first(&done)
    }

    /// The turn that stands in the place of this one now, if it was superseded: the last in a row of edits.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn superseded_by(&self, of: EntryId) -> Result<Option<Placed>, Error> {
        let mut last = None;
        let mut next = self.ledger.store.superseding(&self.scope, of)?;
        while let Some(found) = next {
            last = Some(found);
            next = self.ledger.store.superseding(&self.scope, found.id)?;
        }
        Ok(last)
    }
}
