//! The field cases that need no store, and properties of everything public.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "helpers of tests may fail like tests")]

mod execute;
mod present;
mod properties;
mod support;
mod thresholds;
mod wire;
