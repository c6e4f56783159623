//! What SQLite really does on a ledger's connections: for tests of plans and for measurements, behind the feature `watch`.
//!
//! Without the feature nothing of this is compiled; with it, connections that are opened outside of [`watched`] cost
//! nothing more.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::trace::{StmtRef, TraceEvent, TraceEventCodes};
use rusqlite::{Connection, StatementStatus};
use sayso_store::StoreError;

use crate::fault::Fault;
use crate::store::{SqliteStore, lock};

/// A statement that ran to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ran {
    /// The statement, without values.
    pub sql: String,
    /// Steps of SQLite's virtual machine.
    pub steps: u64,
    /// Rows that were stepped over in a scan of a whole table or index.
    pub scanned: u64,
    /// Sorts.
    pub sorts: u64,
}

static CONNECTIONS: AtomicU64 = AtomicU64::new(0);

/// The counters of a statement, which grow as long as it stays prepared.
type Counters = [u64; 3];

thread_local! {
    static RAN: RefCell<Option<Vec<Ran>>> = const { RefCell::new(None) };
    static COUNTED: RefCell<HashMap<(u64, String), Counters>> = RefCell::new(HashMap::new());
}

/// Runs `work` and tells which statements ran in this thread, on connections that were opened inside of this or an earlier
/// call.
pub fn watched<T>(work: impl FnOnce() -> T) -> (T, Vec<Ran>) {
    let before = RAN.replace(Some(Vec::new()));
    let done = work();
    (done, RAN.replace(before).unwrap_or_default())
}

/// Watches a connection that is opened while its thread is watched.
pub(crate) fn connection(conn: &mut Connection) -> Result<(), Fault> {
    if RAN.with_borrow(Option::is_none) {
        return Ok(());
    }
    let id = CONNECTIONS.fetch_add(1, Ordering::Relaxed);
    let note = move |event: TraceEvent<'_>| {
        if let TraceEvent::Profile(statement, _) = event {
            note(id, &statement);
        }
    };
    Ok(conn.trace_v2(TraceEventCodes::SQLITE_TRACE_PROFILE, Some(note))?)
}

fn note(connection: u64, statement: &StmtRef<'_>) {
    let sql = statement.sql().into_owned();
    let count = |status| u64::try_from(statement.get_status(status)).unwrap_or(0);
    let now = [StatementStatus::VmStep, StatementStatus::FullscanStep, StatementStatus::Sort].map(count);
    let before = COUNTED.with_borrow_mut(|counted| counted.insert((connection, sql.clone()), now));
    // Fewer than before: it was prepared anew.
    let before = before.filter(|before| before.iter().zip(&now).all(|(b, n)| b <= n)).unwrap_or_default();
    let [steps, scanned, sorts] =
        std::array::from_fn(|i| now.get(i).copied().unwrap_or(0) - before.get(i).copied().unwrap_or(0));
    RAN.with_borrow_mut(|ran| {
        ran.iter_mut().for_each(|ran| ran.push(Ran { sql: sql.clone(), steps, scanned, sorts }))
    });
}

/// The settings that decide what a write costs.
pub const SETTINGS: [&str; 8] = [
    "journal_mode",
    "synchronous",
    "foreign_keys",
    "secure_delete",
    "cache_size",
    "page_size",
    "wal_autocheckpoint",
    "journal_size_limit",
];

impl SqliteStore {
    /// The settings of the connection that writes, as SQLite says they are.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn settings(&self) -> Result<Vec<(&'static str, String)>, StoreError> {
        let writer = lock(self.writer());
        let read = |name: &'static str| {
            let value = writer.conn.pragma_query_value(None, name, |row| {
                row.get_ref(0).map(|value| match value {
                    rusqlite::types::ValueRef::Integer(number) => number.to_string(),
                    other => other.as_str().unwrap_or_default().to_owned(),
                })
            });
            Ok::<_, Fault>((name, value?))
        };
        SETTINGS
            .into_iter()
            .map(read)
            .collect::<Result<_, _>>()
            .map_err(|fault| fault.at(self.path(), "reading settings"))
    }

    /// Bounds the ledger's file: it may have so many pages more than it has. `None` takes the bound away.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn bound_pages(&self, more: Option<u32>) -> Result<(), StoreError> {
        let writer = lock(self.writer());
        let bound = || {
            let has: u32 = writer.conn.pragma_query_value(None, "page_count", |row| row.get(0))?;
            let most = more.map_or(u32::MAX - 1, |more| has.saturating_add(more));
            writer.conn.pragma_update_and_check(None, "max_page_count", most, |_| Ok(()))
        };
        bound().map_err(|e| Fault::from(e).at(self.path(), "bounding the file"))
    }

    /// The steps of a statement's plan, as SQLite describes them.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn plan(&self, sql: &str) -> Result<Vec<String>, StoreError> {
        self.read_with("explaining", |conn| {
            let mut statement = conn.prepare(&format!("EXPLAIN QUERY PLAN {sql}"))?;
            let steps = statement.raw_query().mapped(|row| row.get::<_, String>(3)).collect::<Result<_, _>>();
            Ok(steps?)
        })
    }
}
