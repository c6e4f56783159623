//! Failures of the program: one message, its causes once, and the next action.

use std::error::Error as StdError;
use std::fmt;
use std::io;
use std::process::ExitCode;

use sayso::StoreError;

/// The exit code of `run` where it failed itself, and the command was not run.
pub(crate) const RUN: u8 = 125;

/// Why a command did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The library says so.
    #[error(transparent)]
    Ledger(#[from] sayso::Error),
    /// A file or stream failed.
    #[error("{what}")]
    Io {
        /// Doing what.
        what: String,
        #[source]
        cause: io::Error,
    },
    /// A command could not be started.
    #[cfg(unix)]
    #[error(transparent)]
    Spawn(sayso_output::execute::SpawnError),
    /// A bridge cannot run, or go on.
    #[cfg(unix)]
    #[error(transparent)]
    Bridge(#[from] sayso_bridge::run::BridgeError),
    /// Two texts could not be handed over.
    #[error(transparent)]
    Emit(sayso_output::wire::EmitError),
    /// Something about the request is wrong; the message names the next action.
    #[error("{0}")]
    Request(String),
    /// Nobody reads standard output any more: not a failure.
    #[error("standard output was closed")]
    BrokenPipe,
    /// `verify` or `doctor` found problems and has printed them.
    #[error("there are problems")]
    Problems,
}

impl Failure {
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::Request(message.into())
    }

    pub(crate) fn io(what: impl Into<String>, cause: io::Error) -> Self {
        Self::Io { what: what.into(), cause }
    }

    /// Whether the ledger failed, not what was asked of it.
    #[cfg(unix)]
    pub(crate) fn is_storage(&self) -> bool {
        matches!(self, Self::Ledger(sayso::Error::Store(error)) if error.refusal().is_none())
    }

    /// The exit code of `run`: 127 and 126 as shells have them, else that of its own failures.
    #[cfg(unix)]
    pub(crate) fn run_code(&self) -> u8 {
        let code = match self {
            Self::Spawn(error) => error.code(),
            _ => None,
        };
        code.and_then(|code| u8::try_from(code).ok()).unwrap_or(RUN)
    }

    /// Says what went wrong on standard error and gives the exit code.
    pub(crate) fn report(&self, err: &mut dyn io::Write) -> ExitCode {
        if matches!(self, Self::Problems) {
            return ExitCode::from(3);
        }
        if self.is_broken_pipe() {
            return ExitCode::SUCCESS;
        }
        // Nothing can be done where standard error is gone as well.
        let _ = writeln!(err, "error: {}", Chain(self));
        ExitCode::FAILURE
    }

    fn is_broken_pipe(&self) -> bool {
        let mut next: Option<&(dyn StdError + 'static)> = Some(self);
        while let Some(error) = next {
            let io = error.downcast_ref::<io::Error>();
            if matches!(error.downcast_ref(), Some(Self::BrokenPipe))
                || io.is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
            {
                return true;
            }
            next = error.source();
        }
        false
    }
}

/// An error and its causes, each once: `message: cause: cause`. The wrapper around a refusal says nothing to a person and
/// is left out.
pub(crate) struct Chain<'a>(pub(crate) &'a (dyn StdError + 'static));

impl fmt::Display for Chain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut next = Some(self.0);
        let mut last = String::new();
        while let Some(error) = next {
            let message = error.to_string();
            next = error.source();
            if next.is_some() && is_refusal_wrapper(error) || message == last {
                continue;
            }
            if !last.is_empty() {
                f.write_str(": ")?;
            }
            f.write_str(&message)?;
            last = message;
        }
        Ok(())
    }
}

fn is_refusal_wrapper(error: &(dyn StdError + 'static)) -> bool {
    let refused = |e: &StoreError| matches!(e, StoreError::Refused { .. });
    error.downcast_ref().is_some_and(refused)
        || matches!(error.downcast_ref(), Some(sayso::Error::Store(e)) if refused(e))
        || matches!(error.downcast_ref(), Some(Failure::Ledger(sayso::Error::Store(e))) if refused(e))
}
