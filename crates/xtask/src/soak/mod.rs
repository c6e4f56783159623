//! `cargo xtask soak`: several processes append, forward and search in one ledger, and now and then one of them is killed in the
//! middle of it. Afterwards everything that they were told is there must be there, once.

mod journal;
mod settle;
pub(crate) mod worker;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace;
use settle::Settled;

/// How long one process is left alone before the next kill.
const LIFE: Duration = Duration::from_millis(1_700);
/// How long a process may take to end when it is asked to.
const END: Duration = Duration::from_secs(90);
const TICK: Duration = Duration::from_millis(20);

/// Where the processes of one soak meet.
#[derive(Debug, Clone)]
pub(crate) struct Place(PathBuf);

impl Place {
    pub(crate) fn at(folder: PathBuf) -> Self {
        Self(folder)
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.0.join("ledger.db")
    }

    fn journal(&self, n: usize) -> PathBuf {
        self.0.join(format!("journal-{n}"))
    }

    fn stop(&self) -> PathBuf {
        self.0.join("stop")
    }
}

/// Runs it and prints the counts.
pub(crate) fn soak(seconds: u64, processes: usize) -> Result<()> {
    ensure!(processes > 0, "a soak needs at least one process");
    let folder = workspace::target().join(format!("soak-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let place = Place::at(folder.clone());
    let kills = run(&place, Duration::from_secs(seconds), processes)?;
    let settled = Settled::of(&place, processes)?;
    println!("{seconds} s, {processes} processes: {kills} kills");
    settled.print();
    settled
        .check()
        .with_context(|| format!("the ledger and the journals are kept in {}", folder.display()))?;
    std::fs::remove_dir_all(&folder)?;
    println!("ok soak");
    Ok(())
}

/// Lets the processes work, kills one after the other, and ends them; how often one was killed.
fn run(place: &Place, time: Duration, processes: usize) -> Result<usize> {
    let mut workers =
        (0..processes).map(|n| Worker::start(place, n, processes)).collect::<Result<Vec<_>>>()?;
    let (start, mut kills) = (now(), 0);
    let mut next = LIFE;
    while start.elapsed() < time {
        std::thread::sleep(TICK);
        for worker in &mut workers {
            worker.still_runs()?;
        }
        if start.elapsed() >= next {
            next += LIFE;
            let n = kills % processes;
            let worker = workers.get_mut(n).context("there is such a process")?;
            worker.kill()?;
            *worker = Worker::start(place, n, processes)?;
            kills += 1;
        }
    }
    std::fs::write(place.stop(), "")?;
    workers.into_iter().try_for_each(Worker::end)?;
    Ok(kills)
}

/// A process of its own; ended with this value.
struct Worker(Child);

impl Worker {
    fn start(place: &Place, n: usize, of: usize) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("soak-worker").arg(&place.0).args([n.to_string(), of.to_string()]).stdin(Stdio::null());
        Ok(Self(command.spawn().context("cannot start a process of the soak")?))
    }

    fn still_runs(&mut self) -> Result<()> {
        match self.0.try_wait()? {
            Some(status) => bail!("a process of the soak ended by itself: {status}"),
            None => Ok(()),
        }
    }

    fn kill(&mut self) -> Result<()> {
        self.0.kill()?;
        self.0.wait()?;
        Ok(())
    }

    fn end(mut self) -> Result<()> {
        let start = now();
        while start.elapsed() < END {
            if let Some(status) = self.0.try_wait()? {
                ensure!(status.success(), "a process of the soak failed: {status}");
                return Ok(());
            }
            std::thread::sleep(TICK);
        }
        bail!("a process of the soak does not end")
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Nothing is left to be done where it has ended.
        let _ = self.kill();
    }
}

#[expect(clippy::disallowed_methods, reason = "how long things take is what is told here")]
pub(crate) fn now() -> Instant {
    Instant::now()
}

/// The session in which a process says things.
fn title(n: usize) -> String {
    format!("Process {n}")
}

/// The project of all of them.
const PROJECT: &str = "Soak";

/// What a process of the soak does.
pub(crate) fn work(folder: &Path, n: usize, of: usize) -> Result<()> {
    worker::work(&Place::at(folder.to_owned()), n, of)
}
