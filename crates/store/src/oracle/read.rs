//! The oracle's reads.

use sayso_model::{
    Address, Compaction, Digest, Entry, EntryBody, EntryId, Mark, MarkKind, OutputId, ProjectId, SessionId,
    Speaker, SpeakerId, SpeakerKind,
};

use super::state::{Record, State};
use crate::command::{Alias, Placed};
use crate::content::kind;
use crate::query::{
    KnownKeys, Lookup, Output, Project, Report, Scope, Session, SessionHead, StreamKind, Waiting,
};

impl State {
    pub(super) fn projects(&self, scope: &Scope) -> Vec<Project> {
        let visible = self.projects.iter().filter(|(id, p)| p.merged_into.is_none() && scope.sees(**id));
        visible
            .map(|(id, project)| {
                let own = || self.sessions.values().filter(|s| s.project == *id);
                Project {
                    id: *id,
                    name: project.name.clone(),
                    created_at: project.created_at,
                    turns: own().map(|s| s.turns).sum(),
                    last_at: own().filter_map(|s| s.last_at).max(),
                }
            })
            .collect()
    }

    pub(super) fn find_projects(&self, scope: &Scope, lookup: &Lookup) -> Vec<Project> {
        let aliases = |id: ProjectId| {
            self.project_aliases.iter().filter(move |(_, owner)| **owner == id).map(|(alias, _)| alias)
        };
        let mut found = self.projects(scope);
        found.retain(|p| matches_lookup(lookup, &p.id.to_string(), &p.name, aliases(p.id)));
        found
    }

    pub(super) fn sessions(&self, scope: &Scope, project: Option<ProjectId>) -> Vec<Session> {
        let visible = self.sessions.values().filter(|s| scope.sees(s.project));
        visible.filter(|s| project.is_none_or(|p| p == s.project)).cloned().collect()
    }

    pub(super) fn find_sessions(
        &self,
        scope: &Scope,
        project: Option<ProjectId>,
        lookup: &Lookup,
    ) -> Vec<Session> {
        let aliases = |id: SessionId| {
            self.session_aliases.iter().filter(move |(_, owner)| **owner == id).map(|((_, alias), _)| alias)
        };
        let mut found = self.sessions(scope, project);
        found.retain(|s| matches_lookup(lookup, &s.id.to_string(), &s.title, aliases(s.id)));
        found
    }

    pub(super) fn speaker_named(&self, kind: SpeakerKind, name: &str) -> Option<SpeakerId> {
        let mut speakers = self.speakers.values().map(|(speaker, _)| speaker);
        speakers.find(|s| !self.namesakes.contains(&s.id) && s.kind == kind && s.name == name).map(|s| s.id)
    }

    pub(super) fn visible_speaker(&self, scope: &Scope, id: SpeakerId) -> Option<Speaker> {
        let (speaker, _) = self.speakers.get(&id)?;
        let mut visible = self.entries.values().filter(|r| scope.sees(r.entry.project));
        let seen = *scope == Scope::All || visible.any(|r| speaks(&r.entry, id));
        seen.then(|| speaker.clone())
    }

    pub(super) fn entry(&self, scope: &Scope, id: EntryId) -> Option<&Record> {
        self.entries.get(&id).filter(|r| scope.sees(r.entry.project))
    }

    pub(super) fn entries_of(&self, scope: &Scope, session: SessionId) -> impl Iterator<Item = &Entry> {
        let visible = self.sessions.get(&session).is_some_and(|s| scope.sees(s.project));
        let range = self.order.range((session, 0)..=(session, u64::MAX));
        range.filter(move |_| visible).filter_map(|(_, id)| self.entries.get(id)).map(|r| &r.entry)
    }

    pub(super) fn superseding(&self, scope: &Scope, of: EntryId) -> Option<Placed> {
        self.entry(scope, of)?;
        let mut turns = self.entries.values().filter_map(|r| Some((r.entry.id, r.entry.turn()?)));
        turns.find(|(_, turn)| turn.supersedes == Some(of)).and_then(|(id, _)| self.placed(id))
    }

    pub(super) fn quotes_of(&self, scope: &Scope, turn: EntryId) -> Vec<Placed> {
        let of = |e: &Entry| match e.turn().and_then(|t| t.quote.as_ref()).map(|q| q.origin.address) {
            Some(Address::Turn(_, _, _, origin, _)) => origin == turn,
            _ => false,
        };
        let visible = self.order.values().filter_map(|id| self.entry(scope, *id));
        visible.filter(|r| of(&r.entry)).filter_map(|r| self.placed(r.entry.id)).collect()
    }

    pub(super) fn pinned(&self, scope: &Scope, session: SessionId) -> Vec<Placed> {
        let entries = self.view_of(scope, session).into_iter().filter(|e| self.is_pinned(e.id));
        entries.filter_map(|e| self.placed(e.id)).collect()
    }

    pub(super) fn is_pinned(&self, of: EntryId) -> bool {
        let marks = self.marks(&Scope::All, of);
        marks.iter().rfind(|m| m.kind.is_pin()).is_some_and(|m| m.kind == MarkKind::Pinned)
    }

    /// The entries of a session with those of the beginning that it shares.
    pub(super) fn view_of(&self, scope: &Scope, session: SessionId) -> Vec<&Entry> {
        let mut before = match self.sessions.get(&session).and_then(|s| s.fork) {
            Some(fork) => self.view_of(scope, fork.session),
            None => Vec::new(),
        };
        let through = self.sessions.get(&session).and_then(|s| s.fork).map_or(0, |fork| fork.seq);
        before.retain(|e| e.seq <= through);
        before.extend(self.entries_of(scope, session));
        before
    }

    pub(super) fn find_entries(&self, scope: &Scope, suffix: &str, limit: usize) -> Vec<Placed> {
        let visible = self.entries.iter().filter(|(_, r)| scope.sees(r.entry.project));
        let found = visible.filter(|(id, _)| id.to_string().ends_with(suffix));
        found.filter_map(|(id, _)| self.placed(*id)).take(limit).collect()
    }

    pub(super) fn latest_compaction(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Option<(Placed, Compaction)> {
        let mut compactions = self.view_of(scope, session).into_iter().filter_map(|e| match &e.body {
            EntryBody::Compaction(compaction) => Some((e.id, compaction)),
            EntryBody::Turn(_) | EntryBody::Reinjection(_) | EntryBody::Mark(_) => None,
        });
        let (id, compaction) = compactions.next_back()?;
        Some((self.placed(id)?, compaction.clone()))
    }

    pub(super) fn waiting(&self, scope: &Scope, session: Option<SessionId>) -> Vec<Waiting> {
        let sessions = self.sessions(scope, None).into_iter().map(|s| s.id);
        let wanted = sessions.filter(|id| session.is_none_or(|s| s == *id));
        let turns = wanted.flat_map(|id| self.entries_of(scope, id));
        let quoting = turns.filter(|e| e.turn().is_some_and(|t| t.quote.is_some()));
        quoting
            .map(|e| Waiting { entry: e.clone(), state: self.reached(scope, e.id) })
            .filter(|w| w.state != Some(MarkKind::InContext))
            .collect()
    }

    fn reached(&self, scope: &Scope, of: EntryId) -> Option<MarkKind> {
        self.marks(scope, of).iter().map(|m| m.kind).rfind(|kind| kind.is_delivery())
    }

    pub(super) fn marks(&self, scope: &Scope, of: EntryId) -> Vec<Mark> {
        let Some(record) = self.entry(scope, of) else { return Vec::new() };
        let entries = self.entries_of(scope, record.entry.session);
        let marks = entries.filter_map(|e| match &e.body {
            EntryBody::Mark(mark) => Some(mark),
            EntryBody::Turn(_) | EntryBody::Compaction(_) | EntryBody::Reinjection(_) => None,
        });
        marks.filter(|m| m.of == Some(of)).cloned().collect()
    }

    pub(super) fn known(&self, scope: &Scope, session: SessionId, key: &str) -> Option<Placed> {
        self.sessions.get(&session).filter(|s| scope.sees(s.project))?;
        let kinds = [kind::TURN, kind::COMPACT, kind::REINJECT];
        let mut found = kinds.iter().filter_map(|kind| self.under_key(session, kind, key));
        found.next().and_then(|record| self.placed(record.entry))
    }

    pub(super) fn known_keys(&self, scope: &Scope, session: SessionId, most: usize) -> Option<KnownKeys> {
        self.sessions.get(&session).filter(|s| scope.sees(s.project))?;
        let mut known = KnownKeys::default();
        let kinds = [kind::TURN, kind::COMPACT, kind::REINJECT];
        let of =
            |word: &'static str| self.keys.iter().filter(move |((s, k, _), _)| *s == session && *k == word);
        let all: Vec<_> = kinds.into_iter().flat_map(of).collect();
        for ((_, _, value), record) in all.iter().filter(|(_, record)| record.salt.is_some()) {
            if let Some(placed) = self.placed(record.entry) {
                known.placed.entry(value.clone()).or_insert(placed);
            }
        }
        known.forgotten = all.iter().any(|(_, record)| record.salt.is_none());
        (all.len() <= most).then_some(known)
    }

    pub(super) fn output(&self, scope: &Scope, id: OutputId) -> Option<&Output> {
        self.outputs.get(&id).filter(|o| scope.sees(o.project))
    }

    pub(super) fn find_outputs(&self, scope: &Scope, suffix: &str, limit: usize) -> Vec<OutputId> {
        let visible = self.outputs.values().filter(|o| scope.sees(o.project));
        visible.map(|o| o.id).filter(|id| id.to_string().ends_with(suffix)).take(limit).collect()
    }

    pub(super) fn stream(&self, scope: &Scope, id: OutputId, kind: StreamKind) -> Option<&[u8]> {
        let output = self.output(scope, id)?;
        let stream = output.streams.iter().find(|s| s.kind == kind)?;
        if output.growing {
            return self.growing.get(&(id, kind)).map(Vec::as_slice);
        }
        self.blobs.get(&stream.blob.hash).map(Vec::as_slice)
    }

    pub(super) fn report(&self) -> Report {
        let heads = self.sessions.values().map(|s| SessionHead {
            project: s.project,
            session: s.id,
            seq: s.last_seq,
            hash: s.head,
        });
        Report { entries: self.entries.len() as u64, heads: heads.collect(), problems: Vec::new() }
    }

    pub(super) fn hash_at(&self, scope: &Scope, session: SessionId, seq: u64) -> Option<Digest> {
        let row = self.sessions.get(&session).filter(|s| scope.sees(s.project))?;
        match self.view_of(scope, session).iter().find(|e| e.seq == seq) {
            Some(entry) => Some(entry.hash),
            None if seq == 0 && row.last_seq == 0 => Some(row.head),
            None => None,
        }
    }
}

fn matches_lookup<'a>(
    lookup: &Lookup,
    id: &str,
    name: &str,
    mut aliases: impl Iterator<Item = &'a Alias>,
) -> bool {
    match lookup {
        Lookup::Alias(alias) => aliases.any(|a| a == alias),
        Lookup::Name(wanted) if wanted.is_empty() => false,
        Lookup::Name(wanted) => name == wanted || aliases.any(|a| a.value == *wanted),
        Lookup::Suffix(suffix) => id.ends_with(suffix.as_str()),
    }
}

/// Whether a speaker stands anywhere in an entry.
pub(super) fn speaks(entry: &Entry, id: SpeakerId) -> bool {
    match &entry.body {
        EntryBody::Turn(turn) => {
            let parts = turn.parts.iter().filter_map(|p| p.by.as_ref());
            let quote = turn.quote.iter().flat_map(|q| {
                let hops = q.hops.iter().map(|h| &h.by);
                [&q.speaker, &q.forwarded_by].into_iter().chain(hops)
            });
            std::iter::once(&turn.speaker).chain(parts).chain(quote).any(|s| s.id == id)
        }
        EntryBody::Compaction(compaction) => compaction.speaker.id == id,
        EntryBody::Mark(_) | EntryBody::Reinjection(_) => false,
    }
}
