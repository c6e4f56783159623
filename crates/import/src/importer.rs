//! Importing files and folders.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use sayso::Ledger;
use serde_json::Value;

use crate::claude::{self, Claude};
use crate::codex::Codex;
use crate::error::ImportError;
use crate::formats::{self, Format};
use crate::pi::Pi;
use crate::records::{Record, Records};
use crate::report::{FileReport, Report};
use crate::session::Home;
use crate::sink::Sink;
use crate::source;
use crate::values::named;
use crate::walk;

/// How transcripts are imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Importer {
    /// The name of the person whose words the transcripts hold; part of every turn of theirs, so a later import under
    /// another name leaves known turns as they are.
    pub owner: String,
}

impl Default for Importer {
    fn default() -> Self {
        Self { owner: "owner".to_owned() }
    }
}

/// What reads the records of one format, but for a header.
trait Reading {
    fn record(&mut self, record: Record, sink: &mut Sink<'_>) -> Result<(), sayso::Error>;

    /// The file has no more complete records for now.
    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), sayso::Error>;
}

impl Reading for Codex {
    fn record(&mut self, record: Record, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.take(record, sink)
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.settle(sink)
    }
}

impl Reading for Pi {
    fn record(&mut self, record: Record, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.take(record, sink)
    }

    fn end(&mut self, _: &mut Sink<'_>) -> Result<(), sayso::Error> {
        Ok(())
    }
}

impl Reading for Claude {
    fn record(&mut self, record: Record, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.take(record, sink)
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.settle(sink)
    }
}

impl Importer {
    /// An importer for the transcripts of the person of this name.
    pub fn new(owner: impl Into<String>) -> Self {
        Self { owner: owner.into() }
    }

    /// Imports one file; `progress` hears how many more bytes were read.
    ///
    /// # Errors
    ///
    /// The file cannot be read, holds no complete record, has no known format or names no session; the ledger refused.
    /// Batches that were committed before an error stay, whole records each, and importing again continues.
    pub fn import_file(
        &self,
        ledger: &Ledger,
        path: &Path,
        progress: &mut dyn FnMut(u64),
    ) -> Result<FileReport, ImportError> {
        let read = |cause| ImportError::Read { path: path.to_owned(), cause };
        // Reading a pipe or a device may never end.
        if !std::fs::metadata(path).map_err(read)?.is_file() {
            return Err(read(std::io::Error::other("it is no regular file")));
        }
        let mut records = Records::new(source::buffered(path).map_err(read)?);
        let first = match records.next() {
            Some(first) => first.map_err(read)?,
            None => return Err(no_record(path, records.broken())),
        };
        let format = recognised(path, &first.value)?;
        let home = home(format, &first, path);
        let home = home.ok_or_else(|| ImportError::NoSession { path: path.to_owned() })?;
        let refused = |cause| ImportError::Ledger { path: path.to_owned(), cause };
        let mut sink = Sink::new(ledger, home, FileReport::new(format)).map_err(refused)?;
        let mut reading = self.reading(format, &std::path::absolute(path).map_err(read)?);
        let mut told = 0;
        let mut first = Some(first);
        if format.has_header()
            && let Some(header) = first.take()
        {
            note(&mut sink, &header);
        }
        while let Some(record) = first.take().map(Ok).or_else(|| records.next()) {
            let record = record.map_err(read)?;
            progress(record.offset.saturating_sub(told));
            told = record.offset;
            note(&mut sink, &record);
            reading.record(record, &mut sink).map_err(refused)?;
        }
        reading.end(&mut sink).and_then(|()| sink.finish()).map_err(refused)?;
        progress((records.offset() + records.pending()).saturating_sub(told));
        Ok(closed(sink.report, &records))
    }

    fn reading(&self, format: Format, path: &Path) -> Box<dyn Reading> {
        let folder = path.parent().unwrap_or(path);
        match format {
            Format::ClaudeCode => Box::new(Claude::new(&self.owner, path)),
            Format::Codex | Format::CodexFlat => Box::new(Codex::new(format, &self.owner)),
            Format::Pi => Box::new(Pi::new(&self.owner, folder)),
        }
    }

    /// Imports files, and every `*.jsonl` file of folders. A file that is refused is listed, and the others go on.
    pub fn import_paths(&self, ledger: &Ledger, paths: &[PathBuf], progress: &mut dyn FnMut(u64)) -> Report {
        let mut report = Report::default();
        for found in walk::files(paths) {
            match found {
                Ok(path) => match self.import_file(ledger, &path, progress) {
                    Ok(file) => report.add(file),
                    Err(error) => report.refuse(path, &error),
                },
                Err((path, cause)) => {
                    report.refuse(path.clone(), &ImportError::Read { path, cause });
                }
            }
        }
        report
    }
}

/// Imports one file with the default options; see [`Importer::import_file`].
///
/// # Errors
///
/// As for [`Importer::import_file`].
pub fn import_file(
    ledger: &Ledger,
    path: &Path,
    progress: &mut dyn FnMut(u64),
) -> Result<FileReport, ImportError> {
    Importer::default().import_file(ledger, path, progress)
}

/// Imports files and folders with the default options; see [`Importer::import_paths`].
pub fn import_paths(ledger: &Ledger, paths: &[PathBuf]) -> Report {
    Importer::default().import_paths(ledger, paths, &mut |_| {})
}

fn note(sink: &mut Sink<'_>, record: &Record) {
    sink.report.records += 1;
    sink.report.repairs += record.repairs;
}

fn closed<R: std::io::BufRead>(mut report: FileReport, records: &Records<R>) -> FileReport {
    report.skip_many("broken_line", records.broken());
    report.skip_many("unreadable", records.unreadable());
    report.bytes = records.offset();
    report.pending = records.pending();
    report
}

fn recognised(path: &Path, first: &Value) -> Result<Format, ImportError> {
    let unknown = || ImportError::Unrecognised { path: path.to_owned(), found: formats::describe(first) };
    Format::of(first).ok_or_else(unknown)
}

fn no_record(path: &Path, broken: u64) -> ImportError {
    let mut head = Vec::new();
    // Only for a hint in words: what cannot be read again, such as a pipe, has none.
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        let _ = file.take(16).read_to_end(&mut head);
    }
    ImportError::NoRecord { path: path.to_owned(), hint: formats::hint(&head, broken) }
}

fn home(format: Format, first: &Record, path: &Path) -> Option<Home> {
    let header = match format {
        Format::ClaudeCode => return claude::home::home(path, first),
        Format::Codex => first.value.get("payload")?,
        Format::CodexFlat | Format::Pi => &first.value,
    };
    let id = named(header, "id").or_else(|| named(header, "session_id"))?;
    Some(Home::new(format, id, named(header, "cwd")))
}
