//! Words of the bridge's own in what a person reads.

/// Stands before a text that the person may have had before.
pub(crate) const REPEAT: &str = "[possible repeat]\n";
