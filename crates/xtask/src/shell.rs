//! Running programs: with a deadline, and stopped through the handle that started them.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail};

const TICK: Duration = Duration::from_millis(50);

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Finished {
    /// How it ended.
    pub(crate) status: ExitStatus,
    /// What it printed.
    pub(crate) stdout: String,
    /// What it said on the side.
    pub(crate) stderr: String,
}

impl Finished {
    /// The printed text, or an error that holds what the program said.
    pub(crate) fn ok(self) -> Result<String> {
        if !self.status.success() {
            bail!("{}: {}", self.status, last_lines(&self.stderr));
        }
        Ok(self.stdout)
    }
}

/// The last lines of a text, for messages.
pub(crate) fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.trim_end().lines().collect();
    let from = lines.len().saturating_sub(6);
    lines.get(from..).unwrap_or_default().join(" | ")
}

/// Runs a program without input for at most `limit`; its output goes through files in `logs`, so that a grandchild that
/// lives on cannot hold us up.
pub(crate) fn run(command: &mut Command, logs: &Path, limit: Duration) -> Result<Finished> {
    std::fs::create_dir_all(logs)?;
    let (out, err) = (logs.join("last.stdout"), logs.join("last.stderr"));
    command.stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    own_group(command);
    let name = command.get_program().to_owned();
    let child = command.spawn().with_context(|| format!("cannot start {}", name.display()))?;
    let status = wait(child, limit).with_context(|| format!("{}", name.display()))?;
    Ok(Finished {
        status,
        stdout: String::from_utf8_lossy(&std::fs::read(&out)?).into_owned(),
        stderr: String::from_utf8_lossy(&std::fs::read(&err)?).into_owned(),
    })
}

fn wait(mut child: Child, limit: Duration) -> Result<ExitStatus> {
    let mut waited = Duration::ZERO;
    while waited < limit {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        std::thread::sleep(TICK);
        waited += TICK;
    }
    stop(&mut child)?;
    bail!("no answer within {} s, stopped", limit.as_secs())
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Ends the child and, where groups exist, what it started: the group bears the child's own id.
fn stop(child: &mut Child) -> Result<()> {
    if cfg!(unix) {
        let group = format!("-{}", child.id());
        drop(Command::new("kill").args(["-KILL", "--", &group]).stderr(Stdio::null()).status());
    }
    drop(child.kill());
    child.wait()?;
    Ok(())
}
