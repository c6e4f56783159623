//! A small ledger with something of everything, and the same one with one text changed.

use std::path::{Path, PathBuf};

use sayso_model::{
    EntryId, LedgerId, MarkKind, Outcome, OutputId, PartBody, ProjectId, RangeSource, Seed, SessionId,
    SessionKind, SpeakerId, SpeakerKind, TextRange, Titles, ToolResult, UtcMs, Why,
};
use sayso_sqlite::{Durability, Options, SqliteStore};
use sayso_store::{
    Alias, AppendTurn, Batch, Command, Compact, CreateProject, CreateSession, CreateSpeaker, Forward,
    ForwardItem, MarkEntry, NewPart, NewRange, OutputState, OutputStream, Reinject, Report, Run, Scope,
    Store, StoreOutput, StreamKind,
};
use tempfile::TempDir;

pub(crate) const PROJECT: ProjectId = ProjectId::from_u128(1);
/// Five turns and a compaction.
pub(crate) const SOURCE: SessionId = SessionId::from_u128(2);
/// A forward, a forward of that forward, and a mark.
pub(crate) const TARGET: SessionId = SessionId::from_u128(3);
/// One turn that has nothing to do with the others.
pub(crate) const APART: SessionId = SessionId::from_u128(4);
pub(crate) const OWNER: SpeakerId = SpeakerId::from_u128(5);
pub(crate) const AGENT: SpeakerId = SpeakerId::from_u128(6);
pub(crate) const OUTPUT: OutputId = OutputId::from_u128(7);

pub(crate) struct Sample {
    _folder: TempDir,
    path: PathBuf,
}

impl Sample {
    /// The ledger; `second` is what its second turn says.
    pub(crate) fn new(second: &str) -> Self {
        Self::with(second, 150_000)
    }

    fn with(second: &str, bytes: u32) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.sayso");
        fill(&open(&path), second, bytes);
        Self { _folder: folder, path }
    }

    /// The rich one with a short output.
    pub(crate) fn small() -> Self {
        let sample = Self::with("second", 500);
        super::rich::fill(sample.store());
        super::rich::import_another(&sample.path);
        sample
    }

    /// The same, and after that everything else that can happen to a ledger: titles and homes that changed, a fork, an edit,
    /// pins, texts that were taken away, a turn, an output and a session that were erased, a re-injection, a session of another
    /// ledger.
    pub(crate) fn rich() -> Self {
        let sample = Self::new("second");
        super::rich::fill(sample.store());
        super::rich::bring_back(&sample.store());
        super::relay::fill(&sample.store());
        super::rich::import_another(&sample.path);
        sample
    }

    pub(crate) fn store(&self) -> SqliteStore {
        open(&self.path)
    }

    pub(crate) fn report(&self) -> Report {
        self.store().verify(&Scope::All).unwrap()
    }

    /// Statements run by someone who opened the file with another program.
    pub(crate) fn edit(&self, sql: &str) {
        let conn = self.raw();
        conn.execute_batch(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
    }

    pub(crate) fn raw(&self) -> rusqlite::Connection {
        let conn = rusqlite::Connection::open(&self.path).unwrap();
        conn.execute_batch("PRAGMA foreign_keys = OFF").unwrap();
        conn
    }
}

fn open(path: &Path) -> SqliteStore {
    let options =
        Options { durability: Durability::Normal, ..Options::new(LedgerId::from_u128(9), UtcMs(0)) };
    SqliteStore::open(path, &options).unwrap()
}

pub(crate) fn entry(n: u128) -> EntryId {
    EntryId::from_u128(100 + n)
}

fn fill(store: &SqliteStore, second: &str, bytes: u32) {
    let bytes: Vec<u8> = (0..bytes).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let blob = store.put_blob(&mut bytes.as_slice()).unwrap();
    let mut commands = beginnings();
    let output = StoreOutput {
        id: OUTPUT,
        session: SOURCE,
        tool: "bash".into(),
        state: OutputState::Complete,
        exit: Some(0),
        streams: vec![OutputStream::new(StreamKind::Stdout, blob)],
        run: Run::default(),
    };
    commands.push(Command::StoreOutput(output));
    let texts = [&["first"][..], &[second], &["third", "and more"], &["fourth"], &["fifth"]];
    for (n, texts) in (1..).zip(texts) {
        commands.push(turn(n, SOURCE, texts, Some(format!("key {n}"))));
    }
    commands.push(Command::Compact(Compact {
        id: entry(6),
        session: SOURCE,
        speaker: AGENT,
        said_at: None,
        through: 4,
        summary: "in short".into(),
        key: None,
    }));
    commands.push(forward(11, 2));
    commands.push(forward(12, 11));
    let mark = MarkEntry {
        id: entry(13),
        session: TARGET,
        kind: MarkKind::Offered,
        of: Some(entry(11)),
        route: "hook".into(),
    };
    commands.push(Command::Mark(mark));
    commands.push(turn(21, APART, &["apart"], None));
    let batch = Batch { scope: Scope::All, at: UtcMs(1_000), seed: Seed([7; 32]), commands };
    store.write(&batch).unwrap();
}

fn beginnings() -> Vec<Command> {
    let mut commands = vec![
        Command::CreateProject(CreateProject {
            id: PROJECT,
            name: "Acme".into(),
            alias: Some(Alias::new("path", "/work/acme")),
        }),
        Command::CreateSpeaker(CreateSpeaker { id: OWNER, kind: SpeakerKind::Owner, name: "Tail".into() }),
        Command::CreateSpeaker(CreateSpeaker { id: AGENT, kind: SpeakerKind::Agent, name: "Rocky".into() }),
    ];
    commands.extend([SOURCE, TARGET, APART].map(|id| {
        Command::CreateSession(CreateSession {
            id,
            project: PROJECT,
            kind: SessionKind::Thread,
            channel: Some("cli".into()),
            title: "Plan".into(),
            alias: Some(Alias::new("codex", id.to_string())),
        })
    }));
    commands
}

fn turn(n: u128, session: SessionId, texts: &[&str], key: Option<String>) -> Command {
    let part = |text: &&str| NewPart { by: None, body: PartBody::Text((*text).to_owned()) };
    Command::AppendTurn(AppendTurn {
        id: entry(n),
        session,
        speaker: OWNER,
        said_at: None,
        reply_to: None,
        repairs: 0,
        parts: texts.iter().map(part).collect(),
        key,
        expected_head: None,
    })
}

/// A batch that appends a turn.
pub(crate) fn one_more(session: SessionId) -> Batch {
    let commands = vec![turn(50, session, &["one more"], None)];
    Batch { scope: Scope::All, at: UtcMs(2_000), seed: Seed([8; 32]), commands }
}

/// A batch that appends a tool's result to a session and brings two ranges of it back.
pub(crate) fn brought_back() -> Batch {
    let result = ToolResult {
        call_id: "call_1".into(),
        tool: "bash".into(),
        outcome: Outcome::Failed,
        text: "what the model saw".into(),
        output: Some(OUTPUT),
    };
    let mut said = turn(51, APART, &[], None);
    if let Command::AppendTurn(turn) = &mut said {
        turn.parts.push(NewPart { by: None, body: PartBody::ToolResult(result) });
    }
    let range = |first| NewRange {
        turn: entry(51),
        part: 0,
        source: RangeSource::Output(OUTPUT, StreamKind::Stdout),
        range: TextRange::Lines { first, last: 9 },
        why: Why::Cited,
        tool: String::new(),
    };
    let back = Command::Reinject(Reinject {
        id: entry(52),
        session: APART,
        of: None,
        asked: "what was it?".into(),
        items: vec![range(1), range(5)],
        key: Some("back".into()),
    });
    Batch { scope: Scope::All, at: UtcMs(2_000), seed: Seed([8; 32]), commands: vec![said, back] }
}

fn forward(n: u128, source: u128) -> Command {
    let item = ForwardItem { id: entry(n), source: entry(source), selection: None, what: None };
    Command::Forward(Forward {
        session: TARGET,
        by: AGENT,
        items: vec![item],
        note: None,
        titles: Titles::Shown,
        key: Some(format!("forward {n}")),
        expected_head: None,
    })
}
