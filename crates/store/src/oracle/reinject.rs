//! Re-injections.

use sayso_model::{EntryBody, EntryId, Layout, Reinjected, Reinjection, Seed, SessionId};

use super::apply::Write;
use crate::command::{Done, Fate, NewRange, Reinject};
use crate::content::{self, kind};
use crate::error::Refusal;
use crate::reinject;

impl Write<'_> {
    pub(super) fn reinject(&mut self, c: &Reinject, seed: &Seed) -> Result<Done, Refusal> {
        self.session(c.session)?;
        let content = content::reinject(c);
        if let Some(known) = self.known(c.session, kind::REINJECT, c.key.as_deref(), &content)? {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        self.open(c.session)?;
        self.latest(c.session, c.of)?;
        if c.items.is_empty() {
            return Err(Refusal::Missing { what: "the list of ranges to bring back" });
        }
        let items = c.items.iter().map(|item| self.range(c.session, item)).collect::<Result<_, _>>()?;
        self.free_entry(c.id)?;
        let body = EntryBody::Reinjection(Reinjection { of: c.of, layout: Layout::NEWEST, items });
        let placed = self.place(c.session, c.id, body, seed);
        self.remember(&placed, kind::REINJECT, c.key.clone(), &content, seed);
        Ok(Done::Entries(Fate::New, vec![placed]))
    }

    /// The compaction that is named is the latest that the session shows.
    fn latest(&self, session: SessionId, of: Option<EntryId>) -> Result<(), Refusal> {
        let Some(of) = of else { return Ok(()) };
        self.entry_in_view(session, Some(of))?;
        match self.state.latest_compaction(self.scope, session) {
            Some((latest, _)) if latest.id == of => Ok(()),
            _ => Err(Refusal::NotTheLatest(of)),
        }
    }

    fn range(&self, session: SessionId, new: &NewRange) -> Result<Reinjected, Refusal> {
        self.entry_in_view(session, Some(new.turn))?;
        let record = self.state.entries.get(&new.turn).ok_or(Refusal::UnknownTurn(new.turn))?;
        let item = reinject::item(&record.entry, new)?;
        match (new.source.output(), new.source.stream()) {
            (Some(id), Some(stream)) if self.state.stream(self.scope, id, stream).is_none() => {
                Err(Refusal::UnknownOutput(id))
            }
            _ => Ok(item),
        }
    }
}
