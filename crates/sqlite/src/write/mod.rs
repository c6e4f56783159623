//! Applying a batch inside a transaction, in the order of refusals that the contract fixes.

pub(crate) mod append;
mod create;
pub(crate) mod erase;
mod forward;
mod insert;
pub(crate) mod life;
mod lookup;
pub(crate) mod output;
pub(crate) mod redact;
mod reinject;
mod relay;
pub(crate) mod restore;
pub(crate) mod title;

pub(crate) use insert::{is_stub, speakers_of};

use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashMap, HashSet};

use rusqlite::{CachedStatement, Connection, Params};
use sayso_model::{EntryId, LedgerId, ProjectId, Seed, SessionId, SpeakerId, UtcMs};
use sayso_store::{Batch, Command, Done, Refusal, Scope, StoreError, check};

use crate::cells::one;
use crate::fault::Fault;
use crate::rows::{self, SessionRecord, Speakers, Voices};

/// What writers need not read again: rows that never change, once a commit made them last.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    voices: Voices,
    seen: HashSet<(ProjectId, SpeakerId)>,
    /// Whether who spoke where was found out anew: what was known of that before is worth nothing.
    pub(crate) recounted: bool,
    /// The state of the file that it was learned from, as far as others write it.
    version: i64,
}

/// Changes when another connection wrote.
const VERSION: (&str, &str) = ("the file's version", "PRAGMA data_version");

/// Speakers that are kept at most; more than that many are read anew.
const KEPT: usize = 10_000;

impl Memory {
    /// Forgets everything where another connection wrote: it may have erased. Needs a transaction.
    pub(crate) fn renew(&mut self, conn: &Connection) -> Result<(), Fault> {
        let version = one(conn, VERSION, [], |c| c.int())?.unwrap_or_default();
        if version != self.version {
            *self = Self { version, ..Self::default() };
        }
        Ok(())
    }

    /// Takes in what a batch learned, after its commit.
    pub(crate) fn learn(&mut self, other: Self) {
        if other.recounted {
            self.seen.clear();
        }
        if self.voices.len().max(self.seen.len()) > KEPT {
            *self = Self { version: self.version, ..Self::default() };
        }
        self.voices.extend(other.voices);
        self.seen.extend(other.seen);
    }
}

/// Applies a batch. The caller owns the transaction and rolls back what a refusal leaves.
pub(crate) fn batch(
    conn: &Connection,
    ledger: LedgerId,
    memory: &Memory,
    batch: &Batch,
) -> Result<(Vec<Done>, Memory), Fault> {
    let mut write = Write::new(conn, ledger, memory, batch);
    let mut done = Vec::with_capacity(batch.commands.len());
    for (index, command) in batch.commands.iter().enumerate() {
        let seed = batch.seed.child(index as u64);
        let checked = check::command(command).map_err(Fault::from);
        let applied = checked.and_then(|()| write.command(command, &seed));
        done.push(applied.map_err(|fault| refused_at(index, fault))?);
    }
    write.flush()?;
    let Write { speakers, seen, recounted, .. } = write;
    Ok((done, Memory { voices: speakers.learned(), seen, recounted, version: 0 }))
}

fn refused_at(index: usize, fault: Fault) -> Fault {
    match fault {
        Fault::Refused(refusal) => StoreError::Refused { index, refusal: *refusal }.into(),
        other => other,
    }
}

/// The statements that every turn of a batch runs, kept at hand: finding them by their text costs as much as a short one.
#[derive(Default)]
struct Hot<'a> {
    entry: RefCell<Option<CachedStatement<'a>>>,
    part: RefCell<Option<CachedStatement<'a>>>,
}

/// Runs a statement that is kept; the number of rows it changed.
fn run_kept<'a>(
    kept: &RefCell<Option<CachedStatement<'a>>>,
    conn: &'a Connection,
    sql: &str,
    params: impl Params,
) -> Result<usize, Fault> {
    let mut kept = kept.borrow_mut();
    let statement = match &mut *kept {
        Some(statement) => statement,
        none => none.insert(conn.prepare_cached(sql)?),
    };
    Ok(statement.execute(params)?)
}

/// A batch that is being applied. Rows of sessions are read once and written back once, however many entries they gain.
pub(crate) struct Write<'a> {
    conn: &'a Connection,
    ledger: LedgerId,
    scope: &'a Scope,
    at: UtcMs,
    sessions: HashMap<SessionId, SessionRecord>,
    changed: BTreeSet<SessionId>,
    speakers: Speakers<'a>,
    memory: &'a Memory,
    seen: HashSet<(ProjectId, SpeakerId)>,
    /// Whether who spoke where was found out anew.
    recounted: bool,
    /// Who stood in what is erased, and does not stand in its project any more.
    leaving: BTreeSet<SpeakerId>,
    /// Whether texts went that the index of the search may hold.
    forgot: Cell<bool>,
    hot: Hot<'a>,
}

impl<'a> Write<'a> {
    pub(crate) fn new(conn: &'a Connection, ledger: LedgerId, memory: &'a Memory, batch: &'a Batch) -> Self {
        Self {
            conn,
            ledger,
            scope: &batch.scope,
            at: batch.at,
            sessions: HashMap::new(),
            changed: BTreeSet::new(),
            speakers: Speakers::after(&memory.voices),
            memory,
            seen: HashSet::new(),
            recounted: false,
            leaving: BTreeSet::new(),
            forgot: Cell::new(false),
            hot: Hot::default(),
        }
    }

    fn command(&mut self, command: &Command, seed: &Seed) -> Result<Done, Fault> {
        match command {
            Command::CreateProject(c) => self.create_project(c, seed),
            Command::AddAlias(project, alias) => self.add_alias(*project, alias),
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
            Command::CloseOutput(id) => self.close_output(*id),
            Command::RenameProject(c) => self.rename_project(c, seed),
            Command::MergeProject(c) => self.merge_project(c),
            Command::RenameSession(c) => self.rename_session(c, seed),
            Command::Redact(c) => self.redact(c, seed),
            Command::MoveSession(c) => self.move_session(c, seed),
            Command::Restore(c) => self.restore(c, seed),
            Command::Relay(step) => self.relay(step, seed),
        }
    }

    /// A session that the scope sees, as it is after the commands before.
    fn session(&mut self, id: SessionId) -> Result<&mut SessionRecord, Fault> {
        if !self.sessions.contains_key(&id)
            && let Some(record) = rows::session(self.conn, id)?
        {
            self.sessions.insert(id, record);
        }
        let scope = self.scope;
        let found = self.sessions.get_mut(&id).filter(|r| scope.sees(r.session.project));
        found.ok_or_else(|| Refusal::UnknownSession(id).into())
    }

    fn expect_head(&mut self, session: SessionId, expected: Option<u64>) -> Result<(), Fault> {
        let actual = self.session(session)?.session.last_seq;
        match expected {
            Some(expected) if expected != actual => Err(Refusal::HeadMoved { expected, actual }.into()),
            _ => Ok(()),
        }
    }

    fn open(&mut self, id: SessionId) -> Result<(), Fault> {
        if self.session(id)?.session.closed {
            return Err(Refusal::SessionClosed(id).into());
        }
        Ok(())
    }
}

fn taken(id: impl std::fmt::Display) -> Fault {
    Refusal::IdTaken(id.to_string()).into()
}

fn unknown_turn(id: EntryId) -> Fault {
    Refusal::UnknownTurn(id).into()
}
