//! Outputs that are written while their tool runs.
//!
//! What came so far is moved into the ledger now and then, each time as an output that is [`OutputState::Partial`] and whole
//! in itself: its bytes can be read and are checked like any other's. Whenever the writing program ends, the ledger holds
//! no output, a partial one, or the finished one.

use sayso_model::{OutputId, SessionId, UtcMs};

use crate::error::{Refusal, StoreError};
use crate::query::{OutputState, Run, Scope, StreamKind};

/// What is known of an output when its tool starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartOutput {
    /// What the writer may see.
    pub scope: Scope,
    /// When it is recorded.
    pub at: UtcMs,
    /// Its id.
    pub id: OutputId,
    /// The session whose tool produces it.
    pub session: SessionId,
    /// The tool's name; may be empty.
    pub tool: String,
    /// The command line, or another label for what is run.
    pub command: Option<String>,
    /// The charset of its streams, where one is declared.
    pub charset: Option<String>,
}

/// What is known of an output when its tool has ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EndOutput {
    /// Whether all of it was written.
    pub state: OutputState,
    /// The exit code, where known.
    pub exit: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether it was ended because its time was over.
    pub timed_out: bool,
    /// How long it ran, in milliseconds.
    pub duration_ms: Option<u64>,
    /// Whether another process still held a pipe when reading ended.
    pub pipe_held: bool,
    /// How many bytes a stream had, where fewer were written and that is known: at most one number for each stream.
    pub totals: Vec<(StreamKind, u64)>,
}

impl EndOutput {
    /// All of it was written, and nothing else is known.
    #[must_use]
    pub const fn complete() -> Self {
        Self {
            state: OutputState::Complete,
            exit: None,
            signal: None,
            timed_out: false,
            duration_ms: None,
            pipe_held: false,
            totals: Vec::new(),
        }
    }

    /// How many bytes a stream had, where that is known to be more than what was written.
    #[must_use]
    pub fn total(&self, kind: StreamKind) -> Option<u64> {
        self.totals.iter().find(|(of, _)| *of == kind).map(|(_, total)| *total)
    }

    /// How the tool was run, with what was known at its start.
    #[must_use]
    pub fn run(&self, start: &StartOutput, order: crate::query::ReadOrder) -> Run {
        Run {
            signal: self.signal,
            timed_out: self.timed_out,
            duration_ms: self.duration_ms,
            pipe_held: self.pipe_held,
            ..start.run(order)
        }
    }
}

impl StartOutput {
    /// How the tool was run, as far as known while it runs.
    #[must_use]
    pub fn run(&self, order: crate::query::ReadOrder) -> Run {
        Run { command: self.command.clone(), charset: self.charset.clone(), order, ..Run::default() }
    }
}

/// Writes an output while its tool runs. Dropped before it is finished, what came since it was last kept is lost, and the
/// output stays partial, if any of it was kept.
pub trait GrowingOutput: Send {
    /// Adds bytes to the end of a stream. Now and then this keeps what came so far, in a transaction of its own.
    ///
    /// # Errors
    ///
    /// As for [`GrowingOutput::keep`]. The bytes were taken all the same, and are kept by the next call that does not fail.
    fn write(&mut self, kind: StreamKind, bytes: &[u8]) -> Result<(), StoreError>;

    /// Keeps what came so far, as a partial output.
    ///
    /// # Errors
    ///
    /// [`StoreError::Refused`] where the session is not there, the id is in use, or the output is no longer there to be
    /// written: it was erased or closed; storage errors.
    fn keep(&mut self) -> Result<(), StoreError>;

    /// Keeps everything, with how it ended. After an error it may be tried again.
    ///
    /// # Errors
    ///
    /// As for [`GrowingOutput::keep`], and where what is said of the end does not go together.
    fn finish(&mut self, end: &EndOutput) -> Result<(), StoreError>;
}

/// A refusal of what is no batch.
#[must_use]
pub fn refused(refusal: Refusal) -> StoreError {
    StoreError::Refused { index: 0, refusal }
}
