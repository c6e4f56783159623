//! Erasing as a job: a first transaction puts what is erased out of sight and writes down what is to be done; then each
//! step is a transaction of its own, so that a crash between any two of them loses nothing and is gone on from.

pub(crate) mod steps;
pub(crate) mod tombstone;

use rusqlite::Connection;
use sayso_model::LedgerId;
use sayso_store::{Batch, Erase, Erasing, Scope, StoreError, Target};

use crate::SqliteStore;
use crate::cells::{one, run};
use crate::fault::Fault;
use crate::write::{Memory, Write};

pub(crate) const NEW: &str = "INSERT INTO erasure (kind, target) VALUES (?1, ?2)";
const NEXT: (&str, &str) =
    ("erasure", "SELECT no, kind, target FROM erasure ORDER BY kind = 'log', kind = 'speaker', no LIMIT 1");
const DONE: &str = "DELETE FROM erasure WHERE no = ?1";

/// Puts something out of sight and writes down what is to be done.
pub(crate) fn begin(store: &SqliteStore, ledger: LedgerId, erase: &Erase) -> Result<(), StoreError> {
    if erase.scope != Scope::All {
        return Err(StoreError::NeedsWholeLedger);
    }
    let nothing = Memory::default();
    let batch = Batch { scope: Scope::All, at: erase.at, seed: erase.seed, commands: Vec::new() };
    store.erase_with("erasing", |conn| {
        let name = match erase.target {
            Target::Project(id) => tombstone::project(id),
            Target::Session(id) => tombstone::session(id),
            Target::Entry(id) => tombstone::entry(id),
        };
        if tombstone::stands(conn, &name)? {
            return Ok(());
        }
        let mut write = Write::new(conn, ledger, &nothing, &batch);
        match erase.target {
            Target::Project(id) => write.erase_project(id, erase.forks)?,
            Target::Session(id) => write.erase_session(id, erase.forks)?,
            Target::Entry(id) => write.erase_entry(id, erase.id, &erase.seed.child(0))?,
        }
        write.flush()?;
        plan(conn, "log", "")
    })
}

/// Writes down one more thing to do.
pub(crate) fn plan(conn: &Connection, kind: &str, target: &str) -> Result<(), Fault> {
    run(conn, NEW, (kind, target)).map(|_| ())
}

/// What comes next: its number, kind and target.
type Job = (i64, String, String);

/// Runs at most so many steps of what is to be done.
pub(crate) fn go_on(store: &SqliteStore, steps: usize) -> Result<Erasing, StoreError> {
    for _ in 0..steps {
        let job = store.read_with("erasing", next)?;
        let Some((no, kind, target)) = job else { return Ok(Erasing::Done) };
        if kind == "log" {
            if !sayso_store::Store::purge(store)? {
                return Ok(Erasing::Pending);
            }
            store.erase_with("erasing", |conn| run(conn, DONE, [no]).map(|_| ()))?;
            continue;
        }
        store.erase_with("erasing", |conn| {
            // Another process may go on with the same job.
            match next(conn)? {
                Some(found) if found.0 == no => match steps::step(conn, &kind, &target)? {
                    steps::Left::Nothing => run(conn, DONE, [no]).map(|_| ()),
                    steps::Left::Some => Ok(()),
                },
                _ => Ok(()),
            }
        })?;
    }
    match store.read_with("erasing", next)? {
        Some(_) => Ok(Erasing::Unfinished),
        None => Ok(Erasing::Done),
    }
}

fn next(conn: &Connection) -> Result<Option<Job>, Fault> {
    one(conn, NEXT, [], |c| Ok((c.int()?, c.text()?, c.text()?)))
}
