//! Outputs of tools: written while the tool runs, read in parts.

mod bytes;
mod grep;
mod lines;
mod pattern;
mod writer;

pub use bytes::OutputBytes;
pub use grep::{GrepMatch, LinePlace};
pub use pattern::{Pattern, PatternError};
pub use writer::{Ended, Ending, NewOutput, OutputWriter};
