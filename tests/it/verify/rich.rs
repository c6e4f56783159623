//! What else can happen to a ledger, on top of the small sample: every table has rows, and every column has a value somewhere.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use sayso::{Ledger, NewTurn, Options};
use sayso_model::{
    Attachment, EntryId, MarkKind, Outcome, OutputId, PartBody, ProjectId, RangeSource, SaidAt, Seal, Seed,
    SessionId, SessionKind, Span, SpeakerId, SpeakerKind, TextRange, Titles, ToolCall, ToolResult, UtcMs,
    What, Why,
};
use sayso_sqlite::SqliteStore;
use sayso_store::{
    Alias, AppendTurn, Batch, Command, Compact, CreateProject, CreateSession, CreateSpeaker, Edit, Erase,
    Erasing, ForkSession, Forks, Forward, ForwardItem, MarkEntry, MergeProject, MoveSession, NewPart,
    NewRange, OutputState, OutputStream, ReadOrder, Redact, Redaction, Reinject, RenameProject,
    RenameSession, Run, Scope, StartOutput, Store, StoreOutput, StreamKind, Target,
};

use super::sample::{AGENT, APART, OWNER, PROJECT, SOURCE, TARGET, entry};
use crate::support::TestHost;

/// A project that became part of the first.
const MERGED: ProjectId = ProjectId::from_u128(31);
/// A project to which a session moved.
const HOME: ProjectId = ProjectId::from_u128(32);
const FORK: SessionId = SessionId::from_u128(33);
pub(super) const TOOLS: SessionId = SessionId::from_u128(34);
const GONE: SessionId = SessionId::from_u128(35);
const PERSON: SpeakerId = SpeakerId::from_u128(36);
const OUTPUTS: [OutputId; 3] = [OutputId::from_u128(37), OutputId::from_u128(38), OutputId::from_u128(39)];

pub(crate) fn fill(store: SqliteStore) {
    let store = &Arc::new(store);
    write(store, 2_000, beginnings());
    write(store, 3_000, tools(store));
    write(store, 4_000, changes());
    write(store, 5_000, forwards());
    for (target, id) in [(Target::Entry(entry(43)), entry(90)), (Target::Session(GONE), entry(91))] {
        let (forks, seed) = (Forks::Refuse, Seed([6; 32]));
        let erase = Erase { scope: Scope::All, target, forks, id, at: UtcMs(6_000), seed };
        assert_eq!(store.erase(&erase, usize::MAX).unwrap(), Erasing::Done);
    }
    grow(Arc::clone(store));
}

/// An output whose writer was never heard of again, and bytes that nothing refers to.
fn grow(store: Arc<SqliteStore>) {
    let start = StartOutput {
        scope: Scope::All,
        at: UtcMs(7_000),
        id: OUTPUTS[2],
        session: TOOLS,
        tool: "bash".into(),
        command: Some("make check".into()),
        charset: None,
    };
    let mut output = Arc::clone(&store).start_output(start).unwrap();
    output.write(StreamKind::Stdout, b"so far").unwrap();
    output.write(StreamKind::Stderr, b"a warning so far").unwrap();
    output.keep().unwrap();
    store.put_blob(&mut &b"never named"[..]).unwrap();
    let day = std::time::Duration::from_secs(86_400);
    assert_eq!(store.collect(UtcMs(8_000), day).unwrap().waiting, 1);
}

/// Imports the export of another ledger, in which an agent of the same name speaks.
pub(crate) fn import_another(path: &Path) {
    let host = Arc::new(TestHost::default());
    let open = |path: &Path| Ledger::open_with(path, &Options::default(), host.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let another = open(&folder.path().join("another.db"));
    let session = another.session("Elsewhere", "Copied").unwrap();
    another.append(&session, NewTurn::text(SpeakerKind::Agent, "Rocky", "said elsewhere")).unwrap();
    let export = folder.path().join("export.jsonl");
    let (projects, sessions) = ([session.project].into(), [session.id].into());
    let mut file = File::create(&export).unwrap();
    sayso_import::archive::export(&another.reader(Scope::All), &projects, &sessions, &mut file).unwrap();
    sayso_import::import_file(&open(path), &export, &mut |_| {}).unwrap();
}

fn write(store: &SqliteStore, at: i64, commands: Vec<Command>) {
    let batch = Batch { scope: Scope::All, at: UtcMs(at), seed: Seed([at as u8; 32]), commands };
    store.write(&batch).unwrap();
}

fn beginnings() -> Vec<Command> {
    let project = |id, name: &str| {
        let alias = Some(Alias::new("path", format!("/work/{name}")));
        Command::CreateProject(CreateProject { id, name: name.to_owned(), alias })
    };
    let session = |id, project, title: &str| {
        let alias = Some(Alias::new("pi", format!("{id}")));
        let (kind, channel, title) = (SessionKind::Live, Some("telegram".to_owned()), title.to_owned());
        Command::CreateSession(CreateSession { id, project, kind, channel, title, alias })
    };
    let person = CreateSpeaker { id: PERSON, kind: SpeakerKind::Person, name: "Jun".into() };
    vec![
        project(MERGED, "merged"),
        project(HOME, "home"),
        session(TOOLS, MERGED, "Tools"),
        session(GONE, HOME, "Gone"),
        Command::CreateSpeaker(person),
        turn(40, TOOLS, PERSON, vec![words("a question"), words("and one more")]),
        turn(41, GONE, PERSON, vec![words("a secret")]),
        Command::AddAlias(HOME, Alias::new("git", "https://example.invalid/home.git")),
    ]
}

fn words(text: &str) -> PartBody {
    PartBody::Text(text.to_owned())
}

fn turn(n: u128, session: SessionId, speaker: SpeakerId, bodies: Vec<PartBody>) -> Command {
    Command::AppendTurn(append(n, session, speaker, bodies))
}

/// A question of a person's, to be put to the agent.
pub(super) fn question(n: u128, session: SessionId) -> AppendTurn {
    append(n, session, PERSON, vec![words("is it done?")])
}

fn append(n: u128, session: SessionId, speaker: SpeakerId, bodies: Vec<PartBody>) -> AppendTurn {
    let by = |at: usize| (at == 1).then_some(OWNER);
    let parts = bodies.into_iter().enumerate().map(|(at, body)| NewPart { by: by(at), body });
    AppendTurn {
        id: entry(n),
        session,
        speaker,
        said_at: SaidAt::new(1_000_000 + n as i64, 540),
        reply_to: None,
        repairs: 2,
        parts: parts.collect(),
        key: Some(format!("key {n}")),
        expected_head: None,
    }
}

/// A call, its result with a stored output, what a model thought, an attachment, and a turn that answers.
fn tools(store: &SqliteStore) -> Vec<Command> {
    let put = |text: &str| store.put_blob(&mut text.as_bytes()).unwrap();
    let stdout = OutputStream::new(StreamKind::Stdout, put(&"the same line\n".repeat(9_000)));
    let stderr = OutputStream::new(StreamKind::Stderr, put("a warning"));
    let picture = OutputStream::new(StreamKind::Stdout, put("a picture"));
    let picture = OutputStream { total: Some(20_000), ..picture };
    let output = |id, exit, streams, run| {
        let (tool, state) = ("bash".to_owned(), OutputState::Capped);
        Command::StoreOutput(StoreOutput { id, session: TOOLS, tool, state, exit, streams, run })
    };
    let mut order = ReadOrder::default();
    order.push(StreamKind::Stdout, 5);
    let run = Run {
        command: Some("cat plan.png".into()),
        signal: Some(9),
        timed_out: true,
        duration_ms: Some(2_000),
        pipe_held: true,
        charset: Some("euc-kr".into()),
        order,
    };
    let (call_id, tool) = ("call_1".to_owned(), "bash".to_owned());
    let call = ToolCall { call_id: call_id.clone(), tool: tool.clone(), arguments: "{}".into() };
    let (outcome, text) = (Outcome::Failed, "the same line".to_owned());
    let result = ToolResult { call_id, tool, outcome, text, output: Some(OUTPUTS[0]) };
    let (media_type, name) = ("image/png".to_owned(), "plan.png".to_owned());
    let picture_of = Attachment { media_type, name, output: Some(OUTPUTS[1]) };
    let thoughts = [Seal::Open, Seal::Sealed].map(|seal| PartBody::Reasoning(seal, "hm".into()));
    let mut commands = vec![
        output(OUTPUTS[0], Some(3), vec![stdout, stderr], Run::default()),
        output(OUTPUTS[1], None, vec![picture], run),
        turn(42, TOOLS, AGENT, thoughts.into_iter().chain([PartBody::ToolCall(call)]).collect()),
        turn(43, TOOLS, AGENT, vec![words("to be erased")]),
        turn(44, TOOLS, AGENT, vec![PartBody::ToolResult(result), PartBody::Attachment(picture_of)]),
    ];
    let mut answer = append(45, TOOLS, PERSON, vec![words("thanks")]);
    answer.reply_to = Some(entry(44));
    commands.push(Command::AppendTurn(answer));
    commands
}

/// A summary, and two ranges of that result that stand in the context again.
pub(crate) fn bring_back(store: &SqliteStore) {
    let range = |source, range| NewRange {
        turn: entry(44),
        part: 0,
        source,
        range,
        why: Why::Failure,
        tool: String::new(),
    };
    let stream = RangeSource::Output(OUTPUTS[0], StreamKind::Stderr);
    let summary = Compact {
        id: entry(46),
        session: TOOLS,
        speaker: AGENT,
        said_at: None,
        through: 3,
        summary: "a warning, so far".into(),
        key: None,
    };
    let mut commands = vec![Command::Compact(summary)];
    commands.push(Command::Reinject(Reinject {
        id: entry(47),
        session: TOOLS,
        of: Some(entry(46)),
        asked: String::new(),
        items: vec![
            range(stream, TextRange::Lines { first: 1, last: 2 }),
            range(RangeSource::Result, TextRange::Bytes { start: 4, len: 4 }),
        ],
        key: Some("key 47".into()),
    }));
    write(store, 7_000, commands);
}

/// Titles and homes change, a session is forked and one is closed, words are edited, pinned and taken away.
fn changes() -> Vec<Command> {
    let mark = |n, session, kind, of: Option<EntryId>| {
        Command::Mark(MarkEntry { id: entry(n), session, kind, of, route: "a route".into() })
    };
    let edited = append(50, TOOLS, PERSON, vec![words("many thanks")]);
    let fork = ForkSession {
        id: FORK,
        parent: SOURCE,
        through: 3,
        title: "Another way".into(),
        alias: Some(Alias::new("name", "Another way")),
    };
    vec![
        Command::Edit(Edit { of: entry(45), turn: edited }),
        Command::RenameSession(RenameSession { id: entry(51), session: SOURCE, title: "Roadmap".into() }),
        Command::RenameProject(RenameProject { id: PROJECT, name: "Apex".into() }),
        Command::MergeProject(MergeProject { from: MERGED, into: PROJECT }),
        Command::MoveSession(MoveSession { id: entry(52), session: APART, to: HOME }),
        Command::ForkSession(fork),
        turn(53, FORK, AGENT, vec![words("this way")]),
        mark(54, FORK, MarkKind::Pinned, Some(entry(53))),
        mark(55, FORK, MarkKind::Unpinned, Some(entry(53))),
        mark(56, TOOLS, MarkKind::Pinned, Some(entry(40))),
        mark(57, TOOLS, MarkKind::RolledBack, Some(entry(42))),
        mark(58, TOOLS, MarkKind::Restored, Some(entry(42))),
        mark(59, APART, MarkKind::Closed, None),
        mark(60, FORK, MarkKind::Derived, None),
        Command::Redact(Redact { id: entry(61), of: entry(4), what: Redaction::Whole }),
        mark(62, TOOLS, MarkKind::Settled, Some(entry(50))),
    ]
}

/// A forward of a selection, forwards of a note and of what it holds, and one whose words were taken away.
fn forwards() -> Vec<Command> {
    let forward = |n: u128, source, selection, what, note: &str| {
        let item = ForwardItem { id: entry(n), source: entry(source), selection, what };
        let (note, key) = (Some(note.to_owned()), Some(format!("key {n}")));
        let (session, by, titles) = (TARGET, OWNER, Titles::Shown);
        let items = vec![item];
        Command::Forward(Forward { session, by, items, note, titles, key, expected_head: None })
    };
    let in_context = MarkEntry {
        id: entry(75),
        session: TARGET,
        kind: MarkKind::InContext,
        of: Some(entry(70)),
        route: "prompt".into(),
    };
    vec![
        forward(70, 40, Span::new(2, 8).ok(), None, "look here"),
        forward(71, 70, None, Some(What::Note), ""),
        forward(72, 70, None, Some(What::Quote), "once more"),
        forward(73, 40, None, None, ""),
        Command::Redact(Redact { id: entry(74), of: entry(73), what: Redaction::Quote }),
        Command::Mark(in_context),
    ]
}
