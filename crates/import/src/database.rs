//! OpenClaw's database, which holds the sessions of one of its agents.

use std::ops::ControlFlow;
use std::path::Path;

use sayso::Ledger;
use sayso_sqlite::foreign::{Event, events};
use serde_json::Value;

use crate::error::{ImportError, is_erased};
use crate::formats::Format;
use crate::reading::{Reading, reading};
use crate::records::{self, DamageKind};
use crate::report::FileReport;
use crate::session::Home;
use crate::sink::{ERASED, Sink};
use crate::values::named;

const FORMAT: Format = Format::OpenClawDatabase;

/// Imports every session of a database.
pub(crate) fn import(
    ledger: &Ledger,
    owner: &str,
    path: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<FileReport, ImportError> {
    let mut run = Run { ledger, owner, path, session: None, erased: None, report: FileReport::new(FORMAT) };
    let mut outcome = Ok(());
    let each = &mut |event: Event| {
        progress(event.json.len() as u64);
        outcome = run.take(event);
        if outcome.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let read = |cause| ImportError::Read { path: path.to_owned(), cause };
    let found = events(path, each).map_err(read)?;
    if let Err(cause) = outcome.and_then(|()| run.finish()) {
        return Err(ImportError::ledger(path, run.so_far(), cause));
    }
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
    /// The session whose events come now, where it was erased here.
    erased: Option<String>,
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
        if self.erased.as_ref() == Some(&event.session) {
            self.report.skip(ERASED);
            return Ok(());
        }
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
        match open.reading.record(record, &mut open.sink) {
            Err(error) if is_erased(&error) => self.leave_out(open),
            done => {
                self.session = Some(open);
                return done;
            }
        }
        Ok(())
    }

    /// A session's first event may be any: the database itself says to which session it belongs.
    fn open(&self, id: String, first: &Value) -> Result<Open<'a>, sayso::Error> {
        let home = Home::new(FORMAT, &id, named(first, "cwd"));
        let sink = Sink::new(self.ledger, home, FileReport::new(FORMAT))?;
        Ok(Open { id, sink, reading: reading(FORMAT, self.owner, self.path), ordinal: 0 })
    }

    fn finish(&mut self) -> Result<(), sayso::Error> {
        let Some(mut open) = self.session.take() else { return Ok(()) };
        match open.reading.end(&mut open.sink).and_then(|()| open.sink.finish()) {
            Err(error) if is_erased(&error) => self.leave_out(open),
            done => {
                self.report.join(open.sink.report);
                done?;
            }
        }
        Ok(())
    }

    /// What was written, with that of the session that is open.
    fn so_far(mut self) -> FileReport {
        if let Some(open) = self.session {
            self.report.join(open.sink.report);
        }
        self.report
    }

    /// Leaves a session out that was erased here; the others are not held up by it.
    fn leave_out(&mut self, open: Open<'_>) {
        self.report.skip_many(ERASED, open.ordinal);
        self.erased = Some(open.id);
    }
}
