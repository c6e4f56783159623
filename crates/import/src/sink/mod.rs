//! Writes drafts into the session of a file, in batches of whole records.

mod batch;
mod beside;
mod known;
mod standing;
mod track;

use std::cell::OnceCell;
use std::collections::HashMap;

use sayso::store::{Command, Compact, Done, Refusal, Session};
use sayso::view::context::carried_ids;
use sayso::{Error, Fate, Ledger, Placed, Reader, Scope, SpeakerKind, SpeakerRef};
use sayso_model::{Entry, MarkKind, PartBody, SessionId, SpeakerId, TurnId};

use crate::draft::{Draft, Meta, Who};
use crate::error::is_erased;
use crate::markers;
use crate::records::Record;
use crate::report::FileReport;
use crate::session::{Home, within};

use track::{Came, Of, Place, Sort, Step, Track};

/// Commands of one batch at most.
const COMMANDS: usize = 256;
/// Bytes of one batch at most, unless one record alone has more.
const BYTES: usize = 8 << 20;
/// What the key of a message ends in that was written by another speaker before.
const CORRECTED: &str = "-corrected";
/// What is counted of a conversation that was erased here.
pub(crate) const ERASED: &str = "erased";
/// How often a batch is tried when another program imports the same file at the same time.
const TRIES: usize = 3;

/// How far a compaction reaches.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Through {
    /// The session's last entry.
    Last,
    /// The last of the file's first so many entries.
    Entries(usize),
}

/// A compaction to write.
#[derive(Debug)]
pub(crate) struct Summary {
    pub(crate) meta: Meta,
    pub(crate) speaker: Who,
    pub(crate) through: Through,
    pub(crate) text: String,
}

/// Where the turns of one file go: its own session, and a session for every conversation beside it.
pub(crate) struct Sink<'a> {
    ledger: &'a Ledger,
    reader: Reader,
    home: Home,
    track: Track,
    /// Tracks that are not written to just now, by name; the file's own has none.
    parked: HashMap<String, Track>,
    speakers: HashMap<Who, SpeakerId>,
    /// Why the program put the file aside, if it did.
    archive: Option<&'static str>,
    /// Whether what is known is not looked at again.
    pub(crate) only_new: bool,
    pub(crate) report: FileReport,
}

impl<'a> Sink<'a> {
    pub(crate) fn new(ledger: &'a Ledger, home: Home, report: FileReport) -> Result<Self, Error> {
        let mut sink = Self {
            ledger,
            reader: ledger.reader(Scope::All),
            track: Track::new(String::new(), home.clone()),
            home,
            parked: HashMap::new(),
            speakers: HashMap::new(),
            archive: None,
            only_new: false,
            report,
        };
        sink.look()?;
        Ok(sink)
    }

    /// Counts a record that was read.
    pub(crate) fn note(&mut self, record: &Record) {
        self.report.records += 1;
        self.report.repairs += record.repairs + record.mended;
    }

    /// Looks for the track's session.
    fn look(&mut self) -> Result<(), Error> {
        let found = self.track.home.find(self.ledger)?;
        self.enter(found);
        Ok(())
    }

    fn enter(&mut self, session: Option<Session>) {
        let id = session.as_ref().map(|s| s.id);
        if self.track.is_own() {
            self.report.session = id;
            self.report.project = session.as_ref().map(|s| s.project);
        } else {
            let fresh = id.filter(|id| !self.report.beside.contains(id));
            self.report.beside.extend(fresh);
        }
        self.track.session = session;
        self.track.known = OnceCell::new();
    }

    /// Entries that the file has given so far.
    pub(crate) fn entries(&self) -> usize {
        self.track.places.len()
    }

    /// A title, where none is known yet.
    pub(crate) fn title(&mut self, title: &str) {
        if self.track.title.is_none() && !title.trim().is_empty() {
            self.track.title = Some(title.trim().to_owned());
        }
    }

    /// Takes a turn, unless it is known.
    pub(crate) fn turn(&mut self, draft: Draft) -> Result<(), Error> {
        let sort = if draft.speaker.kind == SpeakerKind::Owner { Sort::Owner } else { Sort::Turn };
        let place = Place::new(self.ledger.fresh_entry(), sort);
        if draft.meta.copied {
            self.track.copied = Some(self.track.places.len());
        }
        if let Some(placed) = self.known(&draft.meta.key)? {
            self.compare(&draft, &placed)?;
            self.track.places.push(place.at(&placed).came(Came::Before));
            return Ok(());
        }
        self.call_by(&draft);
        let (commands, bytes) = (draft.commands(), draft.bytes());
        self.room(commands, bytes)?;
        self.track.grew = true;
        self.track.queue.push(Step::Turn(draft, self.track.places.len()));
        self.track.places.push(place);
        Ok(())
    }

    /// A session is called by the first words of a person.
    fn call_by(&mut self, draft: &Draft) {
        if let Some(line) = draft.human_line().filter(|_| self.track.title.is_none()) {
            self.track.title = Some(line.to_owned());
        }
    }

    /// Counts a known turn, and whether the file says something else by now, unless only what is new is asked for. What was
    /// redacted or erased says nothing any more, and nothing is called by it.
    fn compare(&mut self, draft: &Draft, placed: &Placed) -> Result<(), Error> {
        self.report.turns_known += 1;
        let calls = self.track.title.is_none() && draft.human_line().is_some();
        if self.only_new && !calls {
            return Ok(());
        }
        let entry = self.reader.entry(placed.id)?;
        if let Some(turn) = entry.as_ref().and_then(Entry::turn).filter(|turn| !turn.is_redacted()) {
            self.report.changed += u64::from(turn.text() != draft.spoken());
            self.call_by(draft);
        }
        Ok(())
    }

    /// Counts words of the owner that stand in the ledger under another record's key.
    pub(crate) fn again(&mut self, key: &str) -> Result<(), Error> {
        self.report.turns_known += 1;
        if let Some(placed) = self.known(key)? {
            self.track.places.push(Place::new(placed.id, Sort::Owner).at(&placed));
        }
        Ok(())
    }

    /// Takes a message that may show forwarded turns of this session, or what else the ledger handed to its agent: those turns
    /// are marked, and a message that holds nothing else is not stored again.
    pub(crate) fn message(&mut self, draft: Draft) -> Result<(), Error> {
        let text = draft.spoken();
        let markers = self.see(&text)?;
        let carried = self.carried(&text)?;
        let words_only = draft.parts.iter().all(|p| matches!(p.body, PartBody::Text(_)));
        if words_only && markers::only(&text, &carried, &markers) {
            self.report.skip(if carried.is_empty() { "marker" } else { "carried" });
            return Ok(());
        }
        self.turn(draft)
    }

    /// Marks the forwarded turns of this session that a text shows, and gives their markers.
    pub(crate) fn see(&mut self, text: &str) -> Result<Vec<String>, Error> {
        let quotes = self.quotes(text)?;
        for (id, _) in &quotes {
            self.mark(*id)?;
        }
        Ok(quotes.into_iter().map(|(_, marker)| marker).collect())
    }

    /// The texts for compactions and re-injections of this session that a text shows exactly.
    fn carried(&self, text: &str) -> Result<Vec<String>, Error> {
        let Some(session) = &self.track.session else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for id in carried_ids(text) {
            let ours = self.reader.entry(id)?.is_some_and(|entry| entry.session == session.id);
            let carried = if ours { self.reader.carried(id)? } else { None };
            found.extend(carried.filter(|carried| text.contains(carried.as_str())));
        }
        Ok(found)
    }

    /// Takes a message whose speaker may have been decided otherwise before, when less of the file was there. Then the turn as
    /// it was is marked as taken back, and the message is written once more by whom it is now known to be.
    pub(crate) fn decided(&mut self, mut draft: Draft) -> Result<(), Error> {
        let known = self.known(&draft.meta.key)?;
        let entry = known.map(|placed| self.reader.entry(placed.id)).transpose()?.flatten();
        let turn = entry.as_ref().and_then(Entry::turn).filter(|turn| !turn.is_redacted());
        if let (Some(entry), Some(turn)) = (&entry, turn)
            && turn.speaker.kind != draft.speaker.kind
        {
            self.take_back(entry.id)?;
            draft.meta.key.push_str(CORRECTED);
            return self.message(draft);
        }
        self.message(draft)
    }

    /// The turns of this session whose markers stand in a text, with those.
    fn quotes(&self, text: &str) -> Result<Vec<(TurnId, String)>, Error> {
        let Some(session) = &self.track.session else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for id in markers::ids(text) {
            let entry = self.reader.entry(id)?.filter(|e| e.session == session.id);
            found.extend(entry.and_then(|e| markers::shown(text, &e)).map(|marker| (id, marker)));
        }
        Ok(found)
    }

    fn mark(&mut self, of: TurnId) -> Result<(), Error> {
        let of_this =
            |step: &Step| matches!(step, Step::Mark(MarkKind::InContext, Of::Entry(id), _) if *id == of);
        if self.track.queue.iter().any(of_this)
            || self.reader.marks(of)?.iter().any(|m| m.kind == MarkKind::InContext)
        {
            return Ok(());
        }
        self.room(1, 0)?;
        let route = self.report.format.word().to_owned();
        self.track.queue.push(Step::Mark(MarkKind::InContext, Of::Entry(of), route));
        self.report.marks += 1;
        Ok(())
    }

    /// Takes a compaction. What stands before it is written first, so that it knows how far it reaches.
    pub(crate) fn compaction(&mut self, summary: Summary) -> Result<(), Error> {
        self.report.compactions += 1;
        let place = Place::new(self.ledger.fresh_entry(), Sort::Entry);
        if let Some(placed) = self.known(&summary.meta.key)? {
            self.track.places.push(place.at(&placed));
            return Ok(());
        }
        self.flush()?;
        let session = self.session()?;
        let through = match summary.through {
            Through::Last => self.reader.session(session)?.map_or(0, |s| s.last_seq),
            Through::Entries(count) => self.place_before(count),
        };
        let speaker = self.speaker(&summary.speaker)?;
        let key = summary.meta.key.clone();
        let compact = Command::Compact(Compact {
            id: place.id,
            session,
            speaker,
            said_at: summary.meta.said_at,
            through,
            summary: summary.text,
            key: Some(summary.meta.key),
        });
        let placed = match self.ledger.write(&Scope::All, vec![compact]) {
            Ok(done) => done.iter().find_map(entry).map(|(_, placed)| placed),
            Err(error) if conflicts(&error) => self.known_now(&key)?,
            Err(error) => return Err(error),
        };
        if let Some(placed) = placed {
            self.learn(&key, placed);
        }
        self.track.places.push(placed.map_or(place, |p| place.at(&p)));
        Ok(())
    }

    fn place_before(&self, count: usize) -> u64 {
        count.checked_sub(1).and_then(|last| self.track.places.get(last)).map_or(0, |p| p.seq)
    }

    /// Makes room in the batch by writing what is queued.
    fn room(&mut self, commands: usize, bytes: usize) -> Result<(), Error> {
        if self.track.commands + commands > COMMANDS || self.track.bytes + bytes > BYTES {
            self.flush()?;
        }
        self.track.commands += commands;
        self.track.bytes += bytes;
        Ok(())
    }

    fn session(&mut self) -> Result<SessionId, Error> {
        if let Some(session) = &self.track.session {
            let (id, closed) = (session.id, session.closed);
            // Another archive of the same session may have closed it.
            if closed && self.archive.is_some() {
                self.state(MarkKind::Reopened)?;
            }
            return Ok(id);
        }
        let session = self.track.home.make(self.ledger, self.track.title.as_deref())?;
        let id = session.id;
        self.enter(Some(session));
        Ok(id)
    }

    /// Writes what is queued.
    pub(crate) fn flush(&mut self) -> Result<(), Error> {
        let mut steps = std::mem::take(&mut self.track.queue);
        (self.track.commands, self.track.bytes) = (0, 0);
        for attempt in 1.. {
            if steps.is_empty() {
                break;
            }
            let commands = match self.batch(&steps) {
                // A conversation beside the file's own that was erased holds up nothing else.
                Err(error) if !self.track.is_own() && is_erased(&error) => {
                    self.report.skip_many(ERASED, steps.len() as u64);
                    break;
                }
                commands => commands?,
            };
            match self.ledger.write(&Scope::All, commands) {
                Ok(done) => {
                    self.settle(&steps, &done);
                    break;
                }
                // The other program's reading stays.
                Err(error)
                    if attempt < TRIES && matches!(error.refusal(), Some(Refusal::Conflict { .. })) =>
                {
                    self.drop_known(&mut steps)?;
                }
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn drop_known(&mut self, steps: &mut Vec<Step>) -> Result<(), Error> {
        for step in std::mem::take(steps) {
            let known = match &step {
                Step::Turn(draft, index) => {
                    let key = &draft.meta.key;
                    self.known_now(key)?.map(|placed| (key.clone(), placed, *index))
                }
                Step::Mark(..) => None,
            };
            match known {
                Some((key, placed, index)) => {
                    self.learn(&key, placed);
                    self.report.turns_known += 1;
                    self.placed(index, &placed);
                }
                None => steps.push(step),
            }
        }
        Ok(())
    }

    fn placed(&mut self, index: usize, placed: &Placed) {
        if let Some(place) = self.track.places.get_mut(index) {
            *place = place.at(placed);
        }
    }

    fn settle(&mut self, steps: &[Step], done: &[Done]) {
        let turns = steps.iter().map(|step| match step {
            // A correction stands behind what is known, and yet nothing was put in between.
            Step::Turn(draft, index) => Some((*index, &draft.meta.key)),
            Step::Mark(..) => None,
        });
        let entries: Vec<_> = done.iter().filter_map(entry).collect();
        for (turn, (fate, placed)) in turns.zip(entries) {
            let Some((index, key)) = turn else { continue };
            let counts = !key.ends_with(CORRECTED);
            self.learn(key, placed);
            match fate {
                Fate::New => self.report.turns_added += 1,
                Fate::Known => self.report.turns_known += 1,
            }
            self.placed(index, &placed);
            if let Some(place) = self.track.places.get_mut(index).filter(|_| counts && fate == Fate::New) {
                *place = place.came(Came::Now);
            }
        }
    }

    fn speaker(&mut self, who: &Who) -> Result<SpeakerId, Error> {
        if let Some(id) = self.speakers.get(who) {
            return Ok(*id);
        }
        let id = self.ledger.speaker(&SpeakerRef::new(who.kind, within(&who.name)))?;
        self.speakers.insert(who.clone(), id);
        Ok(id)
    }
}

fn entry(done: &Done) -> Option<(Fate, Placed)> {
    match done {
        Done::Entries(fate, placed) => placed.first().map(|p| (*fate, *p)),
        Done::Project(_) | Done::Session(_) | Done::Speaker(_) | Done::Output(_) | Done::Relay(_) => None,
    }
}

/// Whether another program wrote the same record meanwhile, and read it in another light.
fn conflicts(error: &Error) -> bool {
    matches!(error.refusal(), Some(Refusal::Conflict { .. }))
}

#[cfg(test)]
mod tests {
    use sayso::NewTurn;

    use super::*;
    use crate::draft::DraftPart;
    use crate::formats::Format;

    fn draft(key: &str, kind: SpeakerKind) -> Draft {
        let meta = Meta { key: key.to_owned(), said_at: None, repairs: 0, answers: None, copied: false };
        Draft::new(meta, Who::new(kind, "x"), vec![DraftPart::text(key)])
    }

    #[test]
    fn a_file_that_two_programs_import_at_once_was_not_rewritten() {
        let ledger = crate::tests::ledger();
        let sink =
            || Sink::new(&ledger, Home::new(Format::Pi, "s", None), FileReport::new(Format::Pi)).unwrap();
        Home::new(Format::Pi, "s", None).make(&ledger, None).unwrap();
        let (mut slow, mut fast) = (sink(), sink());
        for key in ["a", "b"] {
            slow.turn(draft(key, SpeakerKind::Owner)).unwrap();
        }
        for key in ["a", "b", "c", "d"] {
            fast.turn(draft(key, SpeakerKind::Owner)).unwrap();
        }
        fast.finish().unwrap();
        for key in ["c", "d", "e"] {
            slow.turn(draft(key, SpeakerKind::Owner)).unwrap();
        }
        slow.finish().unwrap();
        let report = &slow.report;
        assert_eq!((report.turns_added, report.turns_known), (1, 4));
        assert_eq!((report.changed, report.late), (0, 0));
        assert_eq!((fast.report.turns_added, fast.report.late), (4, 0));
    }

    #[test]
    fn what_another_program_wrote_meanwhile_stays_as_it_is() {
        let ledger = crate::tests::ledger();
        let home = || Home::new(Format::Pi, "s", None);
        let session = home().make(&ledger, None).unwrap();
        let mut sink = Sink::new(&ledger, home(), FileReport::new(Format::Pi)).unwrap();
        sink.turn(draft("a", SpeakerKind::Owner)).unwrap();
        sink.turn(draft("b", SpeakerKind::Owner)).unwrap();
        let other = NewTurn::text(SpeakerKind::System, "x", "a").with_key("a");
        ledger.append(&session, other).unwrap();
        sink.flush().unwrap();
        assert_eq!((sink.report.turns_added, sink.report.turns_known), (1, 1));
        assert_eq!(sink.track.places.iter().map(|p| p.seq).collect::<Vec<_>>(), [1, 2]);
        let entries = ledger.reader(Scope::All).entries(session.id, 0, 10).unwrap();
        let kinds: Vec<_> = entries.iter().filter_map(|e| e.turn()).map(|t| t.speaker.kind).collect();
        assert_eq!(kinds, [SpeakerKind::System, SpeakerKind::Owner]);
    }
}
