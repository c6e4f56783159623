//! A ledger for agents that speak the Model Context Protocol (MCP), over standard input and output.
//!
//! A model finds, reads and, where it was allowed, forwards what was said in other sessions. Whatever it is given says who
//! said it: structured data with a speaker for every part, and beside that the renderings of `sayso-view` as text. What an
//! agent forwards here is the agent's, never the owner's.
//!
//! # Bounds
//!
//! An answer has at most [`ANSWER_BYTES`] bytes of JSON, however long the turns and outputs are; the rest is reached with
//! the cursor in `next`. A cursor holds a place and a checksum, and nothing from outside the scope.
//!
//! # Scope
//!
//! It is fixed when the server starts. What lies outside answers as what never existed, in every tool and resource.
//!
//! # Errors
//!
//! A ledger that is locked, missing or damaged is an error of the call; the server goes on, and the next call tries again.
//! Messages name the next action and no path of this machine.

mod answer;
mod args;
mod bound;
mod client;
mod cursor;
mod entry;
mod fail;
mod input;
mod page;
mod resources;
mod room;
mod serve;
mod server;
mod stream;
mod tools;
mod words;

pub use bound::ANSWER_BYTES;
pub use room::{Access, Settings};
pub use serve::{ServeError, serve};
