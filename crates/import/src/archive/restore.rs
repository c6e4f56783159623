//! Importing an export. It is read twice: first every record is checked, so that one which was edited or cut off adds nothing;
//! then the records are written in bounded batches.

use std::collections::{HashMap, HashSet};
use std::io::{self, BufRead, Read};
use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use sayso::model::{EntryBody, OutputId, ProjectId, SessionId, SpeakerId};
use sayso::store::{
    ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker, Command, Done, Output, Restore,
    StoreError, StreamKind,
};
use sayso::{Error, Fate, Ledger, Reader, Refusal, Scope};
use serde_json::Value;

use super::body::Sayers;
use super::forms::{BytesForm, EntryForm, OutputForm, Record, VERSION};
use super::read::{Broken, Records};
use crate::error::ImportError;
use crate::formats::Format;
use crate::report::FileReport;
use crate::source;

/// Commands that one batch takes at most.
const COMMANDS: usize = 256;
/// Bytes of text after which a batch is written.
const BYTES: usize = 4 << 20;

/// The kind under which records are counted that entries rest on: projects, speakers, sessions, keys, outputs.
const BESIDE: &str = "beside_turns";

/// Imports an export; see [`crate::Importer::import_file`].
pub(crate) fn import(
    ledger: &Ledger,
    path: &Path,
    header: &Value,
    progress: &mut dyn FnMut(u64),
) -> Result<FileReport, ImportError> {
    newer(path, header)?;
    let read = |cause| ImportError::Read { path: path.to_owned(), cause };
    let open = || source::buffered(path).map(Records::new).map_err(read);
    open()?.check().map_err(|(record, broken)| named(path, record, broken))?;
    let mut restoring = Restoring {
        ledger,
        reader: ledger.reader(Scope::All),
        report: FileReport::new(Format::Sayso),
        sayers: Sayers::new(),
        speakers: HashMap::new(),
        written: HashSet::new(),
        records: open()?,
        waiting: Vec::new(),
        weight: 0,
        place: Place::Nowhere,
    };
    let done = restoring.run(progress).and_then(|()| restoring.flush());
    let before = restoring.report.clone();
    done.map_err(|stop| match stop {
        Stop::Broken(broken) => named(path, restoring.records.number, broken),
        Stop::Ledger(cause) => ImportError::ledger(path, before, cause),
        Stop::Unusable(record, cause) => ImportError::Unusable { path: path.to_owned(), record, cause },
    })?;
    Ok(restoring.report)
}

/// An export of a newer version may look any way behind its first record.
fn newer(path: &Path, header: &Value) -> Result<(), ImportError> {
    match header.get("version").and_then(Value::as_u64) {
        Some(found) if found > u64::from(VERSION) => {
            Err(ImportError::NewerExport { path: path.to_owned(), found, known: VERSION })
        }
        _ => Ok(()),
    }
}

fn named(path: &Path, record: u64, broken: Broken) -> ImportError {
    let path = path.to_owned();
    match broken {
        Broken::Read(cause) => ImportError::Read { path, cause },
        Broken::Edited => ImportError::Edited { path, record },
        Broken::CutOff => ImportError::CutOff { path, records: record },
        Broken::Unusable(cause) => ImportError::Unusable { path, record, cause: Box::new(cause) },
    }
}

/// Why an import stopped.
enum Stop {
    Broken(Broken),
    Ledger(Error),
    Unusable(u64, Box<dyn std::error::Error + Send + Sync>),
}

impl From<Error> for Stop {
    fn from(error: Error) -> Self {
        Self::Ledger(error)
    }
}

impl From<Broken> for Stop {
    fn from(broken: Broken) -> Self {
        Self::Broken(broken)
    }
}

/// What becomes of the records of the session that is read.
enum Place {
    Nowhere,
    /// They are written; up to this place they are known to be there.
    Taken {
        session: SessionId,
        project: ProjectId,
        known: u64,
    },
    /// They are passed over.
    Passed,
}

/// A command that waits for its batch, with the number of its record.
struct Waiting {
    record: u64,
    command: Command,
}

struct Restoring<'l, R> {
    ledger: &'l Ledger,
    reader: Reader,
    report: FileReport,
    sayers: Sayers,
    /// The speakers that were read.
    speakers: HashMap<SpeakerId, ArchivedSpeaker>,
    /// Those that are written, or wait for it.
    written: HashSet<SpeakerId>,
    records: Records<R>,
    waiting: Vec<Waiting>,
    weight: usize,
    place: Place,
}

impl<R: BufRead> Restoring<'_, R> {
    fn run(&mut self, progress: &mut dyn FnMut(u64)) -> Result<(), Stop> {
        while let Some(record) = self.records.next()? {
            progress(self.records.bytes - self.report.bytes);
            self.report.bytes = self.records.bytes;
            self.report.records += 1;
            self.record(record)?;
        }
        self.flush()?;
        // Texts that an export took away from here must leave the log of changes as well.
        self.reader.go_on_erasing()?;
        Ok(())
    }

    fn record(&mut self, record: Record) -> Result<(), Stop> {
        match record {
            Record::Export { .. } | Record::Bytes(_) | Record::End { .. } => {
                self.report.skip(BESIDE);
                Ok(())
            }
            Record::Project(form) => self.project(form.into()),
            Record::Speaker(form) => {
                self.report.skip(BESIDE);
                self.speaker(form.into());
                Ok(())
            }
            Record::Session(form) => {
                self.report.skip(BESIDE);
                self.session(&form.into())
            }
            Record::Entry(form) => self.entry(*form),
            Record::Key(form) => {
                self.report.skip(BESIDE);
                self.key(form.into())
            }
            Record::Output(form) => {
                self.report.skip(BESIDE);
                self.output(form)
            }
        }
    }

    fn unusable(&self, why: &'static str) -> Stop {
        Stop::Unusable(self.records.number, why.into())
    }

    fn wait(&mut self, restore: Restore, weight: usize) -> Result<(), Stop> {
        let command = Command::Restore(Box::new(restore));
        self.waiting.push(Waiting { record: self.records.number, command });
        self.weight += weight;
        if self.waiting.len() >= COMMANDS || self.weight >= BYTES { self.flush() } else { Ok(()) }
    }

    /// Writes what waits.
    fn flush(&mut self) -> Result<(), Stop> {
        self.weight = 0;
        if self.waiting.is_empty() {
            return Ok(());
        }
        let waiting = std::mem::take(&mut self.waiting);
        let numbers: Vec<u64> = waiting.iter().map(|w| w.record).collect();
        let commands: Vec<Command> = waiting.into_iter().map(|w| w.command).collect();
        let kinds: Vec<Kind> = commands.iter().map(Kind::of).collect();
        match self.ledger.write(&Scope::All, commands) {
            Ok(done) => {
                kinds.iter().zip(&done).for_each(|(kind, done)| self.count(*kind, done));
                Ok(())
            }
            Err(error) => self.refused(error, &numbers),
        }
    }

    /// A session that parts from what is here is passed over; anything else stops the import.
    fn refused(&mut self, error: Error, numbers: &[u64]) -> Result<(), Stop> {
        match error {
            Error::Store(StoreError::Refused { refusal: Refusal::Diverged { session, seq }, .. }) => {
                self.apart(session, seq)?;
                self.place = Place::Passed;
                // Those of its batch may not be there.
                self.written.clear();
                Ok(())
            }
            Error::Store(StoreError::Refused { index, refusal }) => {
                let record = numbers.get(index).copied().unwrap_or(self.records.number);
                Err(Stop::Unusable(record, Box::new(refusal)))
            }
            other => Err(Stop::Ledger(other)),
        }
    }

    fn apart(&mut self, session: SessionId, seq: u64) -> Result<(), Stop> {
        let found = self.reader.session(session)?;
        let name = found.map_or_else(|| session.to_string(), |s| self.ledger.session_address(&s).to_string());
        self.report.apart.push(format!(
            "session {name} went on separately: from entry {seq} on it is not what stands here, so it was not merged; \
             import it into a ledger of its own (--ledger)"
        ));
        Ok(())
    }

    fn count(&mut self, kind: Kind, done: &Done) {
        let Done::Entries(fate, _) = done else { return };
        match (kind, fate) {
            (Kind::Turn, Fate::New) => self.report.turns_added += 1,
            (Kind::Turn, Fate::Known) => self.report.turns_known += 1,
            (Kind::Compaction, _) => self.report.compactions += 1,
            (Kind::Mark, _) => self.report.skip("mark"),
            (Kind::Other, _) => {}
        }
    }

    fn project(&mut self, project: ArchivedProject) -> Result<(), Stop> {
        self.flush()?;
        match self.alone(Restore::Project(project))? {
            Alone::Done => self.report.skip(BESIDE),
            // Its sessions find it missing and are passed over.
            Alone::Refused(_) => self.report.skip("erased"),
        }
        Ok(())
    }

    /// A speaker is written before the first entry that names it: one whom only sessions name that are passed over is not.
    fn speaker(&mut self, speaker: ArchivedSpeaker) {
        self.sayers.insert(speaker.speaker.id, speaker.speaker.clone());
        self.speakers.insert(speaker.speaker.id, speaker);
    }

    fn sayers_of(&mut self, body: &EntryBody) -> Result<(), Stop> {
        for id in body.speakers().into_iter().map(|speaker| speaker.id) {
            if let Some(speaker) = self.speakers.get(&id).filter(|_| !self.written.contains(&id)).cloned() {
                self.written.insert(id);
                self.wait(Restore::Speaker(speaker), 0)?;
            }
        }
        Ok(())
    }

    fn session(&mut self, session: &ArchivedSession) -> Result<(), Stop> {
        self.flush()?;
        self.place = match self.alone(Restore::Session(session.clone()))? {
            Alone::Done => self.taken(session)?,
            Alone::Refused(Refusal::Diverged { session, seq }) => {
                self.apart(session, seq)?;
                Place::Passed
            }
            // It was erased here, or what it rests on was.
            Alone::Refused(_) => {
                self.report.skip("erased");
                Place::Passed
            }
        };
        Ok(())
    }

    fn taken(&mut self, s: &ArchivedSession) -> Result<Place, Stop> {
        match self.report.session {
            None => (self.report.session, self.report.project) = (Some(s.id), Some(s.project)),
            Some(_) => self.report.beside.push(s.id),
        }
        // The hash of an entry stands for all before it.
        let same = self.reader.hash_at(s.id, s.last_seq)? == Some(s.head);
        Ok(Place::Taken { session: s.id, project: s.project, known: if same { s.last_seq } else { 0 } })
    }

    /// Writes one thing by itself.
    fn alone(&mut self, restore: Restore) -> Result<Alone, Stop> {
        let written = self.ledger.write(&Scope::All, vec![Command::Restore(Box::new(restore))]);
        match written {
            Ok(_) => Ok(Alone::Done),
            Err(Error::Store(StoreError::Refused { refusal, .. })) if is_missing(&refusal) => {
                Ok(Alone::Refused(refusal))
            }
            Err(Error::Store(StoreError::Refused { refusal, .. })) => {
                Err(Stop::Unusable(self.records.number, Box::new(refusal)))
            }
            Err(other) => Err(Stop::Ledger(other)),
        }
    }

    fn entry(&mut self, form: EntryForm) -> Result<(), Stop> {
        let Place::Taken { session, project, known } = self.place else {
            return self.passed();
        };
        if form.session() != session {
            return Err(self.unusable("the entry stands among those of another session"));
        }
        let seq = form.seq();
        let entry = form.archived(&self.sayers, project);
        let entry = entry.ok_or_else(|| {
            self.unusable("it names a speaker who did not come before it, or its parts do not go together")
        })?;
        if seq <= known {
            let kind = Kind::of_body(&entry.entry.body);
            self.count(kind, &Done::Entries(Fate::Known, Vec::new()));
            return Ok(());
        }
        let weight = entry.entry.body.texts().iter().map(|text| text.len()).sum();
        self.sayers_of(&entry.entry.body)?;
        // What was written meanwhile may have ended the session.
        match self.place {
            Place::Taken { .. } => self.wait(Restore::Entry(entry), weight),
            _ => Ok(()),
        }
    }

    fn passed(&mut self) -> Result<(), Stop> {
        if matches!(self.place, Place::Nowhere) {
            return Err(self.unusable("the entry stands in no session"));
        }
        self.report.skip("passed_over");
        Ok(())
    }

    fn key(&mut self, key: ArchivedKey) -> Result<(), Stop> {
        match self.place {
            Place::Taken { .. } => self.wait(Restore::Key(key), 0),
            _ => Ok(()),
        }
    }

    fn output(&mut self, form: OutputForm) -> Result<(), Stop> {
        self.flush()?;
        let Place::Taken { project, .. } = self.place else { return Ok(()) };
        let output =
            form.output(project).ok_or_else(|| self.unusable("its state or a stream has no known word"))?;
        match self.alone(Restore::Output(output.clone()))? {
            Alone::Refused(Refusal::UnknownBlob(_)) => {
                self.streams(&output)?;
                match self.alone(Restore::Output(output))? {
                    Alone::Done => Ok(()),
                    Alone::Refused(_) => {
                        Err(self.unusable("the bytes of the output are not what was written"))
                    }
                }
            }
            // It is there, or was taken away here: its bytes are passed over.
            _ => Ok(()),
        }
    }

    fn streams(&mut self, output: &Output) -> Result<(), Stop> {
        for stream in &output.streams {
            let mut feed = Feed {
                records: &mut self.records,
                output: output.id,
                stream: stream.kind,
                held: io::Cursor::new(Vec::new()),
                read: 0,
                broken: None,
            };
            let stored = self.ledger.put_blob(&mut feed);
            let Feed { read, broken, .. } = feed;
            self.report.records += read;
            self.report.skip_many(BESIDE, read);
            if let Some(broken) = broken {
                return Err(broken.into());
            }
            if stored? != stream.blob {
                return Err(self.unusable("the bytes of the output are not what was written"));
            }
        }
        Ok(())
    }
}

/// What became of something that was written by itself.
enum Alone {
    Done,
    Refused(Refusal),
}

/// Refusals that say that something was erased here, parts from what is here, or is still to come.
const fn is_missing(refusal: &Refusal) -> bool {
    use Refusal::{Diverged, Erased, UnknownBlob, UnknownProject, UnknownSession};
    matches!(refusal, Diverged { .. } | Erased(_) | UnknownBlob(_) | UnknownProject(_) | UnknownSession(_))
}

/// What is counted.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Turn,
    Compaction,
    Mark,
    Other,
}

impl Kind {
    fn of(command: &Command) -> Self {
        match command {
            Command::Restore(restore) => match restore.as_ref() {
                Restore::Entry(entry) => Self::of_body(&entry.entry.body),
                _ => Self::Other,
            },
            _ => Self::Other,
        }
    }

    const fn of_body(body: &EntryBody) -> Self {
        match body {
            EntryBody::Turn(_) => Self::Turn,
            EntryBody::Compaction(_) => Self::Compaction,
            EntryBody::Mark(_) => Self::Mark,
            EntryBody::Reinjection(_) => Self::Other,
        }
    }
}

/// The bytes of one stream, from the records that follow.
struct Feed<'r, R> {
    records: &'r mut Records<R>,
    output: OutputId,
    stream: StreamKind,
    held: io::Cursor<Vec<u8>>,
    read: u64,
    broken: Option<Broken>,
}

impl<R: BufRead> Feed<'_, R> {
    fn piece(&mut self) -> Result<Option<Vec<u8>>, Broken> {
        let (output, stream) = (self.output, self.stream.as_str());
        let own = |r: &Record| matches!(r, Record::Bytes(b) if b.output.0 == output && b.stream == stream);
        let Some(Record::Bytes(BytesForm { base64, .. })) = self.records.next_if(own)? else {
            return Ok(None);
        };
        self.read += 1;
        let bytes = STANDARD.decode(base64);
        bytes.map(Some).map_err(|_| Broken::Edited)
    }
}

impl<R: BufRead> Read for Feed<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.held.read(to)?;
            if read > 0 || to.is_empty() {
                return Ok(read);
            }
            match self.piece() {
                Ok(Some(piece)) => self.held = io::Cursor::new(piece),
                Ok(None) => return Ok(0),
                Err(broken) => {
                    self.broken = Some(broken);
                    return Err(io::Error::other("the export cannot be read"));
                }
            }
        }
    }
}
