//! Ledgers of every published schema, as rows that are put into the tables of that schema.
//!
//! `schema_N.sql` has the rows of a ledger that a program of schema N wrote. A new step needs one more:
//! `SAYSO_KEEP_SCHEMA=1 cargo test -p sayso-tests --test it -- together::schemas` writes the missing ones. They are written
//! while their schema is the newest, and never again.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use sayso_schema::{SQLITE, SQLITE_APPLICATION_ID};
use sayso_store::Store;

use crate::verify::sample::Sample;

fn kept(number: usize) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("it/together/schema_{number}.sql"))
}

/// Makes the kept ledger of a schema: its published steps, then its rows.
pub(crate) fn load(number: usize, path: &Path) {
    let rows = std::fs::read_to_string(kept(number)).unwrap();
    let conn = Connection::open(path).unwrap();
    conn.execute_batch("PRAGMA journal_mode = WAL; PRAGMA foreign_keys = OFF; BEGIN").unwrap();
    apply(&conn, number);
    for table in plain_tables(&conn) {
        conn.execute_batch(&format!("DELETE FROM {table}")).unwrap();
    }
    conn.execute_batch(&rows).unwrap();
    conn.execute_batch("COMMIT").unwrap();
}

/// The published steps up to a number, as a program of that schema made them.
fn apply(conn: &Connection, number: usize) {
    for step in &SQLITE[..number] {
        conn.execute_batch(step.sql).unwrap();
        conn.pragma_update(None, "user_version", step.number).unwrap();
    }
    conn.pragma_update(None, "application_id", SQLITE_APPLICATION_ID).unwrap();
}

/// Tables that hold rows themselves.
fn plain_tables(conn: &Connection) -> Vec<String> {
    strings(
        conn,
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' ORDER BY name",
    )
}

fn strings(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// Everything that stands in the schema of a file.
pub(super) fn tables(path: &Path) -> BTreeSet<String> {
    let conn = Connection::open(path).unwrap();
    let sql = "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema";
    strings(&conn, sql).into_iter().collect()
}

/// What stands in the schema of a new ledger.
pub(super) fn newest() -> BTreeSet<String> {
    let folder = tempfile::tempdir().unwrap();
    drop(super::open(folder.path()));
    tables(&super::file(folder.path()))
}

/// The rows of a ledger as statements, as far as a schema has their tables and columns.
fn rows(of: &Connection, number: usize) -> String {
    let shape = Connection::open_in_memory().unwrap();
    apply(&shape, number);
    let mut text = String::new();
    for table in plain_tables(&shape) {
        let columns =
            strings(&shape, &format!("SELECT name FROM pragma_table_xinfo('{table}') WHERE hidden = 0"));
        let values: Vec<String> = columns.iter().map(|c| format!("quote({c})")).collect();
        let sql = format!("SELECT {} FROM {table}", values.join(" || ', ' || "));
        for row in strings(of, &sql) {
            text.push_str(&format!("INSERT INTO {table} ({}) VALUES ({row});\n", columns.join(", ")));
        }
    }
    text
}

#[test]
fn a_ledger_of_every_schema_is_kept() {
    let missing: Vec<usize> = (1..=SQLITE.len()).filter(|number| !kept(*number).is_file()).collect();
    if std::env::var_os("SAYSO_KEEP_SCHEMA").is_some() {
        let sample = Sample::small();
        // Of what is under way there is something since the seventh.
        crate::verify::relay::fill(&sample.store());
        while sample.store().index(1_000).unwrap().left > 0 {}
        for number in missing {
            std::fs::write(kept(number), rows(&sample.raw(), number)).unwrap();
        }
        return;
    }
    assert_eq!(missing, Vec::<usize>::new(), "see the beginning of this file for how to keep one");
}
