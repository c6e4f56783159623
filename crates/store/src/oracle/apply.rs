//! Applying a batch to a copy of the state, in the order of refusals that the crate's page fixes.

use sayso_model::canon::commit;
use sayso_model::form::{self, Link};
use sayso_model::limits::FORWARD_CHARS;
use sayso_model::{
    Compaction, Digest, Entry, EntryBody, EntryId, Kept, Mark, MarkKind, Part, PartBody, ProjectId, Quote,
    Seed, SessionId, Source, Speaker, TakeRequest, Turn, UtcMs, take,
};

use super::state::{Beginning, Gone, KeyRecord, ProjectState, Record, State};
use crate::command::{
    Alias, AppendTurn, Batch, Command, Compact, CreateProject, CreateSession, CreateSpeaker, Done, Edit,
    Fate, Forward, ForwardItem, MarkEntry, NewPart, Placed,
};
use crate::content::{self, KEY_SALT, kind};
use crate::error::{Refusal, StoreError};
use crate::query::{Scope, Session};
use crate::{check, query};

pub(super) fn write(state: &State, scope: &'static Scope, at: UtcMs) -> Write<'static> {
    Write { state: state.clone(), scope, at }
}

pub(super) fn batch(state: &State, batch: &Batch) -> Result<(State, Vec<Done>), StoreError> {
    let mut write = Write { state: state.clone(), scope: &batch.scope, at: batch.at };
    let mut done = Vec::with_capacity(batch.commands.len());
    for (index, command) in batch.commands.iter().enumerate() {
        let seed = batch.seed.child(index as u64);
        let applied = check::command(command).and_then(|()| write.command(command, &seed));
        done.push(applied.map_err(|refusal| StoreError::Refused { index, refusal })?);
    }
    Ok((write.state, done))
}

pub(super) struct Write<'a> {
    pub(super) state: State,
    pub(super) scope: &'a Scope,
    pub(super) at: UtcMs,
}

/// What a keyed write found under its key.
type Found = Option<Placed>;

impl Write<'_> {
    fn command(&mut self, command: &Command, seed: &Seed) -> Result<Done, Refusal> {
        match command {
            Command::CreateProject(c) => self.create_project(c),
            Command::AddAlias(project, alias) => self.add_alias(*project, alias),
            Command::RenameProject(c) => self.rename_project(c),
            Command::MergeProject(c) => self.merge_project(c),
            Command::RenameSession(c) => self.rename_session(c, seed),
            Command::Redact(c) => self.redact(c, seed),
            Command::MoveSession(c) => self.move_session(c, seed),
            Command::CreateSession(c) => self.create_session(c, seed),
            Command::ForkSession(c) => self.fork_session(c, seed),
            Command::CreateSpeaker(c) => self.create_speaker(c, seed),
            Command::AppendTurn(c) => self.append_turn(c, None, seed),
            Command::Edit(c) => self.append_turn(&c.turn, Some(c), seed),
            Command::Forward(c) => self.forward(c, seed),
            Command::Compact(c) => self.compact(c, seed),
            Command::Reinject(c) => self.reinject(c, seed),
            Command::Mark(c) => self.mark(c, seed),
            Command::StoreOutput(c) => self.store_output(c),
            Command::Restore(c) => self.restore(c),
            Command::CloseOutput(id) => self.close_output(*id),
            Command::Relay(step) => self.relay(step, seed),
        }
    }

    fn create_project(&mut self, c: &CreateProject) -> Result<Done, Refusal> {
        if let Some(alias) = &c.alias {
            self.project_alias_free(alias, c.id)?;
        }
        self.not_erased(Gone::Project(c.id), c.id)?;
        self.free(self.state.projects.contains_key(&c.id), c.id)?;
        let project = ProjectState { name: c.name.clone(), created_at: self.at, merged_into: None };
        self.state.projects.insert(c.id, project);
        if let Some(alias) = &c.alias {
            self.state.project_aliases.insert(alias.clone(), c.id);
        }
        Ok(Done::Project(c.id))
    }

    fn add_alias(&mut self, project: ProjectId, alias: &Alias) -> Result<Done, Refusal> {
        let project = self.project(project)?;
        self.project_alias_free(alias, project)?;
        self.state.project_aliases.insert(alias.clone(), project);
        Ok(Done::Project(project))
    }

    fn create_session(&mut self, c: &CreateSession, seed: &Seed) -> Result<Done, Refusal> {
        let c = &CreateSession { project: self.project(c.project)?, ..c.clone() };
        let alias = c.alias.as_ref().map(|a| (c.project, a.clone()));
        self.session_alias_free(alias.as_ref())?;
        self.not_erased(Gone::Session(c.id), c.id)?;
        self.free(self.state.sessions.contains_key(&c.id), c.id)?;
        let begin = self.beginning(c.project, &c.title, seed);
        let mut session = session(c, self.at, begin.title);
        session.head = self.state.genesis(&session, &begin);
        self.state.sessions.insert(c.id, session);
        self.state.beginnings.insert(c.id, begin);
        if let Some(alias) = alias {
            self.state.session_aliases.insert(alias, c.id);
        }
        Ok(Done::Session(c.id))
    }

    pub(super) fn beginning(&self, project: ProjectId, title: &str, seed: &Seed) -> Beginning {
        let salt = seed.salt(0);
        let title = commit(&salt, title.as_bytes());
        Beginning { ledger: self.state.ledger, project, title, salt: Some(salt), fork_hash: None }
    }

    pub(super) fn session_alias_free(&self, alias: Option<&(ProjectId, Alias)>) -> Result<(), Refusal> {
        match alias.and_then(|k| self.state.session_aliases.get_key_value(k)) {
            Some((key, owner)) => {
                Err(Refusal::SessionAliasTaken { value: key.1.value.clone(), owner: *owner })
            }
            None => match alias {
                Some((_, alias)) if self.state.erased.contains(&Gone::Alias(alias.clone())) => {
                    Err(Refusal::Erased(format!("the session {}", alias.value)))
                }
                _ => Ok(()),
            },
        }
    }

    fn create_speaker(&mut self, c: &CreateSpeaker, seed: &Seed) -> Result<Done, Refusal> {
        if let Some(taken) = self.state.speaker_named(c.kind, &c.name) {
            return Err(Refusal::SpeakerTaken(taken));
        }
        self.free(self.state.speakers.contains_key(&c.id), c.id)?;
        let salt = seed.salt(0);
        let speaker = Speaker { id: c.id, kind: c.kind, name: c.name.clone() };
        self.state.add_speaker(speaker, salt);
        Ok(Done::Speaker(c.id))
    }

    /// Appends a turn: a new one, or one that supersedes another.
    pub(super) fn append_turn(
        &mut self,
        c: &AppendTurn,
        edit: Option<&Edit>,
        seed: &Seed,
    ) -> Result<Done, Refusal> {
        self.session(c.session)?;
        let speaker = self.speaker(c.speaker)?;
        let parts: Vec<Part> = c.parts.iter().map(|p| self.part(p)).collect::<Result<_, _>>()?;
        let content = edit.map_or_else(|| content::turn(c), content::edit);
        if let Some(known) = self.known(c.session, kind::TURN, c.key.as_deref(), &content)? {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        self.expect_head(c.session, c.expected_head)?;
        self.open(c.session)?;
        self.entry_in_view(c.session, c.reply_to)?;
        parts.iter().try_for_each(|p| self.output_of(&p.body))?;
        edit.map_or(Ok(()), |edit| self.editable(edit))?;
        self.free_entry(c.id)?;
        let turn = Turn {
            speaker,
            said_at: c.said_at,
            reply_to: c.reply_to,
            supersedes: edit.map(|edit| edit.of),
            repairs: c.repairs,
            parts,
            quote: None,
        };
        let placed = self.place(c.session, c.id, EntryBody::Turn(turn), seed);
        self.remember(&placed, kind::TURN, c.key.clone(), &content, seed);
        Ok(Done::Entries(Fate::New, vec![placed]))
    }

    fn editable(&self, edit: &Edit) -> Result<(), Refusal> {
        self.entry_of(edit.turn.session, Some(edit.of))?;
        let entry = self.state.entries.get(&edit.of).and_then(|r| r.entry.turn());
        let turn = entry.ok_or(Refusal::UnknownTurn(edit.of))?;
        if turn.speaker.id != edit.turn.speaker {
            return Err(Refusal::NotTheSpeaker(edit.of));
        }
        if turn.quote.is_some() {
            return Err(Refusal::HoldsQuote(edit.of));
        }
        match self.state.superseding(self.scope, edit.of) {
            Some(by) => Err(Refusal::Superseded { of: edit.of, by: by.id }),
            None => Ok(()),
        }
    }

    fn part(&self, part: &NewPart) -> Result<Part, Refusal> {
        let by = part.by.map(|id| self.speaker(id)).transpose()?;
        Ok(Part { by, body: part.body.clone(), kept: Kept::Whole })
    }

    fn forward(&mut self, c: &Forward, seed: &Seed) -> Result<Done, Refusal> {
        self.session(c.session)?;
        let by = self.speaker(c.by)?;
        let known = self.known_items(c)?;
        if known.len() == c.items.len() {
            return Ok(Done::Entries(Fate::Known, known));
        }
        self.expect_head(c.session, c.expected_head)?;
        self.open(c.session)?;
        let quotes: Vec<Quote> =
            c.items.iter().map(|item| self.quote(item, c, &by)).collect::<Result<_, _>>()?;
        let chars = quotes.iter().map(|q| q.kept as usize).sum();
        if chars > FORWARD_CHARS {
            return Err(Refusal::ForwardTooLong { chars, limit: FORWARD_CHARS });
        }
        let mut placed = Vec::with_capacity(quotes.len());
        for (index, (item, quote)) in c.items.iter().zip(quotes).enumerate() {
            self.free_entry(item.id)?;
            let seed = seed.child(index as u64);
            let at = self.place(c.session, item.id, holding(&by, c.item_note(index), quote), &seed);
            self.remember(&at, kind::FORWARD, c.item_key(index), &content::forward(c, index), &seed);
            placed.push(at);
        }
        Ok(Done::Entries(Fate::New, placed))
    }

    /// The items written before under this key: all of them or none, since they were one batch.
    fn known_items(&self, c: &Forward) -> Result<Vec<Placed>, Refusal> {
        let mut others = c.other_keys().into_iter();
        if let Some(record) = others.find_map(|key| self.state.under_key(c.session, kind::FORWARD, &key)) {
            return Err(Refusal::Conflict { key: c.key.clone().unwrap_or_default(), written: record.entry });
        }
        let items = 0..c.items.len();
        let found = items
            .map(|i| self.known(c.session, kind::FORWARD, c.item_key(i).as_deref(), &content::forward(c, i)));
        let found: Vec<Found> = found.collect::<Result<_, _>>()?;
        let known: Vec<Placed> = found.iter().flatten().copied().collect();
        match known.first() {
            Some(first) if known.len() < found.len() => {
                Err(Refusal::Conflict { key: c.key.clone().unwrap_or_default(), written: first.id })
            }
            _ => Ok(known),
        }
    }

    fn quote(&self, item: &ForwardItem, c: &Forward, by: &Speaker) -> Result<Quote, Refusal> {
        let record = self.state.entry(self.scope, item.source);
        let (record, turn) =
            record.and_then(|r| Some((r, r.entry.turn()?))).ok_or(Refusal::UnknownTurn(item.source))?;
        let session = self.session(record.entry.session)?;
        let project = self.state.projects.get(&record.entry.project);
        let source = Source {
            address: self.state.turn_address(&record.entry),
            session_kind: session.kind,
            channel: session.channel.as_deref(),
            project_title: project.map_or("", |p| &p.name),
            session_title: &session.title,
            turn,
            digest: form::source(&record.commitments),
        };
        let request = TakeRequest {
            selection: item.selection,
            what: item.what,
            titles: c.titles,
            by: by.clone(),
            at: self.at,
        };
        take(&source, request).map_err(|reason| Refusal::Quote { source_turn: item.source, reason })
    }

    fn compact(&mut self, c: &Compact, seed: &Seed) -> Result<Done, Refusal> {
        let last = self.session(c.session)?.last_seq;
        let speaker = self.speaker(c.speaker)?;
        let content = content::compact(c);
        if let Some(known) = self.known(c.session, kind::COMPACT, c.key.as_deref(), &content)? {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        self.open(c.session)?;
        if c.through > last {
            return Err(Refusal::BoundaryPastEnd { through: c.through, last });
        }
        self.free_entry(c.id)?;
        let compaction = Compaction {
            speaker,
            said_at: c.said_at,
            through: c.through,
            summary: c.summary.clone(),
            kept: Kept::Whole,
        };
        let placed = self.place(c.session, c.id, EntryBody::Compaction(compaction), seed);
        self.remember(&placed, kind::COMPACT, c.key.clone(), &content, seed);
        Ok(Done::Entries(Fate::New, vec![placed]))
    }

    fn mark(&mut self, c: &MarkEntry, seed: &Seed) -> Result<Done, Refusal> {
        let closed = self.session(c.session)?.closed;
        self.entry_of(c.session, c.of)?;
        if c.kind == MarkKind::Reopened && !closed {
            return Err(Refusal::NotClosed(c.session));
        }
        if let Some(of) = c.of.filter(|of| c.kind == MarkKind::Unpinned && !self.state.is_pinned(*of)) {
            return Err(Refusal::NotPinned(of));
        }
        if let Some(known) = self.same_mark(c, closed) {
            return Ok(Done::Entries(Fate::Known, vec![known]));
        }
        self.free_entry(c.id)?;
        let mark = Mark::new(c.kind, c.of, c.route.as_str());
        let placed = self.place(c.session, c.id, EntryBody::Mark(mark), seed);
        Ok(Done::Entries(Fate::New, vec![placed]))
    }

    /// The mark that this one repeats: the first of the same kind and entry; of a closed session, the last closing; of a
    /// turn's place in the conversation, the last if it says the same.
    fn same_mark(&self, c: &MarkEntry, closed: bool) -> Found {
        let mut marks = self.state.entries_of(self.scope, c.session).filter_map(|e| match &e.body {
            EntryBody::Mark(m) if m.of == c.of => Some((e.id, m.kind)),
            _ => None,
        });
        let same = |(_, kind): &(EntryId, MarkKind)| *kind == c.kind;
        let found = match c.kind {
            MarkKind::Offered | MarkKind::InContext | MarkKind::Derived | MarkKind::Settled => {
                marks.find(same)
            }
            MarkKind::Closed if closed => marks.filter(same).last(),
            MarkKind::Pinned if c.of.is_some_and(|of| self.state.is_pinned(of)) => marks.filter(same).last(),
            MarkKind::RolledBack | MarkKind::Abandoned | MarkKind::Restored => {
                marks.filter(|(_, kind)| kind.is_standing()).last().filter(same)
            }
            _ => None,
        };
        found.and_then(|(id, _)| self.state.placed(id))
    }

    pub(super) fn known(
        &self,
        session: SessionId,
        kind: &'static str,
        key: Option<&str>,
        content: &[u8],
    ) -> Result<Found, Refusal> {
        let Some(key) = key else { return Ok(None) };
        match self.state.under_key(session, kind, key) {
            Some(record) if record.is_for(content) => Ok(self.state.placed(record.entry)),
            Some(record) => Err(Refusal::Conflict { key: key.to_owned(), written: record.entry }),
            None => Ok(None),
        }
    }

    pub(super) fn remember(
        &mut self,
        placed: &Placed,
        kind: &'static str,
        key: Option<String>,
        content: &[u8],
        seed: &Seed,
    ) {
        if let Some(key) = key {
            let salt = seed.salt(KEY_SALT);
            let record = KeyRecord { salt: Some(salt), content: commit(&salt, content), entry: placed.id };
            self.state.keys.insert((placed.session, kind, key), record);
        }
    }

    fn expect_head(&self, session: SessionId, expected: Option<u64>) -> Result<(), Refusal> {
        let actual = self.session(session)?.last_seq;
        match expected {
            Some(expected) if expected != actual => Err(Refusal::HeadMoved { expected, actual }),
            _ => Ok(()),
        }
    }

    pub(super) fn open(&self, id: SessionId) -> Result<(), Refusal> {
        if self.session(id)?.closed {
            return Err(Refusal::SessionClosed(id));
        }
        Ok(())
    }

    pub(super) fn not_erased(&self, gone: Gone, id: impl std::fmt::Display) -> Result<(), Refusal> {
        if self.state.erased.contains(&gone) { Err(Refusal::Erased(id.to_string())) } else { Ok(()) }
    }

    pub(super) fn free(&self, taken: bool, id: impl std::fmt::Display) -> Result<(), Refusal> {
        if taken { Err(Refusal::IdTaken(id.to_string())) } else { Ok(()) }
    }

    pub(super) fn free_entry(&self, id: EntryId) -> Result<(), Refusal> {
        self.free(self.state.entries.contains_key(&id), id)
    }

    fn project_alias_free(&self, alias: &Alias, project: ProjectId) -> Result<(), Refusal> {
        match self.state.project_aliases.get(alias) {
            Some(owner) if *owner != project => {
                Err(Refusal::ProjectAliasTaken { value: alias.value.clone(), owner: *owner })
            }
            _ => Ok(()),
        }
    }

    /// Appends an entry to its session's chain.
    pub(super) fn place(&mut self, session: SessionId, id: EntryId, body: EntryBody, seed: &Seed) -> Placed {
        let link = self.link(session, id);
        let salts = form::salts(seed, &body);
        let commitments = form::commitments(&salts, &body);
        let hash = form::entry_hash(&link, &body, &commitments, &|s| self.state.name_commitment(s));
        let entry = self.state.entry_at(&link, hash, body);
        self.insert(Record { entry, commitments, salts: salts.into_iter().map(Some).collect() })
    }

    /// Where the next entry of a session stands.
    pub(super) fn link(&self, session: SessionId, id: EntryId) -> Link {
        let found = self.state.sessions.get(&session);
        let (seq, prev) = found.map_or((1, Digest::ZERO), |s| (s.last_seq + 1, s.head));
        Link { session, seq, id, recorded_at: self.at, prev }
    }

    pub(super) fn insert(&mut self, record: Record) -> Placed {
        let Entry { id, project, session, seq, hash, .. } = record.entry;
        self.advance(session, &record.entry.body, seq, hash);
        self.state.entries.insert(id, record);
        self.state.order.insert((session, seq), id);
        self.state.arrived.push(id);
        Placed { id, project, session, seq, hash }
    }

    fn advance(&mut self, session: SessionId, body: &EntryBody, seq: u64, head: Digest) {
        let at = self.at;
        if let Some(session) = self.state.sessions.get_mut(&session) {
            (session.last_seq, session.head) = (seq, head);
            match body {
                EntryBody::Turn(turn) => {
                    session.turns += 1;
                    session.last_at = Some(turn.said_at.map_or(at, |said| UtcMs(said.ms())));
                }
                EntryBody::Mark(mark) => {
                    session.closed = mark.closes().unwrap_or(session.closed);
                    session.title = mark.title.clone().unwrap_or_else(|| session.title.clone());
                }
                EntryBody::Compaction(_) | EntryBody::Reinjection(_) => {}
            }
        }
    }
}

fn session(c: &CreateSession, at: UtcMs, head: Digest) -> Session {
    Session {
        id: c.id,
        project: c.project,
        fork: None,
        kind: c.kind,
        channel: c.channel.clone(),
        title: c.title.clone(),
        created_at: at,
        closed: false,
        turns: 0,
        last_seq: 0,
        head,
        last_at: None,
        origin: None,
    }
}

fn holding(by: &Speaker, note: Option<&str>, quote: Quote) -> EntryBody {
    let note = note.map(|n| Part { by: None, body: PartBody::Text(n.to_owned()), kept: Kept::Whole });
    EntryBody::Turn(Turn {
        speaker: by.clone(),
        said_at: None,
        reply_to: None,
        supersedes: None,
        repairs: 0,
        parts: note.into_iter().collect(),
        quote: Some(Box::new(quote)),
    })
}

pub(super) fn ordered(streams: &[query::OutputStream]) -> Vec<query::OutputStream> {
    let mut streams = streams.to_vec();
    streams.sort_by_key(|s| s.kind);
    streams
}
