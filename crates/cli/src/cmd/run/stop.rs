//! Signals that are passed on to the command.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGPIPE, SIGTERM};
use signal_hook::flag;

use crate::fail::Failure;

/// The number of the signal that the command is to get; 0 while there is none.
#[derive(Debug)]
pub(super) struct Stop(Arc<AtomicUsize>);

impl Stop {
    /// From here on, SIGINT and SIGTERM are the command's.
    pub(super) fn new() -> Result<Self, Failure> {
        let asked = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM] {
            let number = usize::try_from(signal).unwrap_or_default();
            flag::register_usize(signal, Arc::clone(&asked), number)
                .map_err(|e| Failure::io("signals cannot be passed on to the command", e))?;
        }
        Ok(Self(asked))
    }

    pub(super) fn flag(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.0)
    }

    /// Nobody reads any more: the command ends as it would have ended itself.
    pub(super) fn nobody_reads(&self) {
        let number = usize::try_from(SIGPIPE).unwrap_or_default();
        // A signal that came before stays.
        let _ = self.0.compare_exchange(0, number, Ordering::Relaxed, Ordering::Relaxed);
    }
}
