//! Importing what is new in the transcript, as far as there is time.

use std::fs::File;
use std::io::{BufReader, Read};
use std::ops::ControlFlow;
use std::path::Path;

use sayso_import::{ImportError, Importer, Reach};

use super::state::Stamp;
use super::work::Work;
use crate::fail::Failure;
use crate::open;

/// When a grown transcript is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum When {
    /// Whenever it changed.
    Changed,
    /// Once it grew by an eighth, and by 64 KiB: reading it after each call of a tool would cost more with each.
    Grown,
}

/// Bytes that a transcript grows by at least before it is read between two calls of tools.
const GROWN: u64 = 64 << 10;

/// Imports what is new. What there is no time for comes with a later hook.
pub(super) fn import(work: &mut Work, when: When) -> Result<(), Failure> {
    let Some(path) = work.input.transcript_path.clone() else { return Ok(()) };
    // Before it is read: what is added meanwhile shows as a change again.
    let stamp = Stamp::of(&path);
    if !is_due(when, work.seen.stamp, stamp) {
        return Ok(());
    }
    if stamp.is_none() && !path.exists() {
        return missing(work, &path);
    }
    let importer = Importer::new(open::owner().name);
    let more = &mut |_| if work.in_time() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    match importer.import_while(&work.ledger, &path, more) {
        Ok((_, Reach::Whole)) => work.seen.stamp = stamp,
        Ok((_, Reach::Part)) => {}
        // A program may make its file before it writes to it.
        Err(ImportError::NoRecord { .. }) if work.seen.no_record || !has_line(&path) => {}
        Err(error @ ImportError::NoRecord { .. }) => {
            work.seen.no_record = true;
            work.keep();
            return Err(refused(&path, &error));
        }
        Err(error) => return Err(refused(&path, &error)),
    }
    work.keep();
    Ok(())
}

/// A program that was told to keep no transcript names one all the same: that is told once, not at every event.
fn missing(work: &mut Work, path: &Path) -> Result<(), Failure> {
    if work.seen.told {
        return Ok(());
    }
    work.seen.told = true;
    work.keep();
    Err(Failure::request(format!(
        "{} is not there, so what is said in this session is not kept: let the program write transcripts",
        path.display()
    )))
}

/// Whether one line at least is written whole, and is not blank.
fn has_line(path: &Path) -> bool {
    let Ok(file) = File::open(path) else { return false };
    let bytes = BufReader::new(file).bytes().map_while(Result::ok);
    let mut line = bytes.skip_while(u8::is_ascii_whitespace);
    line.any(|byte| byte == b'\n')
}

fn is_due(when: When, seen: Option<Stamp>, now: Option<Stamp>) -> bool {
    match (when, seen, now) {
        (When::Changed, seen, now) => now.is_none() || seen != now,
        (When::Grown, seen, Some(now)) => {
            let before = seen.map_or(0, |seen| seen.bytes);
            now.bytes < before || now.bytes - before >= GROWN.max(before / 8)
        }
        (When::Grown, _, None) => false,
    }
}

fn refused(path: &Path, error: &ImportError) -> Failure {
    Failure::request(format!("{}: {}", path.display(), crate::fail::Chain(error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn between_calls_only_what_grew_is_read() {
        let stamp = |bytes| Some(Stamp { bytes, changed: 1 });
        let cases = [
            (None, stamp(10), false),
            (None, stamp(GROWN), true),
            (stamp(GROWN), stamp(2 * GROWN - 1), false),
            (stamp(80 * GROWN), stamp(89 * GROWN), false),
            (stamp(80 * GROWN), stamp(90 * GROWN), true),
            (stamp(9), stamp(8), true),
            (None, None, false),
        ];
        for (seen, now, due) in cases {
            assert_eq!(is_due(When::Grown, seen, now), due, "{seen:?} {now:?}");
        }
        let changed = [(None, None, true), (stamp(1), stamp(1), false), (stamp(1), stamp(2), true)];
        for (seen, now, due) in changed {
            assert_eq!(is_due(When::Changed, seen, now), due, "{seen:?} {now:?}");
        }
    }
}
