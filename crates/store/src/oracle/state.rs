//! What the oracle holds.

use std::collections::{BTreeMap, BTreeSet};

use sayso_model::canon::commit;
use sayso_model::form::{self, Genesis, Link};
use sayso_model::{
    Address, Digest, Entry, EntryBody, EntryId, LedgerId, OutputId, ProjectId, Salt, SessionId, Speaker,
    SpeakerId, UtcMs,
};

use super::relay::Relay;
use crate::command::{Alias, Placed};
use crate::content::lasting;
use crate::query::{Output, Session, StreamKind};

/// Everything in a ledger.
#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) ledger: LedgerId,
    pub(super) projects: BTreeMap<ProjectId, ProjectState>,
    pub(super) project_aliases: BTreeMap<Alias, ProjectId>,
    pub(super) sessions: BTreeMap<SessionId, Session>,
    pub(super) session_aliases: BTreeMap<(ProjectId, Alias), SessionId>,
    /// What the beginnings of the sessions were taken over.
    pub(super) beginnings: BTreeMap<SessionId, Beginning>,
    pub(super) speakers: BTreeMap<SpeakerId, (Speaker, Digest)>,
    pub(super) speaker_salts: BTreeMap<SpeakerId, Salt>,
    /// Speakers that came beside another one of the same kind and name.
    pub(super) namesakes: BTreeSet<SpeakerId>,
    pub(super) entries: BTreeMap<EntryId, Record>,
    pub(super) order: BTreeMap<(SessionId, u64), EntryId>,
    /// All entries in the order they were appended.
    pub(super) arrived: Vec<EntryId>,
    pub(super) keys: BTreeMap<(SessionId, &'static str, String), KeyRecord>,
    pub(super) outputs: BTreeMap<OutputId, Output>,
    pub(super) blobs: BTreeMap<Digest, Vec<u8>>,
    /// The bytes of streams that are still being written.
    pub(super) growing: BTreeMap<(OutputId, StreamKind), Vec<u8>>,
    /// Blobs that nothing refers to, and when a collection first saw that.
    pub(super) loose: BTreeMap<Digest, UtcMs>,
    pub(super) erased: BTreeSet<Gone>,
    pub(super) relay: Relay,
}

/// What was erased, and does not come back.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Gone {
    Project(ProjectId),
    Session(SessionId),
    Entry(EntryId),
    Alias(Alias),
    Output(OutputId),
}

/// What a session's beginning was taken over, beside its row.
#[derive(Debug, Clone)]
pub(super) struct Beginning {
    pub(super) ledger: LedgerId,
    pub(super) project: ProjectId,
    pub(super) title: Digest,
    /// The salt of the first title.
    pub(super) salt: Option<Salt>,
    pub(super) fork_hash: Option<Digest>,
}

#[derive(Debug, Clone)]
pub(super) struct ProjectState {
    pub(super) name: String,
    pub(super) created_at: UtcMs,
    pub(super) merged_into: Option<ProjectId>,
}

/// An entry with what its hash was taken over.
#[derive(Debug, Clone)]
pub(super) struct Record {
    pub(super) entry: Entry,
    pub(super) commitments: Vec<Digest>,
    /// Gone with the texts.
    pub(super) salts: Vec<Option<Salt>>,
}

/// What was written under a key.
#[derive(Debug, Clone)]
pub(super) struct KeyRecord {
    /// Gone with the text; whatever comes under the key is then taken for what was written.
    pub(super) salt: Option<Salt>,
    pub(super) content: Digest,
    pub(super) entry: EntryId,
}

/// What stands for a key whose words were taken away.
pub(super) fn forgotten(key: &str) -> String {
    format!("forgotten {}", lasting(key))
}

impl KeyRecord {
    pub(super) fn is_for(&self, content: &[u8]) -> bool {
        self.salt.is_none_or(|salt| commit(&salt, content) == self.content)
    }
}

impl State {
    pub(super) fn new(ledger: LedgerId) -> Self {
        Self {
            ledger,
            projects: BTreeMap::new(),
            project_aliases: BTreeMap::new(),
            sessions: BTreeMap::new(),
            session_aliases: BTreeMap::new(),
            beginnings: BTreeMap::new(),
            speakers: BTreeMap::new(),
            speaker_salts: BTreeMap::new(),
            namesakes: BTreeSet::new(),
            entries: BTreeMap::new(),
            order: BTreeMap::new(),
            arrived: Vec::new(),
            keys: BTreeMap::new(),
            outputs: BTreeMap::new(),
            blobs: BTreeMap::new(),
            growing: BTreeMap::new(),
            loose: BTreeMap::new(),
            erased: BTreeSet::new(),
            relay: Relay::default(),
        }
    }

    /// The project that an id leads to: its own, or the one that it was merged into.
    pub(super) fn resolve(&self, mut id: ProjectId) -> ProjectId {
        while let Some(into) = self.projects.get(&id).and_then(|p| p.merged_into) {
            id = into;
        }
        id
    }

    /// What was written under a key, also where its words were taken away since.
    pub(super) fn under_key(&self, session: SessionId, kind: &'static str, key: &str) -> Option<&KeyRecord> {
        let of = |value: String| self.keys.get(&(session, kind, value));
        of(key.to_owned()).or_else(|| of(forgotten(key)))
    }

    pub(super) fn name_commitment(&self, id: SpeakerId) -> Digest {
        self.speakers.get(&id).map_or(Digest::ZERO, |(_, name)| *name)
    }

    pub(super) fn placed(&self, id: EntryId) -> Option<Placed> {
        let entry = &self.entries.get(&id)?.entry;
        Some(Placed { id, project: entry.project, session: entry.session, seq: entry.seq, hash: entry.hash })
    }

    pub(super) fn turn_address(&self, entry: &Entry) -> Address {
        Address::Turn(self.ledger, entry.project, entry.session, entry.id, None)
    }

    /// The hash of a session's beginning.
    pub(super) fn genesis(&self, session: &Session, beginning: &Beginning) -> Digest {
        form::genesis(&Genesis {
            ledger: beginning.ledger,
            project: beginning.project,
            session: session.id,
            kind: session.kind,
            channel: session.channel.as_deref(),
            title: beginning.title,
            created_at: session.created_at,
            fork: session.fork.zip(beginning.fork_hash).map(|(f, hash)| (f.session, f.seq, hash)),
        })
    }

    pub(super) fn entry_at(&self, link: &Link, hash: Digest, body: EntryBody) -> Entry {
        let Link { session, seq, id, recorded_at, .. } = *link;
        let project = self.sessions.get(&session).map_or(ProjectId::from_u128(0), |s| s.project);
        Entry { id, project, session, seq, recorded_at, hash, body }
    }

    pub(super) fn add_speaker(&mut self, speaker: Speaker, salt: Salt) {
        let (id, name) = (speaker.id, commit(&salt, speaker.name.as_bytes()));
        match self.speaker_named(speaker.kind, &speaker.name) {
            Some(_) => self.namesakes.insert(id),
            None => self.namesakes.remove(&id),
        };
        self.speakers.insert(id, (speaker, name));
        self.speaker_salts.insert(id, salt);
    }
}
