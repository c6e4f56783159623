//! How an envelope gets from a tool to whoever runs it.
//!
//! A private [`Spool`] folder for each call is the way: stdout stays raw. Where no folder is shared (ssh, containers), a [`frame`] on
//! stdout does it. Both carry the two texts byte for byte: a length tells where they end, nothing is escaped.

mod emit;
mod frame;
mod legacy;
#[cfg(unix)]
mod spool;

pub use emit::{EmitError, FRAME_VARIABLE, Route, SPOOL_VARIABLE, emit};
pub use frame::{Found, FrameReader, Nonce, Sections, frame};
pub use legacy::{Legacy, legacy};
#[cfg(unix)]
pub use spool::{Collected, Finding, Spool, SpoolError, Why, collect};
