//! Transactions as values that must be used up.

use rusqlite::Connection;

use crate::cells::run;
use crate::fault::Fault;
use crate::open::still_known;

/// A transaction; dropped without [`Tx::commit`] it is rolled back.
#[must_use]
pub(crate) struct Tx<'c> {
    conn: &'c Connection,
}

impl<'c> Tx<'c> {
    /// A transaction that holds the write lock from the start, so that what it reads stays true until it commits.
    pub(crate) fn write(conn: &'c Connection) -> Result<Self, Fault> {
        run(conn, "BEGIN IMMEDIATE", [])?;
        let tx = Self { conn };
        still_known(conn).map(|()| tx)
    }

    /// A transaction for reading: everything in it sees the same state of the ledger.
    pub(crate) fn read(conn: &'c Connection) -> Result<Self, Fault> {
        run(conn, "BEGIN", [])?;
        let tx = Self { conn };
        still_known(conn).map(|()| tx)
    }

    /// Makes it last.
    pub(crate) fn commit(self) -> Result<(), Fault> {
        let done = self.conn.prepare_cached("COMMIT").and_then(|mut s| s.execute([]));
        done.map(|_| ()).map_err(Fault::Commit)
    }
}

impl Drop for Tx<'_> {
    fn drop(&mut self) {
        if !self.conn.is_autocommit() {
            // Nothing more can be done where rolling back fails: SQLite then does it when the file is opened again.
            let _ = run(self.conn, "ROLLBACK", []);
        }
    }
}
