//! Storing bytes as they stream in.

use std::io::{self, Read};

use rusqlite::{Connection, OptionalExtension, params};
use sayso_model::limits::CHUNK_BYTES;
use sayso_store::{Blob, StoreError};

use super::tree::{Tree, chunk_value};
use super::{CHUNKS, range};
use crate::SqliteStore;
use crate::cells::run;
use crate::fault::Fault;
use crate::read::clamp;

/// Stored bytes that one transaction takes at most; what waits in memory is as much.
const TRANSACTION_BYTES: usize = 4 * 1024 * 1024;
/// Chunks that one transaction takes at most: 16 MiB before compression.
const TRANSACTION_CHUNKS: usize = 256;
/// Smaller chunks are not worth a decompression.
const TINY: usize = 256;
const LEVEL: i32 = 1;

const NEW_BLOB: &str = "INSERT INTO blob (hash, bytes) VALUES (?1, ?2)";
const FINISHED: &str = "UPDATE blob SET hash = ?2, bytes = ?3 WHERE no = ?1";
const FIND: &str = "SELECT no FROM blob WHERE hash = ?1";
const NEW_CHUNK: &str = "INSERT INTO chunk (no, size, codec, cv, data) VALUES (?1, ?2, ?3, ?4, ?5)";
const DROP_CHUNKS: &str =
    "DELETE FROM chunk WHERE no IN (SELECT no FROM chunk WHERE no BETWEEN ?1 AND ?2 LIMIT ?3)";
const DROP_BLOB: &str = "DELETE FROM blob WHERE no = ?1 AND hash IS NULL";

/// A chunk as it is stored.
struct Packed {
    size: usize,
    codec: &'static str,
    value: [u8; 32],
    data: Vec<u8>,
}

/// A blob that is being written: chunks wait here until a transaction takes them.
struct Upload<'s> {
    store: &'s SqliteStore,
    zstd: zstd::bulk::Compressor<'static>,
    tree: Tree,
    staged: Option<i64>,
    stored: i64,
    bytes: u64,
    waiting: Vec<Packed>,
    waiting_bytes: usize,
}

/// Stores bytes under their hash.
pub(crate) fn put(store: &SqliteStore, bytes: &mut dyn Read) -> Result<Blob, StoreError> {
    let zstd = zstd::bulk::Compressor::new(LEVEL).map_err(|e| failed("compressing an output", e))?;
    let mut upload = Upload {
        store,
        zstd,
        tree: Tree::default(),
        staged: None,
        stored: 0,
        bytes: 0,
        waiting: Vec::new(),
        waiting_bytes: 0,
    };
    let done = upload.take_all(bytes).and_then(|()| upload.finish());
    if done.is_err() {
        upload.abandon();
    }
    done
}

impl Upload<'_> {
    fn take_all(&mut self, bytes: &mut dyn Read) -> Result<(), StoreError> {
        let mut chunk = Vec::with_capacity(CHUNK_BYTES);
        let mut next = Vec::with_capacity(CHUNK_BYTES);
        fill(bytes, &mut chunk)?;
        while !chunk.is_empty() {
            // One chunk ahead: whether this one is the only one decides how it is hashed.
            fill(bytes, &mut next)?;
            self.take(&chunk, self.bytes == 0 && next.is_empty())?;
            std::mem::swap(&mut chunk, &mut next);
        }
        Ok(())
    }

    fn take(&mut self, chunk: &[u8], only: bool) -> Result<(), StoreError> {
        if self.waiting_bytes >= TRANSACTION_BYTES || self.waiting.len() >= TRANSACTION_CHUNKS {
            self.stage()?;
        }
        let value = chunk_value(chunk, self.bytes, only);
        self.tree.push(value);
        self.bytes += chunk.len() as u64;
        let (codec, data) = self.pack(chunk)?;
        self.waiting_bytes += data.len();
        self.waiting.push(Packed { size: chunk.len(), codec, value, data });
        Ok(())
    }

    fn pack(&mut self, chunk: &[u8]) -> Result<(&'static str, Vec<u8>), StoreError> {
        if chunk.len() < TINY {
            return Ok(("raw", chunk.to_vec()));
        }
        let packed = self.zstd.compress(chunk).map_err(|e| failed("compressing an output", e))?;
        // At least a sixteenth must be won.
        let pays = packed.len() + packed.len() / 16 < chunk.len();
        Ok(if pays { ("zstd", packed) } else { ("raw", chunk.to_vec()) })
    }

    /// Moves what waits into a blob without a hash, which nothing can refer to yet.
    fn stage(&mut self) -> Result<(), StoreError> {
        let (staged, stored, waiting) = (self.staged, self.stored, &self.waiting);
        let blob = self.store.write_with("storing an output", |conn| {
            let blob = match staged {
                Some(blob) => blob,
                None => new_blob(conn, None, 0)?,
            };
            insert(conn, blob, stored, waiting)?;
            Ok(blob)
        })?;
        self.staged = Some(blob);
        self.stored += self.waiting.len() as i64;
        self.waiting.clear();
        self.waiting_bytes = 0;
        Ok(())
    }

    /// Gives the blob its name, unless the same bytes are there already.
    fn finish(&mut self) -> Result<Blob, StoreError> {
        let blob = Blob { hash: std::mem::take(&mut self.tree).root(), bytes: self.bytes };
        let (staged, stored, waiting) = (self.staged, self.stored, &self.waiting);
        let hash = blob.hash.0;
        let there = self.store.write_with("storing an output", |conn| {
            if conn.prepare_cached(FIND)?.query_row([hash], |row| row.get::<_, i64>(0)).optional()?.is_some()
            {
                return Ok(true);
            }
            let no = match staged {
                Some(no) => {
                    run(conn, FINISHED, params![no, hash, clamp(blob.bytes)])?;
                    no
                }
                None => new_blob(conn, Some(hash), blob.bytes)?,
            };
            insert(conn, no, stored, waiting)?;
            Ok(false)
        })?;
        if there {
            self.abandon();
        }
        Ok(blob)
    }

    /// Takes a staged blob away again. Where that fails it stays as bytes that nothing refers to.
    fn abandon(&mut self) {
        let Some(blob) = self.staged.take() else { return };
        let (first, last) = range(blob);
        loop {
            let dropped = self.store.write_with("dropping an unfinished output", |conn| {
                match run(conn, DROP_CHUNKS, (first, last, TRANSACTION_CHUNKS as i64))? {
                    0 => run(conn, DROP_BLOB, [blob]).map(|_| 0),
                    some => Ok(some),
                }
            });
            if !matches!(dropped, Ok(1..)) {
                return;
            }
        }
    }
}

fn new_blob(conn: &Connection, hash: Option<[u8; 32]>, bytes: u64) -> Result<i64, Fault> {
    run(conn, NEW_BLOB, params![hash, clamp(bytes)])?;
    Ok(conn.last_insert_rowid())
}

fn insert(conn: &Connection, blob: i64, stored: i64, chunks: &[Packed]) -> Result<(), Fault> {
    if stored + chunks.len() as i64 > CHUNKS {
        let cause = io::Error::other("an output holds at most 1 TiB");
        return Err(StoreError::Storage { context: "storing an output", cause: Box::new(cause) }.into());
    }
    for (no, chunk) in (range(blob).0 + stored..).zip(chunks) {
        let row = params![no, chunk.size as i64, chunk.codec, chunk.value, chunk.data];
        run(conn, NEW_CHUNK, row)?;
    }
    Ok(())
}

/// Fills a chunk from a reader that may give less than asked.
fn fill(from: &mut dyn Read, chunk: &mut Vec<u8>) -> Result<(), StoreError> {
    chunk.clear();
    let read = from.take(CHUNK_BYTES as u64).read_to_end(chunk);
    read.map(|_| ()).map_err(|e| failed("reading the bytes to store", e))
}

fn failed(context: &'static str, error: io::Error) -> StoreError {
    StoreError::Storage { context, cause: Box::new(error) }
}
