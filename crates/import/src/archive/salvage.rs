//! Writing an export of a damaged ledger: everything that still fits together, with a count of what does not.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;

use sayso::model::canon::commit;
use sayso::model::form::{self, Genesis, Link};
use sayso::model::{Digest, Entry, EntryBody, EntryId, Mark, MarkKind, ProjectId, SessionId, SpeakerId};
use sayso::store::{
    ArchivedEntry, ArchivedProject, ArchivedSession, ArchivedSpeaker, Lost, LostPlace, Salvaged as Place,
    StreamKind, Trace,
};
use sayso::{Error, Reader, StoreError};

use super::forms::{Record, VERSION};
use super::salvaged::{Salvaged, SalvagedSession};
use super::write::{ExportError, PAGE, Writing};

/// Writes what is left of a ledger as an export that can be imported: of each session the entries that read whole and fit the
/// ones before them. Of an entry that does not read, place and hash are written where its row still says them and the entry
/// behind it confirms them, as of one that was erased; where they are gone as well, the session ends there.
///
/// # Errors
///
/// [`StoreError::NeedsWholeLedger`] for a narrower scope; the storage fails otherwise than by damage; `to` cannot be written.
pub fn salvage(reader: &Reader, to: &mut dyn Write) -> Result<Salvaged, ExportError> {
    let traces: BTreeMap<SessionId, Trace> = reader.traces()?.into_iter().map(|t| (t.session, t)).collect();
    let mut saving = Saving {
        writing: Writing::new(reader, to),
        speakers: BTreeMap::new(),
        projects: BTreeSet::new(),
        ends: BTreeMap::new(),
        marked: BTreeSet::new(),
        lost: false,
        done: Salvaged::default(),
    };
    saving.writing.record(&Record::Export { format: "sayso".to_owned(), version: VERSION })?;
    let sessions = traces.values().map(|trace| Ok((trace, reader.salvage_session(trace.session)?)));
    let mut left: Vec<(&Trace, Result<ArchivedSession, String>)> =
        sessions.collect::<Result<_, ExportError>>()?;
    for (_, session) in &left {
        if let Ok(session) = session {
            saving.project(session.project)?;
        }
    }
    let mut begun = Vec::new();
    // Each after the one that it was forked off; where that one is not there, it cannot be written either.
    while !left.is_empty() {
        let next = left.iter().position(|(_, session)| is_ready(session, &left)).unwrap_or(0);
        let (trace, session) = left.remove(next);
        begun.push(saving.begin(trace, session)?);
    }
    begun.into_iter().try_for_each(|begun| saving.session(begun))?;
    let records = saving.writing.done.records;
    saving.writing.record(&Record::End { records })?;
    saving.writing.to.flush().map_err(ExportError::Write)?;
    saving.done.exported = saving.writing.done;
    saving.done.sessions.sort_by_key(|s| s.session);
    Ok(saving.done)
}

/// Damage, told for people; any other error stays one.
fn damage(error: Error) -> Result<String, ExportError> {
    match error {
        Error::Store(StoreError::Damaged { what, .. }) => Ok(what),
        other => Err(other.into()),
    }
}

fn readable<T>(read: Result<Option<T>, Error>) -> Result<Result<T, String>, ExportError> {
    match read {
        Ok(Some(value)) => Ok(Ok(value)),
        Ok(None) => Ok(Err("its row is missing".to_owned())),
        Err(error) => damage(error).map(Err),
    }
}

/// A session that was not looked through yet.
type Left<'t> = (&'t Trace, Result<ArchivedSession, String>);

/// Whether the session that it was forked off was looked through, or is none of those that are left.
fn is_ready(session: &Result<ArchivedSession, String>, left: &[Left<'_>]) -> bool {
    let parent = session.as_ref().ok().and_then(|s| s.fork).map(|(point, _)| point.session);
    parent.is_none_or(|parent| left.iter().all(|(trace, _)| trace.session != parent))
}

struct Saving<'a> {
    writing: Writing<'a>,
    /// The speakers that were asked for, with the commitments to their names.
    speakers: BTreeMap<SpeakerId, Option<(ArchivedSpeaker, Digest)>>,
    projects: BTreeSet<ProjectId>,
    /// Where what was written of each session ends, and the hash there.
    ends: BTreeMap<SessionId, (u64, Digest)>,
    /// Entries of which a mark that can be written says something.
    marked: BTreeSet<EntryId>,
    /// Whether anything is lost.
    lost: bool,
    done: Salvaged,
}

/// A session that was looked through.
struct Begun {
    trace: Trace,
    /// The session as far as it can be written, and what its first entry rests on.
    session: Option<(ArchivedSession, Digest)>,
    /// Where it can be written no further, and why.
    ends: Option<(u64, String)>,
}

/// An entry on its way out.
struct Found {
    entry: ArchivedEntry,
    /// Why only its place is known.
    lost: Option<String>,
}

impl Saving<'_> {
    /// A project under which sessions stand; one whose row does not read stands there under its id.
    fn project(&mut self, id: ProjectId) -> Result<(), ExportError> {
        if !self.projects.insert(id) {
            return Ok(());
        }
        let found = match self.writing.reader.archived_project(id) {
            Ok(found) => found,
            Err(error) => damage(error).map(|_| Vec::new())?,
        };
        for project in &found {
            self.projects.insert(project.id);
            self.writing.record(&Record::Project(project.into()))?;
        }
        if !found.iter().any(|project| project.id == id) {
            self.done.nameless.push(id);
            let (name, aliases) = (format!("Project {id}"), Vec::new());
            let created_at = sayso::model::UtcMs(0);
            let nameless = ArchivedProject { id, name, created_at, merged_into: None, aliases };
            self.writing.record(&Record::Project((&nameless).into()))?;
        }
        Ok(())
    }

    /// Looks how far a session can be written, and which marks will be.
    fn begin(
        &mut self,
        trace: &Trace,
        session: Result<ArchivedSession, String>,
    ) -> Result<Begun, ExportError> {
        let begun = session.and_then(|session| self.beginning(&session).map(|prev| (session, prev)));
        let ends;
        let begun = match begun {
            Ok((mut session, prev)) => {
                (session.last_seq, session.head) = (trace.first - 1, prev);
                ends = self.walk(trace, prev, trace.last, |saving, found| {
                    let entry = &found.entry.entry;
                    (session.last_seq, session.head) = (entry.seq, entry.hash);
                    saving.lost |= found.lost.is_some();
                    saving.marked.extend(entry.body.mark().and_then(|mark| mark.of));
                    Ok(())
                })?;
                self.ends.insert(session.id, (session.last_seq, session.head));
                Some((session, prev))
            }
            Err(why) => {
                ends = Some((trace.first, why)).filter(|_| trace.entries() > 0);
                None
            }
        };
        self.lost |= ends.is_some();
        Ok(Begun { trace: *trace, session: begun, ends })
    }

    /// What the first entry of a session rests on, where that is whole.
    fn beginning(&self, session: &ArchivedSession) -> Result<Digest, String> {
        if let Some((point, hash)) = session.fork {
            let end = self.ends.get(&point.session);
            if end.is_none_or(|(seq, _)| *seq < point.seq) {
                return Err("the session that it was forked off could not be saved up to there".to_owned());
            }
            return Ok(hash);
        }
        Ok(form::genesis(&Genesis {
            ledger: session.ledger,
            project: session.first_project,
            session: session.id,
            kind: session.kind,
            channel: session.channel.as_deref(),
            title: session.first_title,
            created_at: session.created_at,
            fork: None,
        }))
    }

    /// Writes what can be written of a session.
    fn session(&mut self, begun: Begun) -> Result<(), ExportError> {
        let Begun { trace, session, ends } = begun;
        let mut told = SalvagedSession::new(&trace);
        if let Some((session, prev)) = session {
            told.title = session.title.as_ref().map(|(title, _)| title.clone());
            self.entries(&trace, &session, prev, &mut told)?;
        }
        if let Some((seq, what)) = &ends {
            told.lose(*seq, what.clone());
        }
        told.ends = ends;
        self.done.sessions.push(told);
        Ok(())
    }

    fn entries(
        &mut self,
        trace: &Trace,
        session: &ArchivedSession,
        prev: Digest,
        told: &mut SalvagedSession,
    ) -> Result<(), ExportError> {
        self.writing.record(&Record::Session(session.into()))?;
        self.writing.done.sessions += 1;
        let mut written = BTreeSet::new();
        self.walk(trace, prev, session.last_seq, |saving, found| {
            let found = saving.or_place(found);
            let entry = &found.entry.entry;
            match found.lost {
                Some(what) => {
                    told.places += 1;
                    told.lose(entry.seq, what);
                }
                None => {
                    told.saved += 1;
                    written.insert(entry.id);
                }
            }
            saving.entry(&found.entry)
        })?;
        self.keys(session.id, &written, told)?;
        self.outputs(session.id, told)
    }

    /// A text that was taken away, where the mark that says so is lost, would look like damage in the copy.
    fn or_place(&self, found: Found) -> Found {
        let ArchivedEntry { entry, salts, .. } = &found.entry;
        let unmarked =
            salts.contains(&None) && entry.body.mark().is_none() && !self.marked.contains(&entry.id);
        if !self.lost || !unmarked {
            return found;
        }
        let what = "its text was taken away, and the mark that says so is lost".to_owned();
        place(entry.session, entry.seq, LostPlace::of(entry), what)
    }

    /// Goes along a session's entries as far as each fits the one before; why it ended before `last`, if it did. An entry of
    /// which only the place is known is given once the one behind it confirms its hash.
    fn walk(
        &mut self,
        trace: &Trace,
        mut prev: Digest,
        last: u64,
        mut give: impl FnMut(&mut Self, Found) -> Result<(), ExportError>,
    ) -> Result<Option<(u64, String)>, ExportError> {
        let mut unsure: Vec<Found> = Vec::new();
        let mut first = trace.first;
        while first <= last {
            let end = last.min(first + PAGE as u64 - 1);
            for place in self.writing.reader.salvage(trace.session, first, end)? {
                let found = match self.found(trace.session, place) {
                    Ok(found) => found,
                    Err(stop) => return Ok(Some(unsure.first().map_or(stop, of_place))),
                };
                let hash = found.entry.entry.hash;
                if found.lost.is_some() {
                    unsure.push(found);
                } else if self.fits(&found.entry, prev)? {
                    for sure in unsure.drain(..) {
                        give(self, sure)?;
                    }
                    give(self, found)?;
                } else {
                    let why = (found.entry.entry.seq, "it does not fit what is before it".to_owned());
                    return Ok(Some(unsure.first().map_or(why, of_place)));
                }
                prev = hash;
            }
            first = end + 1;
        }
        Ok(unsure.first().map(of_place))
    }

    /// The entry at a place; the place and the reason where nothing of it is known.
    fn found(&self, session: SessionId, place: Place) -> Result<Found, (u64, String)> {
        match place {
            Place::Whole(entry) => Ok(Found { entry: *entry, lost: None }),
            Place::Lost(Lost { seq, what, place: None, .. }) => Err((seq, what)),
            Place::Lost(Lost { seq, what, place: Some(place), .. }) => {
                Ok(self::place(session, seq, place, what))
            }
        }
    }

    fn fits(&mut self, entry: &ArchivedEntry, prev: Digest) -> Result<bool, ExportError> {
        for speaker in entry.entry.body.speakers() {
            if !self.speaker(speaker.id)? {
                return Ok(false);
            }
        }
        let Entry { session, seq, id, recorded_at, .. } = entry.entry;
        let link = Link { session, seq, id, recorded_at, prev };
        let names =
            |id| self.speakers.get(&id).and_then(|s| s.as_ref()).map_or(Digest::ZERO, |(_, name)| *name);
        Ok(entry.fits(&link, &names))
    }

    /// Whether a speaker is known.
    fn speaker(&mut self, id: SpeakerId) -> Result<bool, ExportError> {
        if !self.speakers.contains_key(&id) {
            let found = readable(self.writing.reader.archived_speaker(id))?.ok();
            let named = found.map(|found| {
                let name = commit(&found.salt, found.speaker.name.as_bytes());
                (found, name)
            });
            self.speakers.insert(id, named);
        }
        Ok(self.speakers.get(&id).is_some_and(Option::is_some))
    }

    fn entry(&mut self, entry: &ArchivedEntry) -> Result<(), ExportError> {
        for speaker in entry.entry.body.speakers() {
            if let Some(Some((archived, _))) = self.speakers.get(&speaker.id)
                && self.writing.said.insert(speaker.id)
            {
                self.writing.record(&Record::Speaker(archived.into()))?;
            }
        }
        self.writing.done.entries += 1;
        self.writing.record(&Record::Entry(Box::new(entry.into())))
    }

    fn keys(
        &mut self,
        session: SessionId,
        written: &BTreeSet<EntryId>,
        told: &mut SalvagedSession,
    ) -> Result<(), ExportError> {
        let mut after = (String::new(), String::new());
        loop {
            let page = match self.writing.reader.archived_keys(session, (&after.0, &after.1), PAGE) {
                Ok(page) => page,
                Err(error) => {
                    damage(error)?;
                    told.keys_lost = true;
                    return Ok(());
                }
            };
            let Some(last) = page.last() else { return Ok(()) };
            after = (last.kind.clone(), last.value.clone());
            for key in page.iter().filter(|key| written.contains(&key.entry)) {
                self.writing.record(&Record::Key(key.into()))?;
            }
        }
    }

    fn outputs(&mut self, session: SessionId, told: &mut SalvagedSession) -> Result<(), ExportError> {
        let mut after = None;
        loop {
            let page = match self.writing.reader.archived_outputs(session, after, PAGE) {
                Ok(page) => page,
                Err(error) => {
                    damage(error)?;
                    told.outputs_lost += 1;
                    return Ok(());
                }
            };
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.id);
            for output in &page {
                // Read once before it is written: what is written cannot be taken back.
                let kinds = output.streams.iter().map(|stream| stream.kind);
                if self.reads(output.id, kinds)? {
                    told.outputs += 1;
                    self.writing.output(output)?;
                } else {
                    told.outputs_lost += 1;
                }
            }
        }
    }

    fn reads(
        &self,
        output: sayso::model::OutputId,
        kinds: impl Iterator<Item = StreamKind>,
    ) -> Result<bool, ExportError> {
        for kind in kinds {
            match self.writing.reader.read_output(output, kind, &mut std::io::sink()) {
                Ok(_) => {}
                Err(error) => return damage(error).map(|_| false),
            }
        }
        Ok(true)
    }
}

/// An entry of which only place and hash are written, as of one that was erased.
fn place(session: SessionId, seq: u64, place: LostPlace, what: String) -> Found {
    let body = EntryBody::Mark(Mark::new(MarkKind::Erased, None, ""));
    let project = ProjectId::from_u128(0);
    let LostPlace { id, recorded_at, hash } = place;
    let entry = Entry { id, project, session, seq, recorded_at, hash, body };
    let (salts, commitments) = (Vec::new(), Vec::new());
    Found { entry: ArchivedEntry { entry, salts, commitments }, lost: Some(what) }
}

fn of_place(found: &Found) -> (u64, String) {
    (found.entry.entry.seq, found.lost.clone().unwrap_or_default())
}
