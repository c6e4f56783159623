//! The suite on SQLite with a single connection, as a hook opens it.

use std::sync::Arc;

use crate::support::{TestHost, World};

pub(crate) fn open() -> World {
    let host = Arc::new(TestHost::default());
    let folder = tempfile::tempdir().expect("a scratch folder");
    let path = folder.path().join("ledger.db");
    let options = sayso::Options { connections: sayso::Connections::One, ..sayso::Options::default() };
    let ledger = sayso::Ledger::open_with(&path, &options, host.clone());
    World { ledger: ledger.expect("a new ledger opens"), host, _folder: Some(folder) }
}

#[path = "suite/mod.rs"]
mod suite;
