//! Letting go of bytes that no output holds any more.

use rusqlite::Connection;
use sayso_model::Digest;

use super::range;
use crate::cells::{one, run};
use crate::fault::Fault;

const UNNAMED: (&str, &str) = (
    "blob",
    "SELECT no FROM blob WHERE hash = ?1 AND NOT EXISTS (SELECT 1 FROM output_stream WHERE hash = ?1)",
);
const ZERO_CHUNKS: &str =
    "UPDATE chunk SET data = zeroblob(length(data)), cv = zeroblob(32) WHERE no BETWEEN ?1 AND ?2";
const DROP_CHUNKS: &str = "DELETE FROM chunk WHERE no BETWEEN ?1 AND ?2";
const DROP_BLOB: &str = "DELETE FROM blob WHERE no = ?1";

/// Drops the bytes of this hash, unless an output names them.
pub(crate) fn unless_named(conn: &Connection, hash: Digest) -> Result<(), Fault> {
    let Some(no) = one(conn, UNNAMED, [hash.0], |c| c.int())? else { return Ok(()) };
    let (first, last) = range(no);
    run(conn, ZERO_CHUNKS, (first, last))?;
    run(conn, DROP_CHUNKS, (first, last))?;
    run(conn, DROP_BLOB, [no]).map(|_| ())
}

const UNNAMED_NO: (&str, &str) = (
    "blob",
    "SELECT 1 FROM blob b WHERE b.no = ?1 AND NOT EXISTS (SELECT 1 FROM output_stream t WHERE t.hash = b.hash) \
     AND NOT EXISTS (SELECT 1 FROM growing_stream g WHERE g.blob = b.no)",
);
const UNNAME: &str = "UPDATE blob SET hash = NULL WHERE no = ?1 AND hash IS NOT NULL";
const ZERO_SOME: &str = "UPDATE chunk SET data = zeroblob(length(data)), cv = zeroblob(32) \
     WHERE no IN (SELECT no FROM chunk WHERE no BETWEEN ?1 AND ?2 ORDER BY no LIMIT ?3)";
const DROP_SOME: &str =
    "DELETE FROM chunk WHERE no IN (SELECT no FROM chunk WHERE no BETWEEN ?1 AND ?2 ORDER BY no LIMIT ?3)";
/// Chunks that one step takes at most.
const CHUNKS: i64 = 256;

/// Drops some of a blob's bytes, unless an output names it; whether some are left. It loses its name first, so that nothing
/// can refer to it meanwhile.
pub(crate) fn some(conn: &Connection, no: i64) -> Result<bool, Fault> {
    if one(conn, UNNAMED_NO, [no], |c| c.int())?.is_none() {
        return Ok(false);
    }
    run(conn, UNNAME, [no])?;
    let (first, last) = range(no);
    run(conn, ZERO_SOME, (first, last, CHUNKS))?;
    if run(conn, DROP_SOME, (first, last, CHUNKS))? as i64 == CHUNKS {
        return Ok(true);
    }
    run(conn, DROP_BLOB, [no]).map(|_| false)
}
