//! Reads of entries: one, a run, the latest compaction, quotes, what waits, marks, keys, places.

use std::collections::BTreeSet;

use rusqlite::{Connection, ToSql};
use sayso_model::{Compaction, Digest, Entry, EntryBody, EntryId, Mark, MarkKind, ProjectId, SessionId};
use sayso_store::{ForkPoint, Placed, Scope, Waiting};

use super::child::{mark, mark_columns};
use super::clamp;
use super::load::{Loaded, Selection, load_sound, selection};
use crate::cells::{Cells, Next, all, each, one};
use crate::fault::Fault;
use crate::rows::{Speakers, Trust};

/// One entry, by id.
pub(crate) const BY_ID: Selection = selection!("entry e", "e.id = ?1", "e.seq");
/// A run of a session's entries, by place; places are free of gaps, so a range of them is a number of them.
pub(crate) const RUN: Selection =
    selection!("entry e", "e.session = ?1 AND e.seq BETWEEN ?2 AND ?3", "e.seq");
/// The forwards of a session up to a place.
pub(crate) const QUOTES: Selection =
    selection!("quote q CROSS JOIN entry e ON e.no = q.entry", "q.session = ?1 AND q.seq <= ?2", "q.seq");
/// The forwards of a session that are not in context.
pub(crate) const WAITING: Selection = selection!(
    "quote q CROSS JOIN entry e ON e.no = q.entry",
    "q.session = ?1 AND q.state <> 'in_context'",
    "q.seq"
);
/// The forwards of all sessions that are not in context.
pub(crate) const WAITING_ALL: Selection = selection!(
    "quote q INDEXED BY quote_waiting CROSS JOIN entry e ON e.no = q.entry",
    "q.state <> 'in_context'",
    "q.session, q.seq"
);
/// The forwards of one project's sessions that are not in context.
pub(crate) const WAITING_IN: Selection = selection!(
    "session w CROSS JOIN quote q INDEXED BY quote_waiting ON q.session = w.id CROSS JOIN entry e ON e.no = q.entry",
    "w.project = ?1 AND q.state <> 'in_context'",
    "w.id, q.seq"
);

pub(crate) const HOME: (&str, &str) =
    ("session", "SELECT project, parent, fork_seq FROM session WHERE id = ?1 AND erasing = 0");

/// A session's project and where it was forked off.
pub(super) fn home(
    conn: &Connection,
    session: SessionId,
) -> Result<Option<(ProjectId, Option<ForkPoint>)>, Fault> {
    one(conn, HOME, [session.to_string()], |c| Ok((c.parse()?, c.fork()?)))
}

/// The project of a session, if the scope sees it.
pub(crate) fn visible(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
) -> Result<Option<ProjectId>, Fault> {
    Ok(home(conn, session)?.map(|(project, _)| project).filter(|p| scope.sees(*p)))
}

/// A run of places of one session that belongs to what another one shows.
#[derive(Debug, Clone, Copy)]
struct Stretch {
    session: SessionId,
    first: u64,
    last: u64,
}

/// Where the entries of a session stand: those of the beginning that it shares, oldest first, then its own. Empty where
/// the scope does not see it.
fn stretches(conn: &Connection, scope: &Scope, session: SessionId) -> Result<Vec<Stretch>, Fault> {
    let mut found = Vec::new();
    let (mut session, mut last) = (session, u64::MAX);
    while let Some((project, fork)) = home(conn, session)? {
        if !scope.sees(project) {
            return Ok(Vec::new());
        }
        let first = fork.map_or(0, |f| f.seq) + 1;
        found.push(Stretch { session, first, last });
        // A parent's own entries reach up to its fork, so places fall on the way; damage cannot lead in a circle.
        match fork {
            Some(fork) if fork.seq < last => (session, last) = (fork.session, fork.seq),
            _ => break,
        }
    }
    found.reverse();
    Ok(found)
}

/// The session that holds the entry which a session shows at a place, and its hash.
pub(crate) fn at(
    conn: &Connection,
    session: SessionId,
    seq: u64,
) -> Result<Option<(SessionId, Digest)>, Fault> {
    let stretches = stretches(conn, &Scope::All, session)?;
    let Some(stretch) = stretches.iter().find(|s| (s.first..=s.last).contains(&seq)) else { return Ok(None) };
    let hash = one(conn, HASH_AT, (stretch.session.to_string(), clamp(seq)), |c| c.digest())?;
    Ok(hash.map(|hash| (stretch.session, hash)))
}

pub(super) fn entries_of(
    conn: &Connection,
    selection: &Selection,
    params: &[&dyn ToSql],
) -> Result<Vec<Loaded>, Fault> {
    load_sound(conn, selection, params, &mut Speakers::new(Trust::Checked))
}

/// One entry, if the scope sees its project.
pub(crate) fn entry(conn: &Connection, scope: &Scope, id: EntryId) -> Result<Option<Entry>, Fault> {
    // What is out of scope is not even loaded, so that damage there tells nothing either.
    if place(conn, scope, id)?.is_none() {
        return Ok(None);
    }
    Ok(entries_of(conn, &BY_ID, &[&id.to_string()])?.pop().map(|l| l.entry))
}

pub(crate) fn entries(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
    after: u64,
    limit: usize,
) -> Result<Vec<Entry>, Fault> {
    if limit == 0 {
        return Ok(Vec::new());
    }
    let last = after.saturating_add(limit as u64);
    let first = after.saturating_add(1);
    let mut found = Vec::new();
    for s in stretches(conn, scope, session)? {
        let (first, last) = (first.max(s.first), last.min(s.last));
        if first <= last {
            found.extend(entries_of(conn, &RUN, &[&s.session.to_string(), &clamp(first), &clamp(last)])?);
        }
    }
    Ok(found.into_iter().map(|l| l.entry).collect())
}

pub(crate) const LATEST: (&str, &str) = (
    "compaction",
    "SELECT e.id FROM compaction c JOIN entry e ON e.no = c.entry WHERE c.session = ?1 AND c.seq <= ?2 \
     ORDER BY c.seq DESC LIMIT 1",
);

pub(crate) fn latest_compaction(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
) -> Result<Option<(Placed, Compaction)>, Fault> {
    let stretches = stretches(conn, scope, session)?.into_iter().rev();
    let found = stretches
        .map(|s| one(conn, LATEST, (s.session.to_string(), clamp(s.last)), |c| c.parse::<EntryId>()));
    let Some(id) = found.filter_map(Result::transpose).next().transpose()? else { return Ok(None) };
    let Some(entry) = entry(conn, scope, id)? else { return Ok(None) };
    let placed = placed_of(&entry);
    match entry.body {
        EntryBody::Compaction(compaction) => Ok(Some((placed, compaction))),
        EntryBody::Turn(_) | EntryBody::Reinjection(_) | EntryBody::Mark(_) => {
            Err(Fault::Damaged(format!("entry {id} of session {session} is no compaction")))
        }
    }
}

fn placed_of(entry: &Entry) -> Placed {
    Placed { id: entry.id, project: entry.project, session: entry.session, seq: entry.seq, hash: entry.hash }
}

pub(crate) fn quotes(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
    through: u64,
) -> Result<Vec<Entry>, Fault> {
    let mut found = Vec::new();
    for s in stretches(conn, scope, session)? {
        let through = through.min(s.last);
        found.extend(entries_of(conn, &QUOTES, &[&s.session.to_string(), &clamp(through)])?);
    }
    Ok(found.into_iter().map(|l| l.entry).collect())
}

pub(crate) fn waiting(
    conn: &Connection,
    scope: &Scope,
    session: Option<SessionId>,
) -> Result<Vec<Waiting>, Fault> {
    let found = match (session, scope) {
        (Some(session), _) => match visible(conn, scope, session)? {
            Some(_) => entries_of(conn, &WAITING, &[&session.to_string()])?,
            None => Vec::new(),
        },
        (None, Scope::All) => entries_of(conn, &WAITING_ALL, &[])?,
        (None, Scope::Projects(projects)) => {
            let mut found = Vec::new();
            for project in projects.iter().collect::<BTreeSet<_>>() {
                found.extend(entries_of(conn, &WAITING_IN, &[&project.to_string()])?);
            }
            found.sort_by_key(|l| (l.entry.session, l.entry.seq));
            found
        }
    };
    let waiting = |l: Loaded| Waiting { state: l.state.and_then(|s| s.parse().ok()), entry: l.entry };
    Ok(found.into_iter().map(waiting).collect())
}

pub(crate) const MARKS: (&str, &str) =
    ("mark", concat!("SELECT ", mark_columns!(), " FROM mark x WHERE x.target = ?1 ORDER BY x.seq"));

pub(crate) fn marks(conn: &Connection, scope: &Scope, of: EntryId) -> Result<Vec<Mark>, Fault> {
    match place(conn, scope, of)? {
        Some(_) => all(conn, MARKS, [of.to_string()], |c| Ok(mark(c)?.mark)),
        None => Ok(Vec::new()),
    }
}

/// The columns of a place, for a `SELECT` that calls the entry `e` and its session `s`.
macro_rules! place_columns {
    () => {
        "e.id, s.project, e.session, e.seq, e.hash"
    };
}
pub(crate) use place_columns;

pub(crate) fn read_place(c: &mut Cells<'_>) -> Result<Placed, Fault> {
    Ok(Placed {
        id: c.parse()?,
        project: c.parse()?,
        session: c.parse()?,
        seq: c.number()?,
        hash: c.digest()?,
    })
}

pub(crate) const PLACE: (&str, &str) = (
    "entry",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM entry e JOIN session s ON s.id = e.session WHERE e.id = ?1 AND s.erasing = 0"
    ),
);

/// Where an entry stands, if the scope sees it.
pub(crate) fn place(conn: &Connection, scope: &Scope, id: EntryId) -> Result<Option<Placed>, Fault> {
    Ok(one(conn, PLACE, [id.to_string()], read_place)?.filter(|p| scope.sees(p.project)))
}

pub(crate) const SUPERSEDING: (&str, &str) = (
    "entry",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM entry e JOIN session s ON s.id = e.session WHERE e.supersedes = ?1 AND s.erasing = 0"
    ),
);

/// What took the place of a turn, if the scope sees it.
pub(crate) fn superseding(conn: &Connection, scope: &Scope, of: EntryId) -> Result<Option<Placed>, Fault> {
    Ok(one(conn, SUPERSEDING, [of.to_string()], read_place)?.filter(|p| scope.sees(p.project)))
}

pub(crate) const QUOTES_OF: (&str, &str) = (
    "quote",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM quote q JOIN entry e ON e.no = q.entry JOIN session s ON s.id = e.session \
         WHERE substr(q.origin, -26) = ?1 AND s.erasing = 0 ORDER BY e.session, e.seq"
    ),
);

pub(crate) fn quotes_of(conn: &Connection, scope: &Scope, turn: EntryId) -> Result<Vec<Placed>, Fault> {
    let mut found = all(conn, QUOTES_OF, [turn.to_string()], read_place)?;
    found.retain(|p| scope.sees(p.project));
    Ok(found)
}

/// The entries whose last pinning was not taken back.
pub(crate) const PINNED: (&str, &str) = (
    "mark",
    concat!(
        "SELECT DISTINCT ",
        place_columns!(),
        " FROM mark m JOIN entry e ON e.id = m.target JOIN session s ON s.id = e.session \
         WHERE m.session = ?1 AND m.kind = 'pinned' AND e.seq <= ?2 AND NOT EXISTS (SELECT 1 FROM mark u \
         WHERE u.target = m.target AND u.kind = 'unpinned' AND u.seq > m.seq) ORDER BY e.seq"
    ),
);

pub(crate) fn pinned(conn: &Connection, scope: &Scope, session: SessionId) -> Result<Vec<Placed>, Fault> {
    let stretches = stretches(conn, scope, session)?.into_iter();
    let found = stretches.map(|s| all(conn, PINNED, (s.session.to_string(), clamp(s.last)), read_place));
    Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
}

const ENDING: (&str, &str) = (
    "entry",
    concat!(
        "SELECT ",
        place_columns!(),
        " FROM entry e CROSS JOIN session s ON s.id = e.session \
         WHERE s.erasing = 0 AND (?2 = 0 OR substr(e.id, -?2) = ?1) ORDER BY e.id"
    ),
);

pub(crate) fn find_entries(
    conn: &Connection,
    scope: &Scope,
    suffix: &str,
    limit: usize,
) -> Result<Vec<Placed>, Fault> {
    let mut found = Vec::new();
    let length = suffix.chars().count() as i64;
    each(conn, ENDING, (suffix, length), |c| {
        if found.len() >= limit {
            return Ok(Next::Stop);
        }
        let place = read_place(c)?;
        if scope.sees(place.project) {
            found.push(place);
        }
        Ok(Next::Row)
    })?;
    Ok(found)
}

pub(crate) const HASH_AT: (&str, &str) = ("entry", "SELECT hash FROM entry WHERE session = ?1 AND seq = ?2");
pub(crate) const HEAD: (&str, &str) = ("session", "SELECT head FROM session WHERE id = ?1 AND last_seq = 0");

pub(crate) fn hash_at(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
    seq: u64,
) -> Result<Option<Digest>, Fault> {
    if visible(conn, scope, session)?.is_none() {
        return Ok(None);
    }
    match at(conn, session, seq)? {
        None if seq == 0 => one(conn, HEAD, [session.to_string()], |c| c.digest()),
        found => Ok(found.map(|(_, hash)| hash)),
    }
}

/// The word of a forward's row for how far it got.
pub(crate) fn state_word(mark: Option<MarkKind>) -> &'static str {
    mark.map_or("recorded", MarkKind::as_str)
}
