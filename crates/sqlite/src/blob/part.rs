//! Reading a part of stored bytes. Opening looks at the values of all chunks and keeps one for each group of them, so that a
//! part is checked against the hash of the whole by the values of its own group alone.

use rusqlite::Connection;
use sayso_model::Digest;
use sayso_model::limits::CHUNK_BYTES;
use sayso_store::{OpenStream, Scope};

use super::get::{Place, add_chunks, chunk_values, damaged, locate};
use super::range;
use super::tree::Tree;
use crate::fault::Fault;
use crate::read::output;

/// Chunks of a group: 4 MiB, so that an open stream of 1 TiB takes 8 MiB of memory.
const GROUP: i64 = 64;
/// Chunks that one read takes at most.
const AT_ONCE: usize = 16;

/// What parts of a blob are checked against, itself checked against the blob's hash.
pub(crate) fn checks(conn: &Connection, place: &Place) -> Result<Vec<Digest>, Fault> {
    let (mut checks, mut group, mut left) = (Vec::new(), Tree::default(), GROUP);
    chunk_values(conn, place, |value| {
        group.push(value);
        left -= 1;
        if left == 0 {
            checks.extend(std::mem::take(&mut group).subtree());
            left = GROUP;
        }
    })?;
    checks.extend(group.subtree());
    Ok(checks)
}

/// Bytes from a place on, at most `most` and at least one unless the stream ends there; `None` where the stream is not
/// what was opened.
pub(crate) fn read(
    conn: &Connection,
    scope: &Scope,
    stream: &OpenStream,
    from: u64,
    most: usize,
) -> Result<Option<Vec<u8>>, Fault> {
    let output = output::output(conn, scope, stream.output)?;
    let Some(place) = output.map(|o| locate(conn, &o, stream.kind)).transpose()?.flatten() else {
        return Ok(None);
    };
    if place.blob != stream.blob {
        return Ok(None);
    }
    if from >= place.blob.bytes {
        return Ok(Some(Vec::new()));
    }
    let chunk = i64::try_from(from / CHUNK_BYTES as u64).unwrap_or(i64::MAX);
    let skip = usize::try_from(from % CHUNK_BYTES as u64).unwrap_or(0);
    check_group(conn, &place, &stream.checks, chunk / GROUP)?;
    let count = skip.saturating_add(most).div_ceil(CHUNK_BYTES).clamp(1, AT_ONCE) as i64;
    let end = (chunk + count).min((chunk / GROUP + 1) * GROUP);
    let mut bytes = Vec::with_capacity((end - chunk).unsigned_abs() as usize * CHUNK_BYTES);
    add_chunks(conn, &place, (chunk, end - 1), &mut bytes)?;
    bytes.drain(..skip.min(bytes.len()));
    if bytes.is_empty() {
        return Err(damaged(place.blob.hash, &format!("chunk {chunk} is missing")));
    }
    bytes.truncate(most.max(1));
    Ok(Some(bytes))
}

fn check_group(conn: &Connection, place: &Place, checks: &[Digest], group: i64) -> Result<(), Fault> {
    let (first, _) = range(place.no);
    let chunks = (first + group * GROUP, first + (group + 1) * GROUP - 1);
    let mut tree = Tree::default();
    super::get::values(conn, place.blob.hash, chunks, |_, value| tree.push(value))?;
    let expected = usize::try_from(group).ok().and_then(|group| checks.get(group));
    if tree.subtree().as_ref() == expected {
        return Ok(());
    }
    Err(damaged(place.blob.hash, "its chunks are not those that were written"))
}
