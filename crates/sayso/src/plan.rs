//! A batch in the making: what it needs is looked up, or made in the same batch.
//!
//! So a refused append leaves no empty project behind, and two programs that make the same project at once end with one:
//! the later batch is refused for the taken name, built again, and finds it.

use std::collections::HashMap;

use sayso_model::{EntryId, PartBody, ProjectId, SessionId, SessionKind, SpeakerId};
use sayso_store::{
    Alias, AppendTurn, Command, CreateProject, CreateSession, CreateSpeaker, Done, Edit, Lookup, NewPart,
    Refusal, Scope,
};

use crate::error::Error;
use crate::host::FreshIds;
use crate::ledger::{Ledger, NewTurn, SpeakerRef};
use crate::near;

/// Commands that will be written together.
#[derive(Debug)]
pub struct Plan<'a> {
    ledger: &'a Ledger,
    scope: &'a Scope,
    commands: Vec<Command>,
    speakers: HashMap<SpeakerRef, SpeakerId>,
}

/// How often a batch is built again because somebody else made the same thing first.
const TRIES: usize = 8;

impl Ledger {
    /// Builds a batch and writes it: all of it, or nothing. It is built again where somebody else made one of its
    /// projects, sessions or speakers meanwhile, so `build` must not do anything else.
    ///
    /// # Errors
    ///
    /// What `build` gives; [`Error::Store`] with the refusal of the first command that cannot be applied.
    pub fn transact<T>(
        &self,
        scope: &Scope,
        build: impl Fn(&mut Plan<'_>) -> Result<T, Error>,
    ) -> Result<(T, Vec<Done>), Error> {
        let mut tries = 0;
        loop {
            let mut plan = Plan { ledger: self, scope, commands: Vec::new(), speakers: HashMap::new() };
            let made = build(&mut plan)?;
            match self.write(scope, plan.commands) {
                Err(error) if tries < TRIES && error.refusal().is_some_and(is_taken) => tries += 1,
                written => return written.map(|done| (made, done)),
            }
        }
    }
}

const fn is_taken(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::ProjectAliasTaken { .. } | Refusal::SessionAliasTaken { .. } | Refusal::SpeakerTaken(_)
    )
}

impl Plan<'_> {
    /// Adds a command.
    pub fn push(&mut self, command: Command) {
        self.commands.push(command);
    }

    /// A fresh id for an entry.
    #[must_use]
    pub fn entry_id(&self) -> EntryId {
        self.ledger.host.entry_id()
    }

    /// The project with this alias, else (for a name) the only one with this name, else one that the batch makes.
    ///
    /// # Errors
    ///
    /// [`Error::Ambiguous`] where several have the name; [`Error::OutsideScope`] where it would have to be made outside
    /// the scope; storage errors.
    pub fn project(&mut self, alias: &Alias, name: &str) -> Result<ProjectId, Error> {
        let ledger = self.ledger;
        for lookup in lookups(alias) {
            let found = ledger.store.find_projects(self.scope, &lookup)?;
            if let Some(project) = near::only("project", name, found, |p| ledger.project_address(p.id))? {
                return Ok(project.id);
            }
        }
        if *self.scope != Scope::All {
            return Err(Error::OutsideScope { given: name.to_owned() });
        }
        let id = ledger.host.project_id();
        let create = CreateProject { id, name: name.to_owned(), alias: Some(alias.clone()) };
        self.push(Command::CreateProject(create));
        Ok(id)
    }

    /// The session of a project with this alias, else (for a name) the only one with this title, else one that the batch
    /// makes.
    ///
    /// # Errors
    ///
    /// [`Error::Ambiguous`] where several have the title; storage errors.
    pub fn session(
        &mut self,
        project: ProjectId,
        alias: &Alias,
        title: &str,
        kind: SessionKind,
    ) -> Result<SessionId, Error> {
        let ledger = self.ledger;
        for lookup in lookups(alias) {
            let found = ledger.store.find_sessions(self.scope, Some(project), &lookup)?;
            if let Some(session) = near::only("session", title, found, |s| ledger.session_address(s))? {
                return Ok(session.id);
            }
        }
        let id = ledger.host.session_id();
        self.push(Command::CreateSession(CreateSession {
            id,
            project,
            kind,
            channel: None,
            title: title.to_owned(),
            alias: Some(alias.clone()),
        }));
        Ok(id)
    }

    /// A speaker, made by the batch on first use.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn speaker(&mut self, speaker: &SpeakerRef) -> Result<SpeakerId, Error> {
        if let Some(id) = self.speakers.get(speaker) {
            return Ok(*id);
        }
        let id = match self.ledger.store.find_speaker(speaker.kind, &speaker.name)? {
            Some(id) => id,
            None => self.new_speaker(speaker),
        };
        self.speakers.insert(speaker.clone(), id);
        Ok(id)
    }

    fn new_speaker(&mut self, speaker: &SpeakerRef) -> SpeakerId {
        let id = self.ledger.host.speaker_id();
        let create = CreateSpeaker { id, kind: speaker.kind, name: speaker.name.clone() };
        self.push(Command::CreateSpeaker(create));
        id
    }

    /// Appends a turn, its speakers made on first use.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn append(&mut self, session: SessionId, turn: NewTurn) -> Result<EntryId, Error> {
        let turn = self.turn(session, turn)?;
        let id = turn.id;
        self.push(Command::AppendTurn(turn));
        Ok(id)
    }

    /// Appends a turn that supersedes another one of the session.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn edit(&mut self, of: EntryId, session: SessionId, turn: NewTurn) -> Result<EntryId, Error> {
        let turn = self.turn(session, turn)?;
        let id = turn.id;
        self.push(Command::Edit(Edit { of, turn }));
        Ok(id)
    }

    fn turn(&mut self, session: SessionId, turn: NewTurn) -> Result<AppendTurn, Error> {
        let id = self.entry_id();
        let speaker = self.speaker(&turn.speaker)?;
        let parts = turn.parts.into_iter().map(|part| self.part(part)).collect::<Result<_, _>>()?;
        Ok(AppendTurn {
            id,
            session,
            speaker,
            said_at: turn.said_at,
            reply_to: turn.reply_to,
            repairs: turn.repairs,
            parts,
            key: turn.key,
            expected_head: None,
        })
    }

    fn part(&mut self, (by, body): (Option<SpeakerRef>, PartBody)) -> Result<NewPart, Error> {
        let by = by.map(|b| self.speaker(&b)).transpose()?;
        Ok(NewPart { by, body })
    }
}

/// By the alias; a name that a person typed may also be a title that nobody typed before.
fn lookups(alias: &Alias) -> impl Iterator<Item = Lookup> {
    let named = (alias.kind == "name").then(|| Lookup::Name(alias.value.clone()));
    std::iter::once(Lookup::Alias(alias.clone())).chain(named)
}
