//! Which session an output belongs to.

use sayso::model::SessionKind;
use sayso::store::{Alias, Session};
use sayso::{Error, Ledger, Reader};

use crate::args::Global;
use crate::fail::Failure;
use crate::open::{Missing, reader_of};

/// The title of the session in which commands stand that were run without one.
const TITLE: &str = "sayso run";

/// The session that was asked for, else the one for commands in the project of this folder.
pub(super) fn find(given: Option<&str>, global: &Global) -> Result<(Ledger, Session), Failure> {
    let reader = reader_of(global, Missing::Make)?;
    let session = match given {
        Some(given) => named(&reader, given)?,
        None => of_folder(&reader)?,
    };
    if session.closed {
        let title = &session.title;
        return Err(Failure::request(format!(
            "the session {title:?} is closed: reopen it with `sayso session reopen`, or name another one"
        )));
    }
    Ok((reader.ledger().clone(), session))
}

fn named(reader: &Reader, given: &str) -> Result<Session, Failure> {
    match (reader.find_session(given), given.split_once('/')) {
        (Err(Error::Unknown { .. }), Some((project, title))) if is_new(project, title) => {
            let project = reader.ledger().project(reader.scope(), project)?;
            Ok(made(reader, project.id, title)?)
        }
        (found, _) => Ok(found?),
    }
}

/// Whether it can be made: an address that leads nowhere is not a name.
fn is_new(project: &str, title: &str) -> bool {
    !project.is_empty() && !title.is_empty() && !project.ends_with(':')
}

/// As importers do it: a project is known by the folder's path and named after the folder.
fn of_folder(reader: &Reader) -> Result<Session, Failure> {
    let folder = std::env::current_dir()
        .map_err(|e| Failure::io("this folder cannot be told: name a session with --session", e))?;
    let name = folder.file_name().map_or_else(|| "/".into(), |name| name.to_string_lossy());
    let alias = Alias::new("path", super::within(&folder.to_string_lossy()));
    let project = reader.ledger().project_as(reader.scope(), &alias, super::within(&name))?;
    Ok(made(reader, project.id, TITLE)?)
}

fn made(reader: &Reader, project: sayso::model::ProjectId, title: &str) -> Result<Session, Error> {
    let alias = Alias::new("name", title);
    reader.ledger().session_as(reader.scope(), project, &alias, title, SessionKind::Thread)
}
