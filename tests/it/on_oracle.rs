//! The suite on the in-memory oracle.

use std::sync::Arc;

use crate::support::{TestHost, World};

pub(crate) fn open() -> World {
    let host = Arc::new(TestHost::default());
    let store = sayso::store::Oracle::new(sayso::model::LedgerId::from_u128(7));
    World { ledger: sayso::Ledger::over(Arc::new(store), host.clone()), host, _folder: None }
}

#[path = "suite/mod.rs"]
mod suite;
