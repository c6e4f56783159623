//! Looking at everything: it goes on after each problem, and holds one page of a session at a time.

mod chain;
mod index;
mod loose;
mod outputs;
mod relay;
mod tables;

use std::collections::BTreeSet;

use rusqlite::ffi::SQLITE_IOERR_SHORT_READ;
use rusqlite::{Connection, ErrorCode, Params};
use sayso_model::{EntryId, LedgerId, ProjectId, SessionId, SpeakerId};
use sayso_store::{Problem, Report};

use crate::cells::{Cells, Next, all, each, one};
use crate::fault::Fault;

/// Looks at everything in a ledger.
pub(crate) fn report(conn: &Connection, ledger: LedgerId) -> Result<Report, Fault> {
    let mut look = Look { conn, ledger, report: Report::default(), seen: BTreeSet::new() };
    look.step(Look::file)?;
    look.step(Look::projects)?;
    look.step(Look::aliases)?;
    look.step(Look::speakers)?;
    look.step(Look::sessions)?;
    look.step(Look::seen)?;
    look.step(Look::keys)?;
    look.index()?;
    look.step(Look::loose_rows)?;
    look.step(Look::relay)?;
    look.step(Look::outputs_named)?;
    look.step(Look::outputs)?;
    look.step(Look::blobs)?;
    Ok(look.report)
}

struct Look<'c> {
    conn: &'c Connection,
    ledger: LedgerId,
    report: Report,
    /// Who stands in entries of which project.
    seen: BTreeSet<(ProjectId, SpeakerId)>,
}

/// Where a problem is.
#[derive(Debug, Clone, Copy, Default)]
struct Where {
    session: Option<SessionId>,
    seq: Option<u64>,
    entry: Option<EntryId>,
}

impl Where {
    fn session(id: SessionId) -> Self {
        Self { session: Some(id), ..Self::default() }
    }

    fn place(session: SessionId, seq: u64, entry: Option<EntryId>) -> Self {
        Self { session: Some(session), seq: Some(seq), entry }
    }
}

impl Look<'_> {
    fn problem(&mut self, at: Where, what: impl Into<String>) {
        let Where { session, seq, entry } = at;
        self.report.problems.push(Problem { session, seq, entry, what: what.into() });
    }

    /// Runs one step; what keeps it from going on is a problem, and the next step follows.
    fn step(&mut self, step: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        let done = step(self);
        self.note(Where::default(), done).map(|_| ())
    }

    /// Takes damage as a problem; any other error stays one.
    fn note<T>(&mut self, at: Where, done: Result<T, Fault>) -> Result<Option<T>, Fault> {
        match done {
            Ok(value) => Ok(Some(value)),
            Err(fault) => {
                let what = damage(fault)?;
                self.problem(at, what);
                Ok(None)
            }
        }
    }

    /// Every row of a query; a row that cannot be read is a problem, and the next row follows.
    fn rows(
        &mut self,
        query: (&'static str, &str),
        params: impl Params,
        mut look: impl FnMut(&mut Self, &mut Cells<'_>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        each(self.conn, query, params, |cells| {
            let done = look(self, cells);
            self.note(Where::default(), done)?;
            Ok(Next::Row)
        })
    }

    fn file(&mut self) -> Result<(), Fault> {
        let ledger = one(self.conn, ("meta", "SELECT ledger FROM meta"), [], |c| c.parse())?;
        if ledger != Some(self.ledger) {
            self.problem(Where::default(), "the ledger's id is not what it was when the file was opened");
        }
        if one(self.conn, ("search_state", "SELECT indexed FROM search_state"), [], |c| c.int())?.is_none() {
            self.problem(Where::default(), "nothing says how far the index of the search got");
        }
        let found = all(self.conn, ("the file", "PRAGMA quick_check(20)"), [], |c| c.text())?;
        for what in found.into_iter().filter(|line| line != "ok") {
            self.problem(Where::default(), format!("the database file is malformed: {what}"));
        }
        Ok(())
    }
}

/// What is damaged, told for people; any other error stays one.
pub(crate) fn damage(fault: Fault) -> Result<String, Fault> {
    match fault {
        Fault::Damaged(what) => Ok(what),
        Fault::Sql(error) if is_damage(&error) => Ok(format!("the database file is malformed: {error}")),
        other => Err(other),
    }
}

fn is_damage(error: &rusqlite::Error) -> bool {
    let code = error.sqlite_error_code();
    // Every statement fits the tables as they are made: one that SQLite does not take says that a table is missing or altered.
    matches!(code, Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase | ErrorCode::Unknown))
        || matches!(error, rusqlite::Error::SqlInputError { .. })
        || error.sqlite_error().is_some_and(|e| e.extended_code == SQLITE_IOERR_SHORT_READ)
}
