//! A copy of the ledger while it is in use.

use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use sayso_store::StoreError;

use crate::SqliteStore;
use crate::fault::Fault;
use crate::open::make_private;

/// Copies one state of the ledger into a new file. A file that could not be finished is taken away again.
pub(crate) fn backup(store: &SqliteStore, to: &Path) -> Result<(), StoreError> {
    make_private(to).map_err(|cause| match cause.kind() {
        // A folder of the path may be a file, which is another matter.
        std::io::ErrorKind::AlreadyExists if to.exists() => StoreError::BackupExists { path: to.to_owned() },
        _ => StoreError::Denied { path: to.to_owned(), cause: Box::new(cause) },
    })?;
    let copied = store.read_with("making a backup", |from| copy(from, to));
    if copied.is_err() {
        // What is left of it says by itself that it is none: it was never finished.
        let rest = [to.to_owned(), beside(to, "-journal")];
        rest.iter().for_each(|path| drop(std::fs::remove_file(path)));
    }
    copied
}

fn copy(from: &Connection, to: &Path) -> Result<(), Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut into = Connection::open_with_flags(to, flags)?;
    {
        let backup = Backup::new(from, &mut into)?;
        // All at once: a state is read, so that writers go on meanwhile and the copy never starts again.
        match backup.step(-1)? {
            StepResult::Done => {}
            _ => {
                return Err(rusqlite::Error::SqliteFailure(
                    rusqlite::ffi::Error::new(rusqlite::ffi::SQLITE_BUSY),
                    None,
                )
                .into());
            }
        }
    }
    into.close().map_err(|(_, error)| Fault::Sql(error))
}

fn beside(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}
