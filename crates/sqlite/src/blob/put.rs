//! Storing bytes that a reader gives.

use std::io::Read;

use sayso_model::limits::CHUNK_BYTES;
use sayso_store::{Blob, StoreError};

use super::drop;
use super::upload::{Finished, Upload};
use crate::SqliteStore;

/// Stores bytes under their hash.
pub(crate) fn put(store: &SqliteStore, bytes: &mut dyn Read) -> Result<Blob, StoreError> {
    let mut upload = Upload::new()?;
    let done = take_all(store, &mut upload, bytes).and_then(|()| finish(store, &mut upload));
    if !matches!(done, Ok((_, Finished::Written))) {
        abandon(store, upload.staged());
    }
    done.map(|(blob, _)| blob)
}

fn take_all(store: &SqliteStore, upload: &mut Upload, bytes: &mut dyn Read) -> Result<(), StoreError> {
    let mut chunk = Vec::with_capacity(CHUNK_BYTES);
    loop {
        chunk.clear();
        let read = bytes.take(CHUNK_BYTES as u64).read_to_end(&mut chunk);
        read.map_err(|e| StoreError::Storage { context: "reading the bytes to store", cause: Box::new(e) })?;
        let mut rest = chunk.as_slice();
        if rest.is_empty() {
            return Ok(());
        }
        while !rest.is_empty() {
            let taken = upload.take(rest)?;
            rest = rest.get(taken..).unwrap_or_default();
        }
        if upload.is_full() {
            let staged = store.write_with("storing an output", |conn| upload.stage(conn))?;
            upload.settle(&staged);
        }
    }
}

fn finish(store: &SqliteStore, upload: &mut Upload) -> Result<(Blob, Finished), StoreError> {
    let whole = upload.whole()?;
    let finished = store.write_with("storing an output", |conn| whole.finish(conn))?;
    Ok((whole.blob, finished))
}

/// Takes a staged blob away again. Where that fails it stays, until a collection finds that nothing refers to it.
pub(crate) fn abandon(store: &SqliteStore, staged: Option<i64>) {
    let Some(blob) = staged else { return };
    let some = || store.write_with("dropping an unfinished output", |conn| drop::some(conn, blob));
    while matches!(some(), Ok(true)) {}
}
