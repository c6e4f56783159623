//! What the relay leaves out: where messages come from, where answers go, and the agent's session.
//!
//! Sources and sinks: [`telegram`], and [`command`] for any other channel. Agents: [`session`].
//! [`run`] puts them together as [`config`] says.

pub mod account;
mod background;
mod clock;
#[cfg(unix)]
pub mod command;
pub mod config;
mod http;
mod json;
mod mark;
#[cfg(feature = "rehearsal")]
pub mod rehearsal;
#[cfg(unix)]
pub mod run;
#[cfg(unix)]
pub mod session;
pub mod split;
pub mod telegram;

pub use background::{Background, LONGEST_PAUSE, Reading};
pub use clock::SystemClock;
pub use http::Waits;
