//! What people would use instead.

pub(crate) mod jsonl;
pub(crate) mod peer;
pub(crate) mod raw;
