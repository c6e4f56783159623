//! Every column of every table: an edit made outside of Sayso is found, or the column stands in the list of `schema/README.md`
//! that says whose edits are not.

use std::collections::{BTreeMap, BTreeSet};

use rusqlite::Connection;
use rusqlite::types::Value;
use sayso_store::{Scope, Store};

use super::sample::Sample;

/// The tables that hold the ledger: not those in which the index of the search keeps its words.
fn tables(conn: &Connection) -> Vec<String> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql NOT LIKE 'CREATE VIRTUAL%' \
               AND name NOT LIKE '%\\_words\\_%' ESCAPE '\\' ORDER BY name";
    column(conn, sql)
}

fn column(conn: &Connection, sql: &str) -> Vec<String> {
    let mut statement = conn.prepare(sql).unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
}

/// A table's columns, but for those that are computed.
fn columns(conn: &Connection, table: &str) -> Vec<String> {
    column(conn, &format!("SELECT name FROM pragma_table_xinfo('{table}') WHERE hidden = 0"))
}

/// The columns by which a row is found again.
fn key(conn: &Connection, table: &str) -> Vec<String> {
    column(conn, &format!("SELECT name FROM pragma_table_info('{table}') WHERE pk > 0 ORDER BY pk"))
}

type Row = BTreeMap<String, Value>;

fn rows(conn: &Connection, table: &str) -> Vec<Row> {
    let names = columns(conn, table);
    let mut statement = conn.prepare(&format!("SELECT {} FROM {table}", names.join(", "))).unwrap();
    let read = |row: &rusqlite::Row<'_>| {
        (0..).zip(&names).map(|(at, name)| Ok((name.clone(), row.get(at)?))).collect::<Result<Row, _>>()
    };
    statement.query_map([], read).unwrap().collect::<Result<_, _>>().unwrap()
}

/// What somebody could write in the place of a value: something of the same sort, what another row has there, and nothing.
fn others(value: &Value, column: &[Value], optional: bool) -> Vec<Value> {
    let mut found: Vec<Value> = column.iter().filter(|v| *v != value).take(2).cloned().collect();
    found.extend(match value {
        Value::Integer(0) => vec![Value::Integer(1)],
        Value::Integer(n) => vec![Value::Integer(n - 1), Value::Integer(n + 1)],
        Value::Text(text) => vec![Value::Text(last_letter_changed(text)), Value::Text(format!("{text}A"))],
        Value::Blob(bytes) => vec![Value::Blob(one_bit_changed(bytes))],
        Value::Null | Value::Real(_) => Vec::new(),
    });
    if optional {
        found.push(Value::Null);
    }
    found.retain(|other| other != value);
    found
}

fn last_letter_changed(text: &str) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    if let Some(last) = letters.last_mut() {
        *last = if *last == 'Z' { 'Y' } else { 'Z' };
    }
    letters.into_iter().collect()
}

fn one_bit_changed(bytes: &[u8]) -> Vec<u8> {
    let mut changed = bytes.to_vec();
    match changed.last_mut() {
        Some(last) => *last ^= 1,
        None => changed.push(1),
    }
    changed
}

/// A ledger, and a connection of somebody who edits it.
struct Edited {
    sample: Sample,
    store: sayso_sqlite::SqliteStore,
    conn: Connection,
}

impl Edited {
    fn new() -> Self {
        let sample = Sample::rich();
        let (store, conn) = (sample.store(), sample.raw());
        conn.execute_batch("PRAGMA ignore_check_constraints = ON").unwrap();
        Self { sample, store, conn }
    }

    fn is_found(&self) -> bool {
        self.store.verify(&Scope::All).map_or(true, |report| !report.problems.is_empty())
    }

    /// Writes a value into one place; false where the tables do not take it.
    fn set(&self, table: &str, name: &str, row: &Row, value: &Value) -> bool {
        let keys = key(&self.conn, table);
        let place = |row: &Row| keys.iter().map(|k| row[k].clone()).collect::<Vec<_>>();
        let condition: Vec<String> = (2..).zip(&keys).map(|(at, k)| format!("{k} IS ?{at}")).collect();
        let sql = format!("UPDATE {table} SET {name} = ?1 WHERE {}", condition.join(" AND "));
        let values: Vec<Value> = std::iter::once(value.clone()).chain(place(row)).collect();
        match self.conn.execute(&sql, rusqlite::params_from_iter(values)) {
            Ok(1) => true,
            Ok(n) => panic!("{n} rows of {table}"),
            Err(_) => false,
        }
    }

    fn delete(&self, table: &str, row: &Row) {
        let keys = key(&self.conn, table);
        let condition: Vec<String> = (1..).zip(&keys).map(|(at, k)| format!("{k} IS ?{at}")).collect();
        let sql = format!("DELETE FROM {table} WHERE {}", condition.join(" AND "));
        let place = rusqlite::params_from_iter(keys.iter().map(|k| &row[k]));
        assert_eq!(self.conn.execute(&sql, place).unwrap(), 1, "{table}");
    }

    fn insert(&self, table: &str, row: &Row) {
        let names: Vec<&str> = row.keys().map(String::as_str).collect();
        let places: Vec<String> = (1..=names.len()).map(|at| format!("?{at}")).collect();
        let sql = format!("INSERT INTO {table} ({}) VALUES ({})", names.join(", "), places.join(", "));
        self.conn.execute(&sql, rusqlite::params_from_iter(row.values())).unwrap();
    }

    /// Edits that are not found, in every row of a column.
    fn unseen(&self, table: &str, name: &str) -> Vec<String> {
        let rows = rows(&self.conn, table);
        let sql = format!(
            "SELECT \"notnull\" = 0 AND pk = 0 FROM pragma_table_info('{table}') WHERE name = '{name}'"
        );
        let optional: bool = self.conn.query_row(&sql, [], |row| row.get(0)).unwrap();
        let all: Vec<Value> = rows.iter().map(|row| row[name].clone()).collect();
        let mut unseen = Vec::new();
        for row in alike(&rows) {
            for value in others(&row[name], &all, optional) {
                if !self.set(table, name, row, &value) {
                    continue;
                }
                if !self.is_found() {
                    unseen.push(format!("{table}.{name}: {:?} to {value:?} in {row:?}", row[name]));
                }
                let mut now = row.clone();
                now.insert(name.to_owned(), value);
                assert!(self.set(table, name, &now, &row[name]), "{table}.{name} is set back");
            }
        }
        unseen
    }
}

/// Of rows that are of one kind, and empty in the same places, two: the others add nothing but time.
fn alike(rows: &[Row]) -> impl Iterator<Item = &Row> {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    rows.iter().filter(move |row| {
        let kind = row.get("kind").map(|kind| format!("{kind:?}")).unwrap_or_default();
        let empty: Vec<&String> =
            row.iter().filter(|(_, v)| **v == Value::Null).map(|(name, _)| name).collect();
        let count = seen.entry(format!("{kind} {empty:?}")).or_default();
        *count += 1;
        *count <= 2
    })
}

/// A list of `schema/README.md`: what stands in backticks at the beginning of its items.
fn listed(heading: &str) -> BTreeSet<String> {
    let page = include_str!("../../../schema/README.md");
    let list = page.split(heading).nth(1).expect("the list is in the page");
    let list = list.split("\n#").next().unwrap_or_default();
    let names = |line: &str| {
        let (names, _) = line.strip_prefix("- ")?.split_once(':')?;
        Some(names.split(',').map(|n| n.trim().trim_matches('`').to_owned()).collect::<Vec<_>>())
    };
    list.lines().filter_map(names).flatten().collect()
}

#[test]
fn an_edit_of_any_column_is_found_or_the_column_is_listed() {
    let edited = Edited::new();
    assert!(!edited.is_found(), "{:#?}", edited.sample.report().problems);
    let mut found = BTreeSet::new();
    let mut unseen = Vec::new();
    for table in tables(&edited.conn) {
        for name in columns(&edited.conn, &table) {
            let edits = edited.unseen(&table, &name);
            if !edits.is_empty() {
                found.insert(format!("{table}.{name}"));
                unseen.extend(edits.into_iter().take(3));
            }
        }
    }
    assert!(!edited.is_found(), "every edit was taken back");
    assert_eq!(found, listed("### Columns whose change is not found"), "{}", unseen.join("\n"));
}

#[test]
fn a_row_that_is_deleted_is_found_or_its_table_is_listed() {
    let edited = Edited::new();
    let mut found = BTreeSet::new();
    for table in tables(&edited.conn) {
        let rows = rows(&edited.conn, &table);
        for row in alike(&rows) {
            edited.delete(&table, row);
            if !edited.is_found() {
                found.insert(table.clone());
            }
            edited.insert(&table, row);
        }
    }
    assert_eq!(found, listed("### Tables whose rows may be gone unnoticed"));
}

/// A column without any value would pass without having been looked at.
#[test]
fn every_column_has_a_value_somewhere() {
    let edited = Edited::new();
    let mut empty = Vec::new();
    for table in tables(&edited.conn) {
        let rows = rows(&edited.conn, &table);
        let names = columns(&edited.conn, &table);
        let without = names.iter().filter(|name| rows.iter().all(|row| row[*name] == Value::Null));
        empty.extend(without.map(|name| format!("{table}.{name}")));
    }
    // What is still to be erased is only there for as long as it takes.
    assert_eq!(empty, ["erasure.no", "erasure.kind", "erasure.target"]);
}
