//! Field cases S2 and S3: another program vacuums the file or holds it, and nothing is lost, doubled or passed over in silence.

use std::path::Path;
use std::time::Duration;

use rusqlite::Connection;
use sayso::{Ledger, Options, Scope, Search};

use super::{Other, file, open, session, sound, tell, texts, told, wait_for, words};

/// Holds the write lock until it is told to let go.
pub(super) fn hold(folder: &Path) {
    let conn = other_program(folder);
    conn.execute_batch("BEGIN IMMEDIATE").unwrap();
    tell(folder, "held");
    wait_for(folder, "let go");
    conn.execute_batch("ROLLBACK").unwrap();
}

/// A connection as any program would make one.
fn other_program(folder: &Path) -> Connection {
    let conn = Connection::open(file(folder)).unwrap();
    conn.busy_timeout(Duration::from_secs(60)).unwrap();
    conn
}

/// Vacuums the file again and again.
pub(super) fn vacuum(folder: &Path) {
    let conn = other_program(folder);
    while !told(folder, "stop") {
        conn.execute_batch("VACUUM").unwrap();
        super::log(folder, "vacuums", "one");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn s2_a_sibling_that_vacuums_fails_no_append_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ledger = open(folder);
    let sessions = [0, 1].map(|n| session(&ledger, &format!("Session {n}")));
    let before = ledger.append(&sessions[0], words("before 보고서")).unwrap();
    while ledger.index(1_000).unwrap().left > 0 {}
    let sibling = Other::start(folder, "vacuum", 0);
    wait_for(folder, "vacuums");
    let reader = ledger.reader(Scope::All);
    std::thread::scope(|threads| {
        for session in &sessions {
            let ledger = &ledger;
            threads.spawn(move || {
                for n in 0..150 {
                    ledger.append(session, words(format!("turn {n} 회의록"))).unwrap();
                }
            });
        }
        let mut rounds = 0;
        while rounds < 60 || super::logged(folder, "vacuums").len() < 4 {
            rounds += 1;
            assert!(reader.entry(before.id).unwrap().is_some());
            assert_eq!(reader.search(&sayso::store::Search::new("보고서")).unwrap().len(), 1);
            ledger.index(20).unwrap();
        }
    });
    tell(folder, "stop");
    sibling.ends_well();
    for (session, extra) in sessions.iter().zip([1, 0]) {
        let said = texts(&ledger, session);
        let expected: Vec<String> = (0..150).map(|n| format!("turn {n} 회의록")).collect();
        assert_eq!(said[extra..], expected);
    }
    let hits = |limit| {
        let search = sayso::store::Search { limit, ..sayso::store::Search::new("회의") };
        reader.search(&search).unwrap().len()
    };
    assert_eq!(hits(usize::MAX), 300);
    sound(&ledger);
}

/// The program itself never vacuums: that would hold everybody up for as long as copying the file takes.
#[test]
fn s2_no_statement_of_ours_vacuums() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut folders = vec![root.join("crates"), root.join("schema")];
    while let Some(folder) = folders.pop() {
        for found in std::fs::read_dir(folder).unwrap() {
            let path = found.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs" || e == "sql") {
                let text = std::fs::read_to_string(&path).unwrap().to_lowercase();
                assert!(!text.contains("vacuum"), "{}", path.display());
            }
        }
    }
}

/// Every append was done or said that it was not; a retry with the key writes what is missing, and nothing twice.
#[test]
fn s3_a_lock_error_is_never_swallowed_and_a_retry_doubles_nothing() {
    const TURNS: usize = 40;
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let plan = session(&open(folder), "Plan");
    let hasty = Options { wait: Duration::from_millis(5), ..Options::default() };
    let hasty = Ledger::open(&file(folder), &hasty).unwrap();
    let sibling = other_program(folder);
    let turn = |n: usize| words(n.to_string()).with_key(format!("key {n}"));
    let mut failed = Vec::new();
    for n in 0..TURNS {
        let locked = n % 3 != 0;
        if locked {
            sibling.execute_batch("BEGIN IMMEDIATE").unwrap();
        }
        match hasty.append(&plan, turn(n)) {
            Ok(placed) => assert_eq!((locked, placed.seq as usize), (false, n - failed.len() + 1)),
            Err(error) => {
                assert!(locked && error.is_busy(), "{error:?}");
                failed.push(n);
            }
        }
        if locked {
            sibling.execute_batch("ROLLBACK").unwrap();
        }
    }
    let written = texts(&hasty, &plan);
    assert_eq!(written, (0..TURNS).step_by(3).map(|n| n.to_string()).collect::<Vec<_>>());
    for _ in 0..2 {
        for n in 0..TURNS {
            hasty.append(&plan, turn(n)).unwrap();
        }
    }
    let mut all: Vec<usize> = texts(&hasty, &plan).iter().map(|t| t.parse().unwrap()).collect();
    all.sort_unstable();
    assert_eq!(all, (0..TURNS).collect::<Vec<_>>());
    sound(&hasty);
}

const KEYS: usize = 60;

/// Appends turns whose keys others use as well.
pub(super) fn same_keys(folder: &Path) {
    let ledger = open(folder);
    let plan = session(&ledger, "Plan");
    wait_for(folder, "go");
    for n in 0..KEYS {
        ledger.append(&plan, words(n.to_string()).with_key(format!("key {n}"))).unwrap();
    }
}

#[test]
fn s3_a_key_is_unique_among_processes() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ledger = open(folder);
    let plan = session(&ledger, "Plan");
    let others: Vec<Other> = (0..3).map(|n| Other::start(folder, "same keys", n)).collect();
    tell(folder, "go");
    others.into_iter().for_each(Other::ends_well);
    assert_eq!(texts(&ledger, &plan), (0..KEYS).map(|n| n.to_string()).collect::<Vec<_>>());
    sound(&ledger);
    // The table itself holds a key once, whoever writes into it.
    let again = "INSERT INTO caller_key SELECT * FROM caller_key LIMIT 1";
    let error = other_program(folder).execute_batch(again).unwrap_err();
    assert_eq!(error.sqlite_error_code(), Some(rusqlite::ErrorCode::ConstraintViolation));
}

/// Searching is reading: where the index has everything, a program that holds the ledger for itself is not waited for.
#[test]
fn a_search_over_a_full_index_waits_for_no_writer() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ledger = open(folder);
    let plan = session(&ledger, "Plan");
    ledger.append(&plan, words("the quay")).unwrap();
    while ledger.index(100).unwrap().left > 0 {}
    let holder = Other::start(folder, "hold", 0);
    wait_for(folder, "held");
    let options = Options { wait: Duration::ZERO, ..Options::default() };
    let impatient = Ledger::open(&file(folder), &options).unwrap();
    assert_eq!(impatient.index(100).unwrap().left, 0);
    assert_eq!(impatient.reader(Scope::All).search(&Search::new("quay")).unwrap().len(), 1);
    tell(folder, "let go");
    holder.ends_well();
}

/// Where turns are left to take in, whoever writes is not waited for either: they are looked at one by one.
#[test]
fn a_search_over_a_part_of_an_index_waits_for_no_writer() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let options = Options { wait: Duration::from_secs(3_600), ..Options::default() };
    let ledger = Ledger::open(&file(folder), &options).unwrap();
    let plan = session(&ledger, "Plan");
    for n in 0..100 {
        ledger.append(&plan, words(format!("turn {n} at the quay"))).unwrap();
    }
    let holder = Other::start(folder, "hold", 0);
    wait_for(folder, "held");
    // Whoever waits gets its turn when the holder is tired of waiting for its sign.
    assert_eq!(ledger.index_at_once(10).unwrap(), None);
    ledger.catch_up();
    let all = Search { limit: 200, ..Search::new("quay") };
    assert_eq!(ledger.reader(Scope::All).search(&all).unwrap().len(), 100);
    tell(folder, "let go");
    holder.ends_well();
    assert_eq!(ledger.index_at_once(10).unwrap().map(|step| step.left > 0), Some(true));
    ledger.catch_up();
    assert_eq!(ledger.index(0).unwrap().left, 0);
    assert_eq!(ledger.reader(Scope::All).search(&all).unwrap().len(), 100);
}
