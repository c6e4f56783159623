//! What exports take.

use sayso_model::{OutputId, ProjectId, SessionId, SpeakerId};

use super::Oracle;
use super::state::State;
use crate::archive::{ArchivedEntry, ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker};
use crate::error::StoreError;
use crate::query::{Output, Scope, Session};
use crate::salvage::{Salvage, Salvaged, Trace};

impl State {
    pub(super) fn archived_project(&self, scope: &Scope, id: ProjectId) -> Vec<ArchivedProject> {
        let mut found: Vec<ProjectId> = vec![self.resolve(id)];
        found.retain(|id| self.projects.contains_key(id) && scope.sees(*id));
        let mut at = 0;
        while let Some(into) = found.get(at).copied() {
            let merged = self.projects.iter().filter(|(_, p)| p.merged_into == Some(into));
            found.extend(merged.map(|(id, _)| *id));
            at += 1;
        }
        found.into_iter().filter_map(|id| self.one_archived_project(id)).collect()
    }

    fn one_archived_project(&self, id: ProjectId) -> Option<ArchivedProject> {
        let project = self.projects.get(&id)?;
        let aliases = self.project_aliases.iter().filter(|(_, owner)| **owner == id);
        Some(ArchivedProject {
            id,
            name: project.name.clone(),
            created_at: project.created_at,
            merged_into: project.merged_into,
            aliases: aliases.map(|(alias, _)| alias.clone()).collect(),
        })
    }

    pub(super) fn archived_session(&self, scope: &Scope, id: SessionId) -> Option<ArchivedSession> {
        let session = self.sessions.get(&id).filter(|s| scope.sees(s.project))?;
        let begin = self.beginnings.get(&id)?;
        let renamed =
            self.entries_of(&Scope::All, id).any(|e| e.body.mark().is_some_and(|m| m.title.is_some()));
        let aliases = self.session_aliases.iter().filter(|(_, owner)| **owner == id);
        Some(ArchivedSession {
            id,
            ledger: begin.ledger,
            first_project: begin.project,
            project: session.project,
            kind: session.kind,
            channel: session.channel.clone(),
            created_at: session.created_at,
            first_title: begin.title,
            title: begin.salt.filter(|_| !renamed).map(|salt| (session.title.clone(), salt)),
            fork: session.fork.zip(begin.fork_hash),
            aliases: aliases.map(|((_, alias), _)| alias.clone()).collect(),
            last_seq: session.last_seq,
            head: session.head,
        })
    }

    pub(super) fn archived_speaker(&self, scope: &Scope, id: SpeakerId) -> Option<ArchivedSpeaker> {
        let speaker = self.visible_speaker(scope, id)?;
        Some(ArchivedSpeaker { speaker, salt: *self.speaker_salts.get(&id)? })
    }

    pub(super) fn archived_entries(
        &self,
        scope: &Scope,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> Vec<ArchivedEntry> {
        let later = self.entries_of(scope, session).filter(|e| e.seq > after).take(limit);
        let records = later.filter_map(|e| self.entries.get(&e.id));
        records
            .map(|r| ArchivedEntry {
                entry: r.entry.clone(),
                salts: r.salts.clone(),
                commitments: r.commitments.clone(),
            })
            .collect()
    }

    pub(super) fn traces(&self) -> Vec<Trace> {
        let sessions = self.sessions.values();
        let trace = |s: &Session| {
            let first = s.fork.map_or(0, |fork| fork.seq) + 1;
            Trace { session: s.id, first, last: s.last_seq }
        };
        sessions.map(trace).collect()
    }

    pub(super) fn salvage(&self, session: SessionId, first: u64, last: u64) -> Vec<Salvaged> {
        let most = usize::try_from((last + 1).saturating_sub(first)).unwrap_or(usize::MAX);
        let found = self.archived_entries(&Scope::All, session, first.saturating_sub(1), most);
        found.into_iter().map(|entry| Salvaged::Whole(Box::new(entry))).collect()
    }

    pub(super) fn archived_keys(
        &self,
        scope: &Scope,
        session: SessionId,
        after: (&str, &str),
        limit: usize,
    ) -> Vec<ArchivedKey> {
        let visible = self.sessions.get(&session).is_some_and(|s| scope.sees(s.project));
        let own = self
            .keys
            .iter()
            .filter(|((s, kind, value), _)| visible && *s == session && (*kind, value.as_str()) > after);
        let whole = own.filter_map(|((session, kind, value), record)| {
            Some(ArchivedKey {
                session: *session,
                kind: (*kind).to_owned(),
                value: value.clone(),
                salt: record.salt?,
                content: record.content,
                entry: record.entry,
            })
        });
        whole.take(limit).collect()
    }

    pub(super) fn archived_outputs(
        &self,
        scope: &Scope,
        session: SessionId,
        after: Option<OutputId>,
        limit: usize,
    ) -> Vec<Output> {
        let own = self.outputs.values().filter(|o| o.session == session && scope.sees(o.project));
        own.filter(|o| after.is_none_or(|after| o.id > after)).take(limit).cloned().collect()
    }
}

/// Nothing in memory is ever damaged.
impl Salvage for Oracle {
    fn traces(&self, scope: &Scope) -> Result<Vec<Trace>, StoreError> {
        whole(scope)?;
        Ok(self.state().traces())
    }

    fn salvage_session(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Result<Result<ArchivedSession, String>, StoreError> {
        whole(scope)?;
        let found = self.state().archived_session(scope, session);
        Ok(found.ok_or_else(|| "its row is missing".to_owned()))
    }

    fn salvage(
        &self,
        scope: &Scope,
        session: SessionId,
        first: u64,
        last: u64,
    ) -> Result<Vec<Salvaged>, StoreError> {
        whole(scope)?;
        Ok(self.state().salvage(session, first, last))
    }
}

fn whole(scope: &Scope) -> Result<(), StoreError> {
    match scope {
        Scope::All => Ok(()),
        Scope::Projects(_) => Err(StoreError::NeedsWholeLedger),
    }
}
