//! Whether a title may be gone: it went with words that it repeated, which a mark tells.

use rusqlite::Connection;
use sayso_model::{Address, SessionId};

use super::turns::home;
use crate::cells::one;
use crate::fault::Fault;

/// A mark of a session that says that words were taken away.
pub(crate) const TAKEN: (&str, &str) = (
    "mark",
    "SELECT 1 FROM mark WHERE session = ?1 AND kind IN ('redacted', 'quote_redacted', 'erased') LIMIT 1",
);
pub(crate) const CAME: (&str, &str) = ("session", "SELECT origin IS NOT NULL FROM session WHERE id = ?1");

/// Whether words were taken away in a session, or in one that it was forked off.
pub(crate) fn in_view(conn: &Connection, mut session: SessionId) -> Result<bool, Fault> {
    let mut last = u64::MAX;
    while let Some((_, fork)) = home(conn, session)? {
        if one(conn, TAKEN, [session.to_string()], |c| c.int())?.is_some() {
            return Ok(true);
        }
        match fork {
            Some(fork) if fork.seq < last => (session, last) = (fork.session, fork.seq),
            _ => break,
        }
    }
    Ok(false)
}

/// Whether the title may be gone that a quote in a session recorded: words were taken away where it comes from, or that
/// session is not here, or the quote came through an export without it.
pub(crate) fn recorded(conn: &Connection, holder: SessionId, origin: &Address) -> Result<bool, Fault> {
    let Address::Turn(_, _, source, _, _) = *origin else { return Ok(false) };
    Ok(home(conn, source)?.is_none()
        || one(conn, CAME, [holder.to_string()], |c| c.flag())?.unwrap_or(false)
        || in_view(conn, source)?)
}
