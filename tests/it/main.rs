//! The integration tests, one module for each subject.

mod batches;
mod cli;
mod corpus;
mod demo;
mod embed;
mod on_oracle;
mod on_sqlite;
mod support;
mod tidy;
mod vectors;
mod verify;
