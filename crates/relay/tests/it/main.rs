//! What a relay does, on a clock that the tests move, over every backend.

// The suite is compiled once for each backend, on purpose; a failing helper fails its test.
#![allow(clippy::duplicate_mod, clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing)]
#![allow(clippy::print_stdout)]

mod check;
mod net;
mod on_oracle;
mod on_sqlite;
mod processes;
mod random;
mod sweep;
mod world;
