//! The records of an export, but for what an entry is.

use sayso::model::{Entry, EntryId};
use sayso::model::{
    LedgerId, OutputId, ProjectId, SessionId, SessionKind, Speaker, SpeakerId, SpeakerKind, UtcMs,
};
use sayso::store::{
    Alias, ArchivedEntry, ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker, Blob, ForkPoint,
    Output, OutputState, OutputStream, ReadOrder, Run, StreamKind,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::body::{Body, Sayers};
use super::words::{Grain, Hash, Word};

/// The version of the form that is written, and the newest that is read.
pub(super) const VERSION: u32 = 1;

/// Whether a first record is that of an export, of whatever version.
pub(crate) fn is_header(first: &Value) -> bool {
    let word = |key| first.get(key).and_then(Value::as_str);
    word("type") == Some("export") && word("format") == Some("sayso")
}

/// One line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Record {
    Export { format: String, version: u32 },
    Project(ProjectForm),
    Speaker(SpeakerForm),
    Session(SessionForm),
    Entry(Box<EntryForm>),
    Key(KeyForm),
    Output(OutputForm),
    Bytes(BytesForm),
    End { records: u64 },
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct AliasForm {
    kind: String,
    value: String,
}

fn alias_forms(aliases: &[Alias]) -> Vec<AliasForm> {
    aliases.iter().map(|a| AliasForm { kind: a.kind.clone(), value: a.value.clone() }).collect()
}

fn aliases(forms: Vec<AliasForm>) -> Vec<Alias> {
    forms.into_iter().map(|a| Alias { kind: a.kind, value: a.value }).collect()
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProjectForm {
    id: Word<ProjectId>,
    name: String,
    created_at: i64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    merged_into: Option<Word<ProjectId>>,
    aliases: Vec<AliasForm>,
}

impl From<&ArchivedProject> for ProjectForm {
    fn from(p: &ArchivedProject) -> Self {
        Self {
            id: Word(p.id),
            name: p.name.clone(),
            created_at: p.created_at.0,
            merged_into: p.merged_into.map(Word),
            aliases: alias_forms(&p.aliases),
        }
    }
}

impl From<ProjectForm> for ArchivedProject {
    fn from(p: ProjectForm) -> Self {
        Self {
            id: p.id.0,
            name: p.name,
            created_at: UtcMs(p.created_at),
            merged_into: p.merged_into.map(|id| id.0),
            aliases: aliases(p.aliases),
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SpeakerForm {
    id: Word<SpeakerId>,
    kind: Word<SpeakerKind>,
    name: String,
    salt: Grain,
}

impl From<&ArchivedSpeaker> for SpeakerForm {
    fn from(s: &ArchivedSpeaker) -> Self {
        let Speaker { id, kind, name } = &s.speaker;
        Self { id: Word(*id), kind: Word(*kind), name: name.clone(), salt: Grain(s.salt) }
    }
}

impl From<SpeakerForm> for ArchivedSpeaker {
    fn from(s: SpeakerForm) -> Self {
        let speaker = Speaker { id: s.id.0, kind: s.kind.0, name: s.name };
        Self { speaker, salt: s.salt.0 }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct ForkForm {
    session: Word<SessionId>,
    seq: u64,
    hash: Hash,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct SessionForm {
    id: Word<SessionId>,
    ledger: Word<LedgerId>,
    first_project: Word<ProjectId>,
    project: Word<ProjectId>,
    kind: Word<SessionKind>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    channel: Option<String>,
    created_at: i64,
    first_title: Hash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    salt: Option<Grain>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    fork: Option<ForkForm>,
    aliases: Vec<AliasForm>,
    last_seq: u64,
    head: Hash,
}

impl From<&ArchivedSession> for SessionForm {
    fn from(s: &ArchivedSession) -> Self {
        let (title, salt) = s.title.clone().unzip();
        let fork = s.fork.map(|(point, hash)| ForkForm {
            session: Word(point.session),
            seq: point.seq,
            hash: Hash(hash),
        });
        Self {
            id: Word(s.id),
            ledger: Word(s.ledger),
            first_project: Word(s.first_project),
            project: Word(s.project),
            kind: Word(s.kind),
            channel: s.channel.clone(),
            created_at: s.created_at.0,
            first_title: Hash(s.first_title),
            title,
            salt: salt.map(Grain),
            fork,
            aliases: alias_forms(&s.aliases),
            last_seq: s.last_seq,
            head: Hash(s.head),
        }
    }
}

impl From<SessionForm> for ArchivedSession {
    fn from(s: SessionForm) -> Self {
        let fork = s.fork.map(|f| (ForkPoint { session: f.session.0, seq: f.seq }, f.hash.0));
        Self {
            id: s.id.0,
            ledger: s.ledger.0,
            first_project: s.first_project.0,
            project: s.project.0,
            kind: s.kind.0,
            channel: s.channel,
            created_at: UtcMs(s.created_at),
            first_title: s.first_title.0,
            title: s.title.zip(s.salt.map(|salt| salt.0)),
            fork,
            aliases: aliases(s.aliases),
            last_seq: s.last_seq,
            head: s.head.0,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct EntryForm {
    session: Word<SessionId>,
    seq: u64,
    id: Word<EntryId>,
    recorded_at: i64,
    hash: Hash,
    #[serde(flatten)]
    body: Body,
}

impl From<&ArchivedEntry> for EntryForm {
    fn from(e: &ArchivedEntry) -> Self {
        let Entry { id, session, seq, recorded_at, hash, .. } = e.entry;
        let body = Body::of(e);
        Self { session: Word(session), seq, id: Word(id), recorded_at: recorded_at.0, hash: Hash(hash), body }
    }
}

impl EntryForm {
    pub(super) fn session(&self) -> SessionId {
        self.session.0
    }

    pub(super) fn seq(&self) -> u64 {
        self.seq
    }

    /// The entry; `None` where it names a speaker that did not come before it, or its values do not go together.
    pub(super) fn archived(self, sayers: &Sayers, project: ProjectId) -> Option<ArchivedEntry> {
        let (body, salts, commitments) = self.body.taken(sayers)?;
        let entry = Entry {
            id: self.id.0,
            project,
            session: self.session.0,
            seq: self.seq,
            recorded_at: UtcMs(self.recorded_at),
            hash: self.hash.0,
            body,
        };
        Some(ArchivedEntry { entry, salts, commitments })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct KeyForm {
    session: Word<SessionId>,
    entry: Word<EntryId>,
    kind: String,
    value: String,
    salt: Grain,
    content: Hash,
}

impl From<&ArchivedKey> for KeyForm {
    fn from(k: &ArchivedKey) -> Self {
        Self {
            session: Word(k.session),
            entry: Word(k.entry),
            kind: k.kind.clone(),
            value: k.value.clone(),
            salt: Grain(k.salt),
            content: Hash(k.content),
        }
    }
}

impl From<KeyForm> for ArchivedKey {
    fn from(k: KeyForm) -> Self {
        Self {
            session: k.session.0,
            kind: k.kind,
            value: k.value,
            salt: k.salt.0,
            content: k.content.0,
            entry: k.entry.0,
        }
    }
}

#[derive(Debug, Serialize, Deserialize)]
struct StreamForm {
    kind: String,
    bytes: u64,
    hash: Hash,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    total: Option<u64>,
}

/// How a tool was run, where something of it is known.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
struct RunForm {
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    signal: Option<i32>,
    timed_out: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    duration_ms: Option<u64>,
    pipe_held: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    charset: Option<String>,
    order: String,
}

impl From<&Run> for RunForm {
    fn from(run: &Run) -> Self {
        Self {
            command: run.command.clone(),
            signal: run.signal,
            timed_out: run.timed_out,
            duration_ms: run.duration_ms,
            pipe_held: run.pipe_held,
            charset: run.charset.clone(),
            order: run.order.to_text(),
        }
    }
}

impl RunForm {
    fn run(self) -> Option<Run> {
        Some(Run {
            command: self.command,
            signal: self.signal,
            timed_out: self.timed_out,
            duration_ms: self.duration_ms,
            pipe_held: self.pipe_held,
            charset: self.charset,
            order: ReadOrder::parse(&self.order)?,
        })
    }
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct OutputForm {
    session: Word<SessionId>,
    id: Word<OutputId>,
    tool: String,
    state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    exit: Option<i32>,
    recorded_at: i64,
    streams: Vec<StreamForm>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    run: Option<RunForm>,
}

impl From<&Output> for OutputForm {
    fn from(o: &Output) -> Self {
        let stream = |s: &OutputStream| StreamForm {
            kind: s.kind.as_str().to_owned(),
            bytes: s.blob.bytes,
            hash: Hash(s.blob.hash),
            total: s.total,
        };
        Self {
            session: Word(o.session),
            id: Word(o.id),
            tool: o.tool.clone(),
            state: o.state.as_str().to_owned(),
            exit: o.exit,
            recorded_at: o.recorded_at.0,
            streams: o.streams.iter().map(stream).collect(),
            run: Some(RunForm::from(&o.run)).filter(|run| *run != RunForm::default()),
        }
    }
}

impl OutputForm {
    /// The output; `None` where a word is not known.
    pub(super) fn output(self, project: ProjectId) -> Option<Output> {
        let stream = |s: &StreamForm| {
            let blob = Blob { hash: s.hash.0, bytes: s.bytes };
            Some(OutputStream { kind: StreamKind::parse(&s.kind)?, blob, total: s.total })
        };
        Some(Output {
            id: self.id.0,
            project,
            session: self.session.0,
            tool: self.tool,
            state: OutputState::parse(&self.state)?,
            exit: self.exit,
            recorded_at: UtcMs(self.recorded_at),
            streams: self.streams.iter().map(stream).collect::<Option<_>>()?,
            run: self.run.unwrap_or_default().run()?,
            growing: false,
        })
    }
}

/// A piece of a stream.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct BytesForm {
    pub(super) output: Word<OutputId>,
    pub(super) stream: String,
    pub(super) at: u64,
    pub(super) base64: String,
}
