//! Card, marker, context and export: values in, text out. No store, clock, file or socket.

pub mod card;
pub mod context;
#[doc(hidden)]
pub mod example;
pub mod export;
#[doc(hidden)]
pub mod fuzzing;
pub mod guard;
pub mod marker;
mod names;
#[doc(hidden)]
pub mod rules;
mod sheet;
pub mod turn;

pub use names::json_line;
pub use sheet::grouped;
