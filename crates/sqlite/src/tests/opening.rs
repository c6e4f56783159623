use std::fs;
use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;
use sayso_schema::{Migration, SQLITE_APPLICATION_ID};
use sayso_store::{Scope, Store, StoreError};

use super::{LEDGER, folder, open, options, project, raw};
use crate::open::{Role, connect, migrate, newest};
use crate::{Create, Durability, Options, SqliteStore};

fn refused(path: &Path) -> StoreError {
    SqliteStore::open(path, &options()).unwrap_err()
}

#[test]
fn every_connection_has_the_settings_that_the_promises_rest_on() {
    let folder = folder();
    for (durability, synchronous) in [(Durability::Full, 2), (Durability::Normal, 1)] {
        let options = Options { durability, ..options() };
        let store = SqliteStore::open(&folder.path, &options).unwrap();
        let settings = |conn: &rusqlite::Connection| {
            let read = |name| conn.pragma_query_value(None, name, |row| row.get::<_, Value>(0)).unwrap();
            assert_eq!(read("journal_mode"), Value::Text("wal".into()));
            assert_eq!(read("synchronous"), Value::Integer(synchronous));
            assert_eq!(read("foreign_keys"), Value::Integer(1));
            assert_eq!(read("secure_delete"), Value::Integer(1));
            assert_eq!(read("journal_size_limit"), Value::Integer(-1));
            assert_eq!(read("application_id"), Value::Integer(SQLITE_APPLICATION_ID.into()));
            assert_eq!(read("user_version"), Value::Integer(newest().into()));
            Ok(())
        };
        store.write_with("testing", settings).unwrap();
        store.read_with("testing", settings).unwrap();
        let written = store.read_with("testing", |conn| Ok(conn.execute("DELETE FROM meta", [])?));
        assert!(written.is_err(), "a connection for reading never writes");
    }
}

#[test]
fn a_short_log_is_kept_when_the_last_connection_closes_and_a_long_one_is_emptied() {
    let folder = folder();
    let log = folder.folder.path().join("ledger.sayso-wal");
    let length = || fs::metadata(&log).unwrap().len();
    // Making the ledger takes more pages than are kept.
    drop(open(&folder.path));
    assert_eq!(length(), 0);
    open(&folder.path).write(&project(1)).unwrap();
    let short = length();
    assert!(short > 0);
    // Whoever opens a ledger reads all of the log.
    let lengths: Vec<u64> = (2..80)
        .map(|id| {
            open(&folder.path).write(&project(id)).unwrap();
            length()
        })
        .collect();
    assert!(lengths.iter().all(|length| *length < 300_000), "{lengths:?}");
    assert!(lengths.contains(&0), "{lengths:?}");
}

/// Only words of two definitions are changed in the step that knows re-injections, so what they allow is looked at.
#[test]
fn a_ledger_of_an_earlier_schema_is_brought_up_to_date() {
    let folder = folder();
    let old = raw(&folder.path);
    for step in sayso_schema::SQLITE.iter().take_while(|step| step.name != "reinjection") {
        old.execute_batch(step.sql).unwrap();
    }
    let before: String = definition(&old, "entry");
    assert!(!before.contains("reinjection"));
    let meta = "INSERT INTO meta VALUES (1, '00000000000000000000000001', 0, zeroblob(32))";
    old.execute_batch(meta).unwrap();
    old.pragma_update(None, "application_id", SQLITE_APPLICATION_ID).unwrap();
    let steps = sayso_schema::SQLITE.iter().filter(|step| step.name == "reinjection");
    old.pragma_update(None, "user_version", steps.map(|step| step.number).next().unwrap() - 1).unwrap();
    drop(old);
    let store = open(&folder.path);
    store.write(&project(1)).unwrap();
    assert_eq!(store.verify(&Scope::All).unwrap().problems, Vec::new());
    let fresh = raw(&folder.path);
    for (table, word) in [("entry", "kind = 'reinjection')"), ("caller_key", "kind = 'reinject')")] {
        assert!(definition(&fresh, table).contains(word), "{table}");
    }
    let again = open(&folder.folder.path().join("new.sayso"));
    let new = |conn: &rusqlite::Connection| Ok(definition(conn, "entry"));
    assert_eq!(again.read_with("testing", new).unwrap(), definition(&fresh, "entry"));
    // Where the check was not widened, this connection would refuse the word.
    let word = "INSERT INTO entry (id, session, seq, kind, recorded_at, hash) \
                VALUES ('00000000000000000000000002', 's', 1, 'reinjection', 0, zeroblob(32))";
    fresh.execute_batch(word).unwrap();
    assert!(fresh.execute_batch(&word.replace("reinjection", "other")).is_err());
}

fn definition(conn: &rusqlite::Connection, table: &str) -> String {
    let sql = "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = ?1";
    conn.query_row(sql, [table], |row| row.get(0)).unwrap()
}

#[cfg(unix)]
#[test]
fn file_and_folder_are_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder();
    let path = folder.folder.path().join("new/deep/ledger.sayso");
    let store = open(&path);
    store.write(&project(1)).unwrap();
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&path), 0o600);
    assert_eq!(mode(&path.with_file_name("ledger.sayso-wal")), 0o600);
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    assert_eq!(mode(path.parent().unwrap().parent().unwrap()), 0o700);
}

#[test]
fn a_ledger_keeps_its_id() {
    let folder = folder();
    assert_eq!(open(&folder.path).ledger(), LEDGER);
    let other = Options { ledger: sayso_model::LedgerId::from_u128(2), ..options() };
    assert_eq!(SqliteStore::open(&folder.path, &other).unwrap().ledger(), LEDGER);
}

#[test]
fn an_empty_file_becomes_a_ledger() {
    let folder = folder();
    fs::write(&folder.path, b"").unwrap();
    let never = Options { create: Create::Never, ..options() };
    let store = SqliteStore::open(&folder.path, &never).unwrap();
    assert_eq!(store.verify(&Scope::All).unwrap().problems, Vec::new());
}

#[test]
fn a_missing_file_is_only_made_when_asked() {
    let folder = folder();
    let never = Options { create: Create::Never, ..options() };
    let error = SqliteStore::open(&folder.path, &never).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }));
    assert!(!folder.path.exists());
}

#[test]
fn files_of_others_are_refused_and_left_alone() {
    let folder = folder();
    let text = b"these are notes, not a ledger, and long enough for a header of SQLite: ".repeat(20);
    let other = folder.folder.path().join("other.db");
    raw(&other).execute_batch("CREATE TABLE mine (a); PRAGMA user_version = 1").unwrap();
    fs::write(&folder.path, &text).unwrap();
    for path in [&folder.path, &other, &folder.folder.path().to_owned()] {
        assert!(matches!(refused(path), StoreError::NotALedger { .. }), "{}", path.display());
    }
    assert_eq!(fs::read(&folder.path).unwrap(), text);
    for len in [1, 2, 99, 100, 512] {
        fs::write(&folder.path, &text[..len]).unwrap();
        assert!(matches!(refused(&folder.path), StoreError::NotALedger { .. }), "{len} bytes");
        assert_eq!(fs::read(&folder.path).unwrap(), text[..len]);
    }
    let mode: String = raw(&other).pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "delete");
}

#[test]
fn a_newer_ledger_is_refused_and_left_alone() {
    let folder = folder();
    drop(open(&folder.path));
    raw(&folder.path).pragma_update(None, "user_version", 99).unwrap();
    let StoreError::Future { found, known } = refused(&folder.path) else { panic!("not refused as newer") };
    assert_eq!((found, known), (99, newest()));
}

/// A step that fails half way takes nothing with it: not the ledger, and not the steps before it in the same transaction.
#[test]
fn an_upgrade_that_fails_is_rolled_back_whole() {
    let folder = folder();
    let store = open(&folder.path);
    store.write(&project(1)).unwrap();
    let step = |number, sql| Migration { number, name: "next", sql };
    let good =
        step(newest() + 1, "CREATE TABLE added (what TEXT NOT NULL) STRICT; DELETE FROM project_alias");
    let bad = step(newest() + 2, "UPDATE project SET created_at = 77; INSERT INTO nowhere VALUES (1)");
    let state = |conn: &rusqlite::Connection| {
        let schema =
            conn.query_row("SELECT group_concat(sql) FROM sqlite_schema", [], |row| row.get::<_, String>(0));
        let version: u32 = conn.pragma_query_value(None, "user_version", |row| row.get(0)).unwrap();
        let created = conn.query_row("SELECT created_at FROM project", [], |row| row.get::<_, i64>(0));
        (schema.unwrap(), version, created.unwrap())
    };
    let conn = connect(&folder.path, &options(), Role::Writer).unwrap();
    let before = state(&conn);
    assert!(migrate(&conn, &options(), &[good, bad]).is_err());
    assert_eq!(state(&conn), before);
    assert_eq!(store.verify(&Scope::All).unwrap().problems, Vec::new());
    store.write(&project(2)).unwrap();
}

#[test]
fn a_folder_that_cannot_be_made_is_denied() {
    let folder = folder();
    let file = folder.folder.path().join("file");
    fs::write(&file, b"x").unwrap();
    assert!(matches!(refused(&file.join("ledger.sayso")), StoreError::Denied { .. }));
    assert!(matches!(refused(&file.join("deep/ledger.sayso")), StoreError::Denied { .. }));
}

#[test]
fn a_held_lock_is_waited_for_until_the_deadline() {
    let folder = folder();
    let store = open(&folder.path);
    let holder = raw(&folder.path);
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.write(&project(1)).unwrap_err();
    assert!(error.is_busy());
    assert!(store.projects(&Scope::All).unwrap().is_empty(), "reading goes on");
    holder.execute_batch("ROLLBACK").unwrap();
    store.write(&project(1)).unwrap();
}

#[test]
fn a_lock_that_is_given_back_in_time_is_taken() {
    let folder = folder();
    let patient = Options { wait: Duration::from_secs(20), ..options() };
    let store = SqliteStore::open(&folder.path, &patient).unwrap();
    let holder = raw(&folder.path);
    holder.execute_batch("BEGIN IMMEDIATE").unwrap();
    std::thread::scope(|threads| {
        let writing = threads.spawn(|| store.write(&project(1)));
        std::thread::sleep(Duration::from_millis(60));
        holder.execute_batch("ROLLBACK").unwrap();
        writing.join().unwrap().unwrap();
    });
}

#[test]
fn many_that_open_a_new_ledger_at_once_make_one() {
    let folder = folder();
    let options = Options { wait: Duration::from_secs(20), ..options() };
    let open = |n: u128| {
        let ledger = sayso_model::LedgerId::from_u128(n);
        SqliteStore::open(&folder.path, &Options { ledger, ..options.clone() }).unwrap().ledger()
    };
    let ids: Vec<_> = std::thread::scope(|threads| {
        let all: Vec<_> = (1..9).map(|n| threads.spawn(move || open(n))).collect();
        all.into_iter().map(|t| t.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[test]
fn a_full_disk_leaves_nothing_half_written() {
    let folder = folder();
    let store = open(&folder.path);
    store.write(&project(1)).unwrap();
    let limit = |pages: i64| {
        let set = |conn: &rusqlite::Connection| {
            Ok(conn.pragma_update_and_check(None, "max_page_count", pages, |_| Ok(()))?)
        };
        store.write_with("testing", set).unwrap();
    };
    limit(1);
    let noise: Vec<u8> = (0..300_000u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    assert!(matches!(store.put_blob(&mut noise.as_slice()), Err(StoreError::Full(_))));
    limit(i64::from(u32::MAX) - 1);
    store.put_blob(&mut noise.as_slice()).unwrap();
    assert_eq!(store.verify(&Scope::All).unwrap().problems, Vec::new());
}

#[test]
fn a_page_that_was_overwritten_is_damage() {
    let folder = folder();
    drop(open(&folder.path));
    // Everything into the file itself, and no log that still has the page.
    raw(&folder.path).execute_batch("PRAGMA journal_mode = DELETE").unwrap();
    let mut bytes = fs::read(&folder.path).unwrap();
    bytes.iter_mut().skip(4096).for_each(|byte| *byte = 0x5A);
    fs::write(&folder.path, bytes).unwrap();
    let found = SqliteStore::open(&folder.path, &options()).and_then(|store| store.projects(&Scope::All));
    assert!(matches!(found, Err(StoreError::Damaged { .. })), "{found:?}");
}

#[test]
fn the_log_stays_bounded_though_every_program_writes_little_and_ends() {
    let folder = folder();
    let log = || {
        let mut log = folder.path.as_os_str().to_owned();
        log.push("-wal");
        fs::metadata(log).unwrap().len()
    };
    let mut random = 1_u64;
    let mut bytes = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 56) as u8
    };
    let mut lengths = Vec::new();
    for _ in 0..8 {
        let store = open(&folder.path);
        // No two are alike, and none gets smaller: 2 MB of log each.
        let output: Vec<u8> = (0..2_000_000).map(|_| bytes()).collect();
        store.put_blob(&mut output.as_slice()).unwrap();
        drop(store);
        lengths.push(log());
    }
    assert!(lengths.iter().all(|length| *length == 0), "{lengths:?}");
}
