//! rusqlite by hand: one table, a unique id, a unique place in the session, and Sayso's own settings.

use std::path::{Path, PathBuf};

use anyhow::Result;
use rusqlite::{Connection, FileControl, params};

const TABLE: &str = "CREATE TABLE IF NOT EXISTS message (
    no INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    role TEXT NOT NULL,
    name TEXT NOT NULL,
    recorded_at INTEGER NOT NULL,
    text TEXT NOT NULL,
    UNIQUE (session, seq)
) STRICT";
pub(crate) const INSERT: &str = "INSERT INTO message (id, session, seq, role, name, recorded_at, text) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
pub(crate) const LAST: &str = "SELECT id, session, seq, role, name, recorded_at, text FROM message \
     WHERE session = ?1 ORDER BY seq DESC LIMIT ?2";
pub(crate) const LIKE: &str =
    "SELECT id, text FROM message WHERE text LIKE '%' || ?1 || '%' ORDER BY no DESC LIMIT 20";
const COUNT: &str = "SELECT count(*) FROM message";

/// A message, as an app would hold it.
#[derive(Debug)]
#[allow(dead_code, reason = "it is made to be measured, not to be used")]
pub(crate) struct Message {
    id: String,
    session: String,
    seq: i64,
    role: String,
    name: String,
    recorded_at: i64,
    pub(crate) text: String,
}

#[derive(Debug)]
pub(crate) struct Raw {
    conn: Connection,
    path: PathBuf,
}

/// One message to be inserted.
#[derive(Debug, Clone, Copy)]
pub(crate) struct New<'a> {
    pub(crate) id: u128,
    pub(crate) session: &'a str,
    pub(crate) seq: i64,
    pub(crate) text: &'a str,
}

impl Raw {
    pub(crate) fn open(path: &Path, synchronous: &str) -> Result<Self> {
        let conn = Connection::open(path)?;
        conn.set_prepared_statement_cache_capacity(128);
        conn.pragma_update(None, "secure_delete", true)?;
        conn.pragma_update(None, "foreign_keys", true)?;
        conn.pragma_update(None, "synchronous", synchronous)?;
        conn.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
        conn.pragma_update_and_check(None, "journal_size_limit", -1, |_| Ok(()))?;
        conn.file_control(None::<&str>, FileControl::PersistWal(&mut 1))?;
        conn.pragma_update(None, "cache_size", -8_000)?;
        conn.pragma_update(None, "temp_store", "MEMORY")?;
        conn.execute_batch(TABLE)?;
        Ok(Self { conn, path: path.to_owned() })
    }

    /// One message in a transaction of its own.
    pub(crate) fn append(&self, new: New<'_>) -> Result<()> {
        let mut insert = self.conn.prepare_cached(INSERT)?;
        let id = crockford(new.id);
        insert.execute(params![id, new.session, new.seq, "owner", "Kim", 1_800_000_000_000_i64, new.text])?;
        Ok(())
    }

    /// Messages in one transaction.
    pub(crate) fn import<'a>(&self, all: impl Iterator<Item = New<'a>>) -> Result<()> {
        self.conn.prepare_cached("BEGIN IMMEDIATE")?.execute([])?;
        for new in all {
            self.append(new)?;
        }
        self.conn.prepare_cached("COMMIT")?.execute([])?;
        Ok(())
    }

    /// The last messages of a session, oldest first.
    pub(crate) fn last(&self, session: &str, limit: usize) -> Result<Vec<Message>> {
        let mut statement = self.conn.prepare_cached(LAST)?;
        let read = |row: &rusqlite::Row<'_>| {
            Ok(Message {
                id: row.get(0)?,
                session: row.get(1)?,
                seq: row.get(2)?,
                role: row.get(3)?,
                name: row.get(4)?,
                recorded_at: row.get(5)?,
                text: row.get(6)?,
            })
        };
        let rows = statement.query_map(params![session, limit as i64], read)?;
        let mut found = rows.collect::<Result<Vec<_>, _>>()?;
        found.reverse();
        Ok(found)
    }

    /// The newest 20 messages with these characters in them, found by looking at each.
    pub(crate) fn like(&self, word: &str) -> Result<Vec<(String, String)>> {
        let mut statement = self.conn.prepare_cached(LIKE)?;
        let rows = statement.query_map([word], |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(crate) fn count(&self) -> Result<u64> {
        Ok(self.conn.query_row(COUNT, [], |row| row.get::<_, i64>(0))?.unsigned_abs())
    }

    /// Under which conditions it runs.
    pub(crate) fn facts(&self) -> Result<Vec<(String, String)>> {
        let read = |name: &'static str| {
            let value = self.conn.pragma_query_value(None, name, |row| {
                row.get_ref(0).map(|value| match value {
                    rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                    other => other.as_str().unwrap_or_default().to_owned(),
                })
            })?;
            Ok(format!("{name}={value}"))
        };
        let pragmas = sayso_sqlite::watch::SETTINGS.into_iter().map(read).collect::<Result<Vec<_>>>()?;
        Ok(vec![
            ("PRAGMAs read back".to_owned(), pragmas.join(", ")),
            ("indexes".to_owned(), indexes(&self.path)?),
        ])
    }
}

/// The indexes of a database's tables.
pub(crate) fn indexes(path: &Path) -> Result<String> {
    let conn = Connection::open(path)?;
    let sql = "SELECT tbl_name || '.' || name FROM sqlite_schema WHERE type = 'index' ORDER BY 1";
    let mut statement = conn.prepare(sql)?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(names.join(", "))
}

/// 26 characters, as an id of Sayso has.
pub(crate) fn crockford(mut number: u128) -> String {
    const DIGITS: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";
    let mut text = [b'0'; 26];
    for place in text.iter_mut().rev() {
        let digit = usize::try_from(number & 31).unwrap_or(0);
        *place = DIGITS.get(digit).copied().unwrap_or(b'0');
        number >>= 5;
    }
    String::from_utf8_lossy(&text).into_owned()
}
