//! Each case by its number; compiled once for each backend, so that a test's name says on which it failed.

use super::open;

mod clocks;
mod deliveries;
mod injections;
mod keys;
mod operator;
mod outbox;
mod rules;
mod whose;
