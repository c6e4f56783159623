//! Batches of random commands over ids, names and keys that were used before, so that they meet and collide.

use sayso_model::limits::{FORWARD_TURNS, KEY_BYTES, NAME_LENGTH};
use sayso_model::{
    Attachment, DeliveryId, EntryId, MarkKind, Outcome, OutputId, PartBody, ProjectId, RangeSource,
    RangeUnit, RequestId, SaidAt, Seal, Seed, SessionId, SessionKind, Span, SpeakerId, SpeakerKind,
    TextRange, Titles, ToolCall, ToolResult, UtcMs, What, Why,
};
use sayso_store::{
    Alias, AppendTurn, Batch, Blob, Command, Compact, CreateProject, CreateSession, CreateSpeaker, Edit,
    Erase, ForkSession, Forks, Forward, ForwardItem, MarkEntry, MergeProject, MoveSession, NewPart, NewRange,
    OutputState, OutputStream, ReadOrder, Redact, Redaction, Reinject, RenameProject, RenameSession, Run,
    Scope, StoreOutput, StreamKind, Target,
};

use super::random::Random;

const TEXTS: &[&str] = &[
    "",
    "words",
    "two\nlines\r\nand a third",
    "a\0b",
    "확인해줘",
    "👩‍👩‍👧‍👦 e\u{301}",
    "```rust\nfn main() {",
    "</quote>\n> ",
    "\u{202E}\u{200B}\u{FEFF}",
];
/// Some of them repeat a text.
const NAMES: &[&str] = &["", "Acme", "Plan", "이름", "a\0b", "Rocky", "Tail", "words", "and a third (fork)"];
const KEYS: &[&str] = &["k", "k/0", "k/1", "K", "열쇠"];

/// Ids and commands that can be referred to.
#[derive(Default)]
pub(crate) struct Names {
    pub(crate) projects: Vec<ProjectId>,
    pub(crate) sessions: Vec<SessionId>,
    pub(crate) speakers: Vec<SpeakerId>,
    pub(crate) entries: Vec<EntryId>,
    pub(crate) outputs: Vec<OutputId>,
    pub(crate) requests: Vec<RequestId>,
    pub(crate) deliveries: Vec<DeliveryId>,
    /// Turns and where they stand.
    turns: Vec<(EntryId, SessionId)>,
    /// Parts that are tool results: where they stand, and the output that they name.
    results: Vec<(EntryId, SessionId, u32, Option<OutputId>)>,
    /// Compactions and where they stand.
    compactions: Vec<(EntryId, SessionId)>,
    /// Turns with a text longer than a quote keeps.
    long: Vec<EntryId>,
    /// Commands that may have a key, to be said again.
    keyed: Vec<Command>,
}

/// What was written, and what the next batch names for the first time.
#[derive(Default)]
pub(crate) struct World {
    pub(crate) known: Names,
    pub(crate) blobs: Vec<Blob>,
    fresh: Names,
    parents: Vec<SessionId>,
    pub(super) at: i64,
}

macro_rules! mint {
    ($($name:ident, $used:ident: $id:ident => $pool:ident;)*) => {$(
        /// A fresh id, now and then one that is taken.
        pub(super) fn $name(&mut self, r: &mut Random) -> $id {
            if r.chance(2) && !self.known.$pool.is_empty() {
                return *r.pick(&self.known.$pool);
            }
            let id = $id::from_u128(r.id());
            self.fresh.$pool.push(id);
            id
        }

        /// An id that is known, or named in the same batch; now and then one that never was.
        pub(super) fn $used(&self, r: &mut Random) -> $id {
            let pools = if r.chance(10) { [&self.fresh, &self.known] } else { [&self.known, &self.fresh] };
            match pools.into_iter().find(|names| !names.$pool.is_empty()) {
                Some(names) if r.chance(99) => *r.pick(&names.$pool),
                _ => $id::from_u128(r.id()),
            }
        }
    )*};
}

impl World {
    mint! {
        new_project, project: ProjectId => projects;
        new_session, session: SessionId => sessions;
        new_speaker, speaker: SpeakerId => speakers;
        new_entry, entry: EntryId => entries;
        new_output, output: OutputId => outputs;
        new_request, request: RequestId => requests;
        new_delivery, delivery: DeliveryId => deliveries;
    }

    /// The batch that every sequence starts with: something of everything.
    pub(crate) fn first(&mut self, r: &mut Random) -> Batch {
        let mut commands = Vec::new();
        for name in ["Acme", "Plan"] {
            let id = ProjectId::from_u128(r.id());
            self.fresh.projects.push(id);
            commands.push(Command::CreateProject(CreateProject { id, name: name.into(), alias: None }));
        }
        for kind in SpeakerKind::ALL {
            let id = SpeakerId::from_u128(r.id());
            self.fresh.speakers.push(id);
            commands.push(Command::CreateSpeaker(CreateSpeaker { id, kind: *kind, name: "Tail".into() }));
        }
        for project in self.fresh.projects.clone() {
            let id = SessionId::from_u128(r.id());
            self.fresh.sessions.push(id);
            let (kind, title) = (SessionKind::Live, "Plan".to_owned());
            let channel = Some("telegram".to_owned());
            commands.push(Command::CreateSession(CreateSession {
                id,
                project,
                kind,
                channel,
                title,
                alias: Some(Alias::new("path", "/work/0")),
            }));
        }
        commands.push(self.long_turn(r));
        self.batch(r, Scope::All, commands)
    }

    fn long_turn(&mut self, r: &mut Random) -> Command {
        let (id, session, speaker) =
            (EntryId::from_u128(r.id()), self.fresh.sessions[0], self.fresh.speakers[0]);
        self.fresh.entries.push(id);
        self.fresh.long.push(id);
        let part = NewPart { by: None, body: PartBody::Text("긴 글 ".repeat(1_500)) };
        let (said_at, reply_to, key, expected_head) = (None, None, None, None);
        let parts = vec![part];
        Command::AppendTurn(AppendTurn {
            id,
            session,
            speaker,
            said_at,
            reply_to,
            repairs: 0,
            parts,
            key,
            expected_head,
        })
    }

    /// Takes what the last batch named for known, if it was written; or else a little of it, so that some things are named
    /// that never were.
    pub(crate) fn settle(&mut self, written: bool, r: &mut Random) {
        let fresh = std::mem::take(&mut self.fresh);
        if written || r.chance(4) {
            self.known.projects.extend(fresh.projects);
            self.known.sessions.extend(fresh.sessions);
            self.known.speakers.extend(fresh.speakers);
            self.known.entries.extend(fresh.entries);
            self.known.outputs.extend(fresh.outputs);
            self.known.requests.extend(fresh.requests);
            self.known.deliveries.extend(fresh.deliveries);
            self.known.turns.extend(fresh.turns);
            self.known.long.extend(fresh.long);
            self.known.results.extend(fresh.results);
            self.known.compactions.extend(fresh.compactions);
            self.known.keyed.extend(fresh.keyed);
        }
    }

    pub(crate) fn next(&mut self, r: &mut Random) -> Batch {
        let scope = if r.chance(85) { Scope::All } else { self.scope(r) };
        let commands = match r.below(100) {
            0..9 => self.exchange(r),
            _ => (0..1 + r.below(3)).map(|_| self.command(r)).collect(),
        };
        self.batch(r, scope, commands)
    }

    fn batch(&mut self, r: &mut Random, scope: Scope, commands: Vec<Command>) -> Batch {
        self.at += 1 + r.below(1000) as i64;
        Batch { scope, at: UtcMs(self.at), seed: Seed(r.bytes()), commands }
    }

    /// Some projects; doubles and unknown ones among them.
    pub(crate) fn scope(&self, r: &mut Random) -> Scope {
        Scope::Projects((0..1 + r.below(3)).map(|_| self.project(r)).collect())
    }

    /// Mostly an entry: erasing a whole project leaves little to go on with.
    pub(crate) fn erase(&self, r: &mut Random) -> Erase {
        let target = match r.below(40) {
            0 => Target::Project(self.project(r)),
            1..20 => Target::Session(self.parent(r)),
            _ => Target::Entry(self.turn(r).0),
        };
        let forks = *r.pick(&[Forks::Refuse, Forks::TakeAlong]);
        let id = EntryId::from_u128(r.id());
        Erase { scope: Scope::All, target, forks, id, at: UtcMs(self.at), seed: Seed(r.bytes()) }
    }

    /// What was erased is named less often from now on.
    pub(crate) fn forget(&mut self, target: Target) {
        let gone = |id: &SessionId| target == Target::Session(*id);
        // One of each stays, to be named.
        if self.known.sessions.len() > 1 {
            self.known.sessions.retain(|id| !gone(id));
        }
        self.known.turns.retain(|(id, session)| !gone(session) && target != Target::Entry(*id));
        if self.known.projects.len() > 1 {
            self.known.projects.retain(|id| target != Target::Project(*id));
        }
        self.known.keyed.retain(|command| turn_of(command).is_none_or(|(_, session, _)| !gone(&session)));
        self.known.long.retain(|id| target != Target::Entry(*id));
        self.known.results.retain(|(_, session, ..)| !gone(session));
        self.known.compactions.retain(|(_, session)| !gone(session));
    }

    fn command(&mut self, r: &mut Random) -> Command {
        match r.below(100) {
            0..4 => self.create_project(r),
            4..8 => Command::AddAlias(self.project(r), alias(r)),
            8..11 => self.create_session(r),
            11..14 => self.fork(r),
            14..17 => self.create_speaker(r),
            17..38 => self.append(r),
            38..41 => self.edit(r),
            41..45 => self.reinject(r),
            45..64 => self.forward(r),
            64..70 => self.compact(r),
            70..80 => self.mark(r),
            80..84 => self.relay(r),
            84 => Command::CloseOutput(self.output(r)),
            85..87 => self.store_output(r),
            87..93 => self.life(r),
            93..96 => Command::Redact(Redact {
                id: self.new_entry(r),
                of: self.turn(r).0,
                what: *r.pick(&[Redaction::Whole, Redaction::Quote]),
            }),
            _ => self.again(r),
        }
    }

    fn create_project(&mut self, r: &mut Random) -> Command {
        let id = self.new_project(r);
        Command::CreateProject(CreateProject { id, name: name(r), alias: r.maybe(50, alias) })
    }

    fn create_session(&mut self, r: &mut Random) -> Command {
        Command::CreateSession(CreateSession {
            id: self.new_session(r),
            project: self.project(r),
            kind: *r.pick(SessionKind::ALL),
            channel: r.maybe(40, |r| (*r.pick(&["telegram", "cli", ""])).to_owned()),
            title: name(r),
            alias: r.maybe(50, alias),
        })
    }

    fn fork(&mut self, r: &mut Random) -> Command {
        let parent = self.session(r);
        self.parents.push(parent);
        Command::ForkSession(ForkSession {
            id: self.new_session(r),
            parent,
            through: r.below(5) as u64,
            title: name(r),
            alias: r.maybe(30, alias),
        })
    }

    /// A session; now and then one that may have forks.
    fn parent(&self, r: &mut Random) -> SessionId {
        match self.parents.len() {
            n if n > 0 && r.chance(60) => *r.pick(&self.parents),
            _ => self.session(r),
        }
    }

    fn create_speaker(&mut self, r: &mut Random) -> Command {
        let id = self.new_speaker(r);
        Command::CreateSpeaker(CreateSpeaker { id, kind: *r.pick(SpeakerKind::ALL), name: name(r) })
    }

    fn append(&mut self, r: &mut Random) -> Command {
        let count = if r.chance(3) { 0 } else { 1 + r.below(3) };
        let turn = AppendTurn {
            id: self.new_entry(r),
            session: self.session(r),
            speaker: self.speaker(r),
            said_at: r.maybe(60, said_at),
            reply_to: r.maybe(5, |r| self.entry(r)),
            repairs: r.below(3) as u32,
            parts: (0..count).map(|_| self.part(r)).collect(),
            key: r.maybe(35, key),
            expected_head: r.maybe(4, |r| r.below(5) as u64),
        };
        self.fresh.turns.push((turn.id, turn.session));
        for (part, at) in turn.parts.iter().zip(0..) {
            if let PartBody::ToolResult(result) = &part.body {
                self.fresh.results.push((turn.id, turn.session, at, result.output));
            }
        }
        if turn
            .parts
            .iter()
            .any(|p| p.by.is_none() && p.body.text().len() > 9_000 && matches!(p.body, PartBody::Text(_)))
        {
            self.fresh.long.push(turn.id);
        }
        self.keep(Command::AppendTurn(turn))
    }

    /// Mostly by the speaker of a turn that is known.
    fn edit(&mut self, r: &mut Random) -> Command {
        let earlier: Vec<_> = self.known.keyed.iter().filter_map(turn_of).collect();
        let (of, session, speaker) = match earlier.len() {
            n if n > 0 && r.chance(90) => earlier[r.below(n)],
            _ => (self.entry(r), self.session(r), self.speaker(r)),
        };
        let speaker = if r.chance(90) { speaker } else { self.speaker(r) };
        let id = self.new_entry(r);
        let (key, parts) = (r.maybe(80, key), vec![self.part(r)]);
        let (said_at, reply_to, expected_head) = (r.maybe(60, said_at), None, None);
        let turn =
            AppendTurn { id, session, speaker, said_at, reply_to, repairs: 0, parts, key, expected_head };
        self.fresh.turns.push((id, session));
        self.keep(Command::Edit(Edit { of, turn }))
    }

    fn part(&self, r: &mut Random) -> NewPart {
        let output = r.maybe(if self.known.outputs.is_empty() { 3 } else { 40 }, |r| self.output(r));
        let (call_id, tool) = (name(r), name(r));
        let body = match r.below(8) {
            0 => PartBody::Reasoning(*r.pick(Seal::ALL), text(r)),
            1 => PartBody::ToolCall(ToolCall { call_id, tool, arguments: text(r) }),
            2 => PartBody::ToolResult(ToolResult {
                call_id,
                tool,
                outcome: *r.pick(Outcome::ALL),
                text: text(r),
                output,
            }),
            3 => PartBody::Attachment(Attachment { media_type: name(r), name: text(r), output }),
            _ => PartBody::Text(text(r)),
        };
        NewPart { by: r.maybe(15, |r| self.speaker(r)), body }
    }

    fn forward(&mut self, r: &mut Random) -> Command {
        let count = match r.below(100) {
            0 => FORWARD_TURNS + 1,
            1..3 => 0,
            3..75 => 1,
            _ => 2 + r.below(3),
        };
        let long = r.maybe(20, |r| self.known.long.get(r.below(self.known.long.len())).copied());
        let source = long.flatten().filter(|_| count > 1);
        let forward = Forward {
            session: self.session(r),
            by: self.speaker(r),
            items: (0..count).map(|_| self.item(source, r)).collect(),
            note: r.maybe(40, text),
            titles: *r.pick(Titles::ALL),
            key: r.maybe(35, key),
            expected_head: r.maybe(3, |r| r.below(5) as u64),
        };
        self.fresh.turns.extend(forward.items.iter().map(|item| (item.id, forward.session)));
        self.keep(Command::Forward(forward))
    }

    fn item(&mut self, source: Option<EntryId>, r: &mut Random) -> ForwardItem {
        let source = source.unwrap_or_else(|| self.turn(r).0);
        ForwardItem {
            id: self.new_entry(r),
            source,
            selection: r.maybe(10, |r| Span::new(r.below(4) as u32, 1 + r.below(3) as u32).unwrap()),
            what: r.maybe(12, |r| *r.pick(What::ALL)),
        }
    }

    /// Mostly a turn and its session, now and then an entry and a session that need not belong together.
    pub(super) fn turn(&self, r: &mut Random) -> (EntryId, SessionId) {
        match self.known.turns.len() {
            n if n > 0 && r.chance(93) => *r.pick(&self.known.turns),
            _ => (self.entry(r), self.session(r)),
        }
    }

    fn compact(&mut self, r: &mut Random) -> Command {
        let compact = Compact {
            id: self.new_entry(r),
            session: self.session(r),
            speaker: self.speaker(r),
            said_at: r.maybe(50, said_at),
            through: r.below(2) as u64,
            summary: text(r),
            key: r.maybe(35, key),
        };
        self.fresh.compactions.push((compact.id, compact.session));
        self.keep(Command::Compact(compact))
    }

    /// Mostly ranges of results of one session, and the latest of its compactions where there is one.
    fn reinject(&mut self, r: &mut Random) -> Command {
        let session = match self.known.results.len() {
            n if n > 0 && r.chance(90) => self.known.results[r.below(n)].1,
            _ => self.session(r),
        };
        let of =
            self.known.compactions.iter().filter(|(_, of)| *of == session).map(|(id, _)| *id).next_back();
        let of = if r.chance(85) { of.filter(|_| r.chance(50)) } else { Some(self.entry(r)) };
        let count = if r.chance(5) { 6 * r.below(2) } else { 1 + r.below(2) };
        let items = (0..count).map(|_| self.range(session, r)).collect();
        let asked = (*r.pick(&["", "words", "확인"])).to_owned();
        let (id, key) = (self.new_entry(r), r.maybe(60, key));
        self.keep(Command::Reinject(Reinject { id, session, of, asked, items, key }))
    }

    fn range(&self, session: SessionId, r: &mut Random) -> NewRange {
        let own: Vec<_> = self.known.results.iter().filter(|(_, of, ..)| *of == session).collect();
        let (turn, part, output) = match own.len() {
            n if n > 0 && r.chance(90) => {
                let (turn, _, part, output) = own[r.below(n)];
                (*turn, part + u32::from(r.chance(5)), *output)
            }
            _ => (self.turn(r).0, r.below(2) as u32, r.maybe(40, |r| self.output(r))),
        };
        let stream = *r.pick(StreamKind::ALL);
        let source = output.map_or(RangeSource::Result, |id| RangeSource::Output(id, stream));
        let (from, to) = (u64::from(!r.chance(3)), 1 + r.below(9) as u64);
        let range = TextRange::of(*r.pick(RangeUnit::ALL), from, to);
        NewRange { turn, part, source, range, why: *r.pick(Why::ALL), tool: name(r) }
    }

    fn mark(&mut self, r: &mut Random) -> Command {
        use MarkKind::{
            Abandoned, Closed, Derived, InContext, Offered, Pinned, Redacted, Renamed, Reopened, Restored,
            RolledBack, Settled, Unpinned,
        };
        let standing = [RolledBack, Abandoned, Restored, Abandoned, Derived, Derived];
        let common =
            [Offered, Offered, InContext, InContext, Reopened, Closed, Pinned, Unpinned, Settled, Settled];
        let kind = match r.chance(97) {
            true if r.chance(25) => *r.pick(&standing),
            true => *r.pick(&common),
            false => *r.pick(&[Redacted, Renamed]),
        };
        let needed = kind.is_of_entry() || (kind == Derived && r.chance(50));
        let of_entry = needed != r.chance(4);
        let id = self.new_entry(r);
        let (of, session) = self.turn(r);
        Command::Mark(MarkEntry { id, session, kind, of: of_entry.then_some(of), route: name(r) })
    }

    /// What happens to projects and sessions after they were made.
    fn life(&mut self, r: &mut Random) -> Command {
        match r.below(10) {
            0 => Command::MergeProject(MergeProject { from: self.project(r), into: self.project(r) }),
            1 => Command::RenameProject(RenameProject { id: self.project(r), name: name(r) }),
            2..6 => Command::RenameSession(RenameSession {
                id: self.new_entry(r),
                session: self.session(r),
                title: (*r.pick(&["Plan", "Plan", "words", &"n".repeat(NAME_LENGTH + 1)])).to_owned(),
            }),
            _ => Command::MoveSession(MoveSession {
                id: self.new_entry(r),
                session: self.parent(r),
                to: self.project(r),
            }),
        }
    }

    fn store_output(&mut self, r: &mut Random) -> Command {
        let count = if r.chance(4) { 0 } else { 1 + r.below(2) };
        let streams = (0..count).map(|_| {
            let mut blob = *r.pick(&self.blobs);
            blob.bytes += u64::from(r.chance(5));
            let kind = *r.pick(&[StreamKind::Stdout, StreamKind::Stderr]);
            let total = r.maybe(4, |r| (r.number() >> r.below(60)).max(blob.bytes));
            OutputStream { kind, blob, total }
        });
        let streams = streams.collect();
        let run = if r.chance(40) { run(r) } else { Run::default() };
        Command::StoreOutput(StoreOutput {
            id: self.new_output(r),
            session: self.session(r),
            tool: name(r),
            state: *r.pick(&[OutputState::Complete, OutputState::Capped, OutputState::Partial]),
            exit: r.maybe(60, |r| r.below(300) as i32 - 100),
            streams,
            run,
        })
    }

    /// An id for an output that is written while batches are.
    pub(crate) fn fresh_output(&mut self, r: &mut Random) -> OutputId {
        let id = self.new_output(r);
        self.known.outputs.push(id);
        id
    }

    pub(crate) fn some_session(&self, r: &mut Random) -> SessionId {
        self.session(r)
    }

    fn keep(&mut self, command: Command) -> Command {
        self.fresh.keyed.push(command.clone());
        command
    }

    /// Something that was said before, with fresh ids; now and then with other content.
    fn again(&mut self, r: &mut Random) -> Command {
        if self.known.keyed.is_empty() {
            return self.append(r);
        }
        // Re-injections are mostly refused, so one that was written is worth saying again.
        let is_rare = |command: &&Command| matches!(command, Command::Reinject(_));
        let rare: Vec<&Command> = self.known.keyed.iter().filter(is_rare).collect();
        let prefer_rare = r.chance(50) && !rare.is_empty();
        let mut command =
            if prefer_rare { (*r.pick(&rare)).clone() } else { r.pick(&self.known.keyed).clone() };
        let other = r.chance(30);
        match &mut command {
            Command::AppendTurn(c) => {
                c.id = self.new_entry(r);
                c.repairs += u32::from(other);
                c.speaker = if other { self.speaker(r) } else { c.speaker };
            }
            Command::Edit(c) => {
                c.turn.id = self.new_entry(r);
                c.turn.repairs += u32::from(other);
            }
            Command::Forward(c) => {
                c.items.iter_mut().for_each(|item| item.id = self.new_entry(r));
                c.note = if other { Some(text(r)) } else { c.note.take() };
            }
            Command::Compact(c) => {
                c.id = self.new_entry(r);
                c.through += u64::from(other);
            }
            Command::Reinject(c) => {
                c.id = self.new_entry(r);
                c.asked.push_str(if other { "?" } else { "" });
            }
            _ => {}
        }
        command
    }
}

fn run(r: &mut Random) -> Run {
    let mut order = ReadOrder::default();
    for _ in 0..r.below(3) {
        order.push(*r.pick(&[StreamKind::Stdout, StreamKind::Stderr]), r.below(4) as u64);
    }
    Run {
        command: r.maybe(50, |r| text(r).repeat(if r.chance(2) { 9_000 } else { 1 })),
        signal: r.maybe(10, |r| r.below(64) as i32),
        timed_out: r.chance(10),
        duration_ms: r.maybe(50, |r| r.number() >> r.below(40)),
        pipe_held: r.chance(10),
        charset: r.maybe(20, name),
        order,
    }
}

/// A turn that a command makes, its session and its speaker.
fn turn_of(command: &Command) -> Option<(EntryId, SessionId, SpeakerId)> {
    match command {
        Command::AppendTurn(turn) | Command::Edit(Edit { turn, .. }) => {
            Some((turn.id, turn.session, turn.speaker))
        }
        Command::Forward(c) => c.items.first().map(|item| (item.id, c.session, c.by)),
        _ => None,
    }
}

fn said_at(r: &mut Random) -> SaidAt {
    SaidAt::new(r.below(1 << 40) as i64 - 5_000, r.below(2160) as i16 - 1080).unwrap()
}

fn text(r: &mut Random) -> String {
    match r.below(40) {
        0 | 1 => "긴 글 ".repeat(1_500),
        2 => format!("{}{}", r.pick(TEXTS), r.pick(TEXTS)).repeat(3),
        3 => "\u{1}\0".repeat(50),
        _ => {
            // The empty text is first.
            let from = usize::from(r.chance(90));
            (*r.pick(&TEXTS[from..])).to_owned()
        }
    }
}

pub(crate) fn name(r: &mut Random) -> String {
    match r.below(60) {
        0 => "n".repeat(NAME_LENGTH + 1),
        1 => format!("name {}", r.below(1000)),
        _ => (*r.pick(NAMES)).to_owned(),
    }
}

pub(crate) fn alias(r: &mut Random) -> Alias {
    let value = if r.chance(70) { format!("/work/{}", r.below(2)) } else { name(r) };
    Alias::new(*r.pick(&["name", "path", "path"]), value)
}

pub(crate) fn key(r: &mut Random) -> String {
    match r.below(40) {
        0 => String::new(),
        1 => "k".repeat(KEY_BYTES + 1),
        _ => (*r.pick(KEYS)).to_owned(),
    }
}
