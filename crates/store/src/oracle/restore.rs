//! Writing something out of an export as it was.

use sayso_model::canon::commit;
use sayso_model::{EntryBody, Mark, MarkKind};

use super::apply::{Write, ordered};
use super::state::{Beginning, Gone, KeyRecord, ProjectState, Record};
use crate::archive::{
    ArchivedEntry, ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker, Restore,
};
use crate::command::{Done, Fate, MergeProject, Redaction};
use crate::content::kind;
use crate::error::Refusal;
use crate::query::{Output, Scope, Session};

impl Write<'_> {
    pub(super) fn restore(&mut self, c: &Restore) -> Result<Done, Refusal> {
        let now = self.at;
        let done = match c {
            Restore::Project(c) => self.restore_project(c),
            Restore::Speaker(c) => self.restore_speaker(c),
            Restore::Session(c) => self.restore_session(c),
            Restore::Entry(c) => self.restore_entry(c),
            Restore::Key(c) => self.restore_key(c),
            Restore::Output(c) => self.restore_output(c),
        };
        self.at = now;
        done
    }

    fn restore_project(&mut self, c: &ArchivedProject) -> Result<Done, Refusal> {
        self.not_erased(Gone::Project(c.id), c.id)?;
        if let Some(into) = c.merged_into.filter(|_| !self.state.projects.contains_key(&c.id)) {
            self.project(into)?;
        }
        self.state.projects.entry(c.id).or_insert_with(|| ProjectState {
            name: c.name.clone(),
            created_at: c.created_at,
            merged_into: c.merged_into,
        });
        // It became part of another one since it was copied.
        if let Some(into) = c.merged_into.and_then(|into| self.project(into).ok()) {
            let separate = self.state.projects.get(&c.id).is_some_and(|p| p.merged_into.is_none());
            if separate && into != c.id {
                self.merge_project(&MergeProject { from: c.id, into })?;
            }
        }
        let owner = self.project(c.id)?;
        for alias in &c.aliases {
            self.state.project_aliases.entry(alias.clone()).or_insert(owner);
        }
        Ok(Done::Project(c.id))
    }

    fn restore_speaker(&mut self, c: &ArchivedSpeaker) -> Result<Done, Refusal> {
        let id = c.speaker.id;
        let name = commit(&c.salt, c.speaker.name.as_bytes());
        match self.state.speakers.get(&id) {
            Some((speaker, known)) if (speaker.kind, *known) == (c.speaker.kind, name) => {}
            Some(_) => return Err(Refusal::AnotherSpeaker(id)),
            None => self.state.add_speaker(c.speaker.clone(), c.salt),
        }
        Ok(Done::Speaker(id))
    }

    fn restore_session(&mut self, c: &ArchivedSession) -> Result<Done, Refusal> {
        self.not_erased(Gone::Session(c.id), c.id)?;
        let begin = Beginning {
            ledger: c.ledger,
            project: c.first_project,
            title: c.first_title,
            salt: c.title.as_ref().map(|(_, salt)| *salt),
            fork_hash: c.fork.map(|(_, hash)| hash),
        };
        let title = c.title.as_ref().map_or("", |(title, _)| title);
        if c.title.as_ref().is_some_and(|(title, salt)| commit(salt, title.as_bytes()) != c.first_title) {
            return Err(Refusal::NotAsWritten { session: c.id, seq: 0 });
        }
        let mut session = Session {
            id: c.id,
            project: c.project,
            fork: c.fork.map(|(point, _)| point),
            kind: c.kind,
            channel: c.channel.clone(),
            title: title.to_owned(),
            created_at: c.created_at,
            closed: false,
            turns: 0,
            last_seq: c.fork.map_or(0, |(point, _)| point.seq),
            head: begin.title,
            last_at: None,
            origin: Some(c.ledger).filter(|ledger| *ledger != self.state.ledger),
        };
        let genesis = self.state.genesis(&session, &begin);
        if let Some(there) = self.state.sessions.get(&c.id) {
            let same =
                self.state.beginnings.get(&c.id).map(|b| self.state.genesis(there, b)) == Some(genesis);
            self.session(c.id)?;
            if !same {
                return Err(Refusal::Diverged { session: c.id, seq: 0 });
            }
            self.restore_aliases(c);
            return Ok(Done::Session(c.id));
        }
        session.project = self.restored_project(c)?;
        session.head = begin.fork_hash.unwrap_or(genesis);
        self.state.sessions.insert(c.id, session);
        self.state.beginnings.insert(c.id, begin);
        self.restore_aliases(c);
        Ok(Done::Session(c.id))
    }

    /// Where a session begins here: with what it was forked off; else in the project that it was made in, where that is
    /// known, from which its moves take it on.
    fn restored_project(&self, c: &ArchivedSession) -> Result<sayso_model::ProjectId, Refusal> {
        let Some((point, hash)) = c.fork else {
            return self.project(c.first_project).or_else(|_| self.project(c.project));
        };
        let project = self.session(point.session)?.project;
        let found = self.state.order.get(&(point.session, point.seq));
        match found.and_then(|id| self.state.entries.get(id)).map(|r| r.entry.hash) {
            Some(found) if found == hash => Ok(project),
            _ => Err(Refusal::Diverged { session: point.session, seq: point.seq }),
        }
    }

    fn restore_aliases(&mut self, c: &ArchivedSession) {
        let Some(project) = self.state.sessions.get(&c.id).map(|s| s.project) else { return };
        for alias in &c.aliases {
            if !self.state.erased.contains(&Gone::Alias(alias.clone())) {
                self.state.session_aliases.entry((project, alias.clone())).or_insert(c.id);
            }
        }
    }

    fn restore_entry(&mut self, c: &ArchivedEntry) -> Result<Done, Refusal> {
        let entry = &c.entry;
        let (session, seq) = (entry.session, entry.seq);
        let last = self.session(session)?.last_seq;
        entry.body.speakers().into_iter().try_for_each(|s| self.speaker(s.id).map(|_| ()))?;
        if let Some(id) = self.state.order.get(&(session, seq)) {
            let placed = self.state.placed(*id).filter(|p| p.hash == entry.hash);
            let placed = placed.ok_or(Refusal::Diverged { session, seq })?;
            return Ok(Done::Entries(Fate::Known, vec![placed]));
        }
        if seq != last + 1 {
            return Err(Refusal::HeadMoved { expected: seq.saturating_sub(1), actual: last });
        }
        self.at = entry.recorded_at;
        let link = self.link(session, entry.id);
        if !c.fits(&link, &|s| self.state.name_commitment(s)) {
            return Err(Refusal::NotAsWritten { session, seq });
        }
        self.free_entry(entry.id)?;
        let superseded = entry.turn().and_then(|turn| turn.supersedes);
        if let Some((of, by)) = superseded.and_then(|of| Some((of, self.state.superseding(self.scope, of)?)))
        {
            return Err(Refusal::Superseded { of, by: by.id });
        }
        let restored = self.state.entry_at(&link, entry.hash, entry.body.clone());
        let (commitments, salts) = (c.commitments.clone(), c.salts.clone());
        if let Some(mark) = entry.body.mark() {
            self.done_again(mark);
            if let Some(to) = mark.project.and_then(|to| self.project(to).ok()) {
                self.change_project(session, to);
            }
        }
        let project = self.session(session)?.project;
        let placed =
            self.insert(Record { entry: sayso_model::Entry { project, ..restored }, commitments, salts });
        Ok(Done::Entries(Fate::New, vec![placed]))
    }

    /// Takes away what the mark says was taken away.
    fn done_again(&mut self, mark: &Mark) {
        let Some(of) = mark.of else { return };
        let Some(record) = self.state.entries.get(&of).cloned() else { return };
        match mark.kind {
            MarkKind::Redacted if record.salts.iter().any(Option::is_some) => {
                self.state.wipe(of, Redaction::Whole);
            }
            MarkKind::Redacted => {
                self.state.forget_keys(of);
            }
            MarkKind::QuoteRedacted if record.entry.turn().is_some_and(|t| t.quote.is_some()) => {
                self.state.wipe(of, Redaction::Quote);
            }
            MarkKind::Erased if !matches!(record.entry.body, EntryBody::Mark(_)) => {
                self.state.empty(&record.entry);
            }
            MarkKind::Erased => {
                self.state.erased.insert(Gone::Entry(of));
            }
            _ => {}
        }
    }

    fn restore_key(&mut self, c: &ArchivedKey) -> Result<Done, Refusal> {
        self.session(c.session)?;
        let kinds = [kind::TURN, kind::FORWARD, kind::COMPACT, kind::REINJECT];
        let kind = kinds.into_iter().find(|kind| *kind == c.kind);
        let record = self.state.entries.get(&c.entry).filter(|r| r.entry.session == c.session);
        let found = record.filter(|r| kind.is_some() && key_kind(&r.entry.body) == kind);
        let erased = self.state.erased.contains(&Gone::Entry(c.entry));
        if !erased && found.is_none() {
            return Err(Refusal::UnknownTurn(c.entry));
        }
        // Of a text that was taken away here no key comes back.
        let marks = self.state.marks(&Scope::All, c.entry);
        let gone = erased || marks.iter().any(|mark| mark.kind == MarkKind::Redacted);
        if let Some(kind) = kind.filter(|_| !gone) {
            let record = KeyRecord { salt: Some(c.salt), content: c.content, entry: c.entry };
            self.state.keys.entry((c.session, kind, c.value.clone())).or_insert(record);
        }
        self.state
            .placed(c.entry)
            .map(|p| Done::Entries(Fate::Known, vec![p]))
            .ok_or(Refusal::UnknownTurn(c.entry))
    }

    fn restore_output(&mut self, c: &Output) -> Result<Done, Refusal> {
        let project = self.session(c.session)?.project;
        if let Some(there) = self.state.outputs.get(&c.id) {
            let same = there.session == c.session;
            return if same { Ok(Done::Output(c.id)) } else { Err(Refusal::IdTaken(c.id.to_string())) };
        }
        self.not_erased(Gone::Output(c.id), c.id)?;
        c.streams.iter().try_for_each(|s| self.blob(&s.blob))?;
        let streams = ordered(&c.streams);
        self.state.outputs.insert(c.id, Output { project, streams, growing: false, ..c.clone() });
        Ok(Done::Output(c.id))
    }
}

/// The kind of keys that an entry may have.
fn key_kind(body: &EntryBody) -> Option<&'static str> {
    match body {
        EntryBody::Turn(turn) if turn.quote.is_some() => Some(kind::FORWARD),
        EntryBody::Turn(_) => Some(kind::TURN),
        EntryBody::Compaction(_) => Some(kind::COMPACT),
        EntryBody::Reinjection(_) => Some(kind::REINJECT),
        EntryBody::Mark(_) => None,
    }
}
