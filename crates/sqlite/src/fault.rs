//! What goes wrong inside the backend, and which of the contract's errors it becomes.

use std::path::Path;

use rusqlite::ErrorCode;
use sayso_store::{Refusal, StoreError};

/// An error on its way out. The driver's errors stay untyped until the edge, where the path is known.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The driver's.
    Sql(rusqlite::Error),
    /// The driver's, from `COMMIT` itself.
    Commit(rusqlite::Error),
    /// A command cannot be applied.
    Refused(Box<Refusal>),
    /// A stored row is not what was written.
    Damaged(String),
    /// The file is something else.
    NotALedger,
    /// Already one of the contract's.
    Store(Box<StoreError>),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<Refusal> for Fault {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(Box::new(error))
    }
}

impl Fault {
    /// The same once more, for others whom it befell.
    pub(crate) fn copy(&self) -> Self {
        match self {
            Self::Sql(error) => Self::Sql(copy(error)),
            Self::Commit(error) => Self::Commit(copy(error)),
            Self::Refused(refusal) => Self::Refused(refusal.clone()),
            Self::Damaged(what) => Self::Damaged(what.clone()),
            Self::NotALedger => Self::NotALedger,
            Self::Store(error) => {
                let cause = std::io::Error::other(error.to_string());
                let context = "writing a batch together with others";
                Self::Store(Box::new(StoreError::Storage { context, cause: Box::new(cause) }))
            }
        }
    }

    /// The contract's error.
    pub(crate) fn at(self, path: &Path, context: &'static str) -> StoreError {
        match self {
            Self::Sql(error) => sql(error, path, context),
            Self::Commit(error) => commit(error, path, context),
            // A batch wraps its refusals with the command's index; nothing else refuses.
            Self::Refused(refusal) => StoreError::Refused { index: 0, refusal: *refusal },
            Self::Damaged(what) => StoreError::Damaged { what, cause: None },
            Self::NotALedger => StoreError::NotALedger { path: path.to_owned() },
            Self::Store(error) => *error,
        }
    }
}

fn copy(error: &rusqlite::Error) -> rusqlite::Error {
    match error {
        rusqlite::Error::SqliteFailure(code, text) => rusqlite::Error::SqliteFailure(*code, text.clone()),
        other => {
            let code = rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_ERROR);
            rusqlite::Error::SqliteFailure(code, Some(other.to_string()))
        }
    }
}

fn sql(error: rusqlite::Error, path: &Path, context: &'static str) -> StoreError {
    use rusqlite::Error as E;
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(Box::new(error)),
        Some(ErrorCode::DiskFull) => StoreError::Full(Box::new(error)),
        Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen | ErrorCode::PermissionDenied) => {
            StoreError::Denied { path: path.to_owned(), cause: Box::new(error) }
        }
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => damaged(error),
        // Every statement fits the tables as they are made: one that SQLite does not take says that they are other ones.
        _ if matches!(error, E::InvalidColumnType(..) | E::Utf8Error(..) | E::SqlInputError { .. }) => {
            damaged(error)
        }
        _ => StoreError::Storage { context, cause: Box::new(error) },
    }
}

fn damaged(error: rusqlite::Error) -> StoreError {
    StoreError::Damaged { what: "the database file is malformed".to_owned(), cause: Some(Box::new(error)) }
}

/// A commit that was refused a lock or found the disk full wrote no commit record; after anything else one may be there.
fn commit(error: rusqlite::Error, path: &Path, context: &'static str) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked | ErrorCode::DiskFull) => {
            sql(error, path, context)
        }
        _ => StoreError::CommitUnknown(Box::new(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rusqlite::ffi;

    fn failure(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn each_failure_becomes_the_error_that_names_the_decision() {
        let path = Path::new("l.sayso");
        let of = |code| Fault::Sql(failure(code)).at(path, "testing");
        assert!(matches!(of(ffi::SQLITE_BUSY), StoreError::Busy(_)));
        assert!(matches!(of(ffi::SQLITE_BUSY_SNAPSHOT), StoreError::Busy(_)));
        assert!(matches!(of(ffi::SQLITE_FULL), StoreError::Full(_)));
        assert!(matches!(of(ffi::SQLITE_READONLY), StoreError::Denied { .. }));
        assert!(matches!(of(ffi::SQLITE_CANTOPEN), StoreError::Denied { .. }));
        assert!(matches!(of(ffi::SQLITE_CORRUPT), StoreError::Damaged { .. }));
        assert!(matches!(of(ffi::SQLITE_IOERR_READ), StoreError::Storage { .. }));
    }

    #[test]
    fn only_a_commit_that_may_have_happened_is_unknown() {
        let path = Path::new("l.sayso");
        let of = |code| Fault::Commit(failure(code)).at(path, "committing");
        assert!(matches!(of(ffi::SQLITE_IOERR_FSYNC), StoreError::CommitUnknown(_)));
        assert!(matches!(of(ffi::SQLITE_BUSY), StoreError::Busy(_)));
        assert!(matches!(of(ffi::SQLITE_FULL), StoreError::Full(_)));
    }
}
