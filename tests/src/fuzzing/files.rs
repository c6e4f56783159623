//! Whole files: transcripts, and exports of ledgers.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use sayso::model::{LedgerId, UtcMs};
use sayso::{Host, Ledger, Scope};
use sayso_import::archive::export;
use sayso_import::import_file;
use sayso_store::Oracle;
use tempfile::TempDir;

/// Time stands still, and randomness is a counter.
#[derive(Default)]
struct Still(AtomicU64);

impl Host for Still {
    fn now(&self) -> UtcMs {
        UtcMs(1_796_029_200_000)
    }

    fn random(&self) -> [u8; 32] {
        *blake3::hash(&self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes()).as_bytes()
    }
}

fn ledger() -> Ledger {
    Ledger::over(Arc::new(Oracle::new(LedgerId::from_u128(1))), Arc::new(Still::default()))
}

/// A file with these bytes; the same one each time.
fn file(name: &str, bytes: &[u8]) -> Option<PathBuf> {
    static FOLDER: OnceLock<Option<TempDir>> = OnceLock::new();
    let folder = FOLDER.get_or_init(|| tempfile::tempdir().ok()).as_ref()?;
    // Threads of one process have files of their own.
    let path = folder.path().join(format!("{:?}-{name}", std::thread::current().id()));
    std::fs::write(&path, bytes).ok()?;
    Some(path)
}

/// Any bytes as a transcript: it is imported or refused, what was imported is sound, and the same file again adds nothing.
pub(super) fn import(bytes: &[u8]) {
    let Some(path) = file("session.jsonl", bytes) else { return };
    let ledger = ledger();
    let Ok(report) = import_file(&ledger, &path, &mut |_| {}) else { return };
    sound(&ledger);
    if let Ok(again) = import_file(&ledger, &path, &mut |_| {}) {
        assert_eq!(again.turns_added, 0, "after {report:?}: {again:?}");
    }
    sound(&ledger);
}

fn sound(ledger: &Ledger) {
    let reader = ledger.reader(Scope::All);
    let problems = reader.verify(&BTreeMap::new()).map(|report| report.problems);
    assert!(matches!(&problems, Ok(found) if found.is_empty()), "{problems:?}");
    for session in reader.sessions(None).unwrap_or_default() {
        assert!(reader.walk(session.id, 0).all(|entry| entry.is_ok()), "every entry reads");
    }
}

/// Any lines as the records of an export, with the checks that they should have, so that it is not the checks that refuse them.
pub(super) fn archive(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Some(path) = file("export.jsonl", checked(&text).as_bytes()) else { return };
    let first = ledger();
    if import_file(&first, &path, &mut |_| {}).is_err() {
        return;
    }
    sound(&first);
    let Some(written) = exported(&first) else { return };
    let Some(path) = file("again.jsonl", &written) else { return };
    let second = ledger();
    let again = import_file(&second, &path, &mut |_| {});
    assert!(again.is_ok(), "what was exported is imported: {again:?}");
    assert!(exported(&second).as_ref() == Some(&written), "and gives the same export");
}

/// Every line with its check.
fn checked(text: &str) -> String {
    let (mut out, mut chain) = (String::new(), [0; 32]);
    for line in text.lines() {
        let record = line.strip_suffix('}').unwrap_or(line);
        let mut hasher = blake3::Hasher::new();
        chain = *hasher.update(&chain).update(record.as_bytes()).finalize().as_bytes();
        let check = blake3::Hash::from_bytes(chain).to_hex();
        out.push_str(&format!("{record},\"check\":\"{check}\"}}\n"));
    }
    out
}

fn exported(ledger: &Ledger) -> Option<Vec<u8>> {
    let reader = ledger.reader(Scope::All);
    let projects = reader.projects().ok()?.iter().map(|p| p.id).collect();
    let sessions = reader.sessions(None).ok()?.iter().map(|s| s.id).collect();
    let mut bytes = Vec::new();
    let written = export(&reader, &projects, &sessions, &mut bytes);
    assert!(written.is_ok(), "what was imported is exported: {written:?}");
    Some(bytes)
}
