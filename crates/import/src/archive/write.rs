//! Writing an export.

use std::collections::{BTreeSet, HashSet};
use std::io::{self, Write};

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sayso::Reader;
use sayso::model::{OutputId, ProjectId, SessionId, SpeakerId};
use sayso::store::{ArchivedEntry, ArchivedSession, Output, StreamKind};

use super::check::Chain;
use super::forms::{BytesForm, Record, VERSION};
use super::words::Word;

/// Entries, keys or outputs that are held at once.
pub(super) const PAGE: usize = 256;
/// Bytes of a stored output in one record; a multiple of three, so that base64 fills nothing up.
const PIECE: usize = 48 * 1024;

/// What an export holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Exported {
    /// Sessions, with those that others were forked off.
    pub sessions: u64,
    /// Entries.
    pub entries: u64,
    /// Records: lines.
    pub records: u64,
}

/// Why an export came to no end.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The ledger could not be read.
    #[error(transparent)]
    Ledger(#[from] sayso::Error),
    /// What was read could not be written out.
    #[error("the export cannot be written: check the disk and the permissions")]
    Write(#[source] io::Error),
}

/// Writes projects and sessions as JSONL, each after what it rests on, so that an import needs to hold only one record. The
/// sessions that others were forked off come along whole, since marks on the shared beginning may stand behind the fork.
///
/// # Errors
///
/// The ledger cannot be read, or `to` not be written.
pub fn export(
    reader: &Reader,
    projects: &BTreeSet<ProjectId>,
    sessions: &BTreeSet<SessionId>,
    to: &mut dyn Write,
) -> Result<Exported, ExportError> {
    let sessions = reader.archived_sessions(sessions)?;
    let projects: BTreeSet<ProjectId> =
        projects.iter().copied().chain(sessions.iter().map(|s| s.project)).collect();
    let mut writing = Writing::new(reader, to);
    writing.record(&Record::Export { format: "sayso".to_owned(), version: VERSION })?;
    for id in projects {
        for project in reader.archived_project(id)? {
            writing.record(&Record::Project((&project).into()))?;
        }
    }
    for session in &sessions {
        writing.session(session)?;
    }
    writing.record(&Record::End { records: writing.done.records })?;
    writing.to.flush().map_err(ExportError::Write)?;
    Ok(writing.done)
}

pub(super) struct Writing<'a> {
    pub(super) reader: &'a Reader,
    pub(super) to: &'a mut dyn Write,
    chain: Chain,
    /// Speakers that were written.
    pub(super) said: HashSet<SpeakerId>,
    pub(super) done: Exported,
}

impl<'a> Writing<'a> {
    pub(super) fn new(reader: &'a Reader, to: &'a mut dyn Write) -> Self {
        Self { reader, to, chain: Chain::start(), said: HashSet::new(), done: Exported::default() }
    }

    pub(super) fn record(&mut self, record: &Record) -> Result<(), ExportError> {
        let json = serde_json::to_string(record).map_err(|e| ExportError::Write(e.into()))?;
        self.done.records += 1;
        self.to.write_all(self.chain.line(&json).as_bytes()).map_err(ExportError::Write)
    }

    fn session(&mut self, session: &ArchivedSession) -> Result<(), ExportError> {
        self.record(&Record::Session(session.into()))?;
        self.done.sessions += 1;
        let mut after = 0;
        // Until nothing is left, also of what is appended meanwhile: a text that was just taken away has its mark behind it.
        loop {
            let page = self.reader.archived_entries(session.id, after, PAGE)?;
            let Some(last) = page.last() else { break };
            after = last.entry.seq;
            page.iter().try_for_each(|entry| self.entry(entry))?;
        }
        self.keys(session.id)?;
        self.outputs(session.id)
    }

    fn entry(&mut self, entry: &ArchivedEntry) -> Result<(), ExportError> {
        for speaker in entry.entry.body.speakers() {
            if self.said.insert(speaker.id)
                && let Some(archived) = self.reader.archived_speaker(speaker.id)?
            {
                self.record(&Record::Speaker((&archived).into()))?;
            }
        }
        self.done.entries += 1;
        self.record(&Record::Entry(Box::new(entry.into())))
    }

    fn keys(&mut self, session: SessionId) -> Result<(), ExportError> {
        let mut after = (String::new(), String::new());
        loop {
            let page = self.reader.archived_keys(session, (&after.0, &after.1), PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = (last.kind.clone(), last.value.clone());
            for key in &page {
                self.record(&Record::Key(key.into()))?;
            }
        }
    }

    fn outputs(&mut self, session: SessionId) -> Result<(), ExportError> {
        let mut after: Option<OutputId> = None;
        loop {
            let page = self.reader.archived_outputs(session, after, PAGE)?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.id);
            page.iter().try_for_each(|output| self.output(output))?;
        }
    }

    pub(super) fn output(&mut self, output: &Output) -> Result<(), ExportError> {
        self.record(&Record::Output(output.into()))?;
        for stream in &output.streams {
            let reader = self.reader;
            let mut pieces =
                Pieces { writing: self, output: output.id, stream: stream.kind, at: 0, held: Vec::new() };
            // One that is still being written may have grown since.
            if let Some(mut bytes) = reader.open_output(output.id, stream.kind)? {
                bytes.range(0, stream.blob.bytes, &mut pieces)?;
            }
            pieces.give()?;
        }
        Ok(())
    }
}

/// Takes the bytes of a stream and writes records of them.
struct Pieces<'a, 'w> {
    writing: &'a mut Writing<'w>,
    output: OutputId,
    stream: StreamKind,
    at: u64,
    held: Vec<u8>,
}

impl Pieces<'_, '_> {
    fn give(&mut self) -> Result<(), ExportError> {
        if self.held.is_empty() {
            return Ok(());
        }
        let form = BytesForm {
            output: Word(self.output),
            stream: self.stream.as_str().to_owned(),
            at: self.at,
            base64: STANDARD.encode(&self.held),
        };
        self.at += self.held.len() as u64;
        self.held.clear();
        self.writing.record(&Record::Bytes(form))
    }
}

impl Write for Pieces<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let room = PIECE - self.held.len();
        let taken = bytes.get(..room).unwrap_or(bytes);
        self.held.extend_from_slice(taken);
        if self.held.len() == PIECE {
            self.give().map_err(|e| match e {
                ExportError::Write(cause) => cause,
                ExportError::Ledger(cause) => io::Error::other(cause),
            })?;
        }
        Ok(taken.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
