//! Catching up: entries in the order they were appended, a bounded number at a time.

use std::collections::{BTreeSet, HashMap};

use rusqlite::Connection;
use sayso_model::{Entry, EntryId, OutputId, PartBody, ProjectId, SessionId};
use sayso_store::search::{Progress, searchable};
use sayso_store::{Scope, StreamKind};

use super::words::{self, Words};
use super::{indexed, left, of_index};
use crate::blob::get::head;
use crate::cells::{all, one, run};
use crate::fault::Fault;
use crate::read::load::{Loaded, Selection, load, selection};
use crate::read::output;
use crate::rows::{Speakers, Trust};

/// Entries that are read together.
const PAGE: usize = 64;

/// A run of entries by the numbers of their rows.
pub(crate) const NUMBERED: Selection = selection!("entry e", "e.no BETWEEN ?1 AND ?2", "e.no");
pub(crate) const NEXT: (&str, &str) =
    ("entry", "SELECT no, id FROM entry WHERE no > ?1 ORDER BY no LIMIT ?2");
pub(crate) const MADE_IN: (&str, &str) = ("session", "SELECT first_project FROM session WHERE id = ?1");

const ADD_TURN: &str = "INSERT INTO turn_words (rowid, words) VALUES (?1, ?2)";
const ADD_OUTPUT: &str = "INSERT INTO output_words (rowid, words) VALUES (?1, ?2)";
const REACHED: &str = "UPDATE search_state SET indexed = ?1 WHERE one = 1";

/// How much one step takes in.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    /// Entries at most.
    pub(crate) entries: usize,
    /// Bytes of words after which it stops.
    pub(crate) bytes: usize,
}

impl Bounds {
    /// How far a search catches up before it looks.
    pub(crate) const ON_THE_WAY: Self = Self { entries: 512, bytes: 1 << 20 };

    /// So many entries, of which a few large ones are enough.
    pub(crate) const fn of(entries: usize) -> Self {
        Self { entries, bytes: 8 << 20 }
    }
}

/// One step. What a damaged text said is left out; reading the entry will tell.
pub(crate) fn step(conn: &Connection, bounds: Bounds) -> Result<Progress, Fault> {
    let mut step = Step { conn, speakers: Speakers::new(Trust::Checked), made_in: HashMap::new(), bytes: 0 };
    let mut at = indexed(conn)?;
    let mut count = 0;
    while count < bounds.entries && step.bytes < bounds.bytes {
        let page = step.page(at, PAGE.min(bounds.entries - count))?;
        let Some((last, _)) = page.last() else { break };
        at = *last;
        count += page.len();
        for (no, loaded) in &page {
            step.add(*no, &loaded.entry)?;
        }
    }
    if count > 0 {
        run(conn, REACHED, [at])?;
    }
    Ok(Progress { indexed: count as u64, left: left(conn)? })
}

/// Empties the index and goes back to its beginning.
const EMPTY: &[&str] = &[
    "INSERT INTO turn_words (turn_words) VALUES ('delete-all')",
    "INSERT INTO output_words (output_words) VALUES ('delete-all')",
    "UPDATE search_state SET indexed = 0 WHERE one = 1",
];

/// Takes everything out of the index, and so out of the file, where texts are redacted or erased; it is caught up again in
/// steps. Taking out single words is not enough: the words that pages are told apart by would stay.
pub(crate) fn start_over(conn: &Connection) -> Result<(), Fault> {
    EMPTY.iter().try_for_each(|sql| run(conn, sql, []).map(|_| ())).map_err(of_index)
}

/// The schema's step that makes the index.
const STEP: &str = "search";
/// What that step makes besides the two tables of words.
const DROP: &str = "DROP TRIGGER IF EXISTS search_state_back; DROP TABLE IF EXISTS search_state; \
                    DROP INDEX IF EXISTS session_moved;";
const WORDS: [&str; 2] = ["turn_words", "output_words"];
/// The tables in which FTS5 keeps what it knows.
const KEPT: [&str; 3] = ["data", "idx", "config"];

/// Drops the index, whatever state it is in, and makes it anew and empty with the statements of the schema.
pub(crate) fn anew(conn: &Connection) -> Result<(), Fault> {
    WORDS.iter().try_for_each(|table| drop_words(conn, table))?;
    conn.execute_batch(DROP)?;
    let step = sayso_schema::SQLITE.iter().find(|step| step.name == STEP);
    let step = step.ok_or_else(|| Fault::Damaged("the schema has no step for the index".to_owned()))?;
    Ok(conn.execute_batch(step.sql)?)
}

/// FTS5 drops no table that it cannot open: then its row goes from the schema, and its tables one by one.
fn drop_words(conn: &Connection, table: &str) -> Result<(), Fault> {
    if conn.execute_batch(&format!("DROP TABLE IF EXISTS {table}")).is_err() {
        conn.execute_batch(&format!(
            "PRAGMA writable_schema = ON; DELETE FROM sqlite_schema WHERE name = '{table}'; \
             PRAGMA writable_schema = RESET;"
        ))?;
    }
    let kept = KEPT.iter().map(|kept| format!("DROP TABLE IF EXISTS {table}_{kept};"));
    Ok(conn.execute_batch(&kept.collect::<String>())?)
}

struct Step<'c, 's> {
    conn: &'c Connection,
    speakers: Speakers<'s>,
    made_in: HashMap<SessionId, ProjectId>,
    /// Bytes of words so far.
    bytes: usize,
}

impl Step<'_, '_> {
    /// The next entries with the numbers of their rows.
    fn page(&mut self, after: i64, limit: usize) -> Result<Vec<(i64, Loaded)>, Fault> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let next = all(self.conn, NEXT, (after, limit), |c| Ok((c.int()?, c.parse::<EntryId>()?)))?;
        let Some((last, _)) = next.last() else { return Ok(Vec::new()) };
        let loaded = load(self.conn, &NUMBERED, &[&(after + 1), last], &mut self.speakers)?;
        let mut by_id: HashMap<EntryId, Loaded> = loaded.into_iter().map(|l| (l.entry.id, l)).collect();
        let found = next.into_iter().map(|(no, id)| {
            let loaded = by_id.remove(&id);
            loaded.map(|l| (no, l)).ok_or_else(|| Fault::Damaged(format!("entry {id} cannot be read whole")))
        });
        found.collect()
    }

    fn add(&mut self, no: i64, entry: &Entry) -> Result<(), Fault> {
        self.put(no, entry, ADD_TURN, ADD_OUTPUT)
    }

    fn put(&mut self, no: i64, entry: &Entry, turn: &str, output: &str) -> Result<(), Fault> {
        if let Some(words) = self.turn(entry)? {
            self.bytes += words.0.len();
            run(self.conn, turn, (no, words.0)).map_err(of_index)?;
        }
        if let Some(words) = self.outputs(entry)? {
            self.bytes += words.0.len();
            run(self.conn, output, (no, words.0)).map_err(of_index)?;
        }
        Ok(())
    }

    fn turn(&mut self, entry: &Entry) -> Result<Option<Words>, Fault> {
        let Some(turn) = entry.turn() else { return Ok(None) };
        let mut words = self.places(entry)?;
        turn.parts.iter().filter_map(|p| p.spoken()).for_each(|text| words.text(text));
        if let Some(quote) = &turn.quote {
            words.text(&quote.text);
        }
        Ok(Some(words))
    }

    fn outputs(&mut self, entry: &Entry) -> Result<Option<Words>, Fault> {
        let ids = named(entry);
        if ids.is_empty() {
            return Ok(None);
        }
        let mut words = self.places(entry)?;
        for id in ids {
            for kind in [StreamKind::Stdout, StreamKind::Stderr] {
                // Which scope sees it is asked when it is searched.
                if let Some(text) = text_of(self.conn, &Scope::All, id, kind)? {
                    words.text(&text);
                }
            }
        }
        Ok(Some(words))
    }

    /// The words that say where an entry stands and who speaks in it.
    fn places(&mut self, entry: &Entry) -> Result<Words, Fault> {
        let mut words = Words::default();
        words.push(words::project(self.made_in(entry.session)?));
        words.push(words::session(entry.session));
        if let Some(turn) = entry.turn() {
            let parts = turn.parts.iter().map(|p| turn.speaker_of(p).kind);
            let quoted = turn.quote.iter().map(|q| q.speaker.kind);
            let kinds: BTreeSet<_> = parts.chain(quoted).map(words::speaker).collect();
            kinds.into_iter().for_each(|kind| words.push(kind));
        }
        Ok(words)
    }

    fn made_in(&mut self, session: SessionId) -> Result<ProjectId, Fault> {
        if let Some(project) = self.made_in.get(&session) {
            return Ok(*project);
        }
        let project = one(self.conn, MADE_IN, [session.to_string()], |c| c.parse())?;
        let project =
            project.ok_or_else(|| Fault::Damaged(format!("the row of session {session} is missing")))?;
        self.made_in.insert(session, project);
        Ok(project)
    }
}

/// The outputs that an entry names.
fn named(entry: &Entry) -> BTreeSet<OutputId> {
    let bodies = entry.turn().into_iter().flat_map(|t| &t.parts).map(|p| &p.body);
    let outputs = bodies.filter_map(|body| match body {
        PartBody::ToolResult(result) => result.output,
        PartBody::Attachment(attachment) => attachment.output,
        PartBody::Text(_) | PartBody::Reasoning(..) | PartBody::ToolCall(_) => None,
    });
    outputs.collect()
}

/// What is searched of an output's stream.
pub(crate) fn text_of(
    conn: &Connection,
    scope: &Scope,
    id: OutputId,
    kind: StreamKind,
) -> Result<Option<String>, Fault> {
    let Some(blob) = output::stream(conn, scope, id, kind)? else { return Ok(None) };
    Ok(searchable(head(conn, blob, sayso_model::limits::SEARCHED_BYTES)?))
}
