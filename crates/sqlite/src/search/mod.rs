//! Search: an index of words that is caught up in steps, and a look at each entry that is not in it yet.

mod catch_up;
pub(crate) mod index;
pub(crate) mod query;
pub(crate) mod words;

use rusqlite::Connection;
use sayso_store::StoreError;

use crate::cells::one;
use crate::fault::Fault;

/// The number of the last entry that the index holds.
pub(crate) const INDEXED: (&str, &str) = ("search_state", "SELECT indexed FROM search_state WHERE one = 1");
/// The number of the last entry.
pub(crate) const LAST: (&str, &str) = ("entry", "SELECT coalesce(max(no), 0) FROM entry");

pub(crate) fn indexed(conn: &Connection) -> Result<i64, Fault> {
    let indexed = one(conn, INDEXED, [], |c| c.int()).map_err(of_index)?;
    let missing =
        || StoreError::IndexDamaged(Box::new(std::io::Error::other("the row of search_state is missing")));
    Ok(indexed.ok_or_else(missing)?)
}

/// What goes wrong in a statement that touches the index alone: damage, or a table that is not there, is the index's.
pub(crate) fn of_index(fault: Fault) -> Fault {
    use rusqlite::ErrorCode::{DatabaseCorrupt, Unknown};
    match fault {
        Fault::Sql(error) if matches!(error.sqlite_error_code(), Some(DatabaseCorrupt | Unknown)) => {
            StoreError::IndexDamaged(Box::new(error)).into()
        }
        other => other,
    }
}

/// How many entries the index does not hold yet; numbers that are gone count too.
pub(crate) fn left(conn: &Connection) -> Result<u64, Fault> {
    let last = one(conn, LAST, [], |c| c.int())?.unwrap_or(0);
    Ok(last.saturating_sub(indexed(conn)?).max(0).unsigned_abs())
}
