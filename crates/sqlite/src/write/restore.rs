//! Writing something out of an export as it was.

use rusqlite::params;
use sayso_model::canon::commit;
use sayso_model::{Digest, EntryId, Mark, MarkKind, ProjectId, Salt, Seed, SessionId, form};
use sayso_store::content::kind;
use sayso_store::{
    ArchivedEntry, ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker, Done, Fate, MergeProject,
    Output, Placed, Redaction, Refusal, Restore, Session,
};

use super::create::SPEAKER_NAMED;
use super::insert::speakers_of;
use super::output::{insert, insert_streams};
use super::{Write, taken, unknown_turn};
use crate::cells::{Sealed, one, run};
use crate::erase::{plan, tombstone};
use crate::fault::Fault;
use crate::read;
use crate::read::turns::{HASH_AT, PLACE, SUPERSEDING, read_place};
use crate::rows::{SPEAKER, SessionRecord, SpeakerRecord};

const PROJECT_THERE: (&str, &str) = ("project", "SELECT 1 FROM project WHERE id = ?1");
const SEPARATE: (&str, &str) = ("project", "SELECT 1 FROM project WHERE id = ?1 AND merged_into IS NULL");
const NEW_PROJECT: &str = "INSERT INTO project (id, name, name_salt, name_commitment, created_at, merged_into, digest) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
const NEW_SPEAKER: &str = "INSERT INTO speaker (id, kind, name, namesake, name_salt, name_commitment, digest) \
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
pub(crate) const THERE: (&str, &str) = ("entry", "SELECT id FROM entry WHERE session = ?1 AND seq = ?2");
pub(crate) const TARGET: (&str, &str) = (
    "entry",
    "SELECT e.no, e.kind, EXISTS (SELECT 1 FROM part p WHERE p.no BETWEEN e.no * 4096 AND e.no * 4096 + 4095 \
     AND p.salt IS NOT NULL) OR EXISTS (SELECT 1 FROM compaction c WHERE c.entry = e.no AND c.salt IS NOT NULL) \
     OR EXISTS (SELECT 1 FROM quote q WHERE q.entry = e.no AND (q.salt IS NOT NULL OR q.project_title_salt IS NOT NULL \
     OR q.session_title_salt IS NOT NULL)) FROM entry e WHERE e.id = ?1",
);
pub(crate) const KEYED: (&str, &str) = (
    "entry",
    "SELECT e.no, e.session, e.kind, EXISTS (SELECT 1 FROM mark m WHERE m.target = e.id AND m.kind = 'redacted') \
     FROM entry e WHERE e.id = ?1",
);

impl Write<'_> {
    pub(super) fn restore(&mut self, c: &Restore, seed: &Seed) -> Result<Done, Fault> {
        // Times are those of then.
        let now = self.at;
        let done = match c {
            Restore::Project(c) => self.restore_project(c, seed),
            Restore::Speaker(c) => self.restore_speaker(c),
            Restore::Session(c) => self.restore_session(c),
            Restore::Entry(c) => self.restore_entry(c),
            Restore::Key(c) => self.restore_key(c),
            Restore::Output(c) => self.restore_output(c),
        };
        self.at = now;
        done
    }

    fn restore_project(&mut self, c: &ArchivedProject, seed: &Seed) -> Result<Done, Fault> {
        self.not_erased(&tombstone::project(c.id), c.id)?;
        if one(self.conn, PROJECT_THERE, [c.id.to_string()], |c| c.int())?.is_none() {
            c.merged_into.map_or(Ok(c.id), |into| self.project(into))?;
            let salt = seed.salt(0);
            let name = commit(&salt, c.name.as_bytes());
            let digest = form::project_row(c.id, name, c.created_at, c.merged_into);
            let merged_into = c.merged_into.map(|id| id.to_string());
            let (id, text) = (c.id.to_string(), c.name.as_bytes());
            let row = params![id, text, salt.0, name.0, c.created_at.0, merged_into, digest.0];
            run(self.conn, NEW_PROJECT, row)?;
        }
        self.merged_again(c)?;
        let owner = self.project(c.id)?;
        c.aliases.iter().try_for_each(|alias| self.insert_project_alias(owner, alias))?;
        Ok(Done::Project(c.id))
    }

    /// Merges a project that became part of another one since it was copied.
    fn merged_again(&mut self, c: &ArchivedProject) -> Result<(), Fault> {
        let Some(into) = c.merged_into else { return Ok(()) };
        let separate = one(self.conn, SEPARATE, [c.id.to_string()], |c| c.int())?.is_some();
        match self.project(into) {
            Err(Fault::Refused(_)) => Ok(()),
            Ok(into) if separate && into != c.id => {
                self.merge_project(&MergeProject { from: c.id, into }).map(|_| ())
            }
            found => found.map(|_| ()),
        }
    }

    fn restore_speaker(&mut self, c: &ArchivedSpeaker) -> Result<Done, Fault> {
        let s = &c.speaker;
        let name = commit(&c.salt, s.name.as_bytes());
        match one(self.conn, SPEAKER, [s.id.to_string()], SpeakerRecord::read)? {
            Some(there) if (there.kind, there.name.commitment) == (s.kind, name) => {}
            Some(_) => return Err(Refusal::AnotherSpeaker(s.id).into()),
            None => {
                let (kind, text) = (s.kind.as_str(), s.name.as_bytes());
                let other = one(self.conn, SPEAKER_NAMED, (kind, text), |c| c.text())?;
                let (own, namesake) = if other.is_none() { (Some(text), None) } else { (None, Some(text)) };
                let digest = form::speaker_row(s.id, s.kind, name);
                let row = params![s.id.to_string(), kind, own, namesake, c.salt.0, name.0, digest.0];
                run(self.conn, NEW_SPEAKER, row)?;
            }
        }
        Ok(Done::Speaker(s.id))
    }

    fn restore_session(&mut self, c: &ArchivedSession) -> Result<Done, Fault> {
        self.not_erased(&tombstone::session(c.id), c.id)?;
        let mut record = self.archived(c)?;
        if let Some(there) = crate::rows::session(self.conn, c.id)? {
            self.session(c.id)?;
            if there.genesis != record.genesis {
                return Err(Refusal::Diverged { session: c.id, seq: 0 }.into());
            }
        } else {
            record.session.project = self.restored_project(c)?;
            record.digest = record.row_digest();
            self.insert_session_row(&record)?;
            self.sessions.insert(c.id, record);
        }
        self.restore_aliases(c)?;
        Ok(Done::Session(c.id))
    }

    /// The row of a session that has no entry of its own yet.
    fn archived(&self, c: &ArchivedSession) -> Result<SessionRecord, Fault> {
        // Where it was renamed since or taken away, none stands there until an entry tells another one.
        let (title, salt) = c.title.clone().unzip();
        let fits = |title: &String, salt: &Salt| commit(salt, title.as_bytes()) == c.first_title;
        if c.title.as_ref().is_some_and(|(title, salt)| !fits(title, salt)) {
            return Err(Refusal::NotAsWritten { session: c.id, seq: 0 }.into());
        }
        let fork_hash: Option<Digest> = c.fork.map(|(_, hash)| hash);
        let session = Session {
            id: c.id,
            project: c.project,
            fork: c.fork.map(|(point, _)| point),
            origin: Some(c.ledger).filter(|ledger| *ledger != self.ledger),
            kind: c.kind,
            channel: c.channel.clone(),
            title: title.clone().unwrap_or_default(),
            created_at: c.created_at,
            closed: false,
            turns: 0,
            last_seq: c.fork.map_or(0, |(point, _)| point.seq),
            head: c.first_title,
            last_at: None,
        };
        let mut record = SessionRecord {
            session,
            title: Sealed { text: title.map(String::into_bytes), salt, commitment: c.first_title },
            first_project: c.first_project,
            first_title: c.first_title,
            fork_hash,
            genesis: c.first_title,
            digest: c.first_title,
        };
        record.genesis = record.genesis_again(self.ledger);
        record.session.head = fork_hash.unwrap_or(record.genesis);
        Ok(record)
    }

    /// Where a session begins here: with what it was forked off; else in the project that it was made in, where that is
    /// known, from which its moves take it on.
    fn restored_project(&mut self, c: &ArchivedSession) -> Result<ProjectId, Fault> {
        let Some((point, hash)) = c.fork else {
            return match self.project(c.first_project) {
                Err(Fault::Refused(_)) => self.project(c.project),
                found => found,
            };
        };
        let project = self.session(point.session)?.session.project;
        let at = (point.session.to_string(), read::clamp(point.seq));
        match one(self.conn, HASH_AT, at, |c| c.digest())? {
            Some(found) if found == hash => Ok(project),
            _ => Err(Refusal::Diverged { session: point.session, seq: point.seq }.into()),
        }
    }

    fn restore_aliases(&mut self, c: &ArchivedSession) -> Result<(), Fault> {
        let project = self.session(c.id)?.session.project;
        for alias in &c.aliases {
            if !tombstone::stands(self.conn, &tombstone::alias(alias))? {
                self.insert_session_alias(project, c.id, alias)?;
            }
        }
        Ok(())
    }

    fn restore_entry(&mut self, c: &ArchivedEntry) -> Result<Done, Fault> {
        let (session, seq, hash) = (c.entry.session, c.entry.seq, c.entry.hash);
        let last = self.session(session)?.session.last_seq;
        speakers_of(&c.entry.body).into_iter().try_for_each(|id| self.speaker(id).map(|_| ()))?;
        if let Some(id) = one(self.conn, THERE, (session.to_string(), read::clamp(seq)), |c| c.text())? {
            let placed = one(self.conn, PLACE, [id], read_place)?.filter(|p| p.hash == hash);
            let placed = placed.ok_or(Refusal::Diverged { session, seq })?;
            return Ok(Done::Entries(Fate::Known, vec![placed]));
        }
        if seq != last + 1 {
            return Err(Refusal::HeadMoved { expected: seq.saturating_sub(1), actual: last }.into());
        }
        self.at = c.entry.recorded_at;
        let link = self.link(session, c.entry.id)?;
        if !c.fits(&link, &|s| self.speakers.commitment(s)) {
            return Err(Refusal::NotAsWritten { session, seq }.into());
        }
        self.free_entry(c.entry.id)?;
        self.not_superseded(c.entry.turn().and_then(|turn| turn.supersedes))?;
        let from = self.session(session)?.session.project;
        let moved = self.done_again(session, c.entry.body.mark())?;
        let at = self.place_as(&link, hash, &c.entry.body, &c.salts, &c.commitments)?;
        if let Some(to) = moved {
            self.flush()?;
            self.recount_seen(&[from, to])?;
        }
        Ok(Done::Entries(Fate::New, vec![at.placed]))
    }

    fn free_entry(&self, id: EntryId) -> Result<(), Fault> {
        match one(self.conn, KEYED, [id.to_string()], |c| c.int())? {
            Some(_) => Err(taken(id)),
            None => Ok(()),
        }
    }

    fn not_superseded(&self, of: Option<EntryId>) -> Result<(), Fault> {
        let Some(of) = of else { return Ok(()) };
        match one(self.conn, SUPERSEDING, [of.to_string()], read_place)? {
            Some(by) if self.scope.sees(by.project) => Err(Refusal::Superseded { of, by: by.id }.into()),
            _ => Ok(()),
        }
    }

    /// Does what a mark says was done: takes texts away, takes the session to another project. The project that it is in now,
    /// where that is another one.
    fn done_again(&mut self, session: SessionId, mark: Option<&Mark>) -> Result<Option<ProjectId>, Fault> {
        let Some(mark) = mark else { return Ok(None) };
        if let Some(of) = mark.of {
            self.taken_away_again(mark.kind, of)?;
        }
        let to = mark.project.map(|to| self.project(to));
        match to {
            None | Some(Err(Fault::Refused(_))) => Ok(None),
            Some(to) => {
                let to = to?;
                self.change_project(session, to)?;
                Ok(Some(to))
            }
        }
    }

    fn taken_away_again(&mut self, kind: MarkKind, of: EntryId) -> Result<(), Fault> {
        let row = one(self.conn, TARGET, [of.to_string()], |c| Ok((c.int()?, c.text()?, c.flag()?)))?;
        let Some((no, word, whole)) = row else { return Ok(()) };
        let Some(placed) = one(self.conn, PLACE, [of.to_string()], read_place)? else { return Ok(()) };
        match kind {
            MarkKind::Redacted if whole => self.wiped_again(no, &placed, Redaction::Whole),
            MarkKind::Redacted => self.forget_keys(no, &placed),
            MarkKind::QuoteRedacted if word == "forward" && whole => {
                self.wiped_again(no, &placed, Redaction::Quote)
            }
            MarkKind::Erased if word != "mark" && word != "erased" => self.erased_again(no, &placed),
            MarkKind::Erased => tombstone::set(self.conn, &tombstone::entry(of)),
            _ => Ok(()),
        }
    }

    /// Takes texts away, out of the log as well.
    fn wiped_again(&mut self, no: i64, placed: &Placed, what: Redaction) -> Result<(), Fault> {
        self.wipe(no, placed, what)?;
        plan(self.conn, "log", "")
    }

    fn erased_again(&mut self, no: i64, placed: &Placed) -> Result<(), Fault> {
        let before = self.seen_in(placed.project)?;
        self.empty(no, placed)?;
        self.flush()?;
        self.left(placed.project, &before)?;
        plan(self.conn, "log", "")
    }

    fn restore_key(&mut self, c: &ArchivedKey) -> Result<Done, Fault> {
        self.session(c.session)?;
        let row = one(self.conn, KEYED, [c.entry.to_string()], |c| {
            Ok((c.int()?, c.parse::<SessionId>()?, c.text()?, c.flag()?))
        })?;
        let Some((no, _, word, redacted)) = row.filter(|r| r.1 == c.session) else {
            return Err(unknown_turn(c.entry));
        };
        let kind = match word.as_str() {
            "turn" => Some(kind::TURN),
            "forward" => Some(kind::FORWARD),
            "compaction" => Some(kind::COMPACT),
            "reinjection" => Some(kind::REINJECT),
            _ => None,
        };
        let erased = tombstone::stands(self.conn, &tombstone::entry(c.entry))?;
        if !erased && kind != Some(c.kind.as_str()) {
            return Err(unknown_turn(c.entry));
        }
        // Of a text that was taken away here no key comes back.
        if !erased && !redacted && read::key::find(self.conn, c.session, &c.kind, &c.value)?.is_none() {
            self.insert_key(c.session, (&c.kind, &c.value), (c.salt, c.content), (no, c.entry))?;
        }
        let placed = one(self.conn, PLACE, [c.entry.to_string()], read_place)?;
        let placed = placed.ok_or_else(|| unknown_turn(c.entry))?;
        Ok(Done::Entries(Fate::Known, vec![placed]))
    }

    fn restore_output(&mut self, c: &Output) -> Result<Done, Fault> {
        let project = self.session(c.session)?.session.project;
        if let Some(there) = read::output::record(self.conn, c.id)? {
            return if there.output.session == c.session { Ok(Done::Output(c.id)) } else { Err(taken(c.id)) };
        }
        self.not_erased(&tombstone::output(c.id), c.id)?;
        c.streams.iter().try_for_each(|s| self.blob(&s.blob))?;
        let mut streams = c.streams.clone();
        streams.sort_by_key(|s| s.kind);
        let output = Output { project, streams, growing: false, ..c.clone() };
        insert(self.conn, &output)?;
        insert_streams(self.conn, &output)?;
        Ok(Done::Output(c.id))
    }
}
