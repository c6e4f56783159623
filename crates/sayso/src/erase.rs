//! Erasing for good.

use std::collections::BTreeMap;

use sayso_model::{Address, Entry, EntryBody, EntryId, MarkKind, SessionId};
use sayso_store::{Command, Erase, Erasing, Forks, Placed, Redact, Redaction, Refusal, Target};

use crate::error::Error;
use crate::host::FreshIds;
use crate::reader::Reader;
use crate::redact::Quotes;

/// What erasing did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Erased {
    /// How far it came.
    pub state: Erasing,
    /// The turns elsewhere that hold a quote of what was erased.
    pub quotes: Vec<Placed>,
    /// Whether the title of the session of an erased turn repeated its words and went with them; it may be renamed.
    pub title_taken: bool,
}

impl Reader {
    /// Takes a project, a session or one turn out of the ledger for good: texts, names, keys, marks, and outputs that
    /// nothing else names; titles that repeat the words go with them, see [`crate::store::title`]. It is out of sight at once, and what was cut off by a crash is gone on with by
    /// [`Reader::go_on_erasing`]. Quotes of it elsewhere are named, and lose their words first where that is asked. Needs
    /// scope all.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with the refusal: the target is unknown, holds no words, or is the beginning of a fork; a narrower
    /// scope; storage errors.
    pub fn erase(&self, target: Target, forks: Forks, quotes: Quotes) -> Result<Erased, Error> {
        let elsewhere = self.quotes_elsewhere(target)?;
        if quotes == Quotes::TakeAlong {
            let command = |quote: &Placed| {
                let id = self.ledger.fresh_entry();
                Command::Redact(Redact { id, of: quote.id, what: Redaction::Quote })
            };
            self.ledger.write(&self.scope, elsewhere.iter().map(command).collect())?;
        }
        let (id, at, seed) = (self.ledger.fresh_entry(), self.ledger.host.now(), self.ledger.host.seed());
        let titled = match target {
            Target::Entry(id) => self.titled_around(id),
            Target::Session(_) | Target::Project(_) => None,
        };
        let erase = Erase { scope: self.scope.clone(), target, forks, id, at, seed };
        let state = self.ledger.store.erase(&erase, usize::MAX)?;
        Ok(Erased { state, quotes: elsewhere, title_taken: self.lost_its_title(titled)? })
    }

    /// Goes on with what is still to be erased. Needs scope all.
    ///
    /// # Errors
    ///
    /// A narrower scope; storage errors.
    pub fn go_on_erasing(&self) -> Result<Erasing, Error> {
        Ok(self.ledger.store.go_on_erasing(&self.scope, usize::MAX)?)
    }

    /// Whether what an address names was erased, as far as this reader would have seen it.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn was_erased(&self, address: &Address) -> Result<bool, Error> {
        Ok(self.ledger.store.was_erased(&self.scope, address)?)
    }

    /// The turns outside the target that hold a quote of something in it.
    fn quotes_elsewhere(&self, target: Target) -> Result<Vec<Placed>, Error> {
        let inside: Vec<SessionId> = match target {
            Target::Entry(id) => return self.quotes_of(id),
            Target::Session(id) => vec![id],
            Target::Project(id) => self.sessions(Some(id))?.iter().map(|s| s.id).collect(),
        };
        let mut found: BTreeMap<EntryId, Placed> = BTreeMap::new();
        for session in &inside {
            for entry in self.walk(*session, 0) {
                let entry = entry?;
                let own = entry.session == *session && entry.turn().is_some();
                let quotes = if own { self.quotes_of(entry.id)? } else { Vec::new() };
                let outside = quotes.into_iter().filter(|quote| !inside.contains(&quote.session));
                found.extend(outside.map(|quote| (quote.id, quote)));
            }
        }
        Ok(found.into_values().collect())
    }

    /// Of a write that was refused for an unknown turn: that it was erased, where this reader sees what is left of it.
    pub(crate) fn or_erased(&self, error: Error) -> Error {
        let Some(Refusal::UnknownTurn(id)) = error.refusal() else { return error };
        match self.entry(*id) {
            Ok(Some(Entry { body: EntryBody::Mark(mark), project, session, id, .. }))
                if mark.kind == MarkKind::Erased && mark.of.is_none() =>
            {
                Error::Erased { given: Address::Turn(self.ledger.id(), project, session, id, None) }
            }
            _ => error,
        }
    }
}
