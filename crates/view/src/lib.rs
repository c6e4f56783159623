//! Card, marker and context: values in, text out. No store, clock, file or socket.

#[doc(hidden)]
pub mod example;
pub mod guard;
pub mod marker;
mod names;
