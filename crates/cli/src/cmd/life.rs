//! `sayso session …`, `sayso fork` and `sayso project …`

use std::path::Path;

use sayso::Reader;
use sayso::store::{Alias, Session as StoredSession};

use crate::args::{Fork, Global, Project, Session};
use crate::cmd::list::{place, project_row, session_row};
use crate::fail::Failure;
use crate::io::Out;
use crate::open;

pub(crate) fn session(change: &Session, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let (Session::Rename { session, .. }
    | Session::Close { session }
    | Session::Reopen { session }
    | Session::Move { session, .. }) = change;
    let id = reader.find_session(session)?.id;
    if matches!(change, Session::Rename { title, .. } if title.trim().is_empty()) {
        return Err(Failure::request("the session's title is empty: give one"));
    }
    match change {
        Session::Rename { title, .. } => reader.rename_session(id, title)?,
        Session::Close { .. } => reader.close_session(id)?,
        Session::Reopen { .. } => reader.reopen_session(id)?,
        Session::Move { project, .. } => reader.move_session(id, reader.find_project(project)?.id)?,
    };
    let gone = || Failure::request("the session is gone: run `sayso verify`");
    let now = reader.session(id)?.ok_or_else(gone)?;
    told(&reader, &now, out)
}

fn told(reader: &Reader, session: &StoredSession, out: &mut Out<'_>) -> Result<(), Failure> {
    let project = reader.project(session.project)?;
    let row = session_row(session, project.as_ref(), reader.ledger().session_address(session));
    let place = place(project.as_ref());
    out.either(&row, || row.text(&place))
}

pub(crate) fn fork(args: &Fork, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let parent = reader.find_session(&args.session)?;
    let at = args.at.as_deref().map(|at| reader.find_turn(at)).transpose()?.map(|named| named.placed.id);
    let title =
        args.title.clone().unwrap_or_else(|| format!("{} (fork)", parent.title).trim_start().to_owned());
    let fork = reader.fork(parent.id, at, title)?;
    told(&reader, &fork, out)
}

pub(crate) fn project(change: &Project, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let find = |given: &str| reader.find_project(given);
    let now = match change {
        Project::Rename { project, name } => reader.rename_project(find(project)?.id, name)?,
        Project::Alias { project, alias, kind } => {
            let id = find(project)?.id;
            reader.add_alias(id, Alias::new(kind.as_deref().unwrap_or_else(|| sort(alias)), alias))?
        }
        Project::Merge { project, into } => reader.merge_project(find(project)?.id, find(into)?.id)?,
    };
    let row = project_row(&now, reader.ledger().project_address(now.id));
    out.either(&row, || row.text(""))
}

fn sort(alias: &str) -> &'static str {
    if Path::new(alias).is_absolute() { "path" } else { "name" }
}
