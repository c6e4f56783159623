//! What the ledger knows of a session by its keys.

use sayso::{Error, Placed};

use super::Sink;

/// Keys of a session that are held at most; where it has more, each is looked up.
const KEYS: usize = 250_000;

impl Sink<'_> {
    /// What was written under a key before. Another program may have written it since this one looked: whoever writes then
    /// hears of it.
    pub(crate) fn known(&self, key: &str) -> Result<Option<Placed>, Error> {
        let Some(session) = &self.track.session else { return Ok(None) };
        if self.track.known.get().is_none() {
            let _ = self.track.known.set(self.reader.known_keys(session.id, KEYS)?);
        }
        match self.track.known.get() {
            Some(Some(keys)) => match keys.placed.get(key) {
                None if keys.forgotten => self.reader.known(session.id, key),
                placed => Ok(placed.copied()),
            },
            _ => self.reader.known(session.id, key),
        }
    }

    /// What was written under a key, by now.
    pub(super) fn known_now(&self, key: &str) -> Result<Option<Placed>, Error> {
        match &self.track.session {
            Some(session) => self.reader.known(session.id, key),
            None => Ok(None),
        }
    }

    pub(super) fn learn(&mut self, key: &str, placed: Placed) {
        if let Some(Some(keys)) = self.track.known.get_mut() {
            keys.placed.insert(key.to_owned(), placed);
        }
    }
}
