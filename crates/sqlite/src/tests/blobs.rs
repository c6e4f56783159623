use std::io::{self, Read};

use sayso_model::limits::CHUNK_BYTES;
use sayso_model::{Digest, OutputId, ProjectId, Seed, SessionId, SessionKind, UtcMs};
use sayso_store::{
    Batch, Blob, Command, CreateProject, CreateSession, OpenStream, OutputState, OutputStream, Run, Scope,
    Store, StoreError, StoreOutput, StreamKind,
};

use super::{folder, open, raw};
use crate::SqliteStore;

/// Bytes that no compressor makes smaller.
fn noise(len: usize) -> Vec<u8> {
    let mut reader = blake3::Hasher::new().finalize_xof();
    let mut bytes = vec![0; len];
    reader.fill(&mut bytes);
    bytes
}

fn lines(len: usize) -> Vec<u8> {
    b"one line of a log, again and again\n".iter().copied().cycle().take(len).collect()
}

/// Makes output `id` of this blob, in a session of its own.
fn output(store: &SqliteStore, id: u128, blob: Blob) -> OutputId {
    let (project, session) = (ProjectId::from_u128(id), SessionId::from_u128(id));
    let streams = vec![OutputStream::new(StreamKind::Stdout, blob)];
    let commands = vec![
        Command::CreateProject(CreateProject { id: project, name: "Acme".into(), alias: None }),
        Command::CreateSession(CreateSession {
            id: session,
            project,
            kind: SessionKind::Thread,
            channel: None,
            title: String::new(),
            alias: None,
        }),
        Command::StoreOutput(StoreOutput {
            id: OutputId::from_u128(id),
            session,
            tool: "cat".into(),
            state: OutputState::Complete,
            exit: None,
            streams,
            run: Run::default(),
        }),
    ];
    store.write(&Batch { scope: Scope::All, at: UtcMs(1), seed: Seed([1; 32]), commands }).unwrap();
    OutputId::from_u128(id)
}

fn read(store: &SqliteStore, id: OutputId) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    store.read_output(&Scope::All, id, StreamKind::Stdout, &mut bytes).map(|there| {
        assert!(there);
        bytes
    })
}

fn count(store: &SqliteStore, sql: &str) -> i64 {
    store.read_with("testing", |conn| Ok(conn.query_row(sql, [], |row| row.get(0))?)).unwrap()
}

#[test]
fn bytes_come_back_as_they_went_in() {
    let folder = folder();
    let store = open(&folder.path);
    let chunk = CHUNK_BYTES;
    let lengths = [0, 1, 255, 256, chunk - 1, chunk, chunk + 1, 2 * chunk, 200 * 1024, 5 * chunk + 3];
    let kinds: [fn(usize) -> Vec<u8>; 2] = [noise, lines];
    for (id, (len, make)) in (1..).zip(lengths.iter().flat_map(|len| kinds.map(|make| (*len, make)))) {
        let bytes = make(len);
        let blob = store.put_blob(&mut bytes.as_slice()).unwrap();
        assert_eq!(blob, Blob { hash: Digest(*blake3::hash(&bytes).as_bytes()), bytes: len as u64 });
        let id = output(&store, id, blob);
        assert!(read(&store, id).unwrap() == bytes, "{len} bytes");
    }
    assert_eq!(store.verify(&Scope::All).unwrap().problems, Vec::new());
}

#[test]
fn only_what_gets_smaller_is_compressed() {
    let folder = folder();
    let store = open(&folder.path);
    store.put_blob(&mut lines(3 * CHUNK_BYTES).as_slice()).unwrap();
    store.put_blob(&mut noise(2 * CHUNK_BYTES).as_slice()).unwrap();
    store.put_blob(&mut lines(100).as_slice()).unwrap();
    assert_eq!(count(&store, "SELECT count(*) FROM chunk WHERE codec = 'zstd'"), 3);
    assert_eq!(count(&store, "SELECT count(*) FROM chunk WHERE codec = 'raw'"), 3);
}

#[test]
fn a_large_output_takes_several_transactions_and_leaves_nothing_behind() {
    let folder = folder();
    let store = open(&folder.path);
    let bytes = noise(9 * 1024 * 1024 + 5);
    for _ in 0..2 {
        store.put_blob(&mut bytes.as_slice()).unwrap();
        assert_eq!(count(&store, "SELECT count(*) FROM blob"), 1);
        assert_eq!(count(&store, "SELECT count(*) FROM chunk"), 145);
    }
}

/// Gives some bytes, then fails.
struct Breaks(usize);

impl Read for Breaks {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        if self.0 == 0 {
            return Err(io::Error::other("the pipe broke"));
        }
        let len = to.len().min(self.0);
        to[..len].copy_from_slice(&noise(len));
        self.0 -= len;
        Ok(len)
    }
}

#[test]
fn a_reader_that_breaks_leaves_nothing_behind() {
    let folder = folder();
    let store = open(&folder.path);
    let error = store.put_blob(&mut Breaks(9 * 1024 * 1024)).unwrap_err();
    assert!(matches!(error, StoreError::Storage { .. }));
    assert_eq!(count(&store, "SELECT (SELECT count(*) FROM blob) + (SELECT count(*) FROM chunk)"), 0);
}

#[test]
fn nothing_wrong_is_handed_out() {
    let edits = [
        ("UPDATE chunk SET data = zeroblob(length(data)) WHERE place = 2", 2 * CHUNK_BYTES),
        ("UPDATE chunk SET codec = 'zstd' WHERE place = 1", CHUNK_BYTES),
        ("UPDATE chunk SET size = size - 1 WHERE place = 1", 0),
        ("UPDATE chunk SET cv = zeroblob(32) WHERE place = 1", 0),
        ("DELETE FROM chunk WHERE place = 1", 0),
        ("UPDATE blob SET bytes = bytes - 1", 0),
    ];
    for (sql, before) in edits {
        let folder = folder();
        let store = open(&folder.path);
        let bytes = noise(4 * CHUNK_BYTES);
        let blob = store.put_blob(&mut bytes.as_slice()).unwrap();
        let id = output(&store, 1, blob);
        raw(&folder.path).execute_batch(sql).unwrap();
        let mut out = Vec::new();
        let found = store.read_output(&Scope::All, id, StreamKind::Stdout, &mut out);
        assert!(matches!(found, Err(StoreError::Damaged { .. })), "{sql}: {found:?}");
        assert!(out == bytes[..before], "{sql}: {} bytes came out", out.len());
    }
}

fn part(store: &SqliteStore, stream: &OpenStream, from: u64, most: usize) -> Result<Vec<u8>, StoreError> {
    store.read_stream(&Scope::All, stream, from, most).map(|part| part.expect("it is as it was opened"))
}

#[test]
fn any_part_is_read_alone() {
    let folder = folder();
    let store = open(&folder.path);
    // More than one group of 64 chunks.
    for (id, length) in [(1, 0), (2, 5), (3, CHUNK_BYTES), (4, 130 * CHUNK_BYTES + 9)] {
        let bytes = noise(length);
        let id = output(&store, id, store.put_blob(&mut bytes.as_slice()).unwrap());
        let stream = store.open_stream(&Scope::All, id, StreamKind::Stdout).unwrap().unwrap();
        let mut at = 0;
        while at < length {
            let most = 700_000;
            let found = part(&store, &stream, at as u64, most).unwrap();
            assert!(!found.is_empty() && found.len() <= most && found == bytes[at..at + found.len()], "{at}");
            at += found.len();
        }
        assert_eq!(part(&store, &stream, length as u64, 9).unwrap(), b"");
        assert_eq!(part(&store, &stream, u64::MAX, 9).unwrap(), b"");
    }
}

#[test]
fn a_part_is_checked_against_the_whole_and_needs_no_other_part() {
    let folder = folder();
    let store = open(&folder.path);
    let bytes = noise(200 * CHUNK_BYTES);
    let id = output(&store, 1, store.put_blob(&mut bytes.as_slice()).unwrap());
    let opened = || store.open_stream(&Scope::All, id, StreamKind::Stdout);
    let stream = opened().unwrap().unwrap();
    let at = |chunk: usize| (chunk * CHUNK_BYTES + 3) as u64;
    raw(&folder.path)
        .execute_batch("UPDATE chunk SET data = zeroblob(9) WHERE place IN (0, 77, 199)")
        .unwrap();
    let sound = |chunk: usize| part(&store, &stream, at(chunk), 10);
    assert_eq!(sound(76).unwrap(), bytes[at(76) as usize..][..10], "the chunks beside it are not read");
    assert!(matches!(sound(77), Err(StoreError::Damaged { .. })));
    assert!(opened().is_ok(), "opening looks at values alone");
    // Another chunk with its right value: only the whole tells.
    let swap = "UPDATE chunk AS c SET (cv, data) = (SELECT cv, data FROM chunk o WHERE o.place = 101) WHERE place = 100";
    raw(&folder.path).execute_batch(swap).unwrap();
    assert!(matches!(sound(102), Err(StoreError::Damaged { .. })), "its group is not what was opened");
    assert_eq!(sound(150).unwrap(), bytes[at(150) as usize..][..10], "another group is");
    assert!(matches!(opened(), Err(StoreError::Damaged { .. })));
}

#[test]
fn an_error_of_the_receiver_is_its_own() {
    struct Closed;
    impl io::Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let folder = folder();
    let store = open(&folder.path);
    let blob = store.put_blob(&mut lines(5).as_slice()).unwrap();
    let id = output(&store, 1, blob);
    let error = store.read_output(&Scope::All, id, StreamKind::Stdout, &mut Closed).unwrap_err();
    let StoreError::Storage { cause, .. } = error else { panic!("{error:?}") };
    assert_eq!(cause.downcast_ref::<io::Error>().unwrap().kind(), io::ErrorKind::BrokenPipe);
}
