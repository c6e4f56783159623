//! The in-memory oracle: the contract in plain collections, with no SQL. Tests compare every backend with it.
//!
//! It is written for being right at a glance, not for speed: a batch works on a copy of everything, and the copy takes
//! the original's place when all of it went well.

mod apply;
mod archive;
mod erase;
mod grow;
mod life;
mod lookup;
mod output;
mod read;
mod redact;
mod reinject;
mod relay;
mod restore;
mod search;
mod state;

use std::io::{Read, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use sayso_model::{
    Address, Compaction, Delivery, DeliveryId, Digest, Entry, EntryId, Lease, LedgerId, Mark, OutputId,
    ProjectId, Request, RequestId, SessionId, Speaker, SpeakerId, SpeakerKind, UtcMs,
};

use crate::archive::{ArchivedEntry, ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker};
use crate::command::{Batch, Done, Placed};
use crate::erase::{Erase, Erasing};
use crate::error::StoreError;
use crate::grow::{GrowingOutput, StartOutput};
use crate::query::{
    Blob, Collected, KnownKeys, Lookup, OpenStream, Output, Project, Report, Scope, Session, Store,
    StreamKind, Waiting,
};
use crate::relay::{Deliveries, Requests};
use crate::search::{Hit, Progress, Search};
use state::State;

/// A ledger in memory.
#[derive(Debug)]
pub struct Oracle(Mutex<State>);

impl Oracle {
    /// An empty ledger with this id.
    #[must_use]
    pub fn new(ledger: LedgerId) -> Self {
        Self(Mutex::new(State::new(ledger)))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A state is replaced whole, so a panic elsewhere cannot have left half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Store for Oracle {
    fn ledger(&self) -> LedgerId {
        self.state().ledger
    }

    fn write(&self, batch: &Batch) -> Result<Vec<Done>, StoreError> {
        let mut state = self.state();
        let (next, done) = apply::batch(&state, batch)?;
        *state = next;
        Ok(done)
    }

    fn put_blob(&self, bytes: &mut dyn Read) -> Result<Blob, StoreError> {
        let mut whole = Vec::new();
        bytes.read_to_end(&mut whole).map_err(|e| io("reading the bytes to store", e))?;
        let blob = Blob { hash: Digest(*blake3::hash(&whole).as_bytes()), bytes: whole.len() as u64 };
        let mut state = self.state();
        state.blobs.insert(blob.hash, whole);
        state.loose.remove(&blob.hash);
        Ok(blob)
    }

    fn start_output(self: Arc<Self>, start: StartOutput) -> Result<Box<dyn GrowingOutput>, StoreError> {
        grow::start(self, start)
    }

    fn collect(&self, now: UtcMs, grace: Duration) -> Result<Collected, StoreError> {
        Ok(self.state().collect(now, grace))
    }

    fn projects(&self, scope: &Scope) -> Result<Vec<Project>, StoreError> {
        Ok(self.state().projects(scope))
    }

    fn project(&self, scope: &Scope, id: ProjectId) -> Result<Option<Project>, StoreError> {
        let state = self.state();
        let id = state.resolve(id);
        Ok(state.projects(scope).into_iter().find(|p| p.id == id))
    }

    fn find_projects(&self, scope: &Scope, lookup: &Lookup) -> Result<Vec<Project>, StoreError> {
        Ok(self.state().find_projects(scope, lookup))
    }

    fn sessions(&self, scope: &Scope, project: Option<ProjectId>) -> Result<Vec<Session>, StoreError> {
        let state = self.state();
        Ok(state.sessions(scope, project.map(|p| state.resolve(p))))
    }

    fn session(&self, scope: &Scope, id: SessionId) -> Result<Option<Session>, StoreError> {
        Ok(self.state().sessions(scope, None).into_iter().find(|s| s.id == id))
    }

    fn find_sessions(
        &self,
        scope: &Scope,
        project: Option<ProjectId>,
        lookup: &Lookup,
    ) -> Result<Vec<Session>, StoreError> {
        let state = self.state();
        Ok(state.find_sessions(scope, project.map(|p| state.resolve(p)), lookup))
    }

    fn speaker(&self, scope: &Scope, id: SpeakerId) -> Result<Option<Speaker>, StoreError> {
        Ok(self.state().visible_speaker(scope, id))
    }

    fn find_speaker(&self, kind: SpeakerKind, name: &str) -> Result<Option<SpeakerId>, StoreError> {
        Ok(self.state().speaker_named(kind, name))
    }

    fn entry(&self, scope: &Scope, id: EntryId) -> Result<Option<Entry>, StoreError> {
        Ok(self.state().entry(scope, id).map(|r| r.entry.clone()))
    }

    fn superseding(&self, scope: &Scope, of: EntryId) -> Result<Option<Placed>, StoreError> {
        Ok(self.state().superseding(scope, of))
    }

    fn quotes_of(&self, scope: &Scope, turn: EntryId) -> Result<Vec<Placed>, StoreError> {
        Ok(self.state().quotes_of(scope, turn))
    }

    fn pinned(&self, scope: &Scope, session: SessionId) -> Result<Vec<Placed>, StoreError> {
        Ok(self.state().pinned(scope, session))
    }

    fn find_entries(&self, scope: &Scope, suffix: &str, limit: usize) -> Result<Vec<Placed>, StoreError> {
        Ok(self.state().find_entries(scope, suffix, limit))
    }

    fn entries(
        &self,
        scope: &Scope,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        let state = self.state();
        let later = state.view_of(scope, session).into_iter().filter(|e| e.seq > after);
        Ok(later.take(limit).cloned().collect())
    }

    fn latest_compaction(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Result<Option<(Placed, Compaction)>, StoreError> {
        Ok(self.state().latest_compaction(scope, session))
    }

    fn quotes(&self, scope: &Scope, session: SessionId, through: u64) -> Result<Vec<Entry>, StoreError> {
        let state = self.state();
        let quoting = state
            .view_of(scope, session)
            .into_iter()
            .filter(|e| e.seq <= through && e.turn().is_some_and(|t| t.quote.is_some()));
        Ok(quoting.cloned().collect())
    }

    fn waiting(&self, scope: &Scope, session: Option<SessionId>) -> Result<Vec<Waiting>, StoreError> {
        Ok(self.state().waiting(scope, session))
    }

    fn marks(&self, scope: &Scope, of: EntryId) -> Result<Vec<Mark>, StoreError> {
        Ok(self.state().marks(scope, of))
    }

    fn known(&self, scope: &Scope, session: SessionId, key: &str) -> Result<Option<Placed>, StoreError> {
        Ok(self.state().known(scope, session, key))
    }

    fn known_keys(
        &self,
        scope: &Scope,
        session: SessionId,
        most: usize,
    ) -> Result<Option<KnownKeys>, StoreError> {
        Ok(self.state().known_keys(scope, session, most))
    }

    fn output(&self, scope: &Scope, id: OutputId) -> Result<Option<Output>, StoreError> {
        Ok(self.state().output(scope, id).cloned())
    }

    fn find_outputs(&self, scope: &Scope, suffix: &str, limit: usize) -> Result<Vec<OutputId>, StoreError> {
        Ok(self.state().find_outputs(scope, suffix, limit))
    }

    fn read_output(
        &self,
        scope: &Scope,
        id: OutputId,
        stream: StreamKind,
        to: &mut dyn Write,
    ) -> Result<bool, StoreError> {
        let state = self.state();
        let Some(bytes) = state.stream(scope, id, stream) else {
            return Ok(false);
        };
        to.write_all(bytes).map_err(|e| io("writing an output out", e))?;
        Ok(true)
    }

    fn open_stream(
        &self,
        scope: &Scope,
        id: OutputId,
        stream: StreamKind,
    ) -> Result<Option<OpenStream>, StoreError> {
        Ok(self.state().open_stream(scope, id, stream))
    }

    fn read_stream(
        &self,
        scope: &Scope,
        stream: &OpenStream,
        from: u64,
        most: usize,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(self.state().read_stream(scope, stream, from, most))
    }

    fn search(&self, scope: &Scope, search: &Search) -> Result<Vec<Hit>, StoreError> {
        Ok(self.state().search(scope, search))
    }

    fn index(&self, _limit: usize) -> Result<Progress, StoreError> {
        Ok(Progress::default())
    }

    fn index_at_once(&self, _limit: usize) -> Result<Option<Progress>, StoreError> {
        Ok(Some(Progress::default()))
    }

    fn reindex(&self) -> Result<(), StoreError> {
        Ok(())
    }

    fn erase(&self, erase: &Erase, _steps: usize) -> Result<Erasing, StoreError> {
        let mut state = self.state();
        *state = erase::erase(&state, erase)?;
        Ok(Erasing::Done)
    }

    fn go_on_erasing(&self, scope: &Scope, _steps: usize) -> Result<Erasing, StoreError> {
        match scope {
            Scope::All => Ok(Erasing::Done),
            Scope::Projects(_) => Err(StoreError::NeedsWholeLedger),
        }
    }

    fn was_erased(&self, scope: &Scope, address: &Address) -> Result<bool, StoreError> {
        Ok(self.state().was_erased(scope, address))
    }

    fn backup(&self, scope: &Scope, _to: &Path) -> Result<(), StoreError> {
        match scope {
            Scope::All => Err(StoreError::NoFile),
            Scope::Projects(_) => Err(StoreError::NeedsWholeLedger),
        }
    }

    fn purge(&self) -> Result<bool, StoreError> {
        Ok(true)
    }

    fn verify(&self, scope: &Scope) -> Result<Report, StoreError> {
        match scope {
            Scope::All => Ok(self.state().report()),
            Scope::Projects(_) => Err(StoreError::NeedsWholeLedger),
        }
    }

    fn hash_at(&self, scope: &Scope, session: SessionId, seq: u64) -> Result<Option<Digest>, StoreError> {
        Ok(self.state().hash_at(scope, session, seq))
    }

    fn archived_project(&self, scope: &Scope, id: ProjectId) -> Result<Vec<ArchivedProject>, StoreError> {
        Ok(self.state().archived_project(scope, id))
    }

    fn archived_session(&self, scope: &Scope, id: SessionId) -> Result<Option<ArchivedSession>, StoreError> {
        Ok(self.state().archived_session(scope, id))
    }

    fn archived_speaker(&self, scope: &Scope, id: SpeakerId) -> Result<Option<ArchivedSpeaker>, StoreError> {
        Ok(self.state().archived_speaker(scope, id))
    }

    fn archived_entries(
        &self,
        scope: &Scope,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ArchivedEntry>, StoreError> {
        Ok(self.state().archived_entries(scope, session, after, limit))
    }

    fn archived_keys(
        &self,
        scope: &Scope,
        session: SessionId,
        after: (&str, &str),
        limit: usize,
    ) -> Result<Vec<ArchivedKey>, StoreError> {
        Ok(self.state().archived_keys(scope, session, after, limit))
    }

    fn archived_outputs(
        &self,
        scope: &Scope,
        session: SessionId,
        after: Option<OutputId>,
        limit: usize,
    ) -> Result<Vec<Output>, StoreError> {
        Ok(self.state().archived_outputs(scope, session, after, limit))
    }

    fn requests(&self, scope: &Scope, which: Requests) -> Result<Vec<Request>, StoreError> {
        Ok(self.state().requests(scope, which))
    }

    fn request(&self, scope: &Scope, id: RequestId) -> Result<Option<Request>, StoreError> {
        Ok(self.state().request(scope, id))
    }

    fn deliveries(&self, scope: &Scope, which: Deliveries) -> Result<Vec<Delivery>, StoreError> {
        Ok(self.state().deliveries(scope, which))
    }

    fn delivery(&self, scope: &Scope, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        Ok(self.state().delivery(scope, id))
    }

    fn find_deliveries(
        &self,
        scope: &Scope,
        suffix: &str,
        limit: usize,
    ) -> Result<Vec<DeliveryId>, StoreError> {
        Ok(self.state().find_deliveries(scope, suffix, limit))
    }

    fn cursor(&self, scope: &Scope, session: SessionId, account: &str) -> Result<Option<String>, StoreError> {
        Ok(self.state().cursor(scope, session, account))
    }

    fn leases(&self, scope: &Scope) -> Result<Vec<Lease>, StoreError> {
        Ok(self.state().leases(scope))
    }
}

fn io(context: &'static str, error: std::io::Error) -> StoreError {
    StoreError::Storage { context, cause: Box::new(error) }
}
