//! OpenClaw's database, which holds the sessions of one of its agents.

use std::ops::ControlFlow;
use std::path::Path;

use sayso::Ledger;
use sayso_sqlite::foreign::{Event, events};
use serde_json::Value;

use crate::error::ImportError;
use crate::formats::Format;
use crate::reading::{Reading, reading};
use crate::records::{self, DamageKind};
use crate::report::FileReport;
use crate::session::Home;
use crate::sink::Sink;
use crate::values::named;

const FORMAT: Format = Format::OpenClawDatabase;

/// Imports every session of a database.
pub(crate) fn import(
    ledger: &Ledger,
    owner: &str,
    path: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<FileReport, ImportError> {
    let mut run = Run { ledger, owner, path, session: None, report: FileReport::new(FORMAT) };
    let mut outcome = Ok(());
    let each = &mut |event: Event| {
        progress(event.json.len() as u64);
        outcome = run.take(event);
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let read = |cause| ImportError::Read { path: path.to_owned(), cause };
    let found = events(path, each).map_err(read)?;
    let refused = |cause| ImportError::Ledger { path: path.to_owned(), cause };
    outcome.and_then(|()| run.finish()).map_err(refused)?;
    if found { Ok(run.report) } else { Err(no_sessions(path)) }
}

/// Whether a file is a database, by its first bytes.
pub(crate) fn is_database(head: &[u8]) -> bool {
    head.starts_with(b"SQLite format 3\0")
}

fn no_sessions(path: &Path) -> ImportError {
    let found = "an SQLite database without a table of sessions' events".to_owned();
    ImportError::Unrecognised { path: path.to_owned(), found }
}

struct Run<'a> {
    ledger: &'a Ledger,
    owner: &'a str,
    path: &'a Path,
    session: Option<Open<'a>>,
    report: FileReport,
}

/// The session whose events come now.
struct Open<'a> {
    id: String,
    sink: Sink<'a>,
    reading: Box<dyn Reading>,
    ordinal: u64,
}

impl<'a> Run<'a> {
    fn take(&mut self, event: Event) -> Result<(), sayso::Error> {
        self.report.bytes += event.json.len() as u64;
        let Some(mut record) = records::only(&event.json) else {
            self.report.skip(DamageKind::Broken.word());
            return Ok(());
        };
        let mut open = match self.session.take() {
            Some(open) if open.id == event.session => open,
            before => {
                self.session = before;
                self.finish()?;
                self.open(event.session, &record.value)?
            }
        };
        record.ordinal = open.ordinal;
        open.ordinal += 1;
        open.sink.note(&record);
        let done = open.reading.record(record, &mut open.sink);
        self.session = Some(open);
        done
    }

    /// A session's first event may be any: the database itself says to which session it belongs.
    fn open(&self, id: String, first: &Value) -> Result<Open<'a>, sayso::Error> {
        let home = Home::new(FORMAT, &id, named(first, "cwd"));
        let sink = Sink::new(self.ledger, home, FileReport::new(FORMAT))?;
        Ok(Open { id, sink, reading: reading(FORMAT, self.owner, self.path), ordinal: 0 })
    }

    fn finish(&mut self) -> Result<(), sayso::Error> {
        let Some(mut open) = self.session.take() else { return Ok(()) };
        open.reading.end(&mut open.sink)?;
        open.sink.finish()?;
        self.report.join(open.sink.report);
        Ok(())
    }
}
