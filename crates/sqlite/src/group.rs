//! Writers of one process share commits: what arrives while one transaction runs is written by the next, all together,
//! with one sync. A refusal takes nothing else along.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use rusqlite::Connection;
use sayso_model::LedgerId;
use sayso_store::{Batch, Done, StoreError};

use crate::cells::run;
use crate::fault::Fault;
use crate::store::lock;
use crate::tx::Tx;
use crate::write::{self, Memory};

/// Batches that one transaction takes at most.
const TOGETHER: usize = 256;

/// The connection that writes, and what need not be read again for it.
#[derive(Debug)]
pub(crate) struct Writer {
    pub(crate) conn: Connection,
    pub(crate) memory: Memory,
}

/// What became of a batch.
type Outcome = Result<Vec<Done>, Fault>;

/// The writers that wait for their turn.
#[derive(Debug, Default)]
pub(crate) struct Group(Mutex<Queue>);

#[derive(Debug, Default)]
struct Queue {
    /// Whether somebody writes, or was told to.
    busy: bool,
    waiting: VecDeque<Arc<Job>>,
}

/// A batch that another thread may write. Each has its own bell, so that nobody is woken for nothing.
#[derive(Debug)]
struct Job {
    batch: Batch,
    word: Mutex<Word>,
    bell: Condvar,
}

/// What a writer that waits is told.
#[derive(Debug)]
enum Word {
    Wait,
    /// It is its turn to write, its own batch and those that wait.
    Lead,
    /// Its batch was written along.
    Done(Outcome),
}

impl Job {
    fn new(batch: &Batch) -> Arc<Self> {
        Arc::new(Self { batch: batch.clone(), word: Mutex::new(Word::Wait), bell: Condvar::new() })
    }

    fn tell(&self, told: Word) {
        *lock(&self.word) = told;
        self.bell.notify_one();
    }

    /// Waits to be told; `None` where it is its turn.
    fn wait(&self) -> Option<Outcome> {
        let mut word = lock(&self.word);
        loop {
            match std::mem::replace(&mut *word, Word::Wait) {
                Word::Wait => word = self.bell.wait(word).unwrap_or_else(PoisonError::into_inner),
                Word::Lead => return None,
                Word::Done(outcome) => return Some(outcome),
            }
        }
    }
}

impl Group {
    /// Writes a batch, together with those that wait.
    pub(crate) fn write(
        &self,
        writer: &Mutex<Writer>,
        ledger: LedgerId,
        batch: &Batch,
    ) -> Result<Vec<Done>, Fault> {
        if let Some(job) = self.queue(batch)
            && let Some(outcome) = job.wait()
        {
            return outcome;
        }
        let mut turn = Turn { group: self, jobs: Vec::new() };
        let mut writer = lock(writer);
        turn.take();
        let batches: Vec<&Batch> = std::iter::once(batch).chain(turn.jobs.iter().map(|j| &j.batch)).collect();
        let mut outcomes = together(&mut writer, ledger, &batches).into_iter();
        let own = outcomes.next();
        turn.jobs.drain(..).zip(outcomes).for_each(|(job, outcome)| job.tell(Word::Done(outcome)));
        own.unwrap_or_else(|| Err(interrupted()))
    }

    /// Queues a batch where somebody writes; else it is this thread's turn.
    fn queue(&self, batch: &Batch) -> Option<Arc<Job>> {
        if !std::mem::replace(&mut lock(&self.0).busy, true) {
            return None;
        }
        let job = Job::new(batch);
        let mut queue = lock(&self.0);
        if !std::mem::replace(&mut queue.busy, true) {
            return None;
        }
        queue.waiting.push_back(Arc::clone(&job));
        Some(job)
    }
}

/// The turn to write, with the batches of others that are written along.
struct Turn<'g> {
    group: &'g Group,
    jobs: Vec<Arc<Job>>,
}

impl Turn<'_> {
    /// Takes along those who wait by now.
    fn take(&mut self) {
        let mut queue = lock(&self.group.0);
        let take = queue.waiting.len().min(TOGETHER - 1);
        self.jobs.extend(queue.waiting.drain(..take));
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        // Nothing is left undone, unless a panic unwinds: whoever waits must not wait for ever.
        self.jobs.drain(..).for_each(|job| job.tell(Word::Done(Err(interrupted()))));
        let mut queue = lock(&self.group.0);
        match queue.waiting.pop_front() {
            Some(next) => next.tell(Word::Lead),
            None => queue.busy = false,
        }
    }
}

fn interrupted() -> Fault {
    let cause = std::io::Error::other("the thread that wrote the batch ended");
    Fault::Store(Box::new(StoreError::CommitUnknown(Box::new(cause))))
}

/// Writes batches in one transaction; the outcomes stand in their order.
fn together(writer: &mut Writer, ledger: LedgerId, batches: &[&Batch]) -> Vec<Outcome> {
    let written = match batches {
        [batch] => alone(writer, ledger, batch).map(|done| vec![Ok(done)]),
        _ => several(writer, ledger, batches),
    };
    // What nobody's batch alone caused befalls all of them: none was written.
    written.unwrap_or_else(|fault| {
        let copies: Vec<Outcome> = batches.iter().skip(1).map(|_| Err(fault.copy())).collect();
        std::iter::once(Err(fault)).chain(copies).collect()
    })
}

fn alone(writer: &mut Writer, ledger: LedgerId, batch: &Batch) -> Outcome {
    let tx = Tx::write(&writer.conn)?;
    writer.memory.renew(&writer.conn)?;
    let (done, learned) = write::batch(&writer.conn, ledger, &writer.memory, batch)?;
    tx.commit()?;
    writer.memory.learn(learned);
    Ok(done)
}

/// Writes batches in one transaction. First as if none was refused, which is how it nearly always is; where one is, nothing of
/// that stays, and each is written again behind a savepoint of its own.
fn several(writer: &mut Writer, ledger: LedgerId, batches: &[&Batch]) -> Result<Vec<Outcome>, Fault> {
    match all(writer, ledger, batches, None)? {
        Some(outcomes) => Ok(outcomes),
        None => Ok(all(writer, ledger, batches, Some("batch"))?.unwrap_or_default()),
    }
}

/// `None` where one was refused and there is no savepoint to go back to.
fn all(
    writer: &mut Writer,
    ledger: LedgerId,
    batches: &[&Batch],
    savepoint: Option<&str>,
) -> Result<Option<Vec<Outcome>>, Fault> {
    let conn = &writer.conn;
    let tx = Tx::write(conn)?;
    writer.memory.renew(conn)?;
    let (nothing, mut memory) = (Memory::default(), &writer.memory);
    let mut outcomes = Vec::with_capacity(batches.len());
    let mut learned = Vec::new();
    let step = |what: &str| savepoint.map_or(Ok(0), |name| run(conn, &format!("{what} {name}"), []));
    for batch in batches {
        step("SAVEPOINT")?;
        let outcome = write::batch(conn, ledger, memory, batch);
        if outcome.is_err() {
            // A full disk or a failing one rolls everything back at once.
            if conn.is_autocommit() {
                return outcome.map(|_| None);
            }
            if savepoint.is_none() {
                return Ok(None);
            }
            step("ROLLBACK TO")?;
        }
        step("RELEASE")?;
        outcomes.push(outcome.map(|(done, other)| {
            if other.recounted {
                memory = &nothing;
            }
            learned.push(other);
            done
        }));
    }
    tx.commit()?;
    learned.into_iter().for_each(|memory| writer.memory.learn(memory));
    Ok(Some(outcomes))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use sayso_model::{ProjectId, Seed, UtcMs};
    use sayso_store::{Command, CreateProject, Refusal, Scope};

    use super::*;
    use crate::open::{Role, connect};
    use crate::{Options, SqliteStore};

    fn project(id: u128) -> Batch {
        let id = ProjectId::from_u128(id);
        let commands = vec![Command::CreateProject(CreateProject { id, name: "Acme".into(), alias: None })];
        Batch { scope: Scope::All, at: UtcMs(2), seed: Seed([3; 32]), commands }
    }

    fn options() -> Options {
        Options::new(LedgerId::from_u128(1), UtcMs(1))
    }

    #[test]
    fn a_refusal_takes_nothing_else_along() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sayso");
        let store = SqliteStore::open(&path, &options()).unwrap();
        let conn = connect(&path, &options(), Role::Writer).unwrap();
        let mut writer = Writer { conn, memory: Memory::default() };
        let batches = [project(1), project(1), project(2)];
        let outcomes = together(&mut writer, LedgerId::from_u128(1), &batches.each_ref());
        assert!(matches!(outcomes.as_slice(), [Ok(_), Err(Fault::Store(_)), Ok(_)]), "{outcomes:?}");
        let written = sayso_store::Store::projects(&store, &Scope::All).unwrap();
        assert_eq!(written.len(), 2);
    }

    #[test]
    fn every_thread_hears_what_became_of_its_batch() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("ledger.sayso"), &options()).unwrap();
        let write = |id| sayso_store::Store::write(&store, &project(id));
        let made: Vec<u128> = std::thread::scope(|threads| {
            // Every id is wanted by two threads: one of them is refused.
            let all: Vec<_> = (0..32).map(|n| (n / 2, threads.spawn(move || write(n / 2)))).collect();
            let done = all.into_iter().map(|(id, thread)| (id, thread.join().unwrap()));
            done.filter_map(|(id, outcome)| match outcome {
                Ok(_) => Some(id),
                Err(error) => {
                    assert!(matches!(error.refusal(), Some(Refusal::IdTaken(_))), "{error:?}");
                    None
                }
            })
            .collect()
        });
        assert_eq!(made.len(), 16);
        assert_eq!(made.iter().collect::<BTreeSet<_>>().len(), 16);
    }
}
