//! Erasing leaves nothing of a thousand words in any file, however often it is cut off, and while others read.

use std::path::Path;

use sayso_model::{EntryId, LedgerId, PartBody, ProjectId, Seed, SessionId, SpeakerId, SpeakerKind, UtcMs};
use sayso_model::{Outcome, SessionKind, ToolResult};
use sayso_sqlite::{Durability, Options, SqliteStore};
use sayso_store::{
    AppendTurn, Batch, Command, CreateProject, CreateSession, CreateSpeaker, Erase, Erasing, Forks, NewPart,
    OutputState, OutputStream, Redact, Redaction, Run, Scope, Store, StoreOutput, StreamKind, Target,
};

use super::bytes;

const PROJECT: ProjectId = ProjectId::from_u128(1);
const SESSIONS: [SessionId; 3] =
    [SessionId::from_u128(11), SessionId::from_u128(12), SessionId::from_u128(13)];
const ERASED: SessionId = SESSIONS[1];

/// A word of 16 letters that stands nowhere else.
fn word(session: usize, n: usize) -> String {
    let hash = blake3::hash(format!("{session} {n}").as_bytes());
    hash.as_bytes().iter().take(16).map(|b| char::from(b'a' + b % 26)).collect()
}

fn open(path: &Path) -> SqliteStore {
    let wait = std::time::Duration::from_millis(300);
    let options =
        Options { durability: Durability::Normal, wait, ..Options::new(LedgerId::from_u128(9), UtcMs(0)) };
    SqliteStore::open(path, &options).unwrap()
}

fn write(store: &SqliteStore, commands: Vec<Command>) {
    let batch = Batch { scope: Scope::All, at: UtcMs(1), seed: Seed([7; 32]), commands };
    store.write(&batch).unwrap();
}

fn beginnings() -> Vec<Command> {
    let speaker = |n: u128, name: &str| {
        let id = SpeakerId::from_u128(n);
        Command::CreateSpeaker(CreateSpeaker { id, kind: SpeakerKind::Person, name: name.into() })
    };
    let mut commands =
        vec![Command::CreateProject(CreateProject { id: PROJECT, name: "Acme".into(), alias: None })];
    commands.extend((0..3).map(|n| speaker(21 + n as u128, &word(n, 5_000))));
    commands.extend(SESSIONS.iter().enumerate().map(|(n, id)| {
        Command::CreateSession(CreateSession {
            id: *id,
            project: PROJECT,
            kind: SessionKind::Thread,
            channel: None,
            title: word(n, 5_001),
            alias: Some(sayso_store::Alias::new("name", word(n, 5_001))),
        })
    }));
    commands
}

fn entry(session: usize, n: usize) -> EntryId {
    EntryId::from_u128(1_000 * (session as u128 + 1) + n as u128)
}

/// A turn with one of the words, in a key and in a long text as well now and then.
fn turn(session: usize, n: usize, output: Option<sayso_model::OutputId>) -> Command {
    let filler = if n.is_multiple_of(50) { "filler ".repeat(2_000) } else { "filler".to_owned() };
    let text = format!("{filler} {} {filler}", word(session, n));
    let body = match output {
        Some(_) => PartBody::ToolResult(ToolResult {
            call_id: word(session, n + 2_000),
            tool: "cat".into(),
            outcome: Outcome::Ok,
            text,
            output,
        }),
        None => PartBody::Text(text),
    };
    Command::AppendTurn(AppendTurn {
        id: entry(session, n),
        session: SESSIONS[session],
        speaker: SpeakerId::from_u128(21 + session as u128),
        said_at: None,
        reply_to: None,
        repairs: 0,
        parts: vec![NewPart { by: None, body }],
        key: n.is_multiple_of(7).then(|| format!("key of {}", word(session, n))),
        expected_head: None,
    })
}

const TURNS: usize = 400;

/// Three sessions whose turns lie among each other; some of each turn's words were redacted before.
fn fill(path: &Path) -> SqliteStore {
    let store = open(path);
    write(&store, beginnings());
    for n in 0..TURNS {
        let mut commands = Vec::new();
        for (session, id) in SESSIONS.iter().enumerate() {
            let output = n.is_multiple_of(40).then(|| {
                let words = format!("{} ", word(session, n + 1_000)).repeat(9_000);
                let blob = store.put_blob(&mut words.as_bytes()).unwrap();
                let id_of = sayso_model::OutputId::from_u128((session * 10_000 + n + 1) as u128);
                let streams = vec![OutputStream::new(StreamKind::Stdout, blob)];
                let (tool, state) = ("cat".to_owned(), OutputState::Complete);
                commands.push(Command::StoreOutput(StoreOutput {
                    id: id_of,
                    session: *id,
                    tool,
                    state,
                    exit: None,
                    streams,
                    run: Run::default(),
                }));
                id_of
            });
            commands.push(turn(session, n, output));
        }
        write(&store, commands);
    }
    // What the index of the search holds of them must go as well.
    assert_eq!(store.index(usize::MAX).unwrap().left, 0);
    // Redactions in between move what lies beside them.
    let redact = |n: usize| {
        let id = EntryId::from_u128(900_000 + n as u128);
        Command::Redact(Redact { id, of: entry(n % 2 * 2, n), what: Redaction::Whole })
    };
    write(&store, (0..TURNS).step_by(9).map(redact).collect());
    store
}

fn erase() -> Erase {
    Erase {
        scope: Scope::All,
        target: Target::Session(ERASED),
        forks: Forks::Refuse,
        id: EntryId::from_u128(1),
        at: UtcMs(2),
        seed: Seed([9; 32]),
    }
}

/// Every word that stood in the erased session.
fn words() -> Vec<String> {
    let numbers = (0..TURNS).chain((0..TURNS).map(|n| n + 1_000)).chain((0..TURNS).map(|n| n + 2_000));
    numbers.chain([5_000, 5_001]).map(|n| word(1, n)).collect()
}

fn found(folder: &Path) -> Vec<String> {
    let all = bytes(folder);
    let windows: std::collections::HashSet<&[u8]> = all.windows(16).collect();
    words().into_iter().filter(|w| windows.contains(w.as_bytes())).collect()
}

#[track_caller]
fn gone(store: &SqliteStore, folder: &Path) {
    assert_eq!(found(folder), Vec::<String>::new());
    assert_eq!(store.verify(&Scope::All).unwrap().problems, Vec::new());
    let others = store.entries(&Scope::All, SESSIONS[0], 0, usize::MAX).unwrap();
    assert!(others.len() >= TURNS);
    let file = String::from_utf8_lossy(&bytes(folder)).into_owned();
    assert!(file.contains(&word(0, 1)) && file.contains(&word(2, 1)), "what others said stays");
}

#[test]
fn nothing_is_left_of_a_thousand_words() {
    assert!(words().len() > 1_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let store = fill(&path);
    assert!(found(folder.path()).len() > TURNS);
    assert_eq!(store.erase(&erase(), usize::MAX).unwrap(), Erasing::Done);
    gone(&store, folder.path());
}

#[test]
fn it_goes_on_from_wherever_it_was_cut_off() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let mut store = fill(&path);
    let mut state = store.erase(&erase(), 0).unwrap();
    let mut steps = 0;
    while state != Erasing::Done {
        assert_eq!(state, Erasing::Unfinished);
        assert_eq!(store.session(&Scope::All, ERASED).unwrap(), None, "out of sight from the beginning");
        assert_eq!(store.verify(&Scope::All).unwrap().problems, Vec::new(), "after {steps} steps");
        // As after a crash: what was not committed is gone, and another process goes on.
        drop(store);
        store = open(&path);
        state = store.go_on_erasing(&Scope::All, 1).unwrap();
        steps += 1;
    }
    assert!(steps > 10, "{steps}");
    gone(&store, folder.path());
}

#[test]
fn a_reader_in_the_middle_of_something_holds_it_up() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.db");
    let store = fill(&path);
    let reader = rusqlite::Connection::open(&path).unwrap();
    reader.execute_batch("BEGIN").unwrap();
    let entries: i64 = reader.query_row("SELECT count(*) FROM entry", [], |row| row.get(0)).unwrap();
    assert_eq!(store.erase(&erase(), usize::MAX).unwrap(), Erasing::Pending);
    assert_eq!(store.session(&Scope::All, ERASED).unwrap(), None);
    let still: i64 = reader.query_row("SELECT count(*) FROM entry", [], |row| row.get(0)).unwrap();
    assert_eq!(still, entries, "the reader sees what it saw");
    reader.execute_batch("COMMIT").unwrap();
    assert_eq!(store.go_on_erasing(&Scope::All, usize::MAX).unwrap(), Erasing::Done);
    gone(&store, folder.path());
}
