//! The integration tests, one module for each subject.

// The suite is compiled once for each backend, on purpose; a failing helper fails its test.
#![allow(clippy::duplicate_mod, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
// The example that is run here prints.
#![allow(clippy::print_stdout)]

mod batches;
#[cfg(unix)]
mod bridge;
mod cli;
mod corpus;
mod demo;
mod embed;
#[cfg(unix)]
mod faults;
mod files;
#[cfg(unix)]
mod fuzzing;
mod mcp;
mod on_one_connection;
mod on_oracle;
mod on_sqlite;
mod plans;
mod schema_page;
mod search;
mod support;
mod tidy;
mod together;
mod two_turns;
mod vectors;
mod verify;
