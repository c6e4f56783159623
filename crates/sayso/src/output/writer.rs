//! Writing an output while its tool runs.

use std::sync::Arc;
use std::time::Duration;

use sayso_model::OutputId;
use sayso_store::{
    Collected, Command, EndOutput, GrowingOutput, OutputState, Scope, Session, StartOutput, StreamKind,
};

use crate::error::Error;
use crate::host::FreshIds;
use crate::ledger::Ledger;

/// An output that is about to come.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NewOutput {
    /// The tool's name; may be empty.
    pub tool: String,
    /// The command line, or another label for what is run.
    pub command: Option<String>,
    /// The charset of its streams, where one is declared.
    pub charset: Option<String>,
    /// How many bytes of each stream are kept; more are counted, and the output is then `capped`.
    pub cap: Option<u64>,
}

impl NewOutput {
    /// An output of this tool, of which everything is kept.
    pub fn of(tool: impl Into<String>) -> Self {
        Self { tool: tool.into(), ..Self::default() }
    }

    /// The same with its command line.
    #[must_use]
    pub fn command(mut self, command: impl Into<String>) -> Self {
        self.command = Some(command.into());
        self
    }

    /// The same with at most so many bytes of each stream.
    #[must_use]
    pub const fn cap(mut self, bytes: u64) -> Self {
        self.cap = Some(bytes);
        self
    }
}

/// How a tool ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It was ended because its time was over, so it has no code of its own.
    Timeout,
    /// That is not known.
    Unknown,
}

/// What is known when a tool has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// How.
    pub ending: Ending,
    /// How long it ran; whole milliseconds are kept.
    pub duration: Option<Duration>,
    /// Whether another process still held a pipe when reading ended, so that more may have come.
    pub pipe_held: bool,
}

impl Ended {
    /// It ended so, and no more is known.
    #[must_use]
    pub const fn by(ending: Ending) -> Self {
        Self { ending, duration: None, pipe_held: false }
    }

    /// The same after so long.
    #[must_use]
    pub const fn after(mut self, duration: Duration) -> Self {
        self.duration = Some(duration);
        self
    }

    fn as_stored(self, state: OutputState, totals: Vec<(StreamKind, u64)>) -> EndOutput {
        let (mut exit, mut signal, mut timed_out) = (None, None, false);
        match self.ending {
            Ending::Exit(code) => exit = Some(code),
            Ending::Signal(number) => signal = Some(number),
            Ending::Timeout => timed_out = true,
            Ending::Unknown => {}
        }
        let duration_ms = self.duration.map(|d| u64::try_from(d.as_millis()).unwrap_or(u64::MAX));
        EndOutput { state, exit, signal, timed_out, duration_ms, pipe_held: self.pipe_held, totals }
    }
}

/// Writes an output while its tool runs, at a memory that does not grow with it. What came so far moves into the ledger after
/// some MiB, each time as a whole output in the state `partial`, with others writing in between: whenever the program ends,
/// the ledger holds no output, a partial one, or the finished one. Dropped, it leaves what was kept as it is.
pub struct OutputWriter {
    id: OutputId,
    growing: Box<dyn GrowingOutput>,
    cap: u64,
    seen: [(StreamKind, u64); 2],
}

impl std::fmt::Debug for OutputWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OutputWriter").field("id", &self.id).field("seen", &self.seen).finish_non_exhaustive()
    }
}

impl OutputWriter {
    /// The output's id. A turn may name it once it is finished.
    #[must_use]
    pub const fn id(&self) -> OutputId {
        self.id
    }

    /// Adds bytes to the end of a stream, in the order in which they were read.
    ///
    /// # Errors
    ///
    /// As for [`OutputWriter::keep`]; the bytes were taken all the same, and later calls try again to keep them.
    pub fn write(&mut self, kind: StreamKind, bytes: &[u8]) -> Result<(), Error> {
        let Some((_, seen)) = self.seen.iter_mut().find(|(of, _)| *of == kind) else { return Ok(()) };
        let room = usize::try_from(self.cap.saturating_sub(*seen)).unwrap_or(usize::MAX);
        *seen = seen.saturating_add(bytes.len() as u64);
        let kept = bytes.get(..room).unwrap_or(bytes);
        Ok(self.growing.write(kind, kept)?)
    }

    /// Moves everything so far into the ledger, for readers who follow it.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with a refusal where the session was erased, or the output was erased or closed; storage errors.
    pub fn keep(&mut self) -> Result<(), Error> {
        Ok(self.growing.keep()?)
    }

    /// Keeps everything, with how it ended. After an error it may be tried again.
    ///
    /// # Errors
    ///
    /// As for [`OutputWriter::keep`].
    pub fn finish(&mut self, ended: Ended) -> Result<OutputId, Error> {
        let more: Vec<_> = self.seen.iter().filter(|(_, seen)| *seen > self.cap).copied().collect();
        let state = if more.is_empty() { OutputState::Complete } else { OutputState::Capped };
        self.growing.finish(&ended.as_stored(state, more))?;
        Ok(self.id)
    }

    /// Ends it before the tool did: what came so far stays, as a partial output that a turn may name.
    ///
    /// # Errors
    ///
    /// As for [`OutputWriter::keep`].
    pub fn stop(&mut self) -> Result<OutputId, Error> {
        let ended = Ended::by(Ending::Unknown);
        self.growing.finish(&ended.as_stored(OutputState::Partial, Vec::new()))?;
        Ok(self.id)
    }
}

impl Ledger {
    /// Starts an output of a session's tool, whose bytes stream in while the tool runs.
    ///
    /// ```
    /// # use sayso::{Ended, Ending, Ledger, NewOutput, Options, Scope};
    /// # use sayso::store::StreamKind;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let ledger = Ledger::open(&folder.path().join("ledger.db"), &Options::default())?;
    /// let session = ledger.session("harbour", "planning")?;
    /// let mut output = ledger.start_output(&session, NewOutput::of("bash").command("make check"))?;
    /// output.write(StreamKind::Stdout, b"12 tests\n")?;
    /// output.write(StreamKind::Stderr, b"1 warning\n")?;
    /// let id = output.finish(Ended::by(Ending::Exit(0)))?;
    ///
    /// let mut last = Vec::new();
    /// let stdout = ledger.reader(Scope::All).open_output(id, StreamKind::Stdout)?;
    /// stdout.ok_or("it has one")?.tail(1, &mut last)?;
    /// assert_eq!(last, b"12 tests\n");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with a refusal: the session is not there, a name is too long; storage errors.
    pub fn start_output(&self, session: &Session, output: NewOutput) -> Result<OutputWriter, Error> {
        let id = self.host.output_id();
        let start = StartOutput {
            scope: Scope::All,
            at: self.host.now(),
            id,
            session: session.id,
            tool: output.tool,
            command: output.command,
            charset: output.charset,
        };
        let growing = Arc::clone(&self.store).start_output(start)?;
        let seen = [(StreamKind::Stdout, 0), (StreamKind::Stderr, 0)];
        Ok(OutputWriter { id, growing, cap: output.cap.unwrap_or(u64::MAX), seen })
    }

    /// Ends an output whose writer is gone: it stays partial, with what came, and a turn may name it. One that is not being
    /// written stays as it is.
    ///
    /// # Errors
    ///
    /// [`Error::Store`] with a refusal where there is no such output; storage errors.
    pub fn close_output(&self, id: OutputId) -> Result<(), Error> {
        self.write(&Scope::All, vec![Command::CloseOutput(id)]).map(|_| ())
    }

    /// Deletes stored bytes that no output refers to: what a crash or a batch that was never written left. Bytes are noted
    /// when a collection first finds them so, and deleted by one that finds them so again `grace` later by the host's clock.
    /// What an output refers to is never deleted, whatever the clock says.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn collect(&self, grace: Duration) -> Result<Collected, Error> {
        Ok(self.store.collect(self.host.now(), grace)?)
    }
}
