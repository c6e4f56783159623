//! Taking words away, and keeping entries at hand.

use std::collections::BTreeSet;

use sayso_model::{EntryId, MarkKind, SessionId, TurnId};
use sayso_store::{Command, Fate, MarkEntry, Placed, Redact, Redaction};

use crate::error::Error;
use crate::ledger::first;
use crate::reader::Reader;
use crate::resolve::unknown;

/// Whether quotes of a turn lose their words with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quotes {
    /// They keep them.
    Keep,
    /// They lose them.
    TakeAlong,
}

/// What a redaction did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redacted {
    /// Whether it was done now.
    pub fate: Fate,
    /// The mark that says so.
    pub mark: Placed,
    /// The turns within the scope that hold a quote of it.
    pub quotes: Vec<Placed>,
    /// Whether the title of its session repeated those words and went with them; it may be renamed.
    pub title_taken: bool,
    /// Whether the words are out of the log of changes too; a reader in the middle of something holds that up.
    pub purged: bool,
}

impl Reader {
    /// Takes the words of a turn or compaction away, with their salts and the outputs that only it names; the entry stays,
    /// and a mark says what happened. Titles that repeat the words go with them, see [`crate::store::title`]. Quotes of it within the scope are named, and lose their words where that is asked.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with the refusal: the entry is unknown or holds no words; storage errors.
    pub fn redact(&self, of: TurnId, quotes: Quotes) -> Result<Redacted, Error> {
        let command = |of, what| {
            let id = self.ledger.fresh_entry();
            Command::Redact(Redact { id, of, what })
        };
        let titled = self.titled_around(of);
        let (fate, mark) = self.write_entry(command(of, Redaction::Whole))?;
        let title_taken = self.lost_its_title(titled)?;
        let mut named = self.quotes_of(of)?;
        let mut done = BTreeSet::new();
        // Whoever forwarded it a moment ago is found in the next round; after the first none can be added.
        while quotes == Quotes::TakeAlong && !named.iter().all(|quote| done.contains(&quote.id)) {
            let commands = named.iter().map(|quote| command(quote.id, Redaction::Quote)).collect();
            self.ledger.write(&self.scope, commands)?;
            done.extend(named.iter().map(|quote| quote.id));
            named = self.quotes_of(of)?;
        }
        Ok(Redacted { fate, mark, quotes: named, title_taken, purged: self.ledger.store.purge()? })
    }

    /// The session of an entry, where it has a title.
    pub(crate) fn titled_around(&self, of: EntryId) -> Option<SessionId> {
        // What cannot be read may be redacted all the same.
        let session = self.entry(of).ok().flatten()?.session;
        self.ledger
            .store
            .session(&self.scope, session)
            .ok()
            .flatten()
            .filter(|s| !s.title.is_empty())
            .map(|s| s.id)
    }

    /// Whether a session that had a title has none any more.
    pub(crate) fn lost_its_title(&self, titled: Option<SessionId>) -> Result<bool, Error> {
        let Some(id) = titled else { return Ok(false) };
        Ok(self.ledger.store.session(&self.scope, id)?.is_some_and(|s| s.title.is_empty()))
    }

    /// The turns within the scope that hold a quote of this turn.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn quotes_of(&self, turn: TurnId) -> Result<Vec<Placed>, Error> {
        Ok(self.ledger.store.quotes_of(&self.scope, turn)?)
    }

    /// Keeps an entry at hand: a mark that apps may read.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for an unknown entry; storage errors.
    pub fn pin(&self, of: EntryId) -> Result<(Fate, Placed), Error> {
        self.mark_entry(of, MarkKind::Pinned)
    }

    /// Takes a pin back.
    ///
    /// # Errors
    ///
    /// [`Error::Unknown`] for an unknown entry; [`Error::Store`] with the refusal: it is not pinned; storage errors.
    pub fn unpin(&self, of: EntryId) -> Result<(Fate, Placed), Error> {
        self.mark_entry(of, MarkKind::Unpinned)
    }

    fn mark_entry(&self, of: EntryId, kind: MarkKind) -> Result<(Fate, Placed), Error> {
        let entry = self.entry(of)?.ok_or_else(|| unknown("turn", &of.to_string(), Vec::new()))?;
        let (id, session) = (self.ledger.fresh_entry(), entry.session);
        let mark = MarkEntry { id, session, kind, of: Some(of), route: String::new() };
        first(&self.ledger.write(&self.scope, vec![Command::Mark(mark)])?)
    }

    /// The entries of a session that are pinned, in their order.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn pinned(&self, session: SessionId) -> Result<Vec<Placed>, Error> {
        Ok(self.ledger.store.pinned(&self.scope, session)?)
    }
}
