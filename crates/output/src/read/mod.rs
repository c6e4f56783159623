//! Reading a stored output: parts of it, and what matches. Everything streams; a line may have any length.

mod grep;
mod ranges;

pub use grep::{Grep, Hit, PatternError};
pub use ranges::{Count, Range, RangeError, bytes, head, lines, tail};
