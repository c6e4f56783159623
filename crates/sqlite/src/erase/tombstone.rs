//! What was erased, as keyed hashes.

use rusqlite::Connection;
use sayso_model::{Address, EntryId, OutputId, ProjectId, SessionId, row};
use sayso_store::{Alias, Scope};

use crate::cells::{one, run};
use crate::fault::Fault;
use crate::read::key::secret;

const ANY: (&str, &str) = ("tombstone", "SELECT 1 FROM tombstone LIMIT 1");
const STANDS: (&str, &str) = ("tombstone", "SELECT 1 FROM tombstone WHERE name = ?1");
const SET: &str = "INSERT INTO tombstone (name) VALUES (?1) ON CONFLICT (name) DO NOTHING";

/// The words that name what was erased.
pub(crate) type Name = Vec<Vec<u8>>;

pub(crate) fn project(id: ProjectId) -> Name {
    vec![b"project".to_vec(), id.to_bytes().to_vec()]
}

pub(crate) fn session(id: SessionId) -> Name {
    vec![b"session".to_vec(), id.to_bytes().to_vec()]
}

pub(crate) fn entry(id: EntryId) -> Name {
    vec![b"entry".to_vec(), id.to_bytes().to_vec()]
}

/// An output, whether it was erased or went with the last words that named it.
pub(crate) fn output(id: OutputId) -> Name {
    vec![b"output".to_vec(), id.to_bytes().to_vec()]
}

/// The id that a program gave a session.
pub(crate) fn alias(alias: &Alias) -> Name {
    vec![b"alias".to_vec(), alias.kind.as_bytes().to_vec(), alias.value.as_bytes().to_vec()]
}

fn keyed(conn: &Connection, name: &Name) -> Result<[u8; 32], Fault> {
    let words: Vec<&[u8]> = name.iter().map(Vec::as_slice).collect();
    Ok(row::forgotten(&secret(conn)?, &words).0)
}

pub(crate) fn set(conn: &Connection, name: &Name) -> Result<(), Fault> {
    run(conn, SET, [keyed(conn, name)?]).map(|_| ())
}

pub(crate) fn stands(conn: &Connection, name: &Name) -> Result<bool, Fault> {
    // Most ledgers have none.
    if one(conn, ANY, [], |c| c.int())?.is_none() {
        return Ok(false);
    }
    Ok(one(conn, STANDS, [keyed(conn, name)?], |c| c.int())?.is_some())
}

/// Whether what an address names was erased, as far as the scope would have seen it.
pub(crate) fn was_erased(conn: &Connection, scope: &Scope, address: &Address) -> Result<bool, Fault> {
    let (in_project, names) = match *address {
        Address::Project(_, p) => (p, vec![project(p)]),
        Address::Session(_, p, s) => (p, vec![project(p), session(s)]),
        Address::Turn(_, p, s, t, _) => (p, vec![project(p), session(s), entry(t)]),
        Address::Speaker(..) => return Ok(false),
    };
    if !scope.sees(in_project) {
        return Ok(false);
    }
    for name in names {
        if stands(conn, &name)? {
            return Ok(true);
        }
    }
    Ok(false)
}
