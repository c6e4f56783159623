//! `sayso export --salvage`, and what `sayso doctor --salvage` says of it.

use std::io::{BufWriter, Write};
use std::path::Path;

use sayso::Reader;
use sayso::model::{Address, Entry};
use sayso::store::{ArchivedSession, Lost, Salvaged as Place, Trace};
use sayso::view::export::{Book, Chapter, Form};
use sayso::view::grouped;
use sayso::view::turn::Show;
use sayso_import::archive::{self, Salvaged, SalvagedSession};
use serde::Serialize;

use super::export::{exported, to_file};
use crate::args::{Export, ExportForm, Global};
use crate::fail::Failure;
use crate::io::{Out, counted, say};
use crate::open;

/// Entries that are held at once.
const PAGE: u64 = 256;

#[derive(Serialize)]
struct Answer<'a> {
    file: &'a Path,
    bytes: u64,
    #[serde(flatten)]
    counts: Counts,
    damaged: Vec<Damaged>,
}

/// What is told of a ledger as a whole.
#[derive(Serialize)]
struct Counts {
    sessions: usize,
    entries: u64,
    saved: u64,
    lost: u64,
    outputs_lost: u64,
    nameless_projects: usize,
}

/// What is told of a session of which something is lost.
#[derive(Serialize)]
pub(crate) struct Damaged {
    session: sayso::model::SessionId,
    title: Option<String>,
    entries: u64,
    saved: u64,
    outputs_lost: u64,
    keys_lost: bool,
    lost: Vec<LostEntry>,
    ends: Option<LostEntry>,
}

#[derive(Serialize)]
struct LostEntry {
    seq: u64,
    why: String,
}

impl Counts {
    fn of(salvaged: &Salvaged) -> Self {
        Self {
            sessions: salvaged.sessions.len(),
            entries: salvaged.saved() + salvaged.lost(),
            saved: salvaged.saved(),
            lost: salvaged.lost(),
            outputs_lost: salvaged.outputs_lost(),
            nameless_projects: salvaged.nameless.len(),
        }
    }

    fn line(&self) -> String {
        let mut line = format!(
            "{} of {} in {} read whole, {} do not",
            grouped(self.saved),
            counted(self.entries, "entry", "entries"),
            counted(self.sessions as u64, "session", "sessions"),
            grouped(self.lost)
        );
        if self.outputs_lost > 0 {
            line.push_str(&format!("; stored outputs that do not: {}", grouped(self.outputs_lost)));
        }
        if self.nameless_projects > 0 {
            line.push_str(&format!("; projects whose names do not: {}", self.nameless_projects));
        }
        line
    }
}

impl Damaged {
    fn of(session: &SalvagedSession) -> Self {
        let told = |(seq, why): &(u64, String)| LostEntry { seq: *seq, why: why.clone() };
        Self {
            session: session.session,
            title: session.title.clone(),
            entries: session.entries,
            saved: session.saved,
            outputs_lost: session.outputs_lost,
            keys_lost: session.keys_lost,
            lost: session.lost.iter().map(told).collect(),
            ends: session.ends.as_ref().map(told),
        }
    }

    /// One line for people.
    pub(crate) fn line(&self) -> String {
        let title = self.title.as_deref().map(|title| format!(" ({title:?})")).unwrap_or_default();
        let mut line = format!(
            "session {}{title}: {} of {} can be saved",
            self.session,
            grouped(self.saved),
            counted(self.entries, "entry", "entries")
        );
        for LostEntry { seq, why } in &self.lost {
            line.push_str(&format!("; entry {seq}: {why}"));
        }
        if let Some(LostEntry { seq, .. }) = &self.ends {
            line.push_str(&format!("; nothing from {seq} on fits what is before it"));
        }
        if self.outputs_lost > 0 {
            line.push_str(&format!("; stored outputs that do not read: {}", self.outputs_lost));
        }
        if self.keys_lost {
            line.push_str("; its idempotency keys do not all read");
        }
        line
    }
}

/// What could be saved.
pub(crate) struct Found {
    /// Whether nothing is lost.
    pub(crate) whole: bool,
    /// The counts, for people.
    pub(crate) line: String,
    /// The sessions of which something is lost.
    pub(crate) damaged: Vec<Damaged>,
}

/// Reads everything and writes nothing.
pub(crate) fn look(global: &Global) -> Result<Found, Failure> {
    let reader = open::reader(global)?;
    let salvaged = exported(archive::salvage(&reader, &mut std::io::sink()))?;
    let (whole, line) = (salvaged.whole(), Counts::of(&salvaged).line());
    Ok(Found { whole, line, damaged: damaged(&salvaged) })
}

fn damaged(salvaged: &Salvaged) -> Vec<Damaged> {
    salvaged.sessions.iter().filter(|s| !s.whole()).map(Damaged::of).collect()
}

/// Writes what is left, and says what is not; that something is lost is the exit code of problems.
pub(crate) fn run(args: &Export, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let salvaged = match &args.to {
        None => write(args.form, &reader, out.raw())?,
        Some(path) => {
            let mut salvaged = None;
            let bytes = to_file(path, |to| {
                salvaged = Some(write(args.form, &reader, to)?);
                Ok(())
            })?;
            let salvaged = salvaged.unwrap_or_default();
            let (counts, damaged) = (Counts::of(&salvaged), damaged(&salvaged));
            out.either(&Answer { file: path, bytes, counts, damaged }, || format!("{}", path.display()))?;
            salvaged
        }
    };
    for session in damaged(&salvaged) {
        say(session.line());
    }
    say(Counts::of(&salvaged).line());
    if salvaged.whole() { Ok(()) } else { Err(Failure::Problems) }
}

fn write(form: ExportForm, reader: &Reader, to: &mut dyn Write) -> Result<Salvaged, Failure> {
    let mut to = BufWriter::with_capacity(1 << 20, to);
    match form {
        ExportForm::Jsonl => exported(archive::salvage(reader, &mut to)),
        ExportForm::Markdown => book(Form::Markdown, reader, &mut to),
        ExportForm::Html => book(Form::Html, reader, &mut to),
    }
}

/// For people: every entry, or what of it reads by itself, also behind a place that is lost.
fn book(form: Form, reader: &Reader, to: &mut dyn Write) -> Result<Salvaged, Failure> {
    let salvaged = exported(archive::salvage(reader, &mut std::io::sink()))?;
    let mut give = |text: &str| {
        to.write_all(text.as_bytes()).map_err(|cause| Failure::io("the export cannot be written", cause))
    };
    let mut chapters = Vec::new();
    for trace in reader.traces()? {
        if let Ok(session) = reader.salvage_session(trace.session)? {
            chapters.push((trace, chapter(reader, &trace, session)?));
        }
    }
    let all: Vec<Chapter> = chapters.iter().map(|(_, chapter)| chapter.clone()).collect();
    let book = Book::new(form, reader.ledger().id(), &all);
    give(&book.open(&all))?;
    for (trace, chapter) in &chapters {
        give(&book.chapter(chapter))?;
        places(reader, trace, |place| give(&shown(&book, reader, place)))?;
        give(book.end_chapter())?;
    }
    give(book.close())?;
    to.flush().map_err(|cause| Failure::io("the export cannot be written", cause))?;
    Ok(salvaged)
}

fn places(
    reader: &Reader,
    trace: &Trace,
    mut give: impl FnMut(Place) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let mut first = trace.first;
    while first <= trace.last {
        let last = trace.last.min(first + PAGE - 1);
        reader.salvage(trace.session, first, last)?.into_iter().try_for_each(&mut give)?;
        first = last + 1;
    }
    Ok(())
}

fn shown(book: &Book, reader: &Reader, place: Place) -> String {
    let entry = |entry: &Entry| {
        let (ledger, state, superseded_by) = (reader.ledger().id(), None, None);
        book.entry(&Show { ledger, entry, state, superseded_by })
    };
    match place {
        Place::Whole(archived) => entry(&archived.entry),
        Place::Lost(Lost { seq, what, rest, .. }) => {
            let rest = rest.map(|rest| entry(&rest)).unwrap_or_default();
            format!("{}{rest}", book.lost(seq, &what))
        }
    }
}

/// What is told of a session; where its row is not what was written, its turns are counted.
fn chapter(reader: &Reader, trace: &Trace, session: ArchivedSession) -> Result<Chapter, Failure> {
    let whole = reader.session(session.id).ok().flatten();
    let mut turns = 0;
    if whole.is_none() {
        places(reader, trace, |place| {
            turns += u64::from(matches!(place, Place::Whole(archived) if archived.entry.turn().is_some()));
            Ok(())
        })?;
    }
    let first = session.title.map(|(title, _)| title).unwrap_or_default();
    let projects = reader.archived_project(session.project).unwrap_or_default();
    let project = projects.into_iter().find(|p| p.id == session.project).map(|p| p.name);
    Ok(Chapter {
        session: session.id,
        address: Address::Session(reader.ledger().id(), session.project, session.id),
        project: project.unwrap_or_else(|| format!("Project {}", session.project)),
        title: whole.as_ref().map_or(first, |s| s.title.clone()),
        kind: session.kind,
        channel: session.channel,
        fork: session.fork.map(|(point, _)| (point.session, point.seq)),
        closed: whole.as_ref().is_some_and(|s| s.closed),
        turns: whole.as_ref().map_or(turns, |s| s.turns),
        last_at: whole.as_ref().and_then(|s| s.last_at),
        last_seq: session.last_seq,
        head: session.head,
    })
}
