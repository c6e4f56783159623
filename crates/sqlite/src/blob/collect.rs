//! Letting go of bytes that nothing has referred to for some time.

use std::time::Duration;

use rusqlite::Connection;
use sayso_model::UtcMs;
use sayso_store::{Collected, StoreError};

use super::drop;
use crate::SqliteStore;
use crate::cells::{all, one, run};
use crate::fault::Fault;

/// Nothing refers to blob `b`, and nothing else is about to drop it.
macro_rules! loose {
    () => {
        "NOT EXISTS (SELECT 1 FROM output_stream t WHERE t.hash = b.hash) \
         AND NOT EXISTS (SELECT 1 FROM growing_stream g WHERE g.blob = b.no) \
         AND NOT EXISTS (SELECT 1 FROM erasure x WHERE x.kind = 'blob' AND x.target = CAST(b.no AS TEXT))"
    };
}

const REFERRED: &str =
    concat!("UPDATE blob AS b SET loose_since = NULL WHERE loose_since IS NOT NULL AND NOT (", loose!(), ")");
/// A clock that was set back must not make anything wait for it to come round again.
const NOTE: &str = concat!(
    "UPDATE blob AS b SET loose_since = ?1 WHERE (loose_since IS NULL OR loose_since > ?1) AND ",
    loose!()
);
const LOOSE: (&str, &str) = (
    "blob",
    concat!(
        "SELECT no, bytes, loose_since FROM blob b WHERE loose_since IS NOT NULL AND ",
        loose!(),
        " ORDER BY no"
    ),
);
const STILL: (&str, &str) =
    ("blob", concat!("SELECT 1 FROM blob b WHERE no = ?1 AND loose_since <= ?2 AND ", loose!()));

const CONTEXT: &str = "collecting unused bytes";

pub(crate) fn collect(store: &SqliteStore, now: UtcMs, grace: Duration) -> Result<Collected, StoreError> {
    let grace = i64::try_from(grace.as_millis()).unwrap_or(i64::MAX);
    let until = now.0.saturating_sub(grace);
    let loose = store.write_with(CONTEXT, |conn| {
        run(conn, REFERRED, [])?;
        run(conn, NOTE, [now.0])?;
        all(conn, LOOSE, [], |c| Ok((c.int()?, c.number::<u64>()?, c.int()?)))
    })?;
    let mut done = Collected::default();
    for (no, bytes, since) in loose {
        if since <= until && drop_whole(store, no, until)? {
            (done.blobs, done.bytes) = (done.blobs + 1, done.bytes + bytes);
        } else if since > until {
            (done.waiting, done.waiting_bytes) = (done.waiting + 1, done.waiting_bytes + bytes);
        }
    }
    Ok(done)
}

/// Drops a blob, a bounded part in each transaction; whether it was there and still loose.
fn drop_whole(store: &SqliteStore, no: i64, until: i64) -> Result<bool, StoreError> {
    let mut any = false;
    loop {
        let step = store.write_with(CONTEXT, |conn| step(conn, no, until))?;
        match step {
            Some(true) => any = true,
            Some(false) => return Ok(true),
            None => return Ok(any),
        }
    }
}

/// Drops some of it; whether some is left, or `None` where it is to stay.
fn step(conn: &Connection, no: i64, until: i64) -> Result<Option<bool>, Fault> {
    match one(conn, STILL, (no, until), |c| c.int())? {
        Some(_) => drop::some(conn, no).map(Some),
        None => Ok(None),
    }
}
