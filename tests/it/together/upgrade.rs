//! Field case S8: an older ledger is brought up to date without losing anything, and programs of different ages on one ledger
//! never spoil it.

use std::fmt::Write as _;
use std::path::Path;

use rusqlite::Connection;
use sayso::{Error, Ledger, Scope, StoreError};
use sayso_model::{EntryBody, LedgerId, MarkKind, UtcMs};
use sayso_schema::SQLITE;
use sayso_sqlite::SqliteStore;
use sayso_store::{Command, Deliveries, MarkEntry, Requests, Search, Store};

use super::{Other, file, open, patient, schemas, session, sound, tell, texts, wait_for, words};

/// Everything that was said, as it is read.
fn page(path: &Path) -> String {
    let store =
        SqliteStore::open(path, &sayso_sqlite::Options::new(LedgerId::from_u128(1), UtcMs(0))).unwrap();
    let mut page = String::new();
    for session in store.sessions(&Scope::All, None).unwrap() {
        let head = session.head.to_string();
        writeln!(
            page,
            "session {} {:?} ends at {} {}",
            session.id,
            session.title,
            session.last_seq,
            &head[..8]
        )
        .unwrap();
        for entry in store.entries(&Scope::All, session.id, 0, usize::MAX).unwrap() {
            let hash = entry.hash.to_string();
            writeln!(page, "  {} {} {}", entry.seq, &hash[..8], words_of(&entry.body)).unwrap();
        }
    }
    for word in ["second", "question", "this", "erased", "secret"] {
        let hits = store.search(&Scope::All, &Search::new(word)).unwrap();
        writeln!(page, "{word:?} is found {} times", hits.len()).unwrap();
    }
    under_way(&store, &mut page);
    assert_eq!(store.verify(&Scope::All).unwrap().problems, Vec::new());
    page
}

/// Requests and deliveries, as they are read.
fn under_way(store: &SqliteStore, page: &mut String) {
    for r in store.requests(&Scope::All, Requests::All(None)).unwrap() {
        let states = [r.injection.as_str(), r.turn_state.as_str(), r.answer.as_str()].join(", ");
        writeln!(page, "request {}: {states}{}", r.id, if r.gone { ", gone" } else { "" }).unwrap();
    }
    for d in store.deliveries(&Scope::All, Deliveries::All(None)).unwrap() {
        let (part, parts, state) = (d.part + 1, d.parts, d.state);
        let uncertain = if d.uncertain { ", uncertain" } else { "" };
        writeln!(page, "{} {part}/{parts} {state}{uncertain}: {:?}", d.kind, d.text).unwrap();
    }
}

fn words_of(body: &EntryBody) -> String {
    match body {
        EntryBody::Turn(turn) => {
            let parts: Vec<String> = turn.parts.iter().map(|p| format!("{:?}", p.body.text())).collect();
            let quote = turn.quote.as_ref().map(|q| format!(" quoting {:?}", q.text)).unwrap_or_default();
            format!("{} says {}{quote}", turn.speaker.name, parts.join(", "))
        }
        EntryBody::Compaction(compaction) => format!("in short {:?}", compaction.summary),
        EntryBody::Reinjection(reinjection) => format!("{} ranges again", reinjection.items.len()),
        EntryBody::Mark(mark) => {
            format!("{} {:?}", mark.kind.as_str(), mark.title.as_deref().unwrap_or_default())
        }
    }
}

#[test]
fn s8_a_ledger_of_every_schema_opens_with_all_that_was_said() {
    for number in 1..=SQLITE.len() {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path());
        schemas::load(number, &path);
        // The same page for every schema; since the third there is a session of another ledger too.
        // Since the seventh something is under way, and since the eighth turns settle.
        let name = match number {
            1 | 2 => "every_schema",
            3..=6 => "every_schema_since_3",
            7 => "every_schema_since_7",
            _ => "every_schema_since_8",
        };
        sayso_snapshots::check(name, &page(&path));
        assert_eq!(schemas::tables(&path), schemas::newest(), "schema {number}");
        let ledger = open(folder.path());
        let said = ledger.append(&session(&ledger, "Plan"), words("and on")).unwrap();
        // Of the last step only words of a definition are new: they let this in.
        let (id, route) = (ledger.fresh_entry(), String::new());
        let settled =
            MarkEntry { id, session: said.session, kind: MarkKind::Settled, of: Some(said.id), route };
        ledger.write(&Scope::All, vec![Command::Mark(settled)]).unwrap();
        sound(&ledger);
    }
}

/// Does all of an upgrade but its commit, far enough that pages of it stand in the log.
pub(super) fn half(folder: &Path) {
    let conn = Connection::open(file(folder)).unwrap();
    conn.execute_batch("PRAGMA cache_size = 1; BEGIN IMMEDIATE").unwrap();
    for step in &SQLITE[1..] {
        conn.execute_batch(step.sql).unwrap();
        conn.pragma_update(None, "user_version", step.number).unwrap();
    }
    conn.execute_batch("UPDATE part SET text = zeroblob(5000)").unwrap();
    tell(folder, "half");
    wait_for(folder, "never");
}

#[test]
fn s8_an_upgrade_that_is_killed_is_as_if_it_never_began() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    schemas::load(1, &file(folder));
    let before = schemas::tables(&file(folder));
    let upgrading = Other::start(folder, "half upgrade", 0);
    wait_for(folder, "half");
    upgrading.kill();
    let log = std::fs::metadata(folder.join("ledger.db-wal")).unwrap().len();
    assert!(log > 10_000, "some of it had been written: {log}");
    assert_eq!(schemas::tables(&file(folder)), before);
    sayso_snapshots::check("every_schema", &page(&file(folder)));
}

fn version(folder: &Path, number: usize) -> Connection {
    let conn = Connection::open(file(folder)).unwrap();
    conn.pragma_update(None, "user_version", number as u32).unwrap();
    conn
}

#[track_caller]
fn is_future(error: &Error) {
    assert!(matches!(error, Error::Store(StoreError::Future { .. })), "{error:?}");
    assert!(error.to_string().contains("use a newer program"), "{error}");
}

#[test]
fn a_newer_ledger_is_refused_and_not_one_byte_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    {
        let ledger = open(folder);
        ledger.append(&session(&ledger, "Plan"), words("from the future")).unwrap();
    }
    drop(version(folder, SQLITE.len() + 1));
    let bytes = || {
        // The third file is how processes share the log; it holds nothing.
        ["ledger.db", "ledger.db-wal"].map(|name| std::fs::read(folder.join(name)).ok())
    };
    let before = bytes();
    for _ in 0..2 {
        is_future(&Ledger::open(&file(folder), &patient()).unwrap_err());
    }
    assert_eq!(bytes(), before);
}

/// An older program that has the ledger open while a newer one brings it up to date.
#[test]
fn a_program_notices_that_a_newer_one_took_over() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let older = open(folder);
    let plan = session(&older, "Plan");
    older.append(&plan, words("one")).unwrap();
    let newer = version(folder, SQLITE.len() + 1);
    newer.execute_batch("CREATE TABLE added (what TEXT NOT NULL) STRICT").unwrap();
    let count = || newer.query_row("SELECT count(*) FROM entry", [], |row| row.get::<_, i64>(0)).unwrap();
    let before = count();
    let reader = older.reader(Scope::All);
    is_future(&older.append(&plan, words("two")).unwrap_err());
    is_future(&older.index(10).unwrap_err());
    is_future(&older.put_blob(&mut &b"bytes"[..]).unwrap_err());
    is_future(&reader.entries(plan.id, 0, 10).unwrap_err());
    is_future(&reader.search(&Search::new("one")).unwrap_err());
    assert_eq!(count(), before);
    // What the newer one left is what was there, and its own.
    newer.pragma_update(None, "user_version", SQLITE.len() as u32).unwrap();
    assert_eq!(texts(&older, &plan), ["one"]);
    older.append(&plan, words("two")).unwrap();
    sound(&older);
}

#[test]
fn two_programs_of_one_schema_write_one_ledger() {
    let folder = tempfile::tempdir().unwrap();
    let ledgers = [open(folder.path()), open(folder.path())];
    let plan = session(&ledgers[0], "Plan");
    for n in 0..20 {
        let by = &ledgers[n % 2];
        assert_eq!(by.append(&plan, words(n.to_string())).unwrap().seq, n as u64 + 1);
        assert_eq!(texts(&ledgers[(n + 1) % 2], &plan).len(), n + 1);
    }
    ledgers.iter().for_each(sound);
}
