//! `cargo xtask load`: several processes with several threads each do everything at once on one ledger, for some minutes. Told are how
//! much was done, how long it took, and how the file grew; afterwards every write that was acknowledged must be there.

mod told;
mod work;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use sayso::{Ledger, Options};

use crate::workspace;
use told::Told;
pub(crate) use work::{Until, work};

/// Where the processes of one run meet.
pub(crate) fn ledger(folder: &Path) -> PathBuf {
    folder.join("ledger.db")
}

/// Runs it and prints what came of it.
pub(crate) fn load(time: Duration, processes: usize, threads: usize) -> Result<()> {
    ensure!(processes > 0 && threads >= processes, "give at least one process, and a thread for each");
    let folder = workspace::target().join(format!("load-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    drop(Ledger::open(&ledger(&folder), &Options::default())?);
    let each = threads.div_ceil(processes);
    let children = (0..processes).map(|n| start(&folder, n, each, time)).collect::<Result<Vec<_>>>()?;
    let mut told = Told::default();
    for child in children {
        told.add(&end(child)?)?;
    }
    told.print(time, processes, each);
    told.settle(&ledger(&folder)).with_context(|| format!("the ledger is kept in {}", folder.display()))?;
    std::fs::remove_dir_all(&folder)?;
    println!("ok load");
    Ok(())
}

fn start(folder: &Path, n: usize, threads: usize, time: Duration) -> Result<Child> {
    let mut command = Command::new(std::env::current_exe()?);
    command.arg("load-worker").arg(folder).args([
        n.to_string(),
        threads.to_string(),
        time.as_secs().to_string(),
    ]);
    command.stdin(Stdio::null()).stdout(Stdio::piped());
    command.spawn().context("cannot start a process of the load")
}

/// What a process says of what it did.
fn end(child: Child) -> Result<String> {
    let done = child.wait_with_output()?;
    ensure!(done.status.success(), "a process of the load failed: {}", done.status);
    Ok(String::from_utf8(done.stdout)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_little_load_of_two_threads_is_all_there_and_counted() {
        let folder = tempfile::tempdir().unwrap();
        drop(Ledger::open(&ledger(folder.path()), &Options::default()).unwrap());
        let mut told = Told::default();
        for n in 0..2 {
            told.add(&work(folder.path(), n, 2, Until::Rounds(24)).unwrap()).unwrap();
        }
        // Eight kinds of work, each of four threads three times.
        assert_eq!(told.counts(), vec![12; 8], "{told:?}");
        told.settle(&ledger(folder.path())).unwrap();
    }
}
