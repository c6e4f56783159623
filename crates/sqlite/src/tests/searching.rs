use std::fs;
use std::path::Path;

use sayso_model::{
    EntryId, PartBody, ProjectId, Seed, SessionId, SessionKind, SpeakerId, SpeakerKind, UtcMs,
};
use sayso_store::{
    AppendTurn, Batch, Command, CreateProject, CreateSession, CreateSpeaker, NewPart, Scope, Search, Store,
};

use super::{folder, open, raw};
use crate::SqliteStore;
use crate::search::index::start_over;

const PROJECT: ProjectId = ProjectId::from_u128(1);
const SESSION: SessionId = SessionId::from_u128(2);
const AGENT: SpeakerId = SpeakerId::from_u128(3);

fn batch(commands: Vec<Command>) -> Batch {
    Batch { scope: Scope::All, at: UtcMs(2), seed: Seed([3; 32]), commands }
}

fn begin(store: &SqliteStore) {
    let session = CreateSession {
        id: SESSION,
        project: PROJECT,
        kind: SessionKind::Thread,
        channel: None,
        title: String::new(),
        alias: None,
    };
    let commands = vec![
        Command::CreateProject(CreateProject { id: PROJECT, name: "Acme".into(), alias: None }),
        Command::CreateSession(session),
        Command::CreateSpeaker(CreateSpeaker { id: AGENT, kind: SpeakerKind::Agent, name: "Rocky".into() }),
    ];
    store.write(&batch(commands)).unwrap();
}

fn say(store: &SqliteStore, id: u128, text: &str) {
    let turn = AppendTurn {
        id: EntryId::from_u128(100 + id),
        session: SESSION,
        speaker: AGENT,
        said_at: None,
        reply_to: None,
        repairs: 0,
        parts: vec![NewPart { by: None, body: PartBody::Text(text.to_owned()) }],
        key: None,
        expected_head: None,
    };
    store.write(&batch(vec![Command::AppendTurn(turn)])).unwrap();
}

fn found(store: &SqliteStore, query: &str) -> usize {
    store.search(&Scope::All, &Search { limit: usize::MAX, ..Search::new(query) }).unwrap().len()
}

/// How often these bytes stand in the ledger's file once the log was taken over.
fn traces(path: &Path, bytes: &str) -> usize {
    raw(path).query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
    let file = fs::read(path).unwrap();
    file.windows(bytes.len()).filter(|window| *window == bytes.as_bytes()).count()
}

#[test]
fn a_ledger_without_an_index_gets_one_and_is_searched_at_once() {
    let folder = folder();
    let first = &sayso_schema::SQLITE[0];
    let conn = raw(&folder.path);
    conn.execute_batch(first.sql).unwrap();
    conn.pragma_update(None, "application_id", sayso_schema::SQLITE_APPLICATION_ID).unwrap();
    conn.pragma_update(None, "user_version", first.number).unwrap();
    let meta = "INSERT INTO meta (one, ledger, created_at, secret) VALUES (1, ?1, 1, randomblob(32))";
    conn.execute(meta, [super::LEDGER.to_string()]).unwrap();
    // Rows as a program that knew no search wrote them: the tables of the first step alone.
    let newer = super::folder();
    let store = open(&newer.path);
    begin(&store);
    (0..100).for_each(|n| say(&store, n, "the harbour plan"));
    drop(store);
    conn.execute("ATTACH ?1 AS newer", [newer.path.to_str().unwrap()]).unwrap();
    for table in ["project", "session", "speaker", "speaker_seen", "entry"] {
        let columns = "SELECT group_concat(name, ', ') FROM pragma_table_info(?1, 'main')";
        let columns: String = conn.query_row(columns, [table], |row| row.get(0)).unwrap();
        let sql = format!("INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}");
        conn.execute_batch(&sql).unwrap();
    }
    let parts = "no, speaker, kind, seal, call_id, tool, outcome, media_type, output, salt, commitment, text";
    conn.execute_batch(&format!("INSERT INTO main.part ({parts}) SELECT {parts} FROM newer.part")).unwrap();
    drop(conn);
    let store = open(&folder.path);
    assert_eq!(found(&store, "harbour"), 100);
    assert_eq!(store.index(10).unwrap().left, 0, "the search took them in on its way");
    assert_eq!(found(&store, "harbour"), 100);
    assert_eq!(store.verify(&Scope::All).unwrap().problems, Vec::new());
}

#[test]
fn an_append_leaves_the_index_alone() {
    let folder = folder();
    let store = open(&folder.path);
    begin(&store);
    say(&store, 1, "harbour");
    let rows = |table: &str| {
        let count = format!("SELECT count(*) FROM {table}");
        raw(&folder.path).query_row(&count, [], |row| row.get::<_, i64>(0)).unwrap()
    };
    let before = rows("turn_words_data");
    assert_eq!(found(&store, "harbour"), 1);
    assert_eq!((rows("turn_words_data"), store.index(0).unwrap().left), (before, 1));
}

#[test]
fn words_that_are_taken_out_leave_no_trace() {
    let folder = folder();
    let store = open(&folder.path);
    begin(&store);
    // Upper case in the texts, so that the index alone has them in lower case.
    for n in 0..300 {
        say(&store, n, &format!("HARBOUR PLAN {n} Q{n}ZEBRAFISH"));
        if n % 40 == 0 {
            store.index(1_000).unwrap();
        }
    }
    store.index(1_000).unwrap();
    assert!(traces(&folder.path, "zebrafish") >= 100);
    store.write_with("testing", start_over).unwrap();
    assert_eq!(traces(&folder.path, "zebrafish"), 0);
    assert_eq!(traces(&folder.path, "harbour"), 0);
    assert_eq!(store.verify(&Scope::All).unwrap().problems, Vec::new());
}

#[test]
fn numbers_that_are_given_again_are_indexed_again() {
    let folder = folder();
    let store = open(&folder.path);
    begin(&store);
    (0..4).for_each(|n| say(&store, n, "harbour"));
    store.index(10).unwrap();
    let conn = raw(&folder.path);
    conn.execute_batch("DELETE FROM entry WHERE no > 2").unwrap();
    assert_eq!(store.index(0).unwrap().left, 0);
    conn.execute_batch("UPDATE session SET turns = 2, last_seq = 2").unwrap();
    let indexed = store.read_with("testing", crate::search::indexed).unwrap();
    assert_eq!(indexed, 2);
}
