//! The embedded SQLite backend of the Sayso ledger: one file, opened by as many processes as there are.
//!
//! [`SqliteStore`] implements the contract of `sayso-store`. Writers of one process share a connection and its
//! commits, readers have a few of their own, and every read sees one state of the ledger. The tables live in `sayso-schema`; the statements that read
//! and write them live here, beside the code that runs them.

mod backup;
mod blob;
mod busy;
mod cells;
mod erase;
mod fault;
pub mod foreign;
mod group;
mod log;
mod open;
mod options;
mod read;
mod rows;
mod search;
mod store;
#[cfg(test)]
mod tests;
mod tx;
mod verify;
#[cfg(feature = "watch")]
pub mod watch;
mod write;

pub use log::{LogEnd, log_end};
pub use options::{Connections, Create, Durability, Options};
pub use store::SqliteStore;
