//! Single bytes of a ledger's files are changed, and files are cut: that is found and named, or no answer differs.
//!
//! `SAYSO_FAULTS=all` changes every byte; without it some are, spread over the whole.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use sayso::{Error, Ledger, Scope, Search};

use super::steps::{ALL, GONE};
use super::{Told, copy, ledger_in, open};

/// Bytes that are changed when not all are asked for.
const TRIED: usize = 400;

/// Everything that a reader is told, or the first error.
fn answers(ledger: &Ledger) -> Result<Vec<String>, Error> {
    let reader = ledger.reader(Scope::All);
    let mut all = Vec::new();
    for project in reader.projects()? {
        all.push(format!("{project:?}"));
    }
    for session in reader.sessions(None)? {
        all.push(format!("{session:?}"));
        for entry in reader.walk(session.id, 0) {
            all.push(format!("{:?}", entry?));
        }
        for output in reader.archived_outputs(session.id, None, 100)? {
            let mut bytes = Vec::new();
            for stream in &output.streams {
                reader.read_output(output.id, stream.kind, &mut bytes)?;
            }
            all.push(format!("{output:?} {}", blake3::hash(&bytes)));
        }
    }
    for query in ["보고서", "words", GONE] {
        all.push(format!("{:?}", reader.search(&Search { limit: 1_000, ..Search::new(query) })?));
    }
    Ok(all)
}

/// How one change ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    /// The ledger is not opened.
    NotOpened,
    /// `verify` names it.
    Named,
    /// Reading says so; `verify` does too, or cannot run.
    NotRead,
    /// Every answer is the same.
    Harmless,
    /// Every answer is one that was right before the last words were said: the log ends at the change.
    Earlier,
    /// An answer differs and nothing says so.
    Lie,
}

fn outcome(path: &Path, expected: &[String]) -> Outcome {
    let Ok(ledger) = open(path) else { return Outcome::NotOpened };
    let found = answers(&ledger);
    let report = ledger.reader(Scope::All).verify(&BTreeMap::new());
    match (found, report) {
        (_, Ok(report)) if !report.problems.is_empty() => Outcome::Named,
        (Ok(found), Ok(_)) if found == expected => Outcome::Harmless,
        (Ok(_), Ok(_)) => Outcome::Lie,
        (_, Err(_)) | (Err(_), Ok(_)) => Outcome::NotRead,
    }
}

/// A ledger whose last words stand in the log, with the log emptied or not.
fn prepared(log: bool) -> Told {
    let scenario = ALL.iter().find(|s| s.name == "compaction").unwrap();
    let mut told = Told::new(scenario);
    let path = ledger_in(told.folder.path());
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    if log {
        let ledger = open(&path).unwrap();
        super::steps::said_last(&ledger);
        // While it is open: at the end the log is moved into the file.
        told.folder = copy(told.folder.path());
    }
    told
}

/// What is changed: a file, by its ending, and how.
fn each(log: bool, change: impl Fn(&mut Vec<u8>, usize), many: impl Fn(usize) -> Vec<usize>) {
    let told = prepared(log);
    let ending = if log { "ledger.db-wal" } else { "ledger.db" };
    let expected = {
        let run = told.run();
        answers(&open(&run.path()).unwrap()).unwrap()
    };
    let whole = fs::read(told.folder.path().join(ending)).unwrap();
    let mut ends: BTreeMap<Outcome, usize> = BTreeMap::new();
    for at in many(whole.len()) {
        let run = told.run();
        let mut bytes = whole.clone();
        change(&mut bytes, at);
        fs::write(run.folder.path().join(ending), bytes).unwrap();
        let found = catch_unwind(AssertUnwindSafe(|| outcome(&run.path(), &expected)));
        let mut found = found.unwrap_or_else(|_| panic!("{ending}, byte {at}: a panic"));
        // SQLite takes a log to end where its checksums do, as a loss of power leaves it.
        if found == Outcome::Lie && log && earlier(&run.path(), &expected) {
            found = Outcome::Earlier;
        }
        assert!(found != Outcome::Lie, "{ending}, byte {at}");
        *ends.entry(found).or_default() += 1;
    }
    println!("{ending}, {} bytes: {ends:?}", whole.len());
}

/// Whether what is there was once there so: the entries of each session are the first ones of what is expected.
fn earlier(path: &Path, expected: &[String]) -> bool {
    let ledger = open(path).unwrap();
    let reader = ledger.reader(Scope::All);
    reader.sessions(None).unwrap().iter().all(|session| {
        reader.walk(session.id, 0).all(|entry| expected.contains(&format!("{:?}", entry.unwrap())))
    })
}

fn spread(len: usize) -> Vec<usize> {
    let all = std::env::var("SAYSO_FAULTS").is_ok_and(|value| value == "all");
    let step = if all { 1 } else { (len / TRIED).max(1) | 1 };
    (0..len).step_by(step).collect()
}

#[test]
fn a_changed_byte_of_the_file_is_named_or_changes_no_answer() {
    each(false, |bytes, at| bytes[at] ^= 1 << (at % 8), spread);
}

#[test]
fn a_changed_byte_of_the_log_is_named_or_is_as_a_log_that_ended_there() {
    each(true, |bytes, at| bytes[at] ^= 1 << (at % 8), spread);
}

/// A log whose middle was changed: SQLite reads on as if it ended there, and only what stands behind says that it did not.
#[test]
fn writes_behind_a_changed_byte_of_the_log_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let path = ledger_in(folder.path());
    let ledger = open(&path).unwrap();
    let session = ledger.session("Acme", "Plan").unwrap();
    let says = |n: usize| {
        let turn = sayso::NewTurn::text(sayso::SpeakerKind::Owner, "Mira", format!("said {n}"));
        ledger.append(&session, turn).unwrap();
    };
    (0..10).for_each(says);
    let found = sayso::log_end(&path).unwrap();
    assert!(found.frames > 10 && found.commits_behind == 0, "{found:?}");
    let changed = copy(folder.path());
    let log = changed.path().join("ledger.db-wal");
    let whole = fs::read(&log).unwrap();
    let mut most = 0;
    for at in (0..whole.len()).step_by(whole.len() / 40) {
        let mut bytes = whole.clone();
        bytes[at] ^= 1 << (at % 8);
        fs::write(&log, bytes).unwrap();
        let end = sayso::log_end(&ledger_in(changed.path())).unwrap();
        assert!(end.frames < found.frames || end.commits_behind == 0, "byte {at}: {end:?}");
        most = most.max(end.commits_behind);
    }
    assert!(most >= 10, "{most} commits were behind the first change");
    // Begun anew, the log has the frames of its earlier use behind its end: those say nothing.
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(RESTART)", [], |_| Ok(())).unwrap();
    says(10);
    let anew = sayso::log_end(&path).unwrap();
    assert!(anew.frames > 0 && anew.frames < found.frames, "{anew:?}");
    assert_eq!(anew.commits_behind, 0, "{anew:?}");
}

#[test]
fn a_file_that_was_cut_is_named_or_changes_no_answer() {
    // An empty file is a ledger that was not made yet: only heads that are kept elsewhere tell it from one that is lost.
    let cuts = |len: usize| (1..len).step_by((len / 60).max(1)).collect();
    each(false, |bytes, at| bytes.truncate(at), cuts);
    each(true, |bytes, at| bytes.truncate(at), cuts);
}
