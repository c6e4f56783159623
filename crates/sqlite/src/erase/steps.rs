//! The steps of erasing, each small enough for one transaction.

use rusqlite::Connection;
use sayso_model::OutputId;

use super::{plan, tombstone};
use crate::blob;
use crate::cells::{all, one, run};
use crate::fault::Fault;
use crate::search::index;
use crate::write::redact::{WHOLE, ZERO_COMMAND};

/// Entries that one step takes at most.
const ENTRIES: i64 = 256;
/// Outputs that one step takes at most.
const OUTPUTS: i64 = 256;

const ENTRIES_OF: (&str, &str) = ("entry", "SELECT no FROM entry WHERE session = ?1 ORDER BY seq LIMIT ?2");
/// Everything that hangs on an entry, and last the entry.
const DROP_ENTRY: &[&str] = &[
    "DELETE FROM caller_key WHERE session = ?2 AND entry = ?1",
    "DELETE FROM hop WHERE entry = ?1",
    "DELETE FROM quote WHERE entry = ?1",
    "DELETE FROM compaction WHERE entry = ?1",
    "DELETE FROM reinjected WHERE entry = ?1",
    "DELETE FROM reinjection WHERE entry = ?1",
    "DELETE FROM mark WHERE entry = ?1",
    "DELETE FROM part WHERE no BETWEEN ?1 * 4096 AND ?1 * 4096 + 4095",
    "DELETE FROM entry WHERE no = ?1",
];
const ZERO_TITLE: &str = "UPDATE mark SET title = zeroblob(length(title)), title_salt = zeroblob(16) \
     WHERE entry = ?1 AND title IS NOT NULL";
/// The titles that quotes of its turns recorded elsewhere go with the session.
pub(crate) const RECORDED_TITLES: &[&str] = &[
    "UPDATE quote SET session_title = zeroblob(length(session_title)), session_title_salt = zeroblob(16) \
     WHERE substr(origin, -26) = (SELECT +id FROM entry WHERE no = ?1) AND session_title IS NOT NULL",
    "UPDATE quote SET session_title = NULL, session_title_salt = NULL \
     WHERE substr(origin, -26) = (SELECT +id FROM entry WHERE no = ?1) AND session_title IS NOT NULL",
];
const OUTPUTS_OF: (&str, &str) = ("output", "SELECT id FROM output WHERE session = ?1 ORDER BY id LIMIT ?2");
const BLOBS_OF: (&str, &str) = (
    "output_stream",
    "SELECT b.no FROM output_stream t JOIN blob b ON b.hash = t.hash WHERE t.output = ?1 \
     UNION SELECT blob FROM growing_stream WHERE output = ?1",
);
const DROP_STREAMS: &str = "DELETE FROM output_stream WHERE output = ?1";
const DROP_GROWING: &str = "DELETE FROM growing_stream WHERE output = ?1";
const DROP_OUTPUT: &str = "DELETE FROM output WHERE id = ?1";
const DROP_SESSION: &[&str] = &[
    "UPDATE delivery SET text = zeroblob(length(text)), salt = zeroblob(16) WHERE session = ?1 AND text IS NOT NULL",
    "DELETE FROM delivery WHERE session = ?1",
    "DELETE FROM request WHERE session = ?1",
    "DELETE FROM source_cursor WHERE session = ?1",
    "DELETE FROM session_alias WHERE session = ?1",
    "DELETE FROM session WHERE id = ?1 AND erasing = 1",
];
const LED: (&str, &str) = ("project", "SELECT id FROM project WHERE merged_into = ?1 ORDER BY id");
const DROP_PROJECT: &[&str] = &[
    "DELETE FROM project_alias WHERE project = ?1",
    "DELETE FROM speaker_seen WHERE project = ?1",
    "DELETE FROM project WHERE id = ?1",
];
const DROP_SPEAKER: &str = "DELETE FROM speaker WHERE id = ?1 \
     AND NOT EXISTS (SELECT 1 FROM speaker_seen WHERE speaker = ?1)";

/// Whether a job needs another step.
pub(super) enum Left {
    Some,
    Nothing,
}

pub(super) fn step(conn: &Connection, kind: &str, target: &str) -> Result<Left, Fault> {
    match kind {
        "session" => session(conn, target),
        "project" => project(conn, target).map(|()| Left::Nothing),
        "speaker" => run(conn, DROP_SPEAKER, [target]).map(|_| Left::Nothing),
        _ => match target.parse() {
            Ok(no) => blob::drop::some(conn, no).map(|left| if left { Left::Some } else { Left::Nothing }),
            Err(_) => Err(Fault::Damaged(format!("what is to be erased has no number: {target:?}"))),
        },
    }
}

fn session(conn: &Connection, id: &str) -> Result<Left, Fault> {
    // In every step: a search may have caught the index up since the last one.
    index::start_over(conn)?;
    let entries = all(conn, ENTRIES_OF, (id, ENTRIES), |c| c.int())?;
    for no in &entries {
        for sql in WHOLE.iter().chain([&ZERO_TITLE]).chain(RECORDED_TITLES) {
            run(conn, sql, [no])?;
        }
        for sql in DROP_ENTRY {
            match *sql {
                sql if sql.contains("?2") => run(conn, sql, (no, id))?,
                sql => run(conn, sql, [no])?,
            };
        }
    }
    if !entries.is_empty() {
        return Ok(Left::Some);
    }
    let outputs = all(conn, OUTPUTS_OF, (id, OUTPUTS), |c| c.parse::<OutputId>())?;
    for output in &outputs {
        drop_output(conn, *output)?;
    }
    if !outputs.is_empty() {
        return Ok(Left::Some);
    }
    DROP_SESSION.iter().try_for_each(|sql| run(conn, sql, [id]).map(|_| ()))?;
    Ok(Left::Nothing)
}

/// Drops an output; its bytes go in steps of their own, unless another output names them.
pub(crate) fn drop_output(conn: &Connection, id: OutputId) -> Result<(), Fault> {
    tombstone::set(conn, &tombstone::output(id))?;
    let id = id.to_string();
    let blobs = all(conn, BLOBS_OF, [&id], |c| c.int())?;
    run(conn, DROP_STREAMS, [&id])?;
    run(conn, DROP_GROWING, [&id])?;
    run(conn, ZERO_COMMAND, [&id])?;
    run(conn, DROP_OUTPUT, [&id])?;
    blobs.into_iter().try_for_each(|no| plan(conn, "blob", &no.to_string()))
}

/// A project and those that were merged into it, which lead nowhere without it.
fn project(conn: &Connection, id: &str) -> Result<(), Fault> {
    while let Some(led) = one(conn, LED, [id], |c| c.text())? {
        project(conn, &led)?;
    }
    DROP_PROJECT.iter().try_for_each(|sql| run(conn, sql, [id]).map(|_| ()))
}
