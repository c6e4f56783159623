//! Databases of other programs, read and never written.

use std::io;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// How long to wait for the other program.
const WAIT: Duration = Duration::from_secs(10);

const HAS_EVENTS: &str =
    "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'transcript_events'";
const EVENTS: &str = "SELECT session_id, event_json FROM transcript_events ORDER BY session_id, seq";

/// One event of a session, as OpenClaw keeps it: the bytes of one JSON value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event {
    /// The session's id.
    pub session: String,
    /// The value.
    pub json: Vec<u8>,
}

/// Reads the events in a database of OpenClaw, session by session and each in its order, all of one state of the database,
/// until `each` breaks off. `false` where the database holds no table of events.
///
/// # Errors
///
/// The file cannot be opened or is no database, or the other program holds it for long.
pub fn events(path: &Path, each: &mut dyn FnMut(Event) -> ControlFlow<()>) -> io::Result<bool> {
    read(path, each).map_err(io::Error::other)
}

fn read(path: &Path, each: &mut dyn FnMut(Event) -> ControlFlow<()>) -> rusqlite::Result<bool> {
    let conn = Connection::open_with_flags(path, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
    conn.busy_timeout(WAIT)?;
    if conn.query_row(HAS_EVENTS, [], |row| row.get::<_, i64>(0))? == 0 {
        return Ok(false);
    }
    let mut statement = conn.prepare(EVENTS)?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let event = Event { session: row.get(0)?, json: bytes(row.get_ref(1)?).to_vec() };
        if each(event).is_break() {
            break;
        }
    }
    Ok(true)
}

/// The bytes as they stand: another program's texts need not be UTF-8.
fn bytes(value: ValueRef<'_>) -> &[u8] {
    match value {
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes,
        ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => b"",
    }
}
