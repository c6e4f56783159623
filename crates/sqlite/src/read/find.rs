//! Projects, sessions and speakers: lists and lookups.

use std::collections::BTreeSet;

use rusqlite::{Connection, ToSql};
use sayso_model::{ProjectId, SessionId, Speaker, SpeakerId, SpeakerKind};
use sayso_store::{Lookup, Project, Scope, Session};

use crate::cells::{all, one};
use crate::fault::Fault;
use crate::rows::{
    ProjectRecord, SessionRecord, Speakers, Trust, project_columns, resolve, session as session_row,
    session_columns,
};

macro_rules! projects_where {
    ($where:literal) => {
        concat!(
            "SELECT ",
            project_columns!(),
            " FROM project p WHERE p.erasing = 0 AND ",
            $where,
            " ORDER BY p.id"
        )
    };
}

macro_rules! sessions_where {
    ($where:literal) => {
        concat!(
            "SELECT ",
            session_columns!(),
            " FROM session s WHERE s.erasing = 0 AND (",
            $where,
            ") ORDER BY s.id"
        )
    };
}

fn projects_by(conn: &Connection, sql: &'static str, params: &[&dyn ToSql]) -> Result<Vec<Project>, Fault> {
    all(conn, ("project", sql), params, |c| ProjectRecord::read(c)?.checked())
}

pub(crate) fn projects(conn: &Connection, scope: &Scope) -> Result<Vec<Project>, Fault> {
    match scope {
        Scope::All => projects_by(conn, projects_where!("p.merged_into IS NULL"), &[]),
        Scope::Projects(visible) => {
            let wanted = visible.iter().collect::<BTreeSet<_>>().into_iter();
            let found = wanted.map(|id| {
                projects_by(conn, projects_where!("p.id = ?1 AND p.merged_into IS NULL"), &[&id.to_string()])
            });
            Ok(found.collect::<Result<Vec<_>, _>>()?.concat())
        }
    }
}

/// The project that an id leads to, if the scope sees it.
pub(crate) fn project(conn: &Connection, scope: &Scope, id: ProjectId) -> Result<Option<Project>, Fault> {
    let Some(id) = resolve(conn, id)?.filter(|id| scope.sees(*id)) else { return Ok(None) };
    Ok(projects_by(conn, projects_where!("p.id = ?1"), &[&id.to_string()])?.pop())
}

const PROJECTS_BY_ALIAS: (&str, &str) =
    ("project_alias", "SELECT project FROM project_alias WHERE kind = ?1 AND value = ?2");
const PROJECTS_BY_NAME: (&str, &str) = (
    "project",
    "SELECT id FROM project WHERE name = ?1 AND merged_into IS NULL UNION SELECT project FROM project_alias WHERE value = ?2 ORDER BY 1",
);
const PROJECTS_ENDING: (&str, &str) = (
    "project",
    "SELECT id FROM project WHERE merged_into IS NULL AND (?2 = 0 OR substr(id, -?2) = ?1) ORDER BY id",
);

pub(crate) fn find_projects(
    conn: &Connection,
    scope: &Scope,
    lookup: &Lookup,
) -> Result<Vec<Project>, Fault> {
    let ids: Vec<ProjectId> = match lookup {
        Lookup::Alias(alias) => all(conn, PROJECTS_BY_ALIAS, (&alias.kind, &alias.value), |c| c.parse())?,
        Lookup::Name(name) => all(conn, PROJECTS_BY_NAME, (name.as_bytes(), name), |c| c.parse())?,
        Lookup::Suffix(suffix) => {
            all(conn, PROJECTS_ENDING, (suffix, suffix.chars().count() as i64), |c| c.parse())?
        }
    };
    ids.into_iter().filter_map(|id| project(conn, scope, id).transpose()).collect()
}

fn sessions_by(conn: &Connection, sql: &'static str, params: &[&dyn ToSql]) -> Result<Vec<Session>, Fault> {
    all(conn, ("session", sql), params, |c| Ok(SessionRecord::read(c)?.checked()?.session))
}

/// Runs a query for each project of a scope, or one for all of them, and puts the sessions in the order of their ids.
fn sessions_in(
    conn: &Connection,
    scope: &Scope,
    project: Option<ProjectId>,
    (everywhere, inside): (&'static str, &'static str),
    params: &[&dyn ToSql],
) -> Result<Vec<Session>, Fault> {
    let project = project.map(|id| resolve(conn, id).map(|found| found.unwrap_or(id))).transpose()?;
    let wanted: BTreeSet<ProjectId> = match (scope, project) {
        (Scope::All, None) => return sessions_by(conn, everywhere, params),
        (scope, Some(project)) => [project].into_iter().filter(|p| scope.sees(*p)).collect(),
        (Scope::Projects(visible), None) => visible.iter().copied().collect(),
    };
    let mut found = Vec::new();
    for project in wanted {
        let project = project.to_string();
        let params: Vec<&dyn ToSql> = params.iter().copied().chain([&project as &dyn ToSql]).collect();
        found.extend(sessions_by(conn, inside, &params)?);
    }
    found.sort_by_key(|s| s.id);
    Ok(found)
}

pub(crate) fn sessions(
    conn: &Connection,
    scope: &Scope,
    project: Option<ProjectId>,
) -> Result<Vec<Session>, Fault> {
    let queries = (sessions_where!("true"), sessions_where!("s.project = ?1"));
    sessions_in(conn, scope, project, queries, &[])
}

pub(crate) fn session(conn: &Connection, scope: &Scope, id: SessionId) -> Result<Option<Session>, Fault> {
    Ok(session_row(conn, id)?.map(|r| r.session).filter(|s| scope.sees(s.project)))
}

const BY_ALIAS: (&str, &str) = (
    sessions_where!("s.id IN (SELECT session FROM session_alias WHERE kind = ?1 AND value = ?2)"),
    sessions_where!(
        "s.project = ?3 AND s.id IN (SELECT session FROM session_alias WHERE project = ?3 AND kind = ?1 AND value = ?2)"
    ),
);
const BY_NAME: (&str, &str) = (
    sessions_where!("s.title = ?1 OR s.id IN (SELECT session FROM session_alias WHERE value = ?2)"),
    sessions_where!(
        "s.project = ?3 AND (s.title = ?1 OR s.id IN (SELECT session FROM session_alias WHERE project = ?3 AND value = ?2))"
    ),
);
const ENDING: (&str, &str) = (
    sessions_where!("?2 = 0 OR substr(s.id, -?2) = ?1"),
    sessions_where!("s.project = ?3 AND (?2 = 0 OR substr(s.id, -?2) = ?1)"),
);

pub(crate) fn find_sessions(
    conn: &Connection,
    scope: &Scope,
    project: Option<ProjectId>,
    lookup: &Lookup,
) -> Result<Vec<Session>, Fault> {
    match lookup {
        Lookup::Alias(alias) => sessions_in(conn, scope, project, BY_ALIAS, &[&alias.kind, &alias.value]),
        Lookup::Name(name) if name.is_empty() => Ok(Vec::new()),
        Lookup::Name(name) => sessions_in(conn, scope, project, BY_NAME, &[&name.as_bytes(), name]),
        Lookup::Suffix(suffix) => {
            sessions_in(conn, scope, project, ENDING, &[suffix, &(suffix.chars().count() as i64)])
        }
    }
}

const SEEN: (&str, &str) = ("speaker_seen", "SELECT 1 FROM speaker_seen WHERE project = ?1 AND speaker = ?2");

pub(crate) fn speaker(conn: &Connection, scope: &Scope, id: SpeakerId) -> Result<Option<Speaker>, Fault> {
    let seen = match scope {
        Scope::All => true,
        Scope::Projects(projects) => {
            let id = id.to_string();
            let hits = projects.iter().map(|p| one(conn, SEEN, (p.to_string(), &id), |c| c.int()));
            hits.collect::<Result<Vec<_>, _>>()?.iter().any(Option::is_some)
        }
    };
    if !seen {
        return Ok(None);
    }
    Speakers::new(Trust::Checked).find(conn, id)
}

const NAMED: (&str, &str) = ("speaker", "SELECT id FROM speaker WHERE kind = ?1 AND name = ?2");

pub(crate) fn find_speaker(
    conn: &Connection,
    kind: SpeakerKind,
    name: &str,
) -> Result<Option<SpeakerId>, Fault> {
    one(conn, NAMED, (kind.as_str(), name.as_bytes()), |c| c.parse())
}
