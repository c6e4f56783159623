//! Writers of one process share commits: what arrives while one transaction runs is written by the next, all together,
//! with one sync. Each batch has a savepoint of its own, so that a refusal takes nothing else along.

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
pub(crate) struct Group {
    state: Mutex<State>,
    turned: Condvar,
}

#[derive(Debug, Default)]
struct State {
    busy: bool,
    waiting: Vec<Arc<Job>>,
}

/// A batch that another thread may write.
#[derive(Debug)]
struct Job {
    batch: Batch,
    done: Mutex<Option<Outcome>>,
}

impl Job {
    fn finish(&self, outcome: Outcome) {
        *lock(&self.done) = Some(outcome);
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
        let turn = match self.wait(batch) {
            Ok(turn) => turn,
            Err(outcome) => return outcome,
        };
        let mut writer = lock(writer);
        let batches: Vec<&Batch> = std::iter::once(batch).chain(turn.jobs.iter().map(|j| &j.batch)).collect();
        let mut outcomes = together(&mut writer, ledger, &batches).into_iter();
        let own = outcomes.next();
        turn.jobs.iter().zip(outcomes).for_each(|(job, outcome)| job.finish(outcome));
        own.unwrap_or_else(|| Err(interrupted()))
    }

    /// Waits for the turn to write, or for another thread that wrote this batch with its own.
    fn wait(&self, batch: &Batch) -> Result<Turn<'_>, Outcome> {
        let mut state = lock(&self.state);
        if state.busy {
            let job = Arc::new(Job { batch: batch.clone(), done: Mutex::new(None) });
            state.waiting.push(Arc::clone(&job));
            while state.busy {
                state = self.turned.wait(state).unwrap_or_else(PoisonError::into_inner);
                if let Some(outcome) = lock(&job.done).take() {
                    return Err(outcome);
                }
            }
            state.waiting.retain(|other| !Arc::ptr_eq(other, &job));
        }
        state.busy = true;
        let take = state.waiting.len().min(TOGETHER - 1);
        let jobs = state.waiting.drain(..take).collect();
        Ok(Turn { group: self, jobs })
    }
}

/// The turn to write, with the batches of others that are written along.
struct Turn<'g> {
    group: &'g Group,
    jobs: Vec<Arc<Job>>,
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        for job in &self.jobs {
            // Nothing is left undone, unless a panic unwinds: whoever waits must not wait for ever.
            lock(&job.done).get_or_insert_with(|| Err(interrupted()));
        }
        lock(&self.group.state).busy = false;
        self.group.turned.notify_all();
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

fn several(writer: &mut Writer, ledger: LedgerId, batches: &[&Batch]) -> Result<Vec<Outcome>, Fault> {
    let conn = &writer.conn;
    let tx = Tx::write(conn)?;
    writer.memory.renew(conn)?;
    let (nothing, mut memory) = (Memory::default(), &writer.memory);
    let mut outcomes = Vec::with_capacity(batches.len());
    let mut learned = Vec::new();
    for batch in batches {
        run(conn, "SAVEPOINT batch", [])?;
        let outcome = write::batch(conn, ledger, memory, batch);
        if outcome.is_err() {
            // A full disk or a failing one rolls everything back at once.
            if conn.is_autocommit() {
                return outcome.map(|_| Vec::new());
            }
            run(conn, "ROLLBACK TO batch", [])?;
        }
        run(conn, "RELEASE batch", [])?;
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
    Ok(outcomes)
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
