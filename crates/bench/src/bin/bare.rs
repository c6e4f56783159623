//! What a hook by hand would be: a program that opens a database, inserts one row and closes it. It is measured beside
//! `sayso hook`.

use std::io::Read;
use std::path::PathBuf;

use anyhow::{Context, Result};
use rusqlite::{Connection, FileControl, params};

fn main() -> Result<()> {
    let path = std::env::args_os().nth(1).map(PathBuf::from).context("usage: bare FILE")?;
    let mut input = String::new();
    std::io::stdin().lock().read_to_string(&mut input)?;
    let connection = Connection::open(path)?;
    connection.pragma_update(None, "synchronous", "FULL")?;
    connection.pragma_update_and_check(None, "journal_mode", "WAL", |_| Ok(()))?;
    connection.file_control(None::<&str>, FileControl::PersistWal(&mut 1))?;
    connection.execute_batch(
        "CREATE TABLE IF NOT EXISTS note (no INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT",
    )?;
    connection.execute("INSERT INTO note (text) VALUES (?1)", params![input])?;
    connection.close().map_err(|(_, error)| error)?;
    Ok(())
}
