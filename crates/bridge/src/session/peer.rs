//! A program that is spoken with in lines.

use std::ffi::OsString;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// Bytes of a line at most; what is longer ends the conversation.
const LINE_BYTES: u64 = 64 * 1024 * 1024;

/// How often it is looked whether a program has ended.
const TICK: Duration = Duration::from_millis(10);

/// How a program is started.
#[derive(Debug, Clone, Default)]
pub struct Start {
    /// The program and its arguments; not empty.
    pub command: Vec<OsString>,
    /// Where it runs; this process's folder if absent.
    pub folder: Option<PathBuf>,
    /// Variables set beside those of this process.
    pub variables: Vec<(OsString, OsString)>,
    /// How long it may take to end by itself once its input is closed, and again once it is asked to (TERM).
    pub grace: Duration,
}

/// A program that runs. Its standard error is that of this process. When this is dropped its input is closed; what does not
/// end then is ended, with what it started.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    to: Option<Sender<Vec<u8>>>,
    from: Receiver<String>,
    grace: Duration,
}

/// What was heard.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Heard {
    /// A line, without its end.
    Line(String),
    /// Nothing in that time.
    Nothing,
    /// It will say nothing more.
    Over,
}

impl Peer {
    /// Starts the program, in a process group of its own.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn start(start: &Start) -> io::Result<Self> {
        let mut words = start.command.iter();
        let mut command = Command::new(words.next().ok_or(io::ErrorKind::InvalidInput)?);
        command.args(words).envs(start.variables.iter().map(|(name, value)| (name, value)));
        if let Some(folder) = &start.folder {
            command.current_dir(folder);
        }
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).process_group(0);
        let mut child = command.spawn()?;
        let to = child.stdin.take().map(writer);
        let from = child.stdout.take().map(reader).unwrap_or_else(|| channel().1);
        Ok(Self { child, to, from, grace: start.grace })
    }

    /// Says a line; `false` where the program surely does not hear it.
    pub(super) fn say(&self, line: &serde_json::Value) -> bool {
        self.to.as_ref().is_some_and(|to| to.send(format!("{line}\n").into_bytes()).is_ok())
    }

    /// The next line, within a time.
    pub(super) fn hear(&self, wait: Duration) -> Heard {
        match self.from.recv_timeout(wait) {
            Ok(line) => Heard::Line(line),
            Err(RecvTimeoutError::Timeout) => Heard::Nothing,
            Err(RecvTimeoutError::Disconnected) => Heard::Over,
        }
    }

    /// Waits until it says nothing more; `false` where it goes on.
    fn fades(&self) -> bool {
        loop {
            match self.hear(self.grace) {
                Heard::Line(_) => {}
                Heard::Nothing => return false,
                Heard::Over => return true,
            }
        }
    }

    fn signal(&self, signal: Signal) {
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        if let Some(group) = group {
            // It may have ended meanwhile.
            let _ = kill_process_group(group, signal);
        }
    }

    /// Whether it says nothing more and has ended, within the time that it is given.
    fn ends(&mut self) -> bool {
        if !self.fades() {
            return false;
        }
        let mut waited = Duration::ZERO;
        while matches!(self.child.try_wait(), Ok(None)) {
            if waited >= self.grace {
                return false;
            }
            thread::sleep(TICK);
            waited += TICK;
        }
        true
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.to.take());
        for signal in [Signal::TERM, Signal::KILL] {
            if self.ends() {
                return;
            }
            self.signal(signal);
        }
        let _ = self.child.wait();
    }
}

/// Writes in a thread of its own: a program that does not read must not hold up what else there is to do.
fn writer(mut stdin: ChildStdin) -> Sender<Vec<u8>> {
    let (to, lines) = channel::<Vec<u8>>();
    thread::spawn(move || {
        for line in lines {
            if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                return;
            }
        }
    });
    to
}

fn reader(stdout: ChildStdout) -> Receiver<String> {
    let (to, lines) = channel();
    thread::spawn(move || {
        let mut stdout = BufReader::new(stdout);
        while let Some(line) = line(&mut stdout) {
            if to.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

/// The next line, ended by LF alone: other line breaks may stand in JSON's strings. One that breaks off is none.
fn line(stdout: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    stdout.take(LINE_BYTES).read_until(b'\n', &mut bytes).ok()?;
    let line = bytes.strip_suffix(b"\n")?;
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    Some(String::from_utf8_lossy(line).into_owned())
}
