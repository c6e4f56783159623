//! A copy of the ledger while it is in use.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::backup::{Backup, StepResult};
use rusqlite::{Connection, OpenFlags};
use sayso_store::StoreError;

use crate::SqliteStore;
use crate::fault::Fault;
use crate::open::make_private;

/// Copies one state of the ledger into a new file. It is written under another name and gets its own when it is whole, so
/// that one that was cut off is never taken for a ledger.
pub(crate) fn backup(store: &SqliteStore, to: &Path) -> Result<(), StoreError> {
    let denied = |cause| StoreError::Denied { path: to.to_owned(), cause: Box::new(cause) };
    if std::fs::symlink_metadata(to).is_ok() {
        return Err(StoreError::BackupExists { path: to.to_owned() });
    }
    let unfinished = beside(to, &format!(".unfinished-{}", std::process::id()));
    make_private(&unfinished).map_err(denied)?;
    let copied = store
        .read_with("making a backup", |from| copy(from, &unfinished))
        .and_then(|()| name(&unfinished, to).map_err(taken(to)));
    let rest = [unfinished.clone(), beside(&unfinished, "-journal")];
    rest.iter().for_each(|path| drop(std::fs::remove_file(path)));
    copied
}

fn taken(to: &Path) -> impl Fn(io::Error) -> StoreError {
    let path = to.to_owned();
    move |cause| match cause.kind() {
        io::ErrorKind::AlreadyExists => StoreError::BackupExists { path: path.clone() },
        _ => StoreError::Denied { path: path.clone(), cause: Box::new(cause) },
    }
}

/// Gives a whole copy its name, unless something has it by now.
fn name(unfinished: &Path, to: &Path) -> io::Result<()> {
    match std::fs::hard_link(unfinished, to) {
        // Not every file system has more than one name for a file.
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists && !to.exists() => {
            std::fs::rename(unfinished, to)
        }
        linked => linked,
    }
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
