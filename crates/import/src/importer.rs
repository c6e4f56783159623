//! Importing files and folders.

use std::fs::File;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use sayso::Ledger;
use serde_json::Value;

use crate::archive;
use crate::database::{self, is_database};
use crate::error::ImportError;
use crate::formats::{self, Format};
use crate::names::{self, Sort};
use crate::reading::{home, reading};
use crate::records::{DamageKind, Records};
use crate::report::{FileReport, Refused, Report};
use crate::sink::Sink;
use crate::source;
use crate::walk::{self, Found};

/// How transcripts are imported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Importer {
    /// The name of the person whose words the transcripts hold; part of every turn of theirs, so a later import under
    /// another name leaves known turns as they are.
    pub owner: String,
}

/// How much of a file was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All its complete records.
    Whole,
    /// Its beginning; what of it was not decided yet is not written.
    Part,
}

impl Default for Importer {
    fn default() -> Self {
        Self { owner: "owner".to_owned() }
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
        if let Sort::Beside(why) = names::sort(path) {
            return Err(ImportError::Beside { path: path.to_owned(), why });
        }
        let read = |cause| ImportError::Read { path: path.to_owned(), cause };
        // Reading a pipe or a device may never end.
        if !std::fs::metadata(path).map_err(read)?.is_file() {
            return Err(read(std::io::Error::other("it is no regular file")));
        }
        if is_database(&head(path)) {
            return database::import(ledger, &self.owner, path, progress);
        }
        let mut on = |bytes| {
            progress(bytes);
            ControlFlow::Continue(())
        };
        Ok(self.import_lines(ledger, path, false, &mut on)?.0)
    }

    /// Imports a transcript as far as `more` lets it: it is asked after each record, with the bytes read since it was asked
    /// before. What was read by then stays; the next time goes on from there, after reading over what is known: that is not
    /// compared with the ledger, so [`FileReport::changed`] counts nothing. An export or a database is imported whole.
    ///
    /// # Errors
    ///
    /// As for [`Importer::import_file`].
    pub fn import_while(
        &self,
        ledger: &Ledger,
        path: &Path,
        more: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(FileReport, Reach), ImportError> {
        match names::sort(path) {
            Sort::Transcript | Sort::Archive(_) | Sort::Other
                if path.is_file() && !is_database(&head(path)) =>
            {
                self.import_lines(ledger, path, true, more)
            }
            _ => Ok((self.import_file(ledger, path, &mut |_| {})?, Reach::Whole)),
        }
    }

    fn import_lines(
        &self,
        ledger: &Ledger,
        path: &Path,
        only_new: bool,
        more: &mut dyn FnMut(u64) -> ControlFlow<()>,
    ) -> Result<(FileReport, Reach), ImportError> {
        let read = |cause| ImportError::Read { path: path.to_owned(), cause };
        let mut records = Records::new(source::buffered(path).map_err(read)?);
        let first = match records.next() {
            Some(first) => first.map_err(read)?,
            None => return Err(no_record(path, records.damaged(DamageKind::Broken))),
        };
        let place = std::path::absolute(path).map_err(read)?;
        let format = recognised(path, &place, &first.value)?;
        if format == Format::Sayso {
            let whole = archive::import(ledger, path, &first.value, &mut |bytes| _ = more(bytes))?;
            return Ok((whole, Reach::Whole));
        }
        let home = home(format, &first, &place);
        let home = home.ok_or_else(|| ImportError::NoSession { path: path.to_owned() })?;
        let refused = |sink: Sink<'_>, cause| ImportError::ledger(path, sink.report, cause);
        let mut sink = Sink::new(ledger, home, FileReport::new(format))
            .map_err(|cause| ImportError::ledger(path, FileReport::new(format), cause))?;
        sink.only_new = only_new;
        if let Sort::Archive(why) = names::sort(path) {
            sink.archive(why);
        }
        let mut reading = reading(format, &self.owner, &place);
        let mut told = 0;
        let mut first = Some(first);
        if format.has_header()
            && let Some(header) = first.take()
        {
            sink.note(&header);
            reading.header(&header, &mut sink);
        }
        while let Some(record) = first.take().map(Ok).or_else(|| records.next()) {
            let record = record.map_err(read)?;
            let enough = more(record.offset.saturating_sub(told)).is_break();
            told = record.offset;
            sink.note(&record);
            if let Err(cause) = reading.record(record, &mut sink) {
                return Err(refused(sink, cause));
            }
            if enough {
                return match sink.pause() {
                    Ok(()) => Ok((closed(sink.report, &records), Reach::Part)),
                    Err(cause) => Err(refused(sink, cause)),
                };
            }
        }
        if let Err(cause) = reading.end(&mut sink).and_then(|()| sink.finish()) {
            return Err(refused(sink, cause));
        }
        let _ = more((records.offset() + records.pending()).saturating_sub(told));
        Ok((closed(sink.report, &records), Reach::Whole))
    }

    /// Imports files, and the transcripts in folders. A file that is refused is listed, and the others go on.
    pub fn import_paths(&self, ledger: &Ledger, paths: &[PathBuf], progress: &mut dyn FnMut(u64)) -> Report {
        let mut report = Report::default();
        for found in walk::files(paths) {
            match found {
                Found::File(path) => match self.import_file(ledger, &path, progress) {
                    Ok(file) => {
                        let apart = file.apart.iter();
                        report
                            .refused
                            .extend(apart.map(|why| Refused { file: path.clone(), why: why.clone() }));
                        report.add(path, file);
                    }
                    Err(ImportError::Beside { why, .. }) => report.pass_over(path, why),
                    Err(error) if error.is_erased() => report.erased(path),
                    Err(error) => {
                        report.refuse(path.clone(), &error);
                        report.add_before(path, &error);
                    }
                },
                Found::Beside(path, why) => report.pass_over(path, why),
                Found::Unreadable(path, cause) => {
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

fn closed<R: std::io::BufRead>(mut report: FileReport, records: &Records<R>) -> FileReport {
    for kind in [DamageKind::Broken, DamageKind::Unreadable] {
        report.skip_many(kind.word(), records.damaged(kind));
    }
    report.damage = records.damage().to_vec();
    report.bytes = records.offset();
    report.pending = records.pending();
    report
}

/// Records of a workflow's journal: they tell which sub-agent started and what it came to, and their transcripts stand beside.
const JOURNAL: &str = "it is a workflow's journal; what its agents said stands in their own transcripts";

fn recognised(path: &Path, place: &Path, first: &Value) -> Result<Format, ImportError> {
    match Format::of(first) {
        Some(Format::Pi) if names::is_openclaw(place) => Ok(Format::OpenClaw),
        Some(format) => Ok(format),
        None if formats::is_journal(first) => {
            Err(ImportError::Beside { path: path.to_owned(), why: JOURNAL })
        }
        None => Err(ImportError::Unrecognised { path: path.to_owned(), found: formats::describe(first) }),
    }
}

fn no_record(path: &Path, broken: u64) -> ImportError {
    ImportError::NoRecord { path: path.to_owned(), hint: formats::hint(&head(path), broken) }
}

/// The first bytes of a file; none of what cannot be read twice, such as a pipe.
fn head(path: &Path) -> Vec<u8> {
    let mut head = Vec::new();
    if path.is_file()
        && let Ok(file) = File::open(path)
    {
        let _ = file.take(16).read_to_end(&mut head);
    }
    head
}
