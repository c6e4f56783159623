//! Bringing the index up to date on the way.

use sayso_store::StoreError;

use super::index::{self, Bounds};
use super::left;
use crate::store::SqliteStore;

/// Entries outside the index that a search looks at without catching up first.
const LOOKED_AT: u64 = 64;

impl SqliteStore {
    /// Takes a few entries into the index, if many wait and nobody else is writing. What goes wrong here is left to those
    /// whose work it keeps from being done: the search itself needs none of it.
    pub(crate) fn catch_up(&self) -> Result<(), StoreError> {
        if self.read_with("reading the index's state", left)? > LOOKED_AT {
            let _ = self.write_at_once("indexing", |conn| index::step(conn, Bounds::ON_THE_WAY));
        }
        Ok(())
    }

    /// Whether the index has everything: then nobody who is writing has to be waited for.
    pub(crate) fn is_indexed(&self) -> Result<bool, StoreError> {
        Ok(self.read_with("reading the index's state", left)? == 0)
    }
}
