//! What exports take.

use rusqlite::Connection;
use sayso_model::{ProjectId, SessionId, SpeakerId};
use sayso_store::content::kind;
use sayso_store::{
    Alias, ArchivedEntry, ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker, Scope,
};

use super::turns::{HOME, RUN, entries_of, visible};
use super::{clamp, find};
use crate::cells::{all, one};
use crate::fault::Fault;
use crate::rows::{ProjectRecord, SPEAKER, SpeakerRecord, project_columns, resolve, session as session_row};

const PROJECT: (&str, &str) =
    ("project", concat!("SELECT ", project_columns!(), " FROM project p WHERE p.id = ?1 AND p.erasing = 0"));
const MERGED_INTO: (&str, &str) =
    ("project", "SELECT id FROM project WHERE merged_into = ?1 AND erasing = 0 ORDER BY id");
const PROJECT_ALIASES: (&str, &str) =
    ("project_alias", "SELECT kind, value FROM project_alias WHERE project = ?1 ORDER BY kind, value");
pub(super) const SESSION_ALIASES: (&str, &str) =
    ("session_alias", "SELECT kind, value FROM session_alias WHERE session = ?1 ORDER BY kind, value");
/// Keys after a pair of kind and key, without those whose text was taken away.
pub(crate) const KEYS: (&str, &str) = (
    "caller_key",
    "SELECT k.kind, k.value, k.salt, k.content, e.id FROM caller_key k JOIN entry e ON e.no = k.entry \
     WHERE k.session = ?1 AND (k.kind, k.value) > (?2, ?3) AND k.salt IS NOT NULL \
     ORDER BY k.kind, k.value LIMIT ?4",
);

pub(crate) fn project(
    conn: &Connection,
    scope: &Scope,
    id: ProjectId,
) -> Result<Vec<ArchivedProject>, Fault> {
    let root = resolve(conn, id)?.filter(|id| scope.sees(*id));
    let mut ids: Vec<ProjectId> = root.into_iter().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(id) = ids.get(at).copied() {
        ids.extend(all(conn, MERGED_INTO, [id.to_string()], |c| c.parse::<ProjectId>())?);
        found.extend(one_project(conn, id)?);
        at += 1;
    }
    Ok(found)
}

fn one_project(conn: &Connection, id: ProjectId) -> Result<Option<ArchivedProject>, Fault> {
    let Some(record) = one(conn, PROJECT, [id.to_string()], ProjectRecord::read)? else { return Ok(None) };
    let merged_into = record.merged_into;
    let project = record.checked()?;
    Ok(Some(ArchivedProject {
        id,
        name: project.name,
        created_at: project.created_at,
        merged_into,
        aliases: aliases(conn, PROJECT_ALIASES, &id.to_string())?,
    }))
}

pub(super) fn aliases(
    conn: &Connection,
    list: (&'static str, &str),
    owner: &str,
) -> Result<Vec<Alias>, Fault> {
    all(conn, list, [owner], |c| Ok(Alias::new(c.text()?, c.text()?)))
}

pub(crate) fn session(
    conn: &Connection,
    scope: &Scope,
    id: SessionId,
) -> Result<Option<ArchivedSession>, Fault> {
    let ledger = one(conn, ("meta", "SELECT ledger FROM meta"), [], |c| c.parse())?;
    let ledger = ledger.ok_or_else(|| Fault::Damaged("the ledger has no id".to_owned()))?;
    // What is out of scope is not even checked, so that damage there tells nothing either.
    if visible(conn, scope, id)?.is_none() {
        return Ok(None);
    }
    let Some(record) = session_row(conn, id)? else { return Ok(None) };
    let s = record.session;
    let first = record.title.commitment == record.first_title;
    Ok(Some(ArchivedSession {
        id,
        ledger: s.origin.unwrap_or(ledger),
        first_project: record.first_project,
        project: s.project,
        kind: s.kind,
        channel: s.channel,
        created_at: s.created_at,
        first_title: record.first_title,
        title: record.title.salt.filter(|_| first).map(|salt| (s.title, salt)),
        fork: s.fork.zip(record.fork_hash),
        aliases: aliases(conn, SESSION_ALIASES, &id.to_string())?,
        last_seq: s.last_seq,
        head: s.head,
    }))
}

pub(crate) fn speaker(
    conn: &Connection,
    scope: &Scope,
    id: SpeakerId,
) -> Result<Option<ArchivedSpeaker>, Fault> {
    let Some(speaker) = find::speaker(conn, scope, id)? else { return Ok(None) };
    let record = one(conn, SPEAKER, [id.to_string()], SpeakerRecord::read)?;
    Ok(record.and_then(|r| r.name.salt).map(|salt| ArchivedSpeaker { speaker, salt }))
}

pub(crate) fn entries(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
    after: u64,
    limit: usize,
) -> Result<Vec<ArchivedEntry>, Fault> {
    let row = one(conn, HOME, [session.to_string()], |c| Ok((c.parse::<ProjectId>()?, c.fork()?)))?;
    let Some((_, fork)) = row.filter(|(project, _)| scope.sees(*project) && limit > 0) else {
        return Ok(Vec::new());
    };
    let after = after.max(fork.map_or(0, |f| f.seq));
    let (first, last) = (after.saturating_add(1), after.saturating_add(limit as u64));
    let found = entries_of(conn, &RUN, &[&session.to_string(), &clamp(first), &clamp(last)])?.into_iter();
    Ok(found.map(|l| ArchivedEntry { entry: l.entry, salts: l.salts, commitments: l.commitments }).collect())
}

pub(crate) fn keys(
    conn: &Connection,
    scope: &Scope,
    session: SessionId,
    after: (&str, &str),
    limit: usize,
) -> Result<Vec<ArchivedKey>, Fault> {
    if visible(conn, scope, session)?.is_none() {
        return Ok(Vec::new());
    }
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    all(conn, KEYS, (session.to_string(), after.0, after.1, limit), |c| {
        Ok(ArchivedKey {
            session,
            kind: c.word(|word| KINDS.iter().find(|kind| **kind == word))?.to_string(),
            value: c.text()?,
            salt: c.salt_opt()?.ok_or_else(|| Fault::Damaged("a key has no salt".to_owned()))?,
            content: c.digest()?,
            entry: c.parse()?,
        })
    })
}

const KINDS: [&str; 4] = [kind::COMPACT, kind::FORWARD, kind::REINJECT, kind::TURN];
