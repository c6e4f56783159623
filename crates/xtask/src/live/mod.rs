//! `cargo xtask live`: the real agent programs and the real `sayso`, against a scripted model.

pub(crate) mod agents;
pub(crate) mod model;
