//! Exports as JSONL: written from a ledger, and imported into one. What stands in them is documented in
//! [`crate::mapping::sayso`].

mod body;
mod check;
mod forms;
mod read;
mod reinjection;
mod restore;
mod salvage;
mod salvaged;
mod words;
mod write;

pub use salvage::salvage;
pub use salvaged::{Salvaged, SalvagedSession};
pub use write::{ExportError, Exported, export};

pub(crate) use forms::is_header;
pub(crate) use restore::import;
