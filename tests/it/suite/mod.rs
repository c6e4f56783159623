//! What must hold on every backend. This module is compiled once for each, so that a test's name says on which it failed.

use super::open;

mod cases_context;
mod cases_quote;
mod cases_sayso;
mod cases_store;
mod clocks;
mod copies;
mod edit;
mod erase;
mod fork;
mod heads;
mod life;
mod outputs;
mod redact;
mod refusals;
mod reinject;
mod search;
mod settled;
