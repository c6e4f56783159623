//! What comes goes into the ledger while the command runs. A ledger that fails never stops the command.

use std::io::{self, Write};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use sayso::model::OutputId;
use sayso::store::{Session, StreamKind};
use sayso::{Ended, Ending, Ledger, NewOutput, OutputWriter};
use sayso_output::execute::Execution;

use super::tee::Tee;
use crate::fail::Failure;

/// How often what came is moved into the ledger.
const STEP: Duration = Duration::from_secs(1);

/// The record of one command.
pub(super) struct Record {
    ledger: Option<(Ledger, Session)>,
    state: Mutex<State>,
}

struct State {
    writer: Option<OutputWriter>,
    /// Whether something came since the last step.
    news: bool,
    /// Whether the ledger holds some of it.
    kept: bool,
    trouble: Option<Failure>,
}

/// An output that is in the ledger.
#[derive(Debug, Clone, Copy)]
pub(super) struct Recorded {
    pub(super) id: OutputId,
    /// Whether all of it is.
    pub(super) whole: bool,
}

impl Record {
    /// Ready for what comes.
    pub(super) fn start(ledger: Ledger, session: Session, output: NewOutput) -> Self {
        let (writer, trouble) = match ledger.start_output(&session, output) {
            Ok(writer) => (Some(writer), None),
            Err(error) => (None, Some(error.into())),
        };
        Self::of(Some((ledger, session)), writer, trouble)
    }

    /// There is no ledger to write to.
    pub(super) fn broken(trouble: Failure) -> Self {
        Self::of(None, None, Some(trouble))
    }

    fn of(ledger: Option<(Ledger, Session)>, writer: Option<OutputWriter>, trouble: Option<Failure>) -> Self {
        Self { ledger, state: Mutex::new(State { writer, news: false, kept: false, trouble }) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked left a writer that keeps what came.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does the work, and meanwhile moves what came into the ledger once a second.
    pub(super) fn keeping<T>(&self, work: impl FnOnce() -> T) -> T {
        let (done, waiting) = channel::<()>();
        thread::scope(|scope| {
            scope.spawn(move || {
                while waiting.recv_timeout(STEP) == Err(RecvTimeoutError::Timeout) {
                    self.state().keep();
                }
            });
            let result = work();
            drop(done);
            result
        })
    }

    pub(super) fn stdout<'a, 't>(&'a self, tee: &'a mut Tee<'t>) -> Sink<'a, 't> {
        Sink { record: self, kind: StreamKind::Stdout, tee }
    }

    pub(super) fn stderr<'a, 't>(&'a self, tee: &'a mut Tee<'t>) -> Sink<'a, 't> {
        Sink { record: self, kind: StreamKind::Stderr, tee }
    }

    /// The output with how the command ended, and what went wrong with it.
    pub(super) fn finish(&self, went: &Execution) -> (Option<Recorded>, Option<Failure>) {
        let mut state = self.state();
        let Some(mut writer) = state.writer.take() else { return (None, state.trouble.take()) };
        if state.trouble.is_none() {
            match writer.finish(ended(went)) {
                Ok(id) => return (Some(Recorded { id, whole: true }), None),
                Err(error) => state.trouble = Some(error.into()),
            }
        }
        // Where even that fails, it stays marked as being written.
        let _ = state.kept.then(|| writer.stop());
        let kept = state.kept.then(|| Recorded { id: writer.id(), whole: false });
        (kept, state.trouble.take())
    }

    /// Stores a text beside the command's own output.
    pub(super) fn text(&self, tool: &str, text: &str) -> Result<Option<OutputId>, Failure> {
        let Some((ledger, session)) = &self.ledger else { return Ok(None) };
        let mut writer = ledger.start_output(session, NewOutput::of(tool))?;
        writer.write(StreamKind::Stdout, text.as_bytes())?;
        Ok(Some(writer.finish(Ended::by(Ending::Unknown))?))
    }
}

impl State {
    fn take(&mut self, kind: StreamKind, bytes: &[u8]) {
        self.news = true;
        self.attempt(|writer| writer.write(kind, bytes));
    }

    fn keep(&mut self) {
        if self.news {
            self.attempt(OutputWriter::keep);
            self.kept |= self.trouble.is_none();
            self.news = false;
        }
    }

    /// After a first trouble nothing more is written, so that what is held in memory does not grow.
    fn attempt(&mut self, write: impl FnOnce(&mut OutputWriter) -> Result<(), sayso::Error>) {
        if let (Some(writer), None) = (self.writer.as_mut(), &self.trouble) {
            self.trouble = write(writer).err().map(Failure::from);
        }
    }
}

fn ended(went: &Execution) -> Ended {
    let ending = match went.ending {
        sayso_output::Ending::Exit(code) => Ending::Exit(code),
        sayso_output::Ending::Signal(number) => Ending::Signal(number),
        sayso_output::Ending::Timeout => Ending::Timeout,
        sayso_output::Ending::Unknown => Ending::Unknown,
    };
    Ended { ending, duration: Some(went.duration), pipe_held: went.pipe_held() }
}

/// One stream of the command: into the ledger, and on.
pub(super) struct Sink<'a, 't> {
    record: &'a Record,
    kind: StreamKind,
    tee: &'a mut Tee<'t>,
}

impl Write for Sink<'_, '_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // First on, then into the ledger: who reads does not wait for it.
        self.tee.pass(bytes);
        self.record.state().take(self.kind, bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
