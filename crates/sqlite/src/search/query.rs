//! Answering a search: first what the index does not hold yet, then what the index finds; newest first both.

use std::collections::BTreeSet;

use rusqlite::Connection;
use sayso_model::{EntryId, ProjectId};
use sayso_store::Scope;
use sayso_store::search::{Hit, Query, Search, examine, passes};

use super::index::text_of;
use super::words::{self, Expression};
use super::{indexed, of_index};
use crate::cells::{Next, all, each, one};
use crate::fault::Fault;
use crate::read::load::{Selection, load, selection};
use crate::rows::{Speakers, Trust};

/// Turns that the index does not hold, with their projects.
pub(crate) const LATER: (&str, &str) = (
    "entry",
    "SELECT e.no, s.project FROM entry e CROSS JOIN session s ON s.id = e.session \
     WHERE s.erasing = 0 AND e.no > ?1 AND e.no < ?2 AND (e.kind = 'turn' OR e.kind = 'forward') ORDER BY e.no DESC",
);
pub(crate) const TURNS: (&str, &str) = (
    "turn_words",
    "SELECT rowid FROM turn_words WHERE turn_words MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC",
);
pub(crate) const TURNS_AND_OUTPUTS: (&str, &str) = (
    "output_words",
    "SELECT rowid FROM turn_words WHERE turn_words MATCH ?1 AND rowid < ?2 \
     UNION SELECT rowid FROM output_words WHERE output_words MATCH ?1 AND rowid < ?2 ORDER BY rowid DESC",
);
pub(crate) const PROJECT: (&str, &str) = (
    "session",
    "SELECT s.project FROM entry e JOIN session s ON s.id = e.session WHERE e.no = ?1 AND s.erasing = 0",
);
pub(crate) const NUMBER: (&str, &str) = (
    "entry",
    "SELECT e.no, s.project FROM entry e JOIN session s ON s.id = e.session WHERE e.id = ?1 AND s.erasing = 0",
);
pub(crate) const MOVED: (&str, &str) = (
    "session",
    "SELECT DISTINCT first_project FROM session INDEXED BY session_moved \
     WHERE project = ?1 AND project <> first_project",
);
/// One entry by the number of its row.
pub(crate) const BY_NUMBER: Selection = selection!("entry e", "e.no = ?1", "e.no");

pub(crate) fn search(conn: &Connection, scope: &Scope, search: &Search) -> Result<Vec<Hit>, Fault> {
    let query = Query::new(&search.query);
    let Some(end) = end(conn, scope, search.before)? else { return Ok(Vec::new()) };
    let Some(expression) = expression(conn, scope, search, &query)? else { return Ok(Vec::new()) };
    let speakers = Speakers::new(Trust::Checked);
    let mut look = Look { conn, scope, search, query, speakers, hits: Vec::new() };
    let indexed = indexed(conn)?;
    look.later(indexed, end)?;
    let index = if search.outputs { TURNS_AND_OUTPUTS } else { TURNS };
    if look.wants_more() {
        let end = end.min(indexed.saturating_add(1));
        look.found(index, &expression, end)?;
    }
    Ok(look.hits)
}

/// The number before which entries are wanted; `None` where the entry that was named is not known.
fn end(conn: &Connection, scope: &Scope, before: Option<EntryId>) -> Result<Option<i64>, Fault> {
    let Some(id) = before else { return Ok(Some(i64::MAX)) };
    let found = one(conn, NUMBER, [id.to_string()], |c| Ok((c.int()?, c.parse::<ProjectId>()?)))?;
    Ok(found.filter(|(_, project)| scope.sees(*project)).map(|(no, _)| no))
}

/// What the index is asked; `None` where nothing can be found.
fn expression(
    conn: &Connection,
    scope: &Scope,
    search: &Search,
    query: &Query,
) -> Result<Option<Expression>, Fault> {
    if query.is_empty() || search.limit == 0 {
        return Ok(None);
    }
    let mut expression = Expression::of(query);
    if let Some(kind) = search.speaker {
        expression.and_any(std::iter::once(words::speaker(kind)));
    }
    if let Some(session) = search.session {
        expression.and_any(std::iter::once(words::session(session)));
    } else if let Some(projects) = projects(scope, search) {
        let made_in = made_in(conn, &projects)?;
        if made_in.is_empty() {
            return Ok(None);
        }
        expression.and_any(made_in.into_iter().map(words::project));
    }
    Ok(Some(expression))
}

/// The projects that are searched; `None` for all.
fn projects(scope: &Scope, search: &Search) -> Option<BTreeSet<ProjectId>> {
    match (scope, search.project) {
        (Scope::All, None) => None,
        (Scope::Projects(projects), None) => Some(projects.iter().copied().collect()),
        (scope, Some(project)) => Some(Some(project).filter(|p| scope.sees(*p)).into_iter().collect()),
    }
}

/// The projects in which the sessions of these projects were made.
fn made_in(conn: &Connection, projects: &BTreeSet<ProjectId>) -> Result<BTreeSet<ProjectId>, Fault> {
    let mut made_in = projects.clone();
    for project in projects {
        made_in.extend(all(conn, MOVED, [project.to_string()], |c| c.parse::<ProjectId>())?);
    }
    Ok(made_in)
}

struct Look<'a> {
    conn: &'a Connection,
    scope: &'a Scope,
    search: &'a Search,
    query: Query,
    speakers: Speakers<'a>,
    hits: Vec<Hit>,
}

impl Look<'_> {
    fn wants_more(&self) -> bool {
        self.hits.len() < self.search.limit
    }

    /// Looks at the entries that the index does not hold.
    fn later(&mut self, indexed: i64, end: i64) -> Result<(), Fault> {
        each(self.conn, LATER, (indexed, end), |c| {
            let (no, project) = (c.int()?, c.parse()?);
            // What is out of scope is not loaded, so that neither damage nor length there tells anything.
            if self.scope.sees(project) { self.look(no) } else { Ok(Next::Row) }
        })
    }

    /// Looks at what the index finds. Damage of an entry is told apart from that of the index.
    fn found(&mut self, index: (&'static str, &str), expression: &Expression, end: i64) -> Result<(), Fault> {
        let mut failed = None;
        let asked = each(self.conn, index, (expression.as_str(), end), |c| {
            let next = self.at(c.int()?);
            next.or_else(|fault| {
                failed = Some(fault);
                Ok(Next::Stop)
            })
        });
        failed.map_or(asked.map_err(of_index), Err)
    }

    /// Looks at an entry that the index found.
    fn at(&mut self, no: i64) -> Result<Next, Fault> {
        // What is being erased is in no project any more.
        let project = one(self.conn, PROJECT, [no], |c| c.parse())?;
        let seen = project.is_some_and(|p| self.scope.sees(p));
        if seen { self.look(no) } else { Ok(Next::Row) }
    }

    fn look(&mut self, no: i64) -> Result<Next, Fault> {
        let Some(loaded) = load(self.conn, &BY_NUMBER, &[&no], &mut self.speakers)?.pop() else {
            return Ok(Next::Row);
        };
        if passes(self.scope, self.search, &loaded.entry) {
            let entry = loaded.sound()?.entry;
            let (conn, scope) = (self.conn, self.scope);
            let output = |id, kind| text_of(conn, scope, id, kind);
            self.hits.extend(examine(&entry, self.search, &self.query, output)?);
        }
        Ok(if self.wants_more() { Next::Row } else { Next::Stop })
    }
}
