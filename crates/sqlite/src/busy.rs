//! Waiting for a lock: by deadline, never by a count of tries.

use std::time::{Duration, Instant};

/// A busy handler that waits until `wait` has passed since the lock was first found taken.
pub(crate) fn until(wait: Duration) -> impl FnMut(i32) -> bool + Send + 'static {
    let mut since = None;
    move |tries| {
        let start = match since {
            Some(start) if tries > 0 => start,
            _ => *since.insert(now()),
        };
        rest(start, tries.unsigned_abs(), wait)
    }
}

/// Repeats what SQLite does not wait for by itself, such as the switch to a write-ahead log.
pub(crate) fn retry<T>(
    wait: Duration,
    mut attempt: impl FnMut() -> Result<T, rusqlite::Error>,
) -> Result<T, rusqlite::Error> {
    let start = now();
    let mut tries = 0;
    loop {
        match attempt() {
            Err(error) if is_busy(&error) && rest(start, tries, wait) => tries += 1,
            other => return other,
        }
    }
}

fn is_busy(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseBusy, DatabaseLocked};
    matches!(error.sqlite_error_code(), Some(DatabaseBusy | DatabaseLocked))
}

/// Sleeps a short while, unless the time is over.
///
/// Short, uneven sleeps: SQLite's own ones grow to 100 ms and let one of several writers starve.
fn rest(start: Instant, tries: u32, wait: Duration) -> bool {
    let passed = start.elapsed();
    let Some(left) = wait.checked_sub(passed).filter(|left| !left.is_zero()) else { return false };
    let cap = 200u32.saturating_mul(tries.saturating_add(1)).min(4_000);
    let micros = 100 + passed.subsec_nanos() % cap;
    std::thread::sleep(Duration::from_micros(u64::from(micros)).min(left));
    true
}

#[allow(clippy::disallowed_methods)] // only waiting: no recorded time comes from here
fn now() -> Instant {
    Instant::now()
}
