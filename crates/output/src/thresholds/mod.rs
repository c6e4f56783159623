//! When a tool's result is worth two layers: measured for each tool, never guessed.

mod lengths;
mod policy;
mod report;

pub use lengths::{ExitClass, Lengths, Summary};
pub use policy::{Layers, Policies, Policy};
pub use report::{Choice, Report};
