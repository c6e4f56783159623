//! Records of hooks that failed, outside the ledger: one JSON object a line, the newest last.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use sayso::{Host, SystemHost};
use serde::{Deserialize, Serialize};

use super::state;

/// Bytes after which the older half of the records is dropped.
const FILE_BYTES: u64 = 256 * 1024;
/// Characters of a reason that are kept.
const REASON_CHARS: usize = 1_000;

/// One failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    /// The agent program.
    pub(crate) program: String,
    /// The hook's event.
    pub(crate) event: String,
    /// When, RFC 3339 in UTC.
    pub(crate) at: String,
    /// Why.
    pub(crate) reason: String,
}

/// Where they are kept.
pub(crate) fn path() -> Option<PathBuf> {
    state::folder().map(|folder| folder.join("hook-failures.jsonl"))
}

/// Leaves a record, as far as that is possible: there is nobody to tell when it is not.
pub(crate) fn leave(program: &str, event: &str, reason: &str) {
    let record = Record {
        program: program.to_owned(),
        event: event.to_owned(),
        at: SystemHost.now().utc(),
        reason: reason.chars().take(REASON_CHARS).collect(),
    };
    if let (Some(path), Ok(mut line)) = (path(), serde_json::to_string(&record)) {
        line.push('\n');
        let _ = append(&path, &line);
    }
}

fn append(path: &Path, line: &str) -> std::io::Result<()> {
    if fs::metadata(path).is_ok_and(|m| m.len() > FILE_BYTES) {
        shorten(path)?;
    }
    // One write of one line, so that two hooks failing at once do not mix.
    open(path)?.write_all(line.as_bytes())
}

/// Opens the file for adding to it; what is made on the way is its owner's alone.
fn open(path: &Path) -> std::io::Result<fs::File> {
    if let Some(folder) = path.parent() {
        state::make(folder)?;
    }
    private_file(OpenOptions::new().create(true).append(true)).open(path)
}

#[cfg(unix)]
fn private_file(options: &mut OpenOptions) -> &mut OpenOptions {
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600)
}

#[cfg(not(unix))]
fn private_file(options: &mut OpenOptions) -> &mut OpenOptions {
    options
}

/// Whether a record could be left, tried by opening the file as a failing hook would.
pub(crate) fn try_leaving(path: &Path) -> std::io::Result<()> {
    open(path).map(|_| ())
}

fn shorten(path: &Path) -> std::io::Result<()> {
    let text = fs::read_to_string(path)?;
    let lines: Vec<&str> = text.lines().collect();
    let kept = lines.get(lines.len() / 2..).unwrap_or_default().join("\n");
    fs::write(path, kept + "\n")
}

/// The records, oldest first; a line that is none is left out.
pub(crate) fn read() -> Vec<Record> {
    let text = path().and_then(|p| fs::read_to_string(p).ok()).unwrap_or_default();
    text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
}
