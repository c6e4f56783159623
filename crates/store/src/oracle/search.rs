//! Search by looking at every text.

use std::convert::Infallible;

use sayso_model::{Entry, EntryId};

use super::state::State;
use crate::query::Scope;
use crate::search::{Hit, Query, Search, examine, passes, searchable};

impl State {
    pub(super) fn search(&self, scope: &Scope, search: &Search) -> Vec<Hit> {
        let query = Query::new(&search.query);
        let Some(last) = self.end(scope, search.before) else { return Vec::new() };
        let newest_first = self.arrived.iter().take(last).rev().filter_map(|id| self.entries.get(id));
        let looked_at = newest_first.map(|r| &r.entry).filter(|e| passes(scope, search, e));
        looked_at.filter_map(|e| self.hit(scope, search, &query, e)).take(search.limit).collect()
    }

    /// How many of the entries that arrived come before a place; `None` where the place is not known.
    fn end(&self, scope: &Scope, before: Option<EntryId>) -> Option<usize> {
        match before {
            None => Some(self.arrived.len()),
            Some(id) => {
                self.entry(scope, id)?;
                self.arrived.iter().position(|other| *other == id)
            }
        }
    }

    fn hit(&self, scope: &Scope, search: &Search, query: &Query, entry: &Entry) -> Option<Hit> {
        let hit: Result<_, Infallible> = examine(entry, search, query, |output, stream| {
            Ok(self.stream(scope, output, stream).and_then(|bytes| searchable(bytes.to_vec())))
        });
        hit.unwrap_or_else(|never| match never {})
    }
}
