//! Bytes that stream in: cut into chunks, hashed and compressed, waiting until a transaction takes them.

use std::io;

use rusqlite::{Connection, params};
use sayso_model::Digest;
use sayso_model::limits::CHUNK_BYTES;
use sayso_store::{Blob, StoreError};

use super::tree::{Tree, chunk_value};
use super::{CHUNKS, range};
use crate::cells::{one, run};
use crate::fault::Fault;
use crate::read::clamp;

/// Stored bytes that one transaction takes at most; what waits in memory is as much.
const TRANSACTION_BYTES: usize = 4 * 1024 * 1024;
/// Chunks that one transaction takes at most: 16 MiB before compression.
const TRANSACTION_CHUNKS: usize = 256;
/// Smaller chunks are not worth a decompression.
const TINY: usize = 256;
const LEVEL: i32 = 1;

const NEW_BLOB: &str = "INSERT INTO blob (hash, bytes) VALUES (NULL, ?1)";
const GROWN: &str = "UPDATE blob SET bytes = ?2, loose_since = NULL WHERE no = ?1 AND hash IS NULL";
const NAMED: &str =
    "UPDATE blob SET hash = ?2, bytes = ?3, loose_since = NULL WHERE no = ?1 AND hash IS NULL";
const FIND: (&str, &str) = ("blob", "SELECT no FROM blob WHERE hash = ?1");
const WANTED: &str = "UPDATE blob SET loose_since = NULL WHERE no = ?1 AND loose_since IS NOT NULL";
/// The last chunk of a blob that grows is written again with what came after it.
const PUT_CHUNK: &str = "INSERT INTO chunk (no, size, codec, cv, data) VALUES (?1, ?2, ?3, ?4, ?5) \
     ON CONFLICT (no) DO UPDATE SET size = ?2, codec = ?3, cv = ?4, data = ?5";

/// A chunk as it is stored.
struct Packed {
    size: usize,
    codec: &'static str,
    value: [u8; 32],
    data: Vec<u8>,
}

/// A blob that is being written. Its last chunk stays in memory until more follows, since whether a chunk is the only one
/// decides how it is hashed.
pub(crate) struct Upload {
    zstd: zstd::bulk::Compressor<'static>,
    tree: Tree,
    tail: Vec<u8>,
    /// The bytes of all chunks before the last.
    before: u64,
    blob: Option<i64>,
    stored: i64,
    waiting: Vec<Packed>,
    waiting_bytes: usize,
}

/// What a transaction did, told to the upload once it is committed.
pub(crate) struct Staged {
    blob: i64,
}

impl Upload {
    pub(crate) fn new() -> Result<Self, StoreError> {
        Ok(Self {
            zstd: zstd::bulk::Compressor::new(LEVEL).map_err(compressing)?,
            tree: Tree::default(),
            tail: Vec::with_capacity(CHUNK_BYTES),
            before: 0,
            blob: None,
            stored: 0,
            waiting: Vec::new(),
            waiting_bytes: 0,
        })
    }

    /// Takes as many bytes as one chunk has room for; how many.
    pub(crate) fn take(&mut self, bytes: &[u8]) -> Result<usize, StoreError> {
        if self.tail.len() == CHUNK_BYTES {
            let packed = self.pack(false)?;
            self.tree.push(packed.value);
            self.before += packed.size as u64;
            self.waiting_bytes += packed.data.len();
            self.waiting.push(packed);
            self.tail.clear();
        }
        let taken = bytes.len().min(CHUNK_BYTES - self.tail.len());
        self.tail.extend_from_slice(bytes.get(..taken).unwrap_or_default());
        Ok(taken)
    }

    /// Whether so much waits that a transaction is to take it.
    pub(crate) fn is_full(&self) -> bool {
        self.waiting_bytes >= TRANSACTION_BYTES || self.waiting.len() >= TRANSACTION_CHUNKS
    }

    fn pack(&mut self, only: bool) -> Result<Packed, StoreError> {
        let value = chunk_value(&self.tail, self.before, only);
        let size = self.tail.len();
        let packed = match size {
            0..TINY => None,
            _ => Some(self.zstd.compress(&self.tail).map_err(compressing)?),
        };
        // At least a sixteenth must be won.
        let packed = packed.filter(|packed| packed.len() + packed.len() / 16 < size);
        let (codec, data) = packed.map_or_else(|| ("raw", self.tail.clone()), |packed| ("zstd", packed));
        Ok(Packed { size, codec, value, data })
    }

    /// The bytes so far, and their last chunk as it is stored if nothing follows.
    fn end(&mut self) -> Result<(Blob, Option<Packed>), StoreError> {
        let bytes = self.before + self.tail.len() as u64;
        let last = if self.tail.is_empty() { None } else { Some(self.pack(self.before == 0)?) };
        let mut tree = self.tree.clone();
        last.iter().for_each(|last| tree.push(last.value));
        Ok((Blob { hash: tree.root(), bytes }, last))
    }

    /// Moves the chunks that wait into a blob without a name, which nothing can refer to yet.
    pub(crate) fn stage(&self, conn: &Connection) -> Result<Staged, Fault> {
        let blob = self.blob(conn, self.before)?;
        self.insert(conn, blob, None)?;
        Ok(Staged { blob })
    }

    /// What is to be written so that everything so far stands there.
    pub(crate) fn whole(&mut self) -> Result<Whole<'_>, StoreError> {
        let (blob, last) = self.end()?;
        Ok(Whole { upload: self, blob, last })
    }

    fn blob(&self, conn: &Connection, bytes: u64) -> Result<i64, Fault> {
        match self.blob {
            Some(no) if run(conn, GROWN, params![no, clamp(bytes)])? == 0 => Err(collected().into()),
            Some(no) => Ok(no),
            None => {
                run(conn, NEW_BLOB, [clamp(bytes)])?;
                Ok(conn.last_insert_rowid())
            }
        }
    }

    fn insert(&self, conn: &Connection, blob: i64, last: Option<&Packed>) -> Result<(), Fault> {
        let count = self.waiting.len() as i64 + i64::from(last.is_some());
        if self.stored + count > CHUNKS {
            let cause = io::Error::other("an output holds at most 1 TiB");
            return Err(StoreError::Storage { context: "storing an output", cause: Box::new(cause) }.into());
        }
        for (no, chunk) in (range(blob).0 + self.stored..).zip(self.waiting.iter().chain(last)) {
            let row = params![no, chunk.size as i64, chunk.codec, chunk.value, chunk.data];
            run(conn, PUT_CHUNK, row)?;
        }
        Ok(())
    }

    /// Takes note of what a transaction did.
    pub(crate) fn settle(&mut self, staged: &Staged) {
        self.blob = Some(staged.blob);
        self.stored += self.waiting.len() as i64;
        self.waiting.clear();
        self.waiting_bytes = 0;
    }

    /// The blob without a name that chunks were moved into.
    pub(crate) fn staged(&self) -> Option<i64> {
        self.blob
    }
}

/// Everything of an upload, ready for a transaction.
pub(crate) struct Whole<'u> {
    upload: &'u Upload,
    pub(crate) blob: Blob,
    last: Option<Packed>,
}

impl Whole<'_> {
    /// Writes it into a blob that may still grow; that blob's number.
    pub(crate) fn keep(&self, conn: &Connection) -> Result<(i64, Staged), Fault> {
        let blob = self.upload.blob(conn, self.blob.bytes)?;
        self.upload.insert(conn, blob, self.last.as_ref())?;
        Ok((blob, Staged { blob }))
    }

    /// Writes it under its name, unless the same bytes are there already; what was staged is then of no more use.
    pub(crate) fn finish(&self, conn: &Connection) -> Result<Finished, Fault> {
        if let Some(there) = named(conn, self.blob.hash)? {
            run(conn, WANTED, [there])?;
            return Ok(Finished::There);
        }
        let no = self.upload.blob(conn, self.blob.bytes)?;
        self.upload.insert(conn, no, self.last.as_ref())?;
        name(conn, no, self.blob)?;
        Ok(Finished::Written)
    }
}

/// Whether an upload's own blob got its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Finished {
    Written,
    There,
}

/// The number of the blob with this hash.
pub(crate) fn named(conn: &Connection, hash: Digest) -> Result<Option<i64>, Fault> {
    one(conn, FIND, [hash.0], |c| c.int())
}

/// Gives a blob its name.
pub(crate) fn name(conn: &Connection, no: i64, blob: Blob) -> Result<(), Fault> {
    match run(conn, NAMED, params![no, blob.hash.0, clamp(blob.bytes)])? {
        0 => Err(collected().into()),
        _ => Ok(()),
    }
}

/// A collection took the bytes meanwhile: the clock must have jumped, or the grace was none.
fn collected() -> StoreError {
    let cause =
        io::Error::other("a collection took its first bytes away while it was written: write it again");
    StoreError::Storage { context: "storing an output", cause: Box::new(cause) }
}

fn compressing(error: io::Error) -> StoreError {
    StoreError::Storage { context: "compressing an output", cause: Box::new(error) }
}
