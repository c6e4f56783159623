//! Execution: a command is run and what it produces is passed on, raw. Nothing is added, nothing is cut.

mod plan;
mod pump;
mod spawn;

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use crate::capture::{Ending, Kept, StreamName};

pub use pump::Chunk;
pub use spawn::SpawnError;

/// What is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Program {
    /// A program and its arguments.
    Argv(OsString, Vec<OsString>),
    /// A line for `/bin/sh -c`.
    Shell(OsString),
}

/// Where standard input comes from.
#[derive(Debug, Clone, Default)]
pub enum Stdin {
    /// Nothing.
    #[default]
    Null,
    /// That of this process. A command that reads from a terminal is stopped there, for it runs in a process group of its own.
    Inherit,
    /// A file, from where it stands.
    File(Arc<File>),
}

/// A command and the bounds it runs within.
#[derive(Debug, Clone)]
pub struct Request {
    /// What is run.
    pub program: Program,
    /// Where; this process's folder if absent.
    pub folder: Option<PathBuf>,
    /// Variables set beside those of this process.
    pub variables: Vec<(OsString, OsString)>,
    /// Where standard input comes from.
    pub stdin: Stdin,
    /// After this it is asked to end (TERM).
    pub timeout: Option<Duration>,
    /// After being asked to end it has so long until it is killed.
    pub kill_grace: Duration,
    /// After it ended, so long is waited for pipes that something it started still holds.
    pub pipe_grace: Duration,
    /// Bytes of each stream that are passed on at most; more is read and counted.
    pub cap: Option<u64>,
    /// Set by anyone to the number of a signal, which the command is then sent to end before its time (TERM for what is none);
    /// 0 is none. Looked at every 50 ms.
    pub stop: Option<Arc<AtomicUsize>>,
}

impl Request {
    /// A program and its arguments, with the usual bounds: no timeout, 2 s to end, 200 ms for pipes.
    pub fn argv<S: Into<OsString>>(
        program: impl Into<OsString>,
        arguments: impl IntoIterator<Item = S>,
    ) -> Self {
        Self::of(Program::Argv(program.into(), arguments.into_iter().map(Into::into).collect()))
    }

    /// A line for the shell, with the usual bounds.
    pub fn shell(line: impl Into<OsString>) -> Self {
        Self::of(Program::Shell(line.into()))
    }

    fn of(program: Program) -> Self {
        Self {
            program,
            folder: None,
            variables: Vec::new(),
            stdin: Stdin::Null,
            timeout: None,
            kill_grace: Duration::from_secs(2),
            pipe_grace: Duration::from_millis(200),
            cap: None,
            stop: None,
        }
    }

    /// The same with a timeout.
    #[must_use]
    pub fn timeout(self, timeout: Duration) -> Self {
        Self { timeout: Some(timeout), ..self }
    }

    /// The same with a cap on each stream, in bytes.
    #[must_use]
    pub fn cap(self, bytes: u64) -> Self {
        Self { cap: Some(bytes), ..self }
    }
}

/// Where both streams go.
pub struct Sinks<'a> {
    /// Standard output, raw.
    pub stdout: &'a mut dyn Write,
    /// Standard error, raw.
    pub stderr: &'a mut dyn Write,
}

/// What became of one stream.
#[derive(Debug)]
pub struct StreamEnd {
    /// Bytes that the command produced, as far as they were read.
    pub produced: u64,
    /// Bytes that were passed on.
    pub passed: u64,
    /// Whether something still held the pipe when reading ended.
    pub held: bool,
    /// Why no more was passed on, if its sink failed. The rest was read and counted.
    pub failed: Option<io::Error>,
}

impl StreamEnd {
    /// Whether everything was passed on.
    #[must_use]
    pub fn kept(&self) -> Kept {
        match (&self.failed, self.produced > self.passed) {
            (Some(_), _) => Kept::Partial,
            (None, true) => Kept::Capped { of: self.produced },
            (None, false) => Kept::Complete,
        }
    }
}

/// How a command went.
#[derive(Debug)]
pub struct Execution {
    /// How it ended. One that was ended because of its time has no exit code.
    pub ending: Ending,
    /// How long it took.
    pub duration: Duration,
    /// Standard output.
    pub stdout: StreamEnd,
    /// Standard error.
    pub stderr: StreamEnd,
    /// In which order the streams were read, neighbours joined; the first 4,096.
    pub order: Vec<Chunk>,
    /// Whether the order goes on beyond what is noted.
    pub order_cut: bool,
}

impl Execution {
    /// Whether something that the command started still held a pipe.
    #[must_use]
    pub fn pipe_held(&self) -> bool {
        self.stdout.held || self.stderr.held
    }

    /// One of the streams.
    #[must_use]
    pub fn stream(&self, name: StreamName) -> &StreamEnd {
        match name {
            StreamName::Stdout => &self.stdout,
            StreamName::Stderr => &self.stderr,
        }
    }
}

/// Tells time since some beginning.
pub trait Clock {
    /// The time since the beginning.
    fn now(&self) -> Duration;
}

/// The machine's steady clock.
#[derive(Debug)]
pub struct Steady(std::time::Instant);

impl Steady {
    /// A clock that begins now.
    #[must_use]
    #[expect(clippy::disallowed_methods, reason = "the one place where execution gets its time from")]
    pub fn start() -> Self {
        Self(std::time::Instant::now())
    }
}

impl Clock for Steady {
    fn now(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Runs a command to its end and passes on what it produces, at constant memory.
///
/// ```
/// use sayso_output::execute::{Request, Sinks, execute};
/// let (mut out, mut err) = (Vec::new(), Vec::new());
/// let went = execute(&Request::shell("echo hi; echo no >&2"), Sinks { stdout: &mut out, stderr: &mut err })?;
/// assert_eq!((out.as_slice(), err.as_slice()), (&b"hi\n"[..], &b"no\n"[..]));
/// assert_eq!(went.ending, sayso_output::Ending::Exit(0));
/// # Ok::<(), sayso_output::execute::SpawnError>(())
/// ```
///
/// # Errors
///
/// [`SpawnError`] when it cannot be started. What happens later is told by the [`Execution`].
pub fn execute(request: &Request, sinks: Sinks<'_>) -> Result<Execution, SpawnError> {
    execute_by(request, sinks, &Steady::start())
}

/// [`execute`] by another clock.
///
/// # Errors
///
/// As for [`execute`].
pub fn execute_by(request: &Request, sinks: Sinks<'_>, clock: &dyn Clock) -> Result<Execution, SpawnError> {
    let started = spawn::spawn(request)?;
    pump::pump(started, request, sinks, clock).map_err(SpawnError::Other)
}
