//! Stored bytes: chunks of 64 KiB, each with the BLAKE3 chaining value of its subtree, named by the root.

pub(crate) mod collect;
pub(crate) mod drop;
pub(crate) mod get;
pub(crate) mod grow;
pub(crate) mod part;
pub(crate) mod put;
pub(crate) mod tree;
pub(crate) mod upload;

/// How many chunks a blob may have: the place of a chunk has 24 bits of its row's number.
pub(crate) const CHUNKS: i64 = 1 << 24;

/// The numbers of the first and the last chunk that a blob may have.
pub(crate) fn range(blob: i64) -> (i64, i64) {
    (blob * CHUNKS, blob * CHUNKS + CHUNKS - 1)
}
