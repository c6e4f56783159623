//! The upper part of a BLAKE3 tree, from the chaining values of 64 KiB chunks, at a memory that grows with its height.

use blake3::Hasher;
use blake3::hazmat::{ChainingValue, HasherExt, Mode, merge_subtrees_non_root, merge_subtrees_root};
use sayso_model::Digest;

/// What a chunk's row keeps: the chaining value of its bytes at their offset. The only chunk of a blob is the whole tree,
/// and its value is the root.
pub(crate) fn chunk_value(bytes: &[u8], offset: u64, only: bool) -> ChainingValue {
    if only {
        return *blake3::hash(bytes).as_bytes();
    }
    Hasher::new().set_input_offset(offset).update(bytes).finalize_non_root()
}

/// Subtrees that are whole, the largest first.
#[derive(Debug, Clone, Default)]
pub(crate) struct Tree {
    stack: Vec<ChainingValue>,
    count: u64,
}

impl Tree {
    /// Adds the next chunk's value.
    pub(crate) fn push(&mut self, value: ChainingValue) {
        // Merging waits until more follows: the last merge of all is the root's and is another function.
        while self.stack.len() > self.count.count_ones() as usize {
            self.merge();
        }
        self.stack.push(value);
        self.count += 1;
    }

    fn merge(&mut self) {
        if let (Some(right), Some(left)) = (self.stack.pop(), self.stack.pop()) {
            self.stack.push(merge_subtrees_non_root(&left, &right, Mode::Hash));
        }
    }

    /// The value of these chunks as a part of a larger tree; none where there are none.
    pub(crate) fn subtree(mut self) -> Option<Digest> {
        while self.stack.len() > 1 {
            self.merge();
        }
        self.stack.pop().map(Digest)
    }

    /// The hash of all bytes.
    pub(crate) fn root(mut self) -> Digest {
        while self.stack.len() > 2 {
            self.merge();
        }
        match self.stack.as_slice() {
            [] => Digest(*blake3::hash(b"").as_bytes()),
            [only] => Digest(*only),
            [left, right, ..] => Digest(*merge_subtrees_root(left, right, Mode::Hash).as_bytes()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sayso_model::limits::CHUNK_BYTES;

    #[test]
    fn the_root_is_the_hash_of_the_bytes() {
        let bytes: Vec<u8> = (0u32..).map(|i| (i % 251) as u8).take(9 * CHUNK_BYTES + 17).collect();
        for chunks in 0..10 {
            for extra in [0, 1, 17] {
                let bytes = &bytes[..chunks * CHUNK_BYTES + extra];
                let only = bytes.len() <= CHUNK_BYTES;
                let mut tree = Tree::default();
                for (i, chunk) in bytes.chunks(CHUNK_BYTES).enumerate() {
                    tree.push(chunk_value(chunk, (i * CHUNK_BYTES) as u64, only));
                }
                assert_eq!(tree.root().0, *blake3::hash(bytes).as_bytes(), "{} bytes", bytes.len());
            }
        }
    }
}
