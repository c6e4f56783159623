//! Idempotency keys. The key of an entry whose text was taken away is kept as a keyed hash only: keys may tell something of
//! the text, such as a digest of the record that it was imported from: that part of it is not kept at all.

use rusqlite::Connection;
use sayso_model::{Digest, Salt, SessionId, row};
use sayso_store::content::{kind, lasting};
use sayso_store::{KnownKeys, Placed, Scope};

use super::turns::{place_columns, read_place, visible};
use crate::cells::{all, one};
use crate::fault::Fault;

pub(crate) const KEY: (&str, &str) = (
    "caller_key",
    concat!(
        "SELECT k.salt, k.content, k.digest, ",
        place_columns!(),
        " FROM caller_key k JOIN entry e ON e.no = k.entry \
         JOIN session s ON s.id = e.session WHERE k.session = ?1 AND k.kind = ?2 AND k.value = ?3"
    ),
);
const SECRET: (&str, &str) = ("meta", "SELECT secret FROM meta");

/// What was written under a key.
pub(crate) struct Found {
    pub(crate) placed: Placed,
    /// Gone with the text.
    pub(crate) salt: Option<Salt>,
    pub(crate) content: Digest,
}

/// What was written under a key, also where its text was taken away since.
pub(crate) fn find(
    conn: &Connection,
    session: SessionId,
    kind: &str,
    key: &str,
) -> Result<Option<Found>, Fault> {
    let found = exact(conn, session, kind, key)?;
    if found.is_some() {
        return Ok(found);
    }
    let secret = secret(conn)?;
    let found = exact(conn, session, kind, &forgotten(&secret, session, kind, lasting(key)))?;
    // Before, the whole key was kept.
    if found.is_some() || lasting(key) == key {
        return Ok(found);
    }
    exact(conn, session, kind, &forgotten(&secret, session, kind, key))
}

fn exact(conn: &Connection, session: SessionId, kind: &str, key: &str) -> Result<Option<Found>, Fault> {
    let found = one(conn, KEY, (session.to_string(), kind, key), |c| {
        Ok((c.salt_opt()?, c.digest()?, c.digest()?, read_place(c)?))
    })?;
    let Some((salt, content, digest, placed)) = found else { return Ok(None) };
    whole(session, (kind, key), (content, digest), &placed)?;
    Ok(Some(Found { placed, salt, content }))
}

/// A row that names another entry than was written would make a retry return a stranger's turn.
fn whole(
    session: SessionId,
    (kind, key): (&str, &str),
    (content, digest): (Digest, Digest),
    placed: &Placed,
) -> Result<(), Fault> {
    if row::key(session, kind, key, content, placed.id) == digest && placed.session == session {
        return Ok(());
    }
    Err(Fault::Damaged(format!("the row of key {key:?} of session {session} is not what was written")))
}

/// The ledger's own secret, which keyed hashes are made with.
pub(crate) fn secret(conn: &Connection) -> Result<[u8; 32], Fault> {
    let found = one(conn, SECRET, [], |c| c.digest())?;
    found.map(|secret| secret.0).ok_or_else(|| Fault::Damaged("the ledger has no secret".to_owned()))
}

/// What stands for a key whose text was taken away.
pub(crate) fn forgotten(secret: &[u8; 32], session: SessionId, kind: &str, key: &str) -> String {
    let mac = row::forgotten(secret, &[&session.to_bytes(), kind.as_bytes(), key.as_bytes()]);
    format!("forgotten {mac}")
}

/// A few more than are asked for, so that it shows whether there are more.
pub(crate) const KEYS: (&str, &str) = (
    "caller_key",
    concat!(
        "SELECT k.kind, k.value, k.salt, k.content, k.digest, ",
        place_columns!(),
        " FROM caller_key k JOIN entry e ON e.no = k.entry \
         JOIN session s ON s.id = e.session WHERE k.session = ?1 AND k.kind = ?2 ORDER BY k.value LIMIT ?3"
    ),
);

/// Every key of a session.
pub(crate) fn known_keys(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
    most: usize,
) -> Result<Option<KnownKeys>, Fault> {
    if visible(conn, scope, session)?.is_none() {
        return Ok(None);
    }
    let (mut known, mut left) = (KnownKeys::default(), most);
    for word in [kind::TURN, kind::COMPACT, kind::REINJECT] {
        let limit = i64::try_from(left).unwrap_or(i64::MAX).saturating_add(1);
        let found = all(conn, KEYS, (session.to_string(), word, limit), |c| {
            let (kind, value) = (c.text()?, c.text()?);
            let (salt, content, digest) = (c.salt_opt()?, c.digest()?, c.digest()?);
            let placed = read_place(c)?;
            whole(session, (&kind, &value), (content, digest), &placed)?;
            Ok((value, salt.map(|_| placed)))
        })?;
        let Some(rest) = left.checked_sub(found.len()) else { return Ok(None) };
        left = rest;
        known.forgotten |= found.iter().any(|(_, placed)| placed.is_none());
        for (value, placed) in found {
            if let Some(placed) = placed {
                known.placed.entry(value).or_insert(placed);
            }
        }
    }
    Ok(Some(known))
}

/// What was written under a key of a session, for appended turns, compactions and re-injections.
pub(crate) fn known(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
    key: &str,
) -> Result<Option<Placed>, Fault> {
    if visible(conn, scope, session)?.is_none() {
        return Ok(None);
    }
    for kind in [kind::TURN, kind::COMPACT, kind::REINJECT] {
        if let Some(found) = find(conn, session, kind, key)? {
            return Ok(Some(found.placed));
        }
    }
    Ok(None)
}
