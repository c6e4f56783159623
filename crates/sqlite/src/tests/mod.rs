//! What is particular to this backend; what every backend does is tested where the backends are compared.

mod blobs;
mod foreign;
mod opening;
mod plans;
mod searching;

use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::Connection;
use sayso_model::{LedgerId, ProjectId, Seed, UtcMs};
use sayso_store::{Batch, Command, CreateProject, Scope};
use tempfile::TempDir;

use crate::{Durability, Options, SqliteStore};

const LEDGER: LedgerId = LedgerId::from_u128(1);

/// A folder with the path of a ledger in it.
struct Folder {
    folder: TempDir,
    path: PathBuf,
}

fn folder() -> Folder {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sayso");
    Folder { folder, path }
}

fn options() -> Options {
    let wait = Duration::from_millis(50);
    Options { durability: Durability::Normal, wait, ..Options::new(LEDGER, UtcMs(1)) }
}

fn open(path: &Path) -> SqliteStore {
    SqliteStore::open(path, &options()).unwrap()
}

/// A batch that makes a project.
fn project(id: u128) -> Batch {
    let project = CreateProject { id: ProjectId::from_u128(id), name: "Acme".into(), alias: None };
    Batch {
        scope: Scope::All,
        at: UtcMs(2),
        seed: Seed([3; 32]),
        commands: vec![Command::CreateProject(project)],
    }
}

fn raw(path: &Path) -> Connection {
    let conn = Connection::open(path).unwrap();
    conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
    conn
}
