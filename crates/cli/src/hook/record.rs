//! Records of hooks that failed, outside the ledger: one JSON object a line, the newest last.
//!
//! What fails most often is a disk without room. So a little room is kept for them in advance, and where that is gone too
//! they go into a folder that is likely on another disk; the doctor looks into all of them.

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
/// Bytes of room that are kept for records: two of the largest, in blocks of a disk.
const SPARE_BYTES: usize = 16 * 1024;
const SPARE: &str = "spare";
const FILE: &str = "hook-failures.jsonl";

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
    state::folder().map(|folder| folder.join(FILE))
}

/// Everywhere that they may be, in the order in which it is tried.
pub(crate) fn paths() -> Vec<PathBuf> {
    path().into_iter().chain(state::elsewhere().into_iter().map(|folder| folder.join(FILE))).collect()
}

/// The files with records in them.
pub(crate) fn there() -> Vec<PathBuf> {
    let trusted = |path: &PathBuf| path.parent().is_some_and(state::is_trusted);
    let some = |path: &PathBuf| fs::metadata(path).is_ok_and(|about| about.is_file() && about.len() > 0);
    paths().into_iter().filter(some).filter(trusted).collect()
}

/// Leaves a record, as far as that is possible: there is nobody to tell when it is not.
pub(crate) fn leave(program: &str, event: &str, reason: &str) {
    let record = Record {
        program: program.to_owned(),
        event: event.to_owned(),
        at: SystemHost.now().utc(),
        reason: reason.chars().take(REASON_CHARS).collect(),
    };
    let Ok(mut line) = serde_json::to_string(&record) else { return };
    line.push('\n');
    let left = |path: &PathBuf| with_spare(path, || append(path, &line)).is_ok();
    let _ = paths().iter().any(left);
}

/// Does it, and once more in the room that was kept for it.
fn with_spare(path: &Path, write: impl Fn() -> std::io::Result<()>) -> std::io::Result<()> {
    write().or_else(|_| fs::remove_file(path.with_file_name(SPARE)).and_then(|()| write()))
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
        state::make_own(folder)?;
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

/// Whether a record could be left: the file can be opened as a failing hook would, and there is room in advance.
pub(crate) fn try_leaving(path: &Path) -> std::io::Result<()> {
    open(path).map(drop)?;
    keep_spare(path.parent().unwrap_or(Path::new(".")))
}

/// Keeps room for records, unless it is kept already.
pub(crate) fn keep_spare(folder: &Path) -> std::io::Result<()> {
    let spare = folder.join(SPARE);
    if fs::metadata(&spare).is_ok_and(|about| about.len() == SPARE_BYTES as u64) {
        return Ok(());
    }
    // Bytes that no file system leaves out because they say nothing.
    let bytes: Vec<u8> = std::iter::repeat_n(b"room for records\n", SPARE_BYTES).flatten().copied().collect();
    fs::write(&spare, bytes.get(..SPARE_BYTES).unwrap_or_default())
        .inspect_err(|_| _ = fs::remove_file(&spare))
}

fn shorten(path: &Path) -> std::io::Result<()> {
    let bytes = fs::read(path)?;
    let lines: Vec<&[u8]> = bytes.split(|byte| *byte == b'\n').collect();
    fs::write(path, lines.get(lines.len() / 2..).unwrap_or_default().join(&b'\n'))
}

/// The records of all places, oldest first; a line that is none is left out.
pub(crate) fn read() -> Vec<Record> {
    let mut records: Vec<Record> = there().iter().flat_map(|path| read_from(path)).collect();
    records.sort_by(|one, other| one.at.cmp(&other.at));
    records
}

fn read_from(path: &Path) -> Vec<Record> {
    let bytes = fs::read(path).unwrap_or_default();
    // A byte that is no text spoils its own line at most.
    let lines = bytes.split(|byte| *byte == b'\n');
    lines.filter_map(|line| serde_json::from_str(&String::from_utf8_lossy(line)).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_that_was_kept_is_used_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let spare = path.with_file_name(SPARE);
        // A disk that has no room while the spare is there.
        let write = || match spare.exists() {
            true => Err(std::io::ErrorKind::StorageFull.into()),
            false => append(&path, "one\n"),
        };
        keep_spare(folder.path()).unwrap();
        assert_eq!(fs::metadata(&spare).unwrap().len(), SPARE_BYTES as u64);
        with_spare(&path, write).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), spare.exists()), ("one\n", false));
        let full = || Err(std::io::ErrorKind::StorageFull.into());
        assert!(with_spare(&path, full).is_err(), "without a spare it stays an error");
    }

    #[test]
    fn a_record_that_is_not_text_hides_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(FILE);
        let line = |at: &str| {
            format!("{{\"program\":\"p\",\"event\":\"e\",\"at\":\"{at}\",\"reason\":\"r\"}}\n").into_bytes()
        };
        let bytes = [line("1"), b"\xFF\xFE{\n".to_vec(), line("2"), line("3")].concat();
        fs::write(&path, bytes).unwrap();
        let at = |records: Vec<Record>| records.into_iter().map(|record| record.at).collect::<Vec<_>>();
        assert_eq!(at(read_from(&path)), ["1", "2", "3"]);
        shorten(&path).unwrap();
        assert_eq!(at(read_from(&path)), ["2", "3"]);
        append(&path, "{}\n").unwrap();
        assert!(fs::read(&path).unwrap().ends_with(b"}\n{}\n"));
    }
}
