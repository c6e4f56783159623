//! Opening a file: making it, telling it from others, bringing its schema up to date.

use std::io;
use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, FileControl, OpenFlags};
use sayso_model::LedgerId;
use sayso_schema::{Migration, SQLITE, SQLITE_APPLICATION_ID};
use sayso_store::StoreError;

use crate::busy;
use crate::cells::{one, run};
use crate::fault::Fault;
use crate::options::{Create, Durability, Options};
use crate::tx::Tx;

/// What a connection is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Role {
    Writer,
    Reader,
}

/// Opens the file for writing, made and migrated where needed, and reads the ledger's id.
pub(crate) fn ledger(path: &Path, options: &Options) -> Result<(Connection, LedgerId), StoreError> {
    make_file(path, options.create)?;
    let open = || {
        let conn = connect(path, options, Role::Writer)?;
        if version(&conn)? < newest() {
            migrate(&conn, options, SQLITE)?;
        }
        let ledger = one(&conn, ("meta", "SELECT ledger FROM meta"), [], |c| c.parse())?;
        Ok((conn, ledger.ok_or_else(|| Fault::Damaged("the ledger has no id".to_owned()))?))
    };
    open().map_err(|fault: Fault| fault.at(path, "opening the ledger"))
}

/// One more connection to a ledger.
pub(crate) fn connect(path: &Path, options: &Options, role: Role) -> Result<Connection, Fault> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut conn = Connection::open_with_flags(path, flags)?;
    conn.busy_handler(Some(busy::until(options.wait)))?;
    #[cfg(feature = "watch")]
    crate::watch::connection(&mut conn)?;
    conn.set_prepared_statement_cache_capacity(128);
    // Plans do not look at values, or else each new value may have its statement planned anew, which costs more than running it.
    conn.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    // Looks before it touches: a file of another program must stay as it is.
    version(&conn)?;
    configure(&mut conn, options)?;
    match role {
        // Ids are random, so appends touch the whole of their index: more of it than SQLite's 2 MB is worth keeping.
        Role::Writer => conn.pragma_update(None, "cache_size", -8_000)?,
        Role::Reader => conn.pragma_update(None, "query_only", true)?,
    }
    Ok(conn)
}

/// How long a reader in the middle of something is waited for before the log is left as it is.
const PATIENCE: Duration = Duration::from_millis(500);

/// Moves everything of the log into the ledger's file and empties it; whether nobody held it up.
pub(crate) fn empty_log(path: &Path, options: &Options) -> Result<bool, Fault> {
    let options = Options { wait: options.wait.min(PATIENCE), ..options.clone() };
    let conn = connect(path, &options, Role::Writer)?;
    let busy = one(&conn, ("the log", "PRAGMA wal_checkpoint(TRUNCATE)"), [], |c| c.flag());
    match busy {
        Ok(busy) => Ok(busy == Some(false)),
        Err(Fault::Sql(error)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(false),
        Err(other) => Err(other),
    }
}

/// Bytes of the log up to which it is kept for the next program: 64 pages, with the frames around them. Whoever opens the ledger
/// first reads all of it and adds it up, which takes longer than writing to a fresh one does.
const LOG_BYTES: u64 = 64 * (4_096 + 24) + 32;

/// Where the log is longer than that, it is emptied when this connection closes, if it is the last one. Programs that write
/// little and end never come to start it anew: each finds it as the one before left it.
pub(crate) fn bound_log(conn: &Connection, path: &Path) -> Result<(), Fault> {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    if std::fs::metadata(&log).is_ok_and(|about| about.len() > LOG_BYTES) {
        let most = i64::try_from(LOG_BYTES).unwrap_or(i64::MAX);
        conn.pragma_update_and_check(None, "journal_size_limit", most, |_| Ok(()))?;
    }
    Ok(())
}

fn configure(conn: &mut Connection, options: &Options) -> Result<(), Fault> {
    // Before anything is written: what is deleted later must not stay readable in free pages.
    conn.pragma_update(None, "secure_delete", true)?;
    conn.pragma_update(None, "foreign_keys", true)?;
    conn.pragma_update(
        None,
        "synchronous",
        match options.durability {
            Durability::Full => "FULL",
            Durability::Normal => "NORMAL",
        },
    )?;
    let mode = busy::retry(options.wait, || {
        conn.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0))
    })?;
    if mode != "wal" {
        let cause = io::Error::other("the file system does not allow a write-ahead log");
        return Err(StoreError::Storage { context: "opening the ledger", cause: Box::new(cause) }.into());
    }
    // A log that has grown once is kept: overwriting it costs half of extending a new one.
    conn.pragma_update_and_check(None, "journal_size_limit", -1, |_| Ok(()))?;
    conn.file_control(None::<&str>, FileControl::PersistWal(&mut 1))?;
    // Sorting must not leave texts in temporary files.
    conn.pragma_update(None, "temp_store", "MEMORY")?;
    Ok(())
}

/// The ledger's schema; 0 for a file that is still empty. All of it is read of one state of the file: another program may be
/// making the ledger.
fn version(conn: &Connection) -> Result<u32, Fault> {
    if !conn.is_autocommit() {
        return version_now(conn);
    }
    conn.execute_batch("BEGIN").map_err(foreign)?;
    let version = version_now(conn);
    let ended = conn.execute_batch("ROLLBACK");
    // What went wrong is told first: the transaction may be gone with it.
    let version = version?;
    Ok(ended.map(|()| version)?)
}

fn version_now(conn: &Connection) -> Result<u32, Fault> {
    let application: i32 = pragma(conn, "application_id")?;
    let version: u32 = pragma(conn, "user_version")?;
    match (application, version) {
        (SQLITE_APPLICATION_ID, found) if found > newest() => {
            Err(StoreError::Future { found, known: newest() }.into())
        }
        (SQLITE_APPLICATION_ID, version) => Ok(version),
        (0, 0) if is_empty(conn)? => Ok(0),
        _ => Err(Fault::NotALedger),
    }
}

const VERSION: (&str, &str) = ("the schema", "PRAGMA user_version");

/// Refuses a ledger that a newer program brought up to its own schema since it was opened here. Needs a transaction.
pub(crate) fn still_known(conn: &Connection) -> Result<(), Fault> {
    match one(conn, VERSION, [], |c| c.number::<u32>())?.unwrap_or_default() {
        found if found > newest() => Err(StoreError::Future { found, known: newest() }.into()),
        _ => Ok(()),
    }
}

fn pragma<T: rusqlite::types::FromSql>(conn: &Connection, name: &str) -> Result<T, Fault> {
    conn.pragma_query_value(None, name, |row| row.get(0)).map_err(foreign)
}

fn is_empty(conn: &Connection) -> Result<bool, Fault> {
    let any = conn.query_row("SELECT EXISTS (SELECT 1 FROM sqlite_schema)", [], |row| row.get::<_, bool>(0));
    any.map(|any| !any).map_err(foreign)
}

/// At the door, what is no database is no ledger.
fn foreign(error: rusqlite::Error) -> Fault {
    match error.sqlite_error_code() {
        Some(rusqlite::ErrorCode::NotADatabase) => Fault::NotALedger,
        _ => Fault::Sql(error),
    }
}

pub(crate) fn newest() -> u32 {
    SQLITE.last().map_or(0, |step| step.number)
}

/// Brings a ledger up to the last of these steps, all in one transaction.
pub(crate) fn migrate(conn: &Connection, options: &Options, steps: &[Migration]) -> Result<(), Fault> {
    let tx = Tx::write(conn)?;
    // Asked again under the lock: another process may have done it meanwhile.
    let found = version(conn)?;
    for step in steps.iter().filter(|step| step.number > found) {
        conn.execute_batch(step.sql)?;
        conn.pragma_update(None, "user_version", step.number)?;
    }
    if found == 0 {
        conn.pragma_update(None, "application_id", SQLITE_APPLICATION_ID)?;
        let sql = "INSERT INTO meta (one, ledger, created_at, secret) VALUES (1, ?1, ?2, randomblob(32))";
        run(conn, sql, (options.ledger.to_string(), options.created_at.0))?;
    }
    tx.commit()
}

/// Bytes that every database begins with (SQLite's file format, 1.3). SQLite itself takes a file of one byte for an empty one and
/// would write over it.
const HEADER_BYTES: u64 = 100;

fn make_file(path: &Path, create: Create) -> Result<(), StoreError> {
    let denied = |cause: io::Error| StoreError::Denied { path: path.to_owned(), cause: Box::new(cause) };
    match std::fs::metadata(path) {
        Ok(found) if found.is_file() && !(1..HEADER_BYTES).contains(&found.len()) => Ok(()),
        Ok(_) => Err(StoreError::NotALedger { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound && create == Create::Never => {
            Err(StoreError::Missing { path: path.to_owned() })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            make_private(path).or_else(already_there).map_err(denied)
        }
        Err(error) => Err(denied(error)),
    }
}

/// Two programs may make the file at once.
fn already_there(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::AlreadyExists { Ok(()) } else { Err(error) }
}

/// Makes the file, and its folder where there is none, for the owner alone.
pub(crate) fn make_private(path: &Path) -> io::Result<()> {
    let mut folder = std::fs::DirBuilder::new();
    folder.recursive(true);
    let mut file = std::fs::OpenOptions::new();
    file.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folder.mode(0o700);
        file.mode(0o600);
    }
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        folder.create(parent)?;
    }
    file.open(path).map(|_| ())
}
