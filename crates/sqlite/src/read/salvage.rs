//! What is left of a damaged ledger. Damage is no error here: it is what is told.

use std::collections::BTreeMap;

use rusqlite::Connection;
use sayso_model::{LedgerId, SessionId, UtcMs};
use sayso_store::{
    ArchivedEntry, ArchivedSession, Lost, LostPlace, Salvage, Salvaged, Scope, StoreError, Trace,
};

use super::archive::{SESSION_ALIASES, aliases};
use super::clamp;
use super::load::{Loaded, load};
use super::turns::RUN;
use crate::cells::{Cells, Next, each, one};
use crate::fault::Fault;
use crate::rows::{SESSION, SessionRecord, Speakers, Trust, session_columns};
use crate::store::SqliteStore;
use crate::verify::damage;

const ROWS: (&str, &str) =
    ("session", concat!("SELECT ", session_columns!(), " FROM session s WHERE s.erasing = 0"));
/// What the rows of entries say, by two ways: an index may be damaged where the table is not, and the other way round.
const BY_INDEX: (&str, &str) = ("entry", "SELECT session, min(seq), max(seq) FROM entry GROUP BY session");
const BY_TABLE: (&str, &str) = ("entry", "SELECT session, seq, seq FROM entry NOT INDEXED");
const ERASING: (&str, &str) = ("session", "SELECT erasing FROM session WHERE id = ?1");
const PLACE: (&str, &str) =
    ("entry", "SELECT id, recorded_at, hash FROM entry WHERE session = ?1 AND seq = ?2");

impl Salvage for SqliteStore {
    fn traces(&self, scope: &Scope) -> Result<Vec<Trace>, StoreError> {
        whole(scope)?;
        self.read_with("looking for sessions", traces)
    }

    fn salvage_session(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Result<Result<ArchivedSession, String>, StoreError> {
        whole(scope)?;
        self.read_with("reading what is left of a session", |conn| beginning(conn, session))
    }

    fn salvage(
        &self,
        scope: &Scope,
        session: SessionId,
        first: u64,
        last: u64,
    ) -> Result<Vec<Salvaged>, StoreError> {
        whole(scope)?;
        self.read_with("reading what is left", |conn| salvage(conn, session, first, last))
    }
}

fn whole(scope: &Scope) -> Result<(), StoreError> {
    match scope {
        Scope::All => Ok(()),
        Scope::Projects(_) => Err(StoreError::NeedsWholeLedger),
    }
}

/// The first and the last place of a session's entries.
type Places = (u64, u64);

fn traces(conn: &Connection) -> Result<Vec<Trace>, Fault> {
    let mut found = of_rows(conn)?;
    for (id, (first, last)) in of_entries(conn)? {
        match found.get_mut(&id) {
            Some(places) => places.1 = places.1.max(last),
            None if is_erasing(conn, id)? => {}
            None => drop(found.insert(id, (first, last))),
        }
    }
    let trace = |(session, (first, last))| Trace { session, first, last };
    Ok(found.into_iter().map(trace).collect())
}

/// What the rows of sessions say that are what was written. What another row says may be anything.
fn of_rows(conn: &Connection) -> Result<BTreeMap<SessionId, Places>, Fault> {
    let mut found = BTreeMap::new();
    let ledger = ledger_of(conn)?;
    tolerant(each(conn, ROWS, [], |c| {
        if let Some(record) = tolerant(SessionRecord::read(c))?
            && ledger.is_some_and(|ledger| record.genesis == record.genesis_again(ledger))
        {
            let before = record.session.fork.map_or(0, |fork| fork.seq);
            let last = if record.digest == record.row_digest() { record.session.last_seq } else { before };
            found.insert(record.session.id, (before + 1, last));
        }
        Ok(Next::Row)
    }))?;
    Ok(found)
}

fn ledger_of(conn: &Connection) -> Result<Option<LedgerId>, Fault> {
    let ledger = one(conn, ("meta", "SELECT ledger FROM meta"), [], |c| c.parse());
    Ok(tolerant(ledger)?.flatten())
}

/// The beginning of a session; its first entry confirms it.
fn beginning(conn: &Connection, id: SessionId) -> Result<Result<ArchivedSession, String>, Fault> {
    let record = match one(conn, SESSION, [id.to_string()], SessionRecord::read) {
        Ok(Some(record)) => record,
        Ok(None) => return Ok(Err("its row is missing".to_owned())),
        Err(fault) => return damage(fault).map(Err),
    };
    let Some(ledger) = ledger_of(conn)?.filter(|ledger| record.genesis == record.genesis_again(*ledger))
    else {
        return Ok(Err("its row is not what was written".to_owned()));
    };
    let aliases = tolerant(aliases(conn, SESSION_ALIASES, &id.to_string()))?.unwrap_or_default();
    let (s, salt) = (record.session, record.title.salt);
    let first = record.title.commitment == record.first_title;
    let title = record.title.open_kept().ok().flatten().filter(|_| first);
    Ok(Ok(ArchivedSession {
        id,
        ledger: s.origin.unwrap_or(ledger),
        first_project: record.first_project,
        project: s.project,
        kind: s.kind,
        channel: s.channel,
        created_at: s.created_at,
        first_title: record.first_title,
        title: title.zip(salt),
        fork: s.fork.zip(record.fork_hash),
        aliases,
        last_seq: s.last_seq,
        head: s.head,
    }))
}

/// What the rows of entries say: what both ways do, or the one that could be gone to its end.
fn of_entries(conn: &Connection) -> Result<BTreeMap<SessionId, Places>, Fault> {
    let (by_index, index_whole) = by(conn, BY_INDEX)?;
    let (by_table, table_whole) = by(conn, BY_TABLE)?;
    let mut both = by_index.clone();
    for (id, (first, last)) in &by_table {
        let places = both.entry(*id).or_insert((*first, *last));
        *places = (places.0.min(*first), places.1.max(*last));
    }
    both.retain(|id, _| {
        let (index, table) = (by_index.contains_key(id), by_table.contains_key(id));
        (index || !index_whole) && (table || !table_whole)
    });
    Ok(both)
}

/// What one way says, and whether it came to its end.
fn by(conn: &Connection, way: (&'static str, &str)) -> Result<(BTreeMap<SessionId, Places>, bool), Fault> {
    let mut found: BTreeMap<SessionId, Places> = BTreeMap::new();
    let end = tolerant(each(conn, way, [], |c| {
        if let Some((id, first, last)) = tolerant(of_entry(c))? {
            let places = found.entry(id).or_insert((first, last));
            *places = (places.0.min(first), places.1.max(last));
        }
        Ok(Next::Row)
    }))?;
    Ok((found, end.is_some()))
}

fn of_entry(c: &mut Cells<'_>) -> Result<(SessionId, u64, u64), Fault> {
    Ok((c.parse()?, c.number()?, c.number()?))
}

/// Nothing of a session that is being erased is to be saved.
fn is_erasing(conn: &Connection, session: SessionId) -> Result<bool, Fault> {
    let erasing = one(conn, ERASING, [session.to_string()], |c| c.flag());
    Ok(tolerant(erasing)?.flatten() == Some(true))
}

/// Damage ends what is read, and is no error.
fn tolerant<T>(done: Result<T, Fault>) -> Result<Option<T>, Fault> {
    match done {
        Ok(value) => Ok(Some(value)),
        Err(fault) => damage(fault).map(|_| None),
    }
}

fn salvage(conn: &Connection, session: SessionId, first: u64, last: u64) -> Result<Vec<Salvaged>, Fault> {
    let run = load(conn, &RUN, &[&session.to_string(), &clamp(first), &clamp(last)], &mut checked());
    if let Some(found) = tolerant(run)?
        && found.iter().all(|loaded| loaded.flaws.is_empty())
        && found.iter().map(|loaded| loaded.entry.seq).eq(first..=last)
    {
        return Ok(found.into_iter().map(kept).collect());
    }
    (first..=last).map(|seq| place(conn, session, seq)).collect()
}

fn checked() -> Speakers<'static> {
    Speakers::new(Trust::Checked)
}

fn kept(loaded: Loaded) -> Salvaged {
    let Loaded { entry, salts, commitments, .. } = loaded;
    Salvaged::Whole(Box::new(ArchivedEntry { entry, salts, commitments }))
}

fn place(conn: &Connection, session: SessionId, seq: u64) -> Result<Salvaged, Fault> {
    let at = |speakers: &mut Speakers<'_>| {
        let found = load(conn, &RUN, &[&session.to_string(), &clamp(seq), &clamp(seq)], speakers);
        found.map(|mut found| found.pop())
    };
    let what = match at(&mut checked()) {
        Ok(Some(loaded)) if loaded.flaws.is_empty() => return Ok(kept(loaded)),
        Ok(Some(loaded)) => loaded.flaws.join("; "),
        Ok(None) => "the entry is missing".to_owned(),
        Err(fault) => damage(fault)?,
    };
    let rest = tolerant(at(&mut Speakers::new(Trust::AsItStands)))?.flatten();
    let place = one(conn, PLACE, (session.to_string(), clamp(seq)), |c| {
        Ok(LostPlace { id: c.parse()?, recorded_at: UtcMs(c.int()?), hash: c.digest()? })
    });
    let place = tolerant(place)?.flatten();
    Ok(Salvaged::Lost(Lost { seq, what, place, rest: rest.map(|loaded| Box::new(loaded.entry)) }))
}
