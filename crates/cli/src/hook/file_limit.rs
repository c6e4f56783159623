//! The limit on the size of files (`ulimit -f`). Whoever writes beyond it gets a signal that ends the process, unless it is
//! heeded: then the write fails, as on a full disk, and the agent gets its answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether a write of this process met the limit.
pub(super) struct FileLimit(Arc<AtomicBool>);

impl FileLimit {
    /// From here on, a write beyond the limit only fails.
    pub(super) fn heeded() -> Self {
        let met = Arc::default();
        heed(&met);
        Self(met)
    }

    /// A reason, with the limit where that was behind it: a database tells of a failed write, and not why it failed.
    pub(super) fn named(&self, reason: &str) -> String {
        if !self.0.load(Ordering::Relaxed) {
            return reason.to_owned();
        }
        format!(
            "{reason}: a file would have grown beyond the limit on the size of files, raise it (`ulimit -f` tells it)"
        )
    }
}

#[cfg(unix)]
fn heed(met: &Arc<AtomicBool>) {
    // Where the signal cannot be heeded, it ends the process as it always did.
    let _ = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::clone(met));
}

#[cfg(not(unix))]
fn heed(_: &Arc<AtomicBool>) {}
