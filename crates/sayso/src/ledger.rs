//! Opening a ledger and writing to it.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sayso_model::{
    Address, LedgerId, OutputId, PartBody, ProjectId, SaidAt, SessionId, SessionKind, SpeakerId, SpeakerKind,
    TurnId,
};
use sayso_sqlite::{Connections, Create, Durability, SqliteStore};
use sayso_store::{
    Alias, AppendTurn, Batch, Blob, Command, Done, Fate, NewPart, Placed, Progress, Project, Refusal, Scope,
    Session, Store, StoreError,
};

use crate::error::Error;
use crate::host::{FreshIds, Host, SystemHost};
use crate::reader::Reader;

/// Entries that [`Ledger::catch_up`] takes into the index at once, and how often.
const CATCH_UP_STEP: usize = 500;
const CATCH_UP_STEPS: usize = 40;

/// How a ledger is opened.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// When an append counts as done.
    pub durability: Durability,
    /// How long to wait for another program's lock.
    pub wait: Duration,
    /// Whether a missing ledger is made.
    pub create: bool,
    /// How many connections it keeps to its file.
    pub connections: Connections,
}

impl Default for Options {
    /// On disk when a write returns; waiting for at most 30 seconds; a missing ledger is made.
    fn default() -> Self {
        Self {
            durability: Durability::Full,
            wait: Duration::from_secs(30),
            create: true,
            connections: Connections::Several,
        }
    }
}

/// A speaker by kind and name, made on first use.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SpeakerRef {
    /// The kind.
    pub kind: SpeakerKind,
    /// The name; may be empty.
    pub name: String,
}

impl SpeakerRef {
    /// The speaker of this kind and name.
    pub fn new(kind: SpeakerKind, name: impl Into<String>) -> Self {
        Self { kind, name: name.into() }
    }
}

/// A turn to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewTurn {
    /// Who said it.
    pub speaker: SpeakerRef,
    /// When, where known.
    pub said_at: Option<SaidAt>,
    /// The turn of the same session that it answers.
    pub reply_to: Option<TurnId>,
    /// Its parts, each with its own speaker where that is another one.
    pub parts: Vec<(Option<SpeakerRef>, PartBody)>,
    /// Its idempotency key.
    pub key: Option<String>,
    /// How many sequences were repaired to U+FFFD on the way here.
    pub repairs: u32,
}

impl NewTurn {
    /// A turn of one text.
    pub fn text(kind: SpeakerKind, name: impl Into<String>, text: impl Into<String>) -> Self {
        Self {
            speaker: SpeakerRef::new(kind, name),
            said_at: None,
            reply_to: None,
            parts: vec![(None, PartBody::Text(text.into()))],
            key: None,
            repairs: 0,
        }
    }

    /// The same with an idempotency key.
    #[must_use]
    pub fn with_key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

/// A ledger. Clones share it.
#[derive(Clone)]
pub struct Ledger {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) host: Arc<dyn Host>,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Ledger").field(&self.store.ledger()).finish()
    }
}

impl Ledger {
    /// Opens the ledger in a file, with the system's clock and random source.
    ///
    /// # Errors
    ///
    /// [`Error::Store`]: the file is no ledger, of a newer program, locked, damaged, or cannot be made there.
    pub fn open(path: &Path, options: &Options) -> Result<Self, Error> {
        Self::open_with(path, options, Arc::new(SystemHost))
    }

    /// The same with a host of the caller's.
    ///
    /// # Errors
    ///
    /// As for [`Ledger::open`].
    pub fn open_with(path: &Path, options: &Options, host: Arc<dyn Host>) -> Result<Self, Error> {
        let sqlite = sayso_sqlite::Options {
            durability: options.durability,
            wait: options.wait,
            create: if options.create { Create::IfMissing } else { Create::Never },
            connections: options.connections,
            ledger: host.ledger_id(),
            created_at: host.now(),
        };
        let store = SqliteStore::open(path, &sqlite)?;
        Ok(Self::over(Arc::new(store), host))
    }

    /// A ledger over any store.
    #[must_use]
    pub fn over(store: Arc<dyn Store>, host: Arc<dyn Host>) -> Self {
        Self { store, host }
    }

    /// The ledger's id.
    #[must_use]
    pub fn id(&self) -> LedgerId {
        self.store.ledger()
    }

    /// Moves the log of changes into the ledger's file and empties it, which costs three syncs and makes the next opening
    /// quicker. Whether nobody held it up.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn empty_log(&self) -> Result<bool, Error> {
        Ok(self.store.purge()?)
    }

    /// A reader that sees what the scope lets it see.
    #[must_use]
    pub fn reader(&self, scope: Scope) -> Reader {
        Reader::new(self.clone(), scope)
    }

    /// Applies commands as one batch: all of them, or nothing.
    ///
    /// # Errors
    ///
    /// [`Error::Store`], with the refusal of the first command that cannot be applied.
    pub fn write(&self, scope: &Scope, commands: Vec<Command>) -> Result<Vec<Done>, Error> {
        let (at, seed) = (self.host.now(), self.host.seed());
        Ok(self.store.write(&Batch { scope: scope.clone(), at, seed, commands })?)
    }

    /// The project of this name, made on first use.
    ///
    /// # Errors
    ///
    /// [`Error::Ambiguous`] where several have it; [`Error::OutsideScope`] where it would have to be made outside the
    /// scope; storage errors.
    pub fn project(&self, scope: &Scope, name: &str) -> Result<Project, Error> {
        self.project_as(scope, &Alias::new("name", name), name)
    }

    /// The project with this alias, else the only one with this name, else a new one with both.
    ///
    /// # Errors
    ///
    /// As for [`Ledger::project`].
    pub fn project_as(&self, scope: &Scope, alias: &Alias, name: &str) -> Result<Project, Error> {
        let (id, _) = self.transact(scope, |plan| plan.project(alias, name))?;
        self.store.project(scope, id)?.ok_or_else(|| Error::OutsideScope { given: name.to_owned() })
    }

    /// The session of this title in the project of this name, both made on first use.
    ///
    /// # Errors
    ///
    /// [`Error::Ambiguous`] where several have the name; storage errors.
    pub fn session(&self, project: &str, title: &str) -> Result<Session, Error> {
        let named = |name: &str| Alias::new("name", name);
        let (id, _) = self.transact(&Scope::All, |plan| {
            let project = plan.project(&named(project), project)?;
            plan.session(project, &named(title), title, SessionKind::Thread)
        })?;
        self.store.session(&Scope::All, id)?.ok_or_else(|| Error::OutsideScope { given: title.to_owned() })
    }

    /// The session of a project with this alias, else (for a name) the only one with this title, else a new one.
    ///
    /// # Errors
    ///
    /// [`Error::Ambiguous`] where several have the title; storage errors.
    pub fn session_as(
        &self,
        scope: &Scope,
        project: ProjectId,
        alias: &Alias,
        title: &str,
        kind: SessionKind,
    ) -> Result<Session, Error> {
        let (id, _) = self.transact(scope, |plan| plan.session(project, alias, title, kind))?;
        self.store.session(scope, id)?.ok_or_else(|| Error::OutsideScope { given: title.to_owned() })
    }

    /// The id of a speaker, made on first use.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn speaker(&self, speaker: &SpeakerRef) -> Result<SpeakerId, Error> {
        self.transact(&Scope::All, |plan| plan.speaker(speaker)).map(|(id, _)| id)
    }

    /// Appends one turn to a session.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with the refusal: the session is closed, the key was used for other content, the answered turn
    /// is not there; storage errors.
    pub fn append(&self, session: &Session, turn: NewTurn) -> Result<Placed, Error> {
        let written = self.append_in(session.project, session.id, &turn);
        match written {
            // It was moved since the caller read it.
            Err(error) if matches!(error.refusal(), Some(Refusal::UnknownSession(_))) => {
                match self.store.session(&Scope::All, session.id)? {
                    Some(now) if now.project != session.project => {
                        self.append_in(now.project, session.id, &turn)
                    }
                    _ => Err(error),
                }
            }
            written => written,
        }
    }

    fn append_in(&self, project: ProjectId, session: SessionId, turn: &NewTurn) -> Result<Placed, Error> {
        let scope = Scope::Projects(vec![project]);
        let (_, done) = self.transact(&scope, |plan| plan.append(session, turn.clone()))?;
        first(&done).map(|(_, placed)| placed)
    }

    /// Appends one turn to the session of this title in the project of this name, all made on first use in one batch.
    ///
    /// # Errors
    ///
    /// As for [`Ledger::append`] and [`Ledger::project`].
    pub fn append_to(
        &self,
        scope: &Scope,
        project: &str,
        title: &str,
        turn: &NewTurn,
    ) -> Result<(Fate, Placed), Error> {
        let named = |name: &str| Alias::new("name", name);
        let (_, done) = self.transact(scope, |plan| {
            let project = plan.project(&named(project), project)?;
            let session = plan.session(project, &named(title), title, SessionKind::Thread)?;
            plan.append(session, turn.clone())
        })?;
        first(&done)
    }

    /// The command that appends a turn, with a fresh id and its speakers made; for batches of the caller's own.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn append_command(&self, session: SessionId, turn: NewTurn) -> Result<Command, Error> {
        let part = |(by, body): (Option<SpeakerRef>, PartBody)| {
            let by = by.map(|b| self.speaker(&b)).transpose()?;
            Ok::<_, Error>(NewPart { by, body })
        };
        Ok(Command::AppendTurn(AppendTurn {
            id: self.host.entry_id(),
            session,
            speaker: self.speaker(&turn.speaker)?,
            said_at: turn.said_at,
            reply_to: turn.reply_to,
            repairs: turn.repairs,
            parts: turn.parts.into_iter().map(part).collect::<Result<_, _>>()?,
            key: turn.key,
            expected_head: None,
        }))
    }

    /// Takes at most `limit` more entries into the index of the search: one bounded step, for an idle moment or after an
    /// import. Searches find the same without it, only more slowly.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn index(&self, limit: usize) -> Result<Progress, Error> {
        Ok(self.store.index(limit)?)
    }

    /// The same without waiting for anybody: `None` where another program is writing.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn index_at_once(&self, limit: usize) -> Result<Option<Progress>, Error> {
        Ok(self.store.index_at_once(limit)?)
    }

    /// Takes at most 20,000 more entries into the index before a search, in bounded steps and without waiting: another program
    /// that is writing, or damage, is no reason not to search. What is left then is looked at entry by entry.
    pub fn catch_up(&self) {
        let steps = std::iter::repeat_with(|| self.index_at_once(CATCH_UP_STEP)).take(CATCH_UP_STEPS);
        let more = |step: &Result<Option<Progress>, _>| matches!(step, Ok(Some(Progress { left: 1.., .. })));
        steps.take_while(more).for_each(drop);
    }

    /// Makes the index of the search anew, and empty, also where it is damaged or gone; [`Ledger::index`] then fills it.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn reindex(&self) -> Result<(), Error> {
        Ok(self.store.reindex()?)
    }

    /// Stores bytes under their hash; an output of a batch then names them.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn put_blob(&self, bytes: &mut dyn std::io::Read) -> Result<Blob, Error> {
        Ok(self.store.put_blob(bytes)?)
    }

    /// A fresh id for an entry of the caller's own command.
    #[must_use]
    pub fn fresh_entry(&self) -> TurnId {
        self.host.entry_id()
    }

    /// A fresh id for an output of the caller's own command.
    #[must_use]
    pub fn fresh_output(&self) -> OutputId {
        self.host.output_id()
    }

    /// The address of a project.
    #[must_use]
    pub fn project_address(&self, project: ProjectId) -> Address {
        Address::Project(self.id(), project)
    }

    /// The address of a session.
    #[must_use]
    pub fn session_address(&self, session: &Session) -> Address {
        Address::Session(self.id(), session.project, session.id)
    }

    /// The address of a placed entry.
    #[must_use]
    pub fn address(&self, placed: &Placed) -> Address {
        Address::Turn(self.id(), placed.project, placed.session, placed.id, None)
    }
}

/// The first entry that a batch wrote.
pub(crate) fn first(done: &[Done]) -> Result<(Fate, Placed), Error> {
    let entries = done.iter().find_map(|d| match d {
        Done::Entries(fate, placed) => placed.first().map(|p| (*fate, *p)),
        Done::Project(_) | Done::Session(_) | Done::Speaker(_) | Done::Output(_) | Done::Relay(_) => None,
    });
    let missing = || StoreError::Damaged { what: "a write gave no entry".to_owned(), cause: None };
    entries.ok_or_else(|| missing().into())
}
