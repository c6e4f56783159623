//! Reads. Every function here runs inside one transaction, so that it sees one state of the ledger.

pub(crate) mod archive;
pub(crate) mod child;
pub(crate) mod find;
pub(crate) mod key;
pub(crate) mod load;
pub(crate) mod output;
pub(crate) mod part;
pub(crate) mod relay;
mod salvage;
pub(crate) mod taken;
pub(crate) mod turns;

/// A number for SQLite, whose integers have a sign; what is larger stands for everything there may be.
pub(crate) fn clamp(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}
