//! Outputs of tools: written while the tool runs, read in parts.

mod bytes;
mod grep;
mod lines;
mod writer;

pub use bytes::OutputBytes;
pub use grep::{GrepMatch, Pattern};
pub use writer::{Ended, Ending, NewOutput, OutputWriter};
