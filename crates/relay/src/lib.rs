//! Requests and deliveries: a message from a person goes into an agent's session, and the answer goes back to where the
//! message came from.
//!
//! Nothing here opens a socket or a process: sources, senders, sessions and the clock come in through [`port`]. What is under
//! way stands in the ledger, so that another process goes on where one died: every transition is one batch, and what may
//! have happened without a word is `unknown`, never done again blindly.
//!
//! [`Relay::accept`] takes a message in, [`Relay::event`] takes in what a session says, [`Relay::step`] does everything that is
//! due, and [`Relay::run`] does all three until it is told to stop.

mod accept;
mod clear;
mod error;
mod event;
#[cfg(feature = "flaws")]
pub mod flaw;
#[cfg(not(feature = "flaws"))]
mod flaw;
mod inject;
pub mod port;
mod relay;
mod run;
mod send;
mod tempo;
mod tool;
mod words;

pub use accept::Accepted;
pub use error::Error;
pub use relay::{Ports, Relay, Senders, Stepped};
pub use tempo::Tempo;
pub use words::Words;
