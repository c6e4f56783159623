//! `sayso export`

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufWriter, Write};
use std::path::Path;

use sayso::model::{ProjectId, SessionId};
use sayso::store::Session;
use sayso::view::export::{Book, Chapter, Form};
use sayso::view::turn::Show;
use sayso::{Error, Reader};
use sayso_import::archive::{self, ExportError};
use serde::Serialize;
use tempfile::NamedTempFile;

use crate::args::{Export, ExportForm, Global};
use crate::fail::Failure;
use crate::io::Out;
use crate::open;

#[derive(Serialize)]
struct Answer<'a> {
    file: &'a Path,
    bytes: u64,
    sessions: usize,
}

/// What is exported.
struct Wanted {
    projects: BTreeSet<ProjectId>,
    sessions: BTreeSet<SessionId>,
}

pub(crate) fn run(args: &Export, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    if args.salvage {
        return super::salvage::run(args, global, out);
    }
    let reader = open::reader(global)?;
    let wanted = wanted(&args.what, &reader)?;
    let Some(path) = &args.to else {
        return write(args.form, &reader, &wanted, out.raw());
    };
    let bytes = to_file(path, |to| write(args.form, &reader, &wanted, to))?;
    let sessions = wanted.sessions.len();
    out.either(&Answer { file: path, bytes, sessions }, || format!("{}", path.display()))
}

fn wanted(given: &[String], reader: &Reader) -> Result<Wanted, Failure> {
    let mut wanted = Wanted { projects: BTreeSet::new(), sessions: BTreeSet::new() };
    if given.is_empty() {
        wanted.projects.extend(reader.projects()?.iter().map(|p| p.id));
        wanted.sessions.extend(reader.sessions(None)?.iter().map(|s| s.id));
    }
    for name in given {
        match (reader.find_project(name), reader.find_session(name)) {
            (Ok(_), Ok(session)) => return Err(both(name, session.id)),
            (Ok(project), _) => {
                wanted.projects.insert(project.id);
                wanted.sessions.extend(reader.sessions(Some(project.id))?.iter().map(|s| s.id));
            }
            (_, Ok(session)) => {
                wanted.sessions.insert(session.id);
            }
            (Err(ambiguous @ Error::Ambiguous { .. }), Err(_)) => return Err(ambiguous.into()),
            (Err(_), Err(error)) => return Err(error.into()),
        }
    }
    Ok(wanted)
}

fn both(name: &str, session: SessionId) -> Failure {
    Failure::request(format!(
        "{name:?} names a project and a session: give the end of the id, such as {} for the session",
        &session.to_string()[16..]
    ))
}

fn write(form: ExportForm, reader: &Reader, wanted: &Wanted, to: &mut dyn Write) -> Result<(), Failure> {
    match form {
        ExportForm::Jsonl => {
            let mut to = BufWriter::with_capacity(1 << 20, to);
            exported(archive::export(reader, &wanted.projects, &wanted.sessions, &mut to)).map(drop)
        }
        ExportForm::Markdown => book(Form::Markdown, reader, wanted, to),
        ExportForm::Html => book(Form::Html, reader, wanted, to),
    }
}

/// What became of an export as JSONL.
pub(super) fn exported<T>(done: Result<T, ExportError>) -> Result<T, Failure> {
    done.map_err(|error| match error {
        ExportError::Ledger(error) => error.into(),
        ExportError::Write(cause) => Failure::io("the export cannot be written", cause),
    })
}

/// Writes a file for people.
fn book(form: Form, reader: &Reader, wanted: &Wanted, to: &mut dyn Write) -> Result<(), Failure> {
    let mut to = BufWriter::with_capacity(1 << 20, to);
    let mut give = |text: &str| {
        let given = to.write_all(text.as_bytes());
        given.map_err(|cause| Failure::io("the export cannot be written", cause))
    };
    let chapters = chapters(reader, wanted)?;
    let book = Book::new(form, reader.ledger().id(), &chapters);
    give(&book.open(&chapters))?;
    for chapter in &chapters {
        give(&book.chapter(chapter))?;
        for entry in reader.walk(chapter.session, chapter.fork.map_or(0, |(_, seq)| seq)) {
            let entry = entry?;
            let quote = entry.turn().and_then(|t| t.quote.as_deref());
            let state = quote.map(|q| reader.origin_state(q)).transpose()?;
            let superseded_by = reader.superseded_by(entry.id)?.map(|placed| reader.address_of(&placed));
            give(&book.entry(&Show { ledger: reader.ledger().id(), entry: &entry, state, superseded_by }))?;
        }
        give(book.end_chapter())?;
    }
    give(book.close())?;
    to.flush().map_err(|cause| Failure::io("the export cannot be written", cause))
}

/// The sessions by project and age. One whose beginning stands in the same file does not show it again.
fn chapters(reader: &Reader, wanted: &Wanted) -> Result<Vec<Chapter>, Failure> {
    let names: BTreeMap<ProjectId, String> = reader.projects()?.into_iter().map(|p| (p.id, p.name)).collect();
    let mut sessions = reader.sessions(None)?;
    sessions.retain(|s| wanted.sessions.contains(&s.id));
    sessions.sort_by_key(|s| (names.get(&s.project).cloned(), s.project, s.created_at, s.id));
    Ok(sessions.into_iter().map(|s| chapter(reader, &names, wanted, s)).collect())
}

fn chapter(reader: &Reader, names: &BTreeMap<ProjectId, String>, wanted: &Wanted, s: Session) -> Chapter {
    let fork = s.fork.filter(|fork| wanted.sessions.contains(&fork.session));
    Chapter {
        session: s.id,
        address: reader.ledger().session_address(&s),
        project: names.get(&s.project).cloned().unwrap_or_default(),
        title: s.title,
        kind: s.kind,
        channel: s.channel,
        fork: fork.map(|fork| (fork.session, fork.seq)),
        closed: s.closed,
        turns: s.turns,
        last_at: s.last_at,
        last_seq: s.last_seq,
        head: s.head,
    }
}

/// Writes a new file whole: beside its place first, then on disk, and only then under its name. Its bytes.
pub(super) fn to_file(
    path: &Path,
    write: impl FnOnce(&mut dyn Write) -> Result<(), Failure>,
) -> Result<u64, Failure> {
    let shown = path.display();
    if path.symlink_metadata().is_ok() {
        return Err(taken(path));
    }
    let folder = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let failed =
        |cause: io::Error| Failure::io(format!("{shown} cannot be written: choose another place"), cause);
    let mut file = NamedTempFile::new_in(folder).map_err(failed)?;
    write(&mut file)?;
    file.as_file().sync_all().map_err(failed)?;
    let bytes = file.as_file().metadata().map_err(failed)?.len();
    file.persist_noclobber(path).map_err(|e| match e.error.kind() {
        io::ErrorKind::AlreadyExists => taken(path),
        _ => failed(e.error),
    })?;
    // The name is on disk once its folder is; where a folder cannot be opened, that is left to the system.
    if let Ok(folder) = std::fs::File::open(folder) {
        let _ = folder.sync_all();
    }
    Ok(bytes)
}

fn taken(path: &Path) -> Failure {
    Failure::request(format!("{} is there already: name a new file for the export", path.display()))
}
