//! Reading stored bytes, checked before they are handed out.

use std::io::{self, Write};

use rusqlite::Connection;
use sayso_model::Digest;
use sayso_model::limits::CHUNK_BYTES;
use sayso_store::{Blob, StoreError};

use super::range;
use super::tree::{Tree, chunk_value};
use crate::cells::{Cells, Next, each, one};
use crate::fault::Fault;

const FIND: (&str, &str) = ("blob", "SELECT no, bytes FROM blob WHERE hash = ?1");
const VALUES: (&str, &str) =
    ("chunk", "SELECT no, size, cv FROM chunk WHERE no BETWEEN ?1 AND ?2 ORDER BY no");
const CHUNKS: (&str, &str) =
    ("chunk", "SELECT size, codec, cv, data FROM chunk WHERE no BETWEEN ?1 AND ?2 ORDER BY no");

fn damaged(hash: Digest, what: &str) -> Fault {
    Fault::Damaged(format!("blob {hash}: {what}"))
}

/// Writes a blob out. Its chunks' values are checked against its name first, then each chunk against its value.
pub(crate) fn copy(conn: &Connection, blob: &Blob, to: &mut dyn Write) -> Result<(), Fault> {
    let found = one(conn, FIND, [blob.hash.0], |c| Ok((c.int()?, c.number::<u64>()?)))?;
    let (no, bytes) = found.ok_or_else(|| damaged(blob.hash, "its row is missing"))?;
    if bytes != blob.bytes {
        return Err(damaged(blob.hash, "its length is not what was written"));
    }
    let chunks = check_values(conn, no, blob)?;
    each_chunk(conn, range(no), blob.hash, chunks == 1, |bytes| {
        to.write_all(bytes).map_err(|e| writing_out(e).into())
    })
}

/// The beginning of a blob, at least `bytes` of it where there are so many.
pub(crate) fn head(conn: &Connection, blob: &Blob, bytes: usize) -> Result<Vec<u8>, Fault> {
    let found = one(conn, FIND, [blob.hash.0], |c| c.int())?;
    let no = found.ok_or_else(|| damaged(blob.hash, "its row is missing"))?;
    let only = check_values(conn, no, blob)? == 1;
    let (first, last) = range(no);
    let wanted = i64::try_from(bytes.div_ceil(CHUNK_BYTES)).unwrap_or(i64::MAX);
    let mut head = Vec::new();
    each_chunk(conn, (first, last.min(first.saturating_add(wanted) - 1)), blob.hash, only, |chunk| {
        head.extend_from_slice(chunk);
        Ok(())
    })?;
    Ok(head)
}

fn writing_out(error: io::Error) -> StoreError {
    StoreError::Storage { context: "writing an output out", cause: Box::new(error) }
}

/// Checks the values of a blob's chunks against its name; how many there are.
pub(crate) fn check_values(conn: &Connection, no: i64, blob: &Blob) -> Result<u64, Fault> {
    let (first, last) = range(no);
    let (mut tree, mut bytes, mut expected) = (Tree::default(), 0u64, first);
    each(conn, VALUES, (first, last), |c| {
        if c.int()? != expected {
            return Err(damaged(blob.hash, &format!("chunk {} is missing", expected - first)));
        }
        expected += 1;
        bytes = bytes.saturating_add(c.number()?);
        tree.push(value(c)?);
        Ok(Next::Row)
    })?;
    if bytes != blob.bytes || tree.root() != blob.hash {
        return Err(damaged(blob.hash, "its chunks are not those that were written"));
    }
    Ok((expected - first).unsigned_abs())
}

fn value(c: &mut Cells<'_>) -> Result<[u8; 32], Fault> {
    Ok(c.digest()?.0)
}

/// Hands out each chunk after checking it.
pub(crate) fn each_chunk(
    conn: &Connection,
    chunks: (i64, i64),
    hash: Digest,
    only: bool,
    mut hand_out: impl FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (mut offset, mut place) = (0u64, 0u64);
    each(conn, CHUNKS, chunks, |c| {
        let size = c.number::<usize>()?;
        let codec = c.text()?;
        let expected = value(c)?;
        let unpacked = unpack(&codec, c.bytes()?, size);
        let sound = |bytes: &&[u8]| bytes.len() == size && chunk_value(bytes, offset, only) == expected;
        let bytes = unpacked.as_deref().filter(sound);
        let bytes = bytes.ok_or_else(|| damaged(hash, &format!("chunk {place} is not what was written")))?;
        hand_out(bytes)?;
        offset += size as u64;
        place += 1;
        Ok(Next::Row)
    })
}

fn unpack<'d>(codec: &str, data: &'d [u8], size: usize) -> Option<std::borrow::Cow<'d, [u8]>> {
    match codec {
        "raw" => Some(data.into()),
        "zstd" => zstd::bulk::decompress(data, size).ok().map(Into::into),
        _ => None,
    }
}
