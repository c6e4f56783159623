//! Reading what another program wrote.

use std::ops::ControlFlow;

use rusqlite::Connection;

use crate::foreign::{Event, events};

fn database(sql: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("other.sqlite");
    Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    (folder, path)
}

#[test]
fn events_come_in_their_order_and_stop_when_asked() {
    let (_folder, path) = database(
        "CREATE TABLE transcript_events (session_id TEXT, seq INTEGER, event_json TEXT);
         INSERT INTO transcript_events VALUES ('b', 0, '3'), ('a', 1, '2'), ('a', 0, '1'), ('c', 0, CAST(x'FF' AS TEXT));",
    );
    let before = std::fs::read(&path).unwrap();
    let mut found = Vec::new();
    let mut keep = |event: Event| {
        found.push((event.session, event.json));
        ControlFlow::Continue(())
    };
    assert!(events(&path, &mut keep).unwrap());
    let event = |session: &str, json: &[u8]| (session.to_owned(), json.to_vec());
    assert_eq!(found, [event("a", b"1"), event("a", b"2"), event("b", b"3"), event("c", b"\xFF")]);
    let mut count = 0;
    let mut once = |_| {
        count += 1;
        ControlFlow::Break(())
    };
    assert!(events(&path, &mut once).unwrap());
    assert_eq!((count, std::fs::read(&path).unwrap()), (1, before));
}

#[test]
fn other_files_are_told_apart() {
    let (folder, path) = database("CREATE TABLE other (a TEXT);");
    let mut none = |_| panic!("there are no events");
    assert!(!events(&path, &mut none).unwrap());
    let text = folder.path().join("a.txt");
    std::fs::write(&text, "not a database, but long enough to be taken for one at first sight").unwrap();
    assert!(events(&text, &mut none).is_err());
    assert!(events(&folder.path().join("gone"), &mut none).is_err());
    assert!(!folder.path().join("gone").exists());
}
