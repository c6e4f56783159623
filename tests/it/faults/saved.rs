//! A byte of a ledger is changed, in every table and every index: what still reads is saved, and what does not is counted.
//!
//! `SAYSO_FAULTS=all` changes many bytes of each; without it a few are.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sayso::model::{EntryBody, MarkKind, SessionId};
use sayso::store::Problem;
use sayso::{Error, Ledger, Scope, StoreError};
use sayso_import::archive::{Salvaged, salvage};
use sayso_import::import_file;

use super::{Told, ledger_in, open, steps};

/// Bytes of each table and index that are changed.
const TRIED: usize = 2;
const ALL: usize = 60;

/// Every entry of every session, in words.
type Entries = BTreeMap<(SessionId, u64), String>;

fn entries(ledger: &Ledger) -> Entries {
    let reader = ledger.reader(Scope::All);
    let sessions = reader.sessions(None).unwrap();
    let all = sessions.iter().flat_map(|session| reader.walk(session.id, 0));
    let own = all.map(|entry| entry.unwrap());
    own.map(|entry| ((entry.session, entry.seq), format!("{} {}", entry.id, said(&entry)))).collect()
}

fn said(entry: &sayso::Entry) -> String {
    format!("{} {:?}", steps::words(entry), entry.body)
}

/// Of an entry that only keeps its place.
fn is_place(entry: &str) -> bool {
    entry.contains(&format!("{:?}", EntryBody::Mark(sayso::model::Mark::new(MarkKind::Erased, None, ""))))
}

/// What is used of each page: it is filled from its end.
const PAGES: &str = "SELECT name, pgoffset + pgsize - payload, pgoffset + pgsize FROM dbstat \
                     WHERE payload > 0 ORDER BY name, pgoffset";

/// A table, an index or what the file begins with, and the places of its bytes.
fn regions(path: &Path) -> BTreeMap<String, Vec<usize>> {
    let conn = rusqlite::Connection::open(path).unwrap();
    let mut pages = conn.prepare(PAGES).unwrap();
    let pages = pages.query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?))).unwrap();
    let mut regions: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for page in pages {
        let (name, from, to): (String, i64, i64) = page.unwrap();
        let (from, to) = (usize::try_from(from).unwrap(), usize::try_from(to).unwrap());
        regions.entry(name).or_default().extend(from..to);
    }
    regions
}

/// A ledger with all sorts of entries, everything in its file.
fn prepared() -> Told {
    let told = Told::new(steps::ALL.iter().find(|s| s.name == "compaction").unwrap());
    let path = ledger_in(told.folder.path());
    let ledger = open(&path).unwrap();
    for scenario in ["append", "batch", "forward", "compaction", "life", "fork"] {
        let scenario = steps::ALL.iter().find(|s| s.name == scenario).unwrap();
        scenario.steps.iter().for_each(|step| step(&ledger).unwrap());
    }
    drop(ledger);
    let conn = rusqlite::Connection::open(&path).unwrap();
    conn.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    told
}

/// What a flip came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum End {
    /// The file is not opened, and says why.
    NotOpened,
    /// All of it was saved.
    Whole,
    /// Some of it was not, and was counted.
    Counted,
}

fn saved_from(path: &Path, expected: &Entries, at: &str) -> End {
    let ledger = match open(path) {
        Ok(ledger) => ledger,
        Err(error) => {
            let typed = matches!(
                error,
                Error::Store(
                    StoreError::Damaged { .. }
                        | StoreError::NotALedger { .. }
                        | StoreError::Future { .. }
                        | StoreError::Storage { .. }
                )
            );
            assert!(typed, "{at}: {error:?}");
            return End::NotOpened;
        }
    };
    let mut export = Vec::new();
    let told = salvage(&ledger.reader(Scope::All), &mut export).unwrap_or_else(|e| panic!("{at}: {e:?}"));
    let copy = imported(&export, &told, at);
    check(&told, &copy, expected, at);
    if told.whole() { End::Whole } else { End::Counted }
}

/// What stands in a new ledger that takes the export.
fn imported(export: &[u8], told: &Salvaged, at: &str) -> Entries {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("saved.jsonl");
    fs::write(&file, export).unwrap();
    let ledger = open(&folder.path().join("copy.db")).unwrap();
    let report = import_file(&ledger, &file, &mut |_| {}).unwrap_or_else(|error| panic!("{at}: {error:?}"));
    assert!(report.apart.is_empty() && !report.skipped.contains_key("passed_over"), "{at}: {report:?}");
    let copy = entries(&ledger);
    // Of what was lost only the places are there, and that is what is wrong with them.
    let found = ledger.reader(Scope::All).verify(&BTreeMap::new()).unwrap();
    let places = copy.values().filter(|entry| is_place(entry)).count();
    // A session that ends early may lack the entry that gave it its title.
    let early = |p: &Problem| told.sessions.iter().any(|s| Some(s.session) == p.session && s.ends.is_some());
    let lawful = |p: &&Problem| {
        p.what.contains("the entry is empty") || (early(p) && p.what.contains("the session's title"))
    };
    let other: Vec<_> = found.problems.iter().filter(|p| !lawful(p)).collect();
    assert!(found.problems.len() >= places, "{at}");
    assert!(places > 0 || other.is_empty(), "{at}: {other:?}");
    copy
}

/// Everything in the copy is as it was, and the counts are right.
fn check(told: &Salvaged, copy: &Entries, expected: &Entries, at: &str) {
    let whole: Entries = copy.iter().filter(|(_, e)| !is_place(e)).map(|(k, e)| (*k, e.clone())).collect();
    for (place, entry) in &whole {
        assert_eq!(expected.get(place), Some(entry), "{at}");
    }
    assert_eq!(told.saved(), whole.len() as u64, "{at}: {:#?}", told.sessions);
    assert_eq!(told.saved() + told.lost(), expected.len() as u64, "{at}: {:#?}", told.sessions);
    for session in &told.sessions {
        let named = session.lost.len() as u64;
        assert!(session.entries == session.saved || named > 0, "{at}: {session:?}");
    }
}

#[test]
fn of_a_ledger_with_a_changed_byte_in_any_table_all_that_reads_is_saved_and_the_rest_counted() {
    let told = prepared();
    let run = told.run();
    let expected = entries(&open(&run.path()).unwrap());
    let path = ledger_in(told.folder.path());
    let whole = fs::read(&path).unwrap();
    let tried = if std::env::var("SAYSO_FAULTS").is_ok_and(|value| value == "all") { ALL } else { TRIED };
    let (mut ends, mut counted) = (BTreeMap::new(), 0);
    for (name, places) in regions(&path) {
        for n in 0..tried {
            // Spread over the pages, and never at the same place of each.
            let at = places[(n * 2 + 1) * places.len() / (tried * 2)];
            let run = told.run();
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(run.path(), bytes).unwrap();
            let end = saved_from(&run.path(), &expected, &format!("{name}, byte {at}"));
            *ends.entry((name.clone(), end)).or_insert(0) += 1;
            counted += usize::from(end == End::Counted);
        }
    }
    println!("{} entries: {ends:?}", expected.len());
    assert!(counted > 5, "{counted}: the changes hit something");
}

/// One word of one entry is gone: all others are saved, those behind it too, and the words themselves for people.
#[test]
fn one_damaged_text_costs_that_entry_and_no_other() {
    let told = prepared();
    let run = told.run();
    let expected = entries(&open(&run.path()).unwrap());
    let conn = rusqlite::Connection::open(run.path()).unwrap();
    conn.execute_batch("UPDATE part SET text = x'00' WHERE no = (SELECT min(no) FROM part)").unwrap();
    drop(conn);
    let ledger = open(&run.path()).unwrap();
    let mut export = Vec::new();
    let told = salvage(&ledger.reader(Scope::All), &mut export).unwrap();
    assert_eq!((told.lost(), told.sessions.iter().map(|s| s.places).sum::<u64>()), (1, 1));
    let copy = imported(&export, &told, "one text");
    assert_eq!(copy.len(), expected.len());
    check(&told, &copy, &expected, "one text");
}
