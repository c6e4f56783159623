//! The store: its connections, and the contract's methods on them.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rusqlite::Connection;
use sayso_model::{
    Address, Compaction, Delivery, DeliveryId, Digest, Entry, EntryId, Lease, LedgerId, Mark, OutputId,
    ProjectId, Request, RequestId, SessionId, Speaker, SpeakerId, SpeakerKind, UtcMs,
};
use sayso_store::{
    ArchivedEntry, ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker, Batch, Blob, Collected,
    Deliveries, Done, Erase, Erasing, GrowingOutput, Hit, KnownKeys, Lookup, OpenStream, Output, Placed,
    Progress, Project, Report, Requests, Scope, Search, Session, StartOutput, Store, StoreError, StreamKind,
    Waiting,
};

use crate::fault::Fault;
use crate::group::{Group, Writer};
use crate::open::{self, Role};
use crate::options::{Connections, Options};
use crate::read::{archive, find, key, output, relay, turns};
use crate::search::index::Bounds;
use crate::tx::Tx;
use crate::write::Memory;
use crate::{backup, blob, busy, erase, search, verify};

/// Connections for reading that are kept for the next read.
const KEPT_READERS: usize = 4;

/// A ledger in a SQLite file.
///
/// ```
/// use sayso_model::{LedgerId, UtcMs};
/// use sayso_sqlite::{Options, SqliteStore};
/// use sayso_store::{Scope, Store};
///
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("ledger.sayso");
/// let store = SqliteStore::open(&path, &Options::new(LedgerId::from_u128(1), UtcMs(0)))?;
/// assert_eq!(store.ledger(), LedgerId::from_u128(1));
/// assert!(store.projects(&Scope::All)?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    options: Options,
    ledger: LedgerId,
    writer: Mutex<Writer>,
    group: Group,
    readers: Mutex<Vec<Connection>>,
}

impl SqliteStore {
    /// Opens a ledger; made, or brought up to this program's schema, where needed.
    ///
    /// # Errors
    ///
    /// [`StoreError::Missing`] where there is no file and none is to be made; [`StoreError::NotALedger`] for a file of
    /// another program; [`StoreError::Future`] for a ledger of a newer one; [`StoreError::Denied`], [`StoreError::Busy`],
    /// [`StoreError::Full`], [`StoreError::Damaged`] and other storage errors.
    pub fn open(path: impl AsRef<Path>, options: &Options) -> Result<Self, StoreError> {
        let path = path.as_ref();
        let (writer, ledger) = open::ledger(path, options)?;
        Ok(Self {
            path: path.to_owned(),
            options: options.clone(),
            ledger,
            writer: Mutex::new(Writer { conn: writer, memory: Memory::default() }),
            group: Group::default(),
            readers: Mutex::new(Vec::new()),
        })
    }

    #[cfg(feature = "watch")]
    pub(crate) fn writer(&self) -> &Mutex<Writer> {
        &self.writer
    }

    #[cfg(feature = "watch")]
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Runs a function in a transaction that may write.
    pub(crate) fn write_with<T>(
        &self,
        context: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        self.transact(&lock(&self.writer).conn, context, work)
    }

    fn transact<T>(
        &self,
        conn: &Connection,
        context: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let run = || {
            let tx = Tx::write(conn)?;
            let done = work(conn)?;
            tx.commit()?;
            Ok(done)
        };
        run().map_err(|fault: Fault| fault.at(&self.path, context))
    }

    /// Runs a function in a transaction that may write, unless that would have to wait: `None` where somebody else is writing.
    pub(crate) fn write_at_once<T>(
        &self,
        context: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<Option<T>, StoreError> {
        let Ok(mut writer) = self.writer.try_lock() else { return Ok(None) };
        let at = |error: rusqlite::Error| Fault::from(error).at(&self.path, context);
        writer.conn.busy_timeout(Duration::ZERO).map_err(at)?;
        let done = self.transact(&writer.conn, context, work);
        writer.conn.busy_handler(Some(busy::until(self.options.wait))).map_err(at)?;
        match done {
            Err(StoreError::Busy(_)) => Ok(None),
            done => done.map(Some),
        }
    }

    /// Runs a function in a transaction that takes rows away that writers remember.
    pub(crate) fn erase_with<T>(
        &self,
        context: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let mut writer = lock(&self.writer);
        writer.memory = Memory::default();
        self.transact(&writer.conn, context, work)
    }

    /// Runs a function in a transaction that reads one state of the ledger.
    pub(crate) fn read_with<T>(
        &self,
        context: &'static str,
        work: impl FnOnce(&Connection) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let run = || {
            // Whoever holds it writes, or reads further out on this very stack.
            if let (Connections::One, Ok(writer)) = (self.options.connections, self.writer.try_lock()) {
                let tx = Tx::read(&writer.conn)?;
                let done = work(&writer.conn);
                drop(tx);
                return done;
            }
            let kept = lock(&self.readers).pop();
            let conn = kept.map_or_else(|| open::connect(&self.path, &self.options, Role::Reader), Ok)?;
            let tx = Tx::read(&conn)?;
            let done = work(&conn);
            drop(tx);
            let mut readers = lock(&self.readers);
            if readers.len() < KEPT_READERS {
                readers.push(conn);
            }
            done
        };
        run().map_err(|fault: Fault| fault.at(&self.path, context))
    }
}

impl Drop for SqliteStore {
    fn drop(&mut self) {
        // The connection that writes closes last.
        lock(&self.readers).clear();
        // A log that stays long is no reason to fail.
        let _ = open::bound_log(&lock(&self.writer).conn, &self.path);
    }
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A transaction that a panic cut off was rolled back while the stack unwound.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Store for SqliteStore {
    fn ledger(&self) -> LedgerId {
        self.ledger
    }

    fn write(&self, batch: &Batch) -> Result<Vec<Done>, StoreError> {
        let written = self.group.write(&self.writer, self.ledger, batch);
        written.map_err(|fault| fault.at(&self.path, "writing a batch"))
    }

    fn put_blob(&self, bytes: &mut dyn Read) -> Result<Blob, StoreError> {
        blob::put::put(self, bytes)
    }

    fn start_output(self: Arc<Self>, start: StartOutput) -> Result<Box<dyn GrowingOutput>, StoreError> {
        blob::grow::start(self, start)
    }

    fn collect(&self, now: UtcMs, grace: Duration) -> Result<Collected, StoreError> {
        blob::collect::collect(self, now, grace)
    }

    fn projects(&self, scope: &Scope) -> Result<Vec<Project>, StoreError> {
        self.read_with("reading projects", |conn| find::projects(conn, scope))
    }

    fn project(&self, scope: &Scope, id: ProjectId) -> Result<Option<Project>, StoreError> {
        self.read_with("reading a project", |conn| find::project(conn, scope, id))
    }

    fn find_projects(&self, scope: &Scope, lookup: &Lookup) -> Result<Vec<Project>, StoreError> {
        self.read_with("finding projects", |conn| find::find_projects(conn, scope, lookup))
    }

    fn sessions(&self, scope: &Scope, project: Option<ProjectId>) -> Result<Vec<Session>, StoreError> {
        self.read_with("reading sessions", |conn| find::sessions(conn, scope, project))
    }

    fn session(&self, scope: &Scope, id: SessionId) -> Result<Option<Session>, StoreError> {
        self.read_with("reading a session", |conn| find::session(conn, scope, id))
    }

    fn find_sessions(
        &self,
        scope: &Scope,
        project: Option<ProjectId>,
        lookup: &Lookup,
    ) -> Result<Vec<Session>, StoreError> {
        self.read_with("finding sessions", |conn| find::find_sessions(conn, scope, project, lookup))
    }

    fn speaker(&self, scope: &Scope, id: SpeakerId) -> Result<Option<Speaker>, StoreError> {
        self.read_with("reading a speaker", |conn| find::speaker(conn, scope, id))
    }

    fn find_speaker(&self, kind: SpeakerKind, name: &str) -> Result<Option<SpeakerId>, StoreError> {
        self.read_with("finding a speaker", |conn| find::find_speaker(conn, kind, name))
    }

    fn entry(&self, scope: &Scope, id: EntryId) -> Result<Option<Entry>, StoreError> {
        self.read_with("reading an entry", |conn| turns::entry(conn, scope, id))
    }

    fn superseding(&self, scope: &Scope, of: EntryId) -> Result<Option<Placed>, StoreError> {
        self.read_with("reading an edit", |conn| turns::superseding(conn, scope, of))
    }

    fn quotes_of(&self, scope: &Scope, turn: EntryId) -> Result<Vec<Placed>, StoreError> {
        self.read_with("reading quotes of a turn", |conn| turns::quotes_of(conn, scope, turn))
    }

    fn pinned(&self, scope: &Scope, session: SessionId) -> Result<Vec<Placed>, StoreError> {
        self.read_with("reading pins", |conn| turns::pinned(conn, scope, session))
    }

    fn find_entries(&self, scope: &Scope, suffix: &str, limit: usize) -> Result<Vec<Placed>, StoreError> {
        self.read_with("finding entries", |conn| turns::find_entries(conn, scope, suffix, limit))
    }

    fn entries(
        &self,
        scope: &Scope,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError> {
        self.read_with("reading entries", |conn| turns::entries(conn, scope, session, after, limit))
    }

    fn latest_compaction(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Result<Option<(Placed, Compaction)>, StoreError> {
        self.read_with("reading a compaction", |conn| turns::latest_compaction(conn, scope, session))
    }

    fn quotes(&self, scope: &Scope, session: SessionId, through: u64) -> Result<Vec<Entry>, StoreError> {
        self.read_with("reading quotes", |conn| turns::quotes(conn, scope, session, through))
    }

    fn waiting(&self, scope: &Scope, session: Option<SessionId>) -> Result<Vec<Waiting>, StoreError> {
        self.read_with("reading what waits", |conn| turns::waiting(conn, scope, session))
    }

    fn marks(&self, scope: &Scope, of: EntryId) -> Result<Vec<Mark>, StoreError> {
        self.read_with("reading marks", |conn| turns::marks(conn, scope, of))
    }

    fn known(&self, scope: &Scope, session: SessionId, key: &str) -> Result<Option<Placed>, StoreError> {
        self.read_with("reading a key", |conn| key::known(conn, scope, session, key))
    }

    fn known_keys(
        &self,
        scope: &Scope,
        session: SessionId,
        most: usize,
    ) -> Result<Option<KnownKeys>, StoreError> {
        self.read_with("reading keys", |conn| key::known_keys(conn, scope, session, most))
    }

    fn output(&self, scope: &Scope, id: OutputId) -> Result<Option<Output>, StoreError> {
        self.read_with("reading an output", |conn| output::output(conn, scope, id))
    }

    fn find_outputs(&self, scope: &Scope, suffix: &str, limit: usize) -> Result<Vec<OutputId>, StoreError> {
        self.read_with("finding outputs", |conn| output::find_outputs(conn, scope, suffix, limit))
    }

    fn read_output(
        &self,
        scope: &Scope,
        id: OutputId,
        stream: StreamKind,
        to: &mut dyn Write,
    ) -> Result<bool, StoreError> {
        self.read_with("reading an output", |conn| {
            let output = output::output(conn, scope, id)?;
            let place = output.map(|o| blob::get::locate(conn, &o, stream)).transpose()?.flatten();
            place
                .as_ref()
                .map(|place| blob::get::copy(conn, place, to))
                .transpose()
                .map(|done| done.is_some())
        })
    }

    fn open_stream(
        &self,
        scope: &Scope,
        id: OutputId,
        stream: StreamKind,
    ) -> Result<Option<OpenStream>, StoreError> {
        self.read_with("reading an output", |conn| {
            let output = output::output(conn, scope, id)?;
            let place = output.map(|o| blob::get::locate(conn, &o, stream)).transpose()?.flatten();
            let Some(place) = place else { return Ok(None) };
            let checks = blob::part::checks(conn, &place)?;
            Ok(Some(OpenStream { output: id, kind: stream, blob: place.blob, checks }))
        })
    }

    fn read_stream(
        &self,
        scope: &Scope,
        stream: &OpenStream,
        from: u64,
        most: usize,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        self.read_with("reading an output", |conn| blob::part::read(conn, scope, stream, from, most))
    }

    fn search(&self, scope: &Scope, search: &Search) -> Result<Vec<Hit>, StoreError> {
        self.catch_up()?;
        self.read_with("searching", |conn| search::query::search(conn, scope, search))
    }

    fn index(&self, limit: usize) -> Result<Progress, StoreError> {
        match self.is_indexed()? {
            true => Ok(Progress::default()),
            false => self.write_with("indexing", |conn| search::index::step(conn, Bounds::of(limit))),
        }
    }

    fn index_at_once(&self, limit: usize) -> Result<Option<Progress>, StoreError> {
        match self.is_indexed()? {
            true => Ok(Some(Progress::default())),
            false => self.write_at_once("indexing", |conn| search::index::step(conn, Bounds::of(limit))),
        }
    }

    fn reindex(&self) -> Result<(), StoreError> {
        self.write_with("making the index anew", search::index::anew)
    }

    fn erase(&self, erase: &Erase, steps: usize) -> Result<Erasing, StoreError> {
        erase::begin(self, self.ledger, erase)?;
        erase::go_on(self, steps)
    }

    fn go_on_erasing(&self, scope: &Scope, steps: usize) -> Result<Erasing, StoreError> {
        match scope {
            Scope::All => erase::go_on(self, steps),
            Scope::Projects(_) => Err(StoreError::NeedsWholeLedger),
        }
    }

    fn was_erased(&self, scope: &Scope, address: &Address) -> Result<bool, StoreError> {
        self.read_with("reading what was erased", |conn| erase::tombstone::was_erased(conn, scope, address))
    }

    fn backup(&self, scope: &Scope, to: &Path) -> Result<(), StoreError> {
        match scope {
            Scope::All => backup::backup(self, to),
            Scope::Projects(_) => Err(StoreError::NeedsWholeLedger),
        }
    }

    fn purge(&self) -> Result<bool, StoreError> {
        open::empty_log(&self.path, &self.options).map_err(|fault| fault.at(&self.path, "emptying the log"))
    }

    fn verify(&self, scope: &Scope) -> Result<Report, StoreError> {
        match scope {
            Scope::All => self.read_with("looking at everything", |conn| verify::report(conn, self.ledger)),
            Scope::Projects(_) => Err(StoreError::NeedsWholeLedger),
        }
    }

    fn hash_at(&self, scope: &Scope, session: SessionId, seq: u64) -> Result<Option<Digest>, StoreError> {
        self.read_with("reading a hash", |conn| turns::hash_at(conn, scope, session, seq))
    }

    fn archived_project(&self, scope: &Scope, id: ProjectId) -> Result<Vec<ArchivedProject>, StoreError> {
        self.read_with("exporting a project", |conn| archive::project(conn, scope, id))
    }

    fn archived_session(&self, scope: &Scope, id: SessionId) -> Result<Option<ArchivedSession>, StoreError> {
        self.read_with("exporting a session", |conn| archive::session(conn, scope, id))
    }

    fn archived_speaker(&self, scope: &Scope, id: SpeakerId) -> Result<Option<ArchivedSpeaker>, StoreError> {
        self.read_with("exporting a speaker", |conn| archive::speaker(conn, scope, id))
    }

    fn archived_entries(
        &self,
        scope: &Scope,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ArchivedEntry>, StoreError> {
        self.read_with("exporting entries", |conn| archive::entries(conn, scope, session, after, limit))
    }

    fn archived_keys(
        &self,
        scope: &Scope,
        session: SessionId,
        after: (&str, &str),
        limit: usize,
    ) -> Result<Vec<ArchivedKey>, StoreError> {
        self.read_with("exporting keys", |conn| archive::keys(conn, scope, session, after, limit))
    }

    fn archived_outputs(
        &self,
        scope: &Scope,
        session: SessionId,
        after: Option<OutputId>,
        limit: usize,
    ) -> Result<Vec<Output>, StoreError> {
        self.read_with("exporting outputs", |conn| output::of_session(conn, scope, session, after, limit))
    }

    fn requests(&self, scope: &Scope, which: Requests) -> Result<Vec<Request>, StoreError> {
        self.read_with("reading requests", |conn| relay::requests(conn, scope, which))
    }

    fn request(&self, scope: &Scope, id: RequestId) -> Result<Option<Request>, StoreError> {
        self.read_with("reading a request", |conn| relay::request(conn, scope, id))
    }

    fn deliveries(&self, scope: &Scope, which: Deliveries) -> Result<Vec<Delivery>, StoreError> {
        self.read_with("reading deliveries", |conn| relay::deliveries(conn, scope, which))
    }

    fn delivery(&self, scope: &Scope, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        self.read_with("reading a delivery", |conn| relay::delivery(conn, scope, id))
    }

    fn find_deliveries(
        &self,
        scope: &Scope,
        suffix: &str,
        limit: usize,
    ) -> Result<Vec<DeliveryId>, StoreError> {
        self.read_with("finding deliveries", |conn| relay::by_suffix(conn, scope, suffix, limit))
    }

    fn cursor(&self, scope: &Scope, session: SessionId, account: &str) -> Result<Option<String>, StoreError> {
        self.read_with("reading a cursor", |conn| relay::cursor(conn, scope, session, account))
    }

    fn leases(&self, scope: &Scope) -> Result<Vec<Lease>, StoreError> {
        self.read_with("reading leases", |conn| relay::leases(conn, scope))
    }
}
