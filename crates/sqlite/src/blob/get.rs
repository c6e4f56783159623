//! Reading stored bytes, checked before they are handed out.

use std::io::{self, Cursor, Write};

use rusqlite::Connection;
use sayso_model::Digest;
use sayso_model::limits::CHUNK_BYTES;
use sayso_store::{Blob, Output, StoreError, StreamKind};
use zstd::bulk::Decompressor;

use super::tree::{Tree, chunk_value};
use super::{CHUNKS, range};
use crate::cells::{Cells, Next, each, one};
use crate::fault::Fault;
use crate::read::output;

const FIND: (&str, &str) = ("blob", "SELECT no, bytes FROM blob WHERE hash = ?1");
const VALUES: (&str, &str) =
    ("chunk", "SELECT no, size, cv FROM chunk WHERE no BETWEEN ?1 AND ?2 ORDER BY no");
const READ: (&str, &str) =
    ("chunk", "SELECT no, size, codec, cv, data FROM chunk WHERE no BETWEEN ?1 AND ?2 ORDER BY no");

/// A blob, and the number under which its chunks stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place {
    pub(crate) no: i64,
    pub(crate) blob: Blob,
}

pub(crate) fn damaged(hash: Digest, what: &str) -> Fault {
    Fault::Damaged(format!("blob {hash}: {what}"))
}

/// Where a blob with a name stands.
pub(crate) fn place(conn: &Connection, blob: Blob) -> Result<Place, Fault> {
    let found = one(conn, FIND, [blob.hash.0], |c| Ok((c.int()?, c.number::<u64>()?)))?;
    let (no, bytes) = found.ok_or_else(|| damaged(blob.hash, "its row is missing"))?;
    if bytes != blob.bytes {
        return Err(damaged(blob.hash, "its length is not what was written"));
    }
    Ok(Place { no, blob })
}

/// Where the bytes of one stream of an output stand.
pub(crate) fn locate(conn: &Connection, output: &Output, kind: StreamKind) -> Result<Option<Place>, Fault> {
    let Some(stream) = output.streams.iter().find(|s| s.kind == kind) else { return Ok(None) };
    if !output.growing {
        return place(conn, stream.blob).map(Some);
    }
    let no = output::growing_blob(conn, output.id, kind)?;
    Ok(no.map(|no| Place { no, blob: stream.blob }))
}

/// Writes a blob out. Its chunks' values are checked against its hash first, then each chunk against its value.
pub(crate) fn copy(conn: &Connection, place: &Place, to: &mut dyn Write) -> Result<(), Fault> {
    chunk_values(conn, place, |_| {})?;
    each_chunk(conn, place, (0, CHUNKS - 1), |bytes| to.write_all(bytes).map_err(|e| writing_out(e).into()))
}

/// The beginning of a blob, at least `bytes` of it where there are so many.
pub(crate) fn head(conn: &Connection, blob: Blob, bytes: usize) -> Result<Vec<u8>, Fault> {
    let place = place(conn, blob)?;
    chunk_values(conn, &place, |_| {})?;
    let wanted = i64::try_from(bytes.div_ceil(CHUNK_BYTES)).unwrap_or(CHUNKS).min(CHUNKS);
    let mut head = Vec::new();
    each_chunk(conn, &place, (0, wanted - 1), |chunk| {
        head.extend_from_slice(chunk);
        Ok(())
    })?;
    Ok(head)
}

fn writing_out(error: io::Error) -> StoreError {
    StoreError::Storage { context: "writing an output out", cause: Box::new(error) }
}

/// The values of a blob's chunks, checked against its hash once all of them were seen.
pub(crate) fn chunk_values(
    conn: &Connection,
    place: &Place,
    mut see: impl FnMut([u8; 32]),
) -> Result<(), Fault> {
    let (mut tree, mut bytes) = (Tree::default(), 0u64);
    values(conn, place.blob.hash, range(place.no), |size, value| {
        bytes = bytes.saturating_add(size);
        tree.push(value);
        see(value);
    })?;
    if bytes != place.blob.bytes || tree.root() != place.blob.hash {
        return Err(damaged(place.blob.hash, "its chunks are not those that were written"));
    }
    Ok(())
}

/// Sizes and values of chunks, of which none may be missing before the last.
pub(crate) fn values(
    conn: &Connection,
    hash: Digest,
    (first, last): (i64, i64),
    mut see: impl FnMut(u64, [u8; 32]),
) -> Result<(), Fault> {
    let mut expected = first;
    each(conn, VALUES, (first, last), |c| {
        if c.int()? != expected {
            return Err(damaged(hash, &format!("chunk {} is missing", expected % CHUNKS)));
        }
        expected += 1;
        see(c.number()?, value(c)?);
        Ok(Next::Row)
    })
}

fn value(c: &mut Cells<'_>) -> Result<[u8; 32], Fault> {
    Ok(c.digest()?.0)
}

/// Hands out each chunk of a blob from one place to another, after checking it against its value.
pub(crate) fn each_chunk(
    conn: &Connection,
    place: &Place,
    chunks: (i64, i64),
    mut hand_out: impl FnMut(&[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut bytes = Vec::new();
    unpacked(conn, place, chunks, &mut bytes, |bytes| {
        hand_out(bytes)?;
        bytes.clear();
        Ok(())
    })
}

/// Adds the chunks of a blob from one place to another to bytes, each checked against its value; what came before the first
/// that is not sound is added.
pub(crate) fn add_chunks(
    conn: &Connection,
    place: &Place,
    chunks: (i64, i64),
    bytes: &mut Vec<u8>,
) -> Result<(), Fault> {
    unpacked(conn, place, chunks, bytes, |_| Ok(()))
}

fn unpacked(
    conn: &Connection,
    place: &Place,
    (from, to): (i64, i64),
    bytes: &mut Vec<u8>,
    mut after_each: impl FnMut(&mut Vec<u8>) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let (first, hash) = (range(place.no).0, place.blob.hash);
    let only = place.blob.bytes <= CHUNK_BYTES as u64;
    let mut zstd = decompressor()?;
    each(conn, READ, (first + from, first + to), |c| {
        let at = (c.int()? - first).unsigned_abs();
        let size = c.number::<usize>()?;
        let codec = c.text()?;
        let expected = value(c)?;
        let start = bytes.len();
        let unpacked = unpack(&mut zstd, &codec, c.bytes()?, size, bytes);
        let chunk = unpacked.and_then(|()| bytes.get(start..)).unwrap_or_default();
        let sound = unpacked.is_some()
            && chunk.len() == size
            && chunk_value(chunk, at * CHUNK_BYTES as u64, only) == expected;
        if !sound {
            bytes.truncate(start);
            return Err(damaged(hash, &format!("chunk {at} is not what was written")));
        }
        after_each(bytes)?;
        Ok(Next::Row)
    })
}

fn decompressor() -> Result<Decompressor<'static>, Fault> {
    let made = Decompressor::new();
    Ok(made.map_err(|e| StoreError::Storage { context: "unpacking an output", cause: Box::new(e) })?)
}

/// Unpacks one chunk right behind what is there.
fn unpack(
    zstd: &mut Decompressor<'static>,
    codec: &str,
    data: &[u8],
    size: usize,
    to: &mut Vec<u8>,
) -> Option<()> {
    match codec {
        "raw" => to.extend_from_slice(data),
        "zstd" if size <= CHUNK_BYTES => {
            let end = to.len();
            to.reserve(size);
            let mut behind = Cursor::new(to);
            behind.set_position(end as u64);
            zstd.decompress_to_buffer(data, &mut behind).ok()?;
        }
        _ => return None,
    }
    Some(())
}
