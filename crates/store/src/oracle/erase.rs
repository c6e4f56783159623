//! Erasing.

use std::collections::BTreeSet;

use sayso_model::{
    Address, Entry, EntryBody, EntryId, Mark, MarkKind, OutputId, ProjectId, SessionId, SpeakerId,
};

use super::apply::{self, Write};
use super::read::speaks;
use super::state::{Gone, State};
use crate::command::Redaction;
use crate::erase::{Erase, Forks, Target};
use crate::error::{Refusal, StoreError};
use crate::query::Scope;

pub(super) fn erase(state: &State, erase: &Erase) -> Result<State, StoreError> {
    if erase.scope != Scope::All {
        return Err(StoreError::NeedsWholeLedger);
    }
    let mut write = apply::write(state, &Scope::All, erase.at);
    let done = match erase.target {
        Target::Project(id) => write.erase_project(id, erase),
        Target::Session(id) => write.erase_session(id, erase),
        Target::Entry(id) => write.erase_entry(id, erase),
    };
    done.map_err(|refusal| StoreError::Refused { index: 0, refusal })?;
    Ok(write.state)
}

impl Write<'_> {
    fn erase_project(&mut self, given: ProjectId, erase: &Erase) -> Result<(), Refusal> {
        if self.state.erased.contains(&Gone::Project(given)) {
            return Ok(());
        }
        let id = self.project(given)?;
        let sessions: Vec<SessionId> =
            self.state.sessions.values().filter(|s| s.project == id).map(|s| s.id).collect();
        self.erase_sessions(&sessions, erase)?;
        self.state.project_aliases.retain(|_, owner| *owner != id);
        let led: Vec<ProjectId> =
            self.state.projects.keys().copied().filter(|p| self.state.resolve(*p) == id).collect();
        for project in led {
            self.state.projects.remove(&project);
            self.state.erased.insert(Gone::Project(project));
        }
        Ok(())
    }

    fn erase_session(&mut self, id: SessionId, erase: &Erase) -> Result<(), Refusal> {
        if self.state.erased.contains(&Gone::Session(id)) {
            return Ok(());
        }
        self.session(id)?;
        self.erase_sessions(&[id], erase)
    }

    fn erase_sessions(&mut self, sessions: &[SessionId], erase: &Erase) -> Result<(), Refusal> {
        let mut all: BTreeSet<SessionId> = sessions.iter().copied().collect();
        let mut found = true;
        while found {
            let forks = self.state.sessions.values().filter_map(|s| Some((s.fork?.session, s.id)));
            let outside = forks.filter(|(parent, fork)| all.contains(parent) && !all.contains(fork));
            let outside: Vec<_> = outside.collect();
            if let (Some((session, fork)), Forks::Refuse) = (outside.first(), erase.forks) {
                return Err(Refusal::HasForks { session: *session, fork: *fork });
            }
            found = !outside.is_empty();
            all.extend(outside.into_iter().map(|(_, fork)| fork));
        }
        self.state.remove_sessions(&all);
        Ok(())
    }

    fn erase_entry(&mut self, id: EntryId, erase: &Erase) -> Result<(), Refusal> {
        if self.state.erased.contains(&Gone::Entry(id)) {
            return Ok(());
        }
        let found = self.state.entries.get(&id).map(|r| r.entry.clone());
        let entry = found.ok_or(Refusal::UnknownTurn(id))?;
        if matches!(entry.body, EntryBody::Mark(_) | EntryBody::Reinjection(_)) {
            return Err(Refusal::NothingToRedact(id));
        }
        self.free_entry(erase.id)?;
        self.state.empty(&entry);
        let mark = EntryBody::Mark(Mark::new(MarkKind::Erased, Some(id), ""));
        self.place(entry.session, erase.id, mark, &erase.seed.child(0));
        Ok(())
    }
}

impl State {
    /// Leaves only place and hash of an entry.
    pub(super) fn empty(&mut self, entry: &Entry) {
        self.wipe(entry.id, Redaction::Whole);
        if let Some(record) = self.entries.get_mut(&entry.id) {
            record.entry.body = EntryBody::Mark(Mark::new(MarkKind::Erased, None, ""));
            record.commitments.clear();
            record.salts.clear();
        }
        self.relay.forget_turn(entry.id);
        self.erased.insert(Gone::Entry(entry.id));
        self.count_turns(entry.session);
        self.forget_speakers(std::slice::from_ref(entry));
    }

    fn remove_sessions(&mut self, gone: &BTreeSet<SessionId>) {
        for ((_, alias), owner) in &self.session_aliases {
            if gone.contains(owner) && alias.kind != "name" {
                self.erased.insert(Gone::Alias(alias.clone()));
            }
        }
        self.session_aliases.retain(|_, owner| !gone.contains(owner));
        let entries: Vec<Entry> = self
            .entries
            .values()
            .filter(|r| gone.contains(&r.entry.session))
            .map(|r| r.entry.clone())
            .collect();
        self.entries.retain(|_, r| !gone.contains(&r.entry.session));
        self.take_recorded_titles(&entries.iter().map(|e| e.id).collect());
        self.order.retain(|(session, _), _| !gone.contains(session));
        self.keys.retain(|(session, _, _), _| !gone.contains(session));
        let outputs: BTreeSet<OutputId> =
            self.outputs.values().filter(|o| gone.contains(&o.session)).map(|o| o.id).collect();
        self.drop_all_outputs(&outputs);
        self.relay.forget_sessions(|id| gone.contains(&id));
        self.sessions.retain(|id, _| !gone.contains(id));
        self.beginnings.retain(|id, _| !gone.contains(id));
        self.erased.extend(gone.iter().map(|id| Gone::Session(*id)));
        self.forget_speakers(&entries);
    }

    fn count_turns(&mut self, id: SessionId) {
        let turns: Vec<_> = self
            .entries_of(&Scope::All, id)
            .filter_map(|e| Some((e.recorded_at, e.turn()?.said_at)))
            .map(|(recorded, said)| said.map_or(recorded, |said| sayso_model::UtcMs(said.ms())))
            .collect();
        if let Some(session) = self.sessions.get_mut(&id) {
            (session.turns, session.last_at) = (turns.len() as u64, turns.last().copied());
        }
    }

    /// Forgets who stood in erased entries and stands nowhere else.
    fn forget_speakers(&mut self, erased: &[Entry]) {
        let candidates: Vec<SpeakerId> =
            self.speakers.keys().copied().filter(|id| erased.iter().any(|e| speaks(e, *id))).collect();
        for id in candidates {
            if !self.entries.values().any(|r| speaks(&r.entry, id)) {
                self.speakers.remove(&id);
            }
        }
    }

    pub(super) fn was_erased(&self, scope: &Scope, address: &Address) -> bool {
        let gone = |id: Gone| self.erased.contains(&id);
        match *address {
            Address::Project(_, project) => scope.sees(project) && gone(Gone::Project(project)),
            Address::Session(_, project, session) => {
                scope.sees(project) && (gone(Gone::Project(project)) || gone(Gone::Session(session)))
            }
            Address::Turn(_, project, session, turn, _) => {
                scope.sees(project)
                    && (gone(Gone::Project(project))
                        || gone(Gone::Session(session))
                        || gone(Gone::Entry(turn)))
            }
            Address::Speaker(..) => false,
        }
    }
}
