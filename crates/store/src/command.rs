//! Writes as data.

use sayso_model::{
    Digest, EntryId, MarkKind, OutputId, PartBody, ProjectId, RangeSource, SaidAt, Seed, SessionId,
    SessionKind, Span, SpeakerId, SpeakerKind, TextRange, Titles, TurnId, UtcMs, What, Why,
};

use crate::archive::Restore;
use crate::query::{OutputState, OutputStream, Run, Scope};
use crate::relay::{RelayStep, Relayed};

/// Commands that are applied together or not at all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Batch {
    /// What the writer may see; a write never reaches outside.
    pub scope: Scope,
    /// When it is recorded.
    pub at: UtcMs,
    /// Random bytes for the salts of its texts: command `i` uses `seed.child(i)`.
    pub seed: Seed,
    /// The commands, in order; a later one sees what an earlier one wrote.
    pub commands: Vec<Command>,
}

/// One write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Makes a project.
    CreateProject(CreateProject),
    /// Gives a project one more alias. The same alias on the same project again changes nothing.
    AddAlias(ProjectId, Alias),
    /// Makes a session.
    CreateSession(CreateSession),
    /// Makes a session that shares the beginning of another, up to an entry. Nothing is copied.
    ForkSession(ForkSession),
    /// Makes a speaker.
    CreateSpeaker(CreateSpeaker),
    /// Appends a turn.
    AppendTurn(AppendTurn),
    /// Appends a turn that supersedes an earlier one of the same session and speaker.
    Edit(Edit),
    /// Forwards turns into a session.
    Forward(Forward),
    /// Appends a compaction.
    Compact(Compact),
    /// Appends a re-injection.
    Reinject(Reinject),
    /// Appends a mark. The same mark of the same entry again returns the first; so does closing a closed session, and
    /// pinning a pinned entry. Of marks that say whether a turn is part of the conversation, the last counts, and only that
    /// one is not repeated.
    Mark(MarkEntry),
    /// Records an output whose bytes are already stored.
    StoreOutput(StoreOutput),
    /// Ends an output whose writer is gone: it stays partial, with what came. One that is not being written changes nothing.
    CloseOutput(OutputId),
    /// Gives a project another name.
    RenameProject(RenameProject),
    /// Makes one project part of another: its sessions and aliases go there, and its id leads there from now on.
    MergeProject(MergeProject),
    /// Gives a session another title. The title that the last renaming gave is not given again.
    RenameSession(RenameSession),
    /// Takes the texts of an entry away, and their salts. The entry and what was said of it stays, and a mark says so.
    /// The same again returns the first mark.
    Redact(Redact),
    /// Moves a session into another project. Its aliases go along, but for those that another session has there.
    MoveSession(MoveSession),
    /// A step of a request or a delivery, see [`crate::relay`].
    Relay(RelayStep),
    /// Writes something out of an export as it was, see [`crate::archive`].
    Restore(Box<Restore>),
}

/// Another name under which a project or session is found: a path, a git root, a remote, a name that was typed, or the
/// id that an agent program gave. A (kind, value) belongs to one project; for sessions, to one session of a project.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Alias {
    /// What sort of name: `name`, `path`, `codex`, `pi`, …
    pub kind: String,
    /// The name itself.
    pub value: String,
}

impl Alias {
    /// An alias of this kind and value.
    pub fn new(kind: impl Into<String>, value: impl Into<String>) -> Self {
        Self { kind: kind.into(), value: value.into() }
    }
}

/// An idempotency key, scoped to a session and a kind of command.
pub type Key = String;

/// Makes a project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateProject {
    /// Its id.
    pub id: ProjectId,
    /// Its name as people see it.
    pub name: String,
    /// Its first alias.
    pub alias: Option<Alias>,
}

/// Makes a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateSession {
    /// Its id.
    pub id: SessionId,
    /// Its project.
    pub project: ProjectId,
    /// Its kind.
    pub kind: SessionKind,
    /// Its channel, such as `telegram`.
    pub channel: Option<String>,
    /// Its title as people see it; may be empty.
    pub title: String,
    /// Its first alias.
    pub alias: Option<Alias>,
}

/// Makes a session that shares the beginning of another. It has the kind and channel of that one, in the same project, and
/// counts on from the entry where it was forked off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForkSession {
    /// Its id.
    pub id: SessionId,
    /// The session whose beginning it shares.
    pub parent: SessionId,
    /// The place of the last entry that it shares.
    pub through: u64,
    /// Its title; may be empty.
    pub title: String,
    /// Its first alias.
    pub alias: Option<Alias>,
}

/// Makes a speaker. Kind and name together belong to one speaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CreateSpeaker {
    /// Its id.
    pub id: SpeakerId,
    /// Its kind.
    pub kind: SpeakerKind,
    /// Its name; may be empty.
    pub name: String,
}

/// A part to append.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPart {
    /// Who says it, where that is not the turn's speaker.
    pub by: Option<SpeakerId>,
    /// What it is.
    pub body: PartBody,
}

/// Appends a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AppendTurn {
    /// Its id.
    pub id: TurnId,
    /// Its session.
    pub session: SessionId,
    /// Who said it.
    pub speaker: SpeakerId,
    /// When, where known.
    pub said_at: Option<SaidAt>,
    /// The turn of the same session that it answers.
    pub reply_to: Option<TurnId>,
    /// How many sequences were repaired to U+FFFD.
    pub repairs: u32,
    /// Its parts: at least one.
    pub parts: Vec<NewPart>,
    /// Its idempotency key.
    pub key: Option<Key>,
    /// The `seq` that the session's last entry must have.
    pub expected_head: Option<u64>,
}

/// Appends a turn that supersedes an earlier one. The earlier one stays, and so do quotes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The turn that is superseded: of the same session and speaker, without a quote, not superseded yet.
    pub of: TurnId,
    /// The turn that takes its place.
    pub turn: AppendTurn,
}

/// Forwards turns into a session: one new turn for each, in order, the note on the last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Forward {
    /// The destination.
    pub session: SessionId,
    /// Who forwards.
    pub by: SpeakerId,
    /// What is forwarded.
    pub items: Vec<ForwardItem>,
    /// What the forwarder adds; empty is none.
    pub note: Option<String>,
    /// Whether titles go along.
    pub titles: Titles,
    /// The idempotency key; with several items, item `i` has `KEY/i`.
    pub key: Option<Key>,
    /// The `seq` that the destination's last entry must have.
    pub expected_head: Option<u64>,
}

impl Forward {
    /// The key of one item.
    #[must_use]
    pub fn item_key(&self, index: usize) -> Option<Key> {
        match &self.key {
            Some(key) if self.items.len() > 1 => Some(format!("{key}/{index}")),
            key => key.clone(),
        }
    }

    /// The keys that only another number of items under the same key has: one turn has `KEY`, several have `KEY/0` and so
    /// on. Finding anything there is a conflict.
    #[must_use]
    pub fn other_keys(&self) -> Vec<Key> {
        match &self.key {
            Some(key) if self.items.len() == 1 => vec![format!("{key}/0")],
            Some(key) => vec![key.clone(), format!("{key}/{}", self.items.len())],
            None => Vec::new(),
        }
    }

    /// The note of one item: the last has it.
    #[must_use]
    pub fn item_note(&self, index: usize) -> Option<&str> {
        let note = self.note.as_deref().filter(|n| !n.is_empty());
        note.filter(|_| index + 1 == self.items.len())
    }
}

/// One turn to forward.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ForwardItem {
    /// The id of the new turn in the destination.
    pub id: TurnId,
    /// The source turn.
    pub source: TurnId,
    /// A part of its text.
    pub selection: Option<Span>,
    /// What of a turn that holds a quote.
    pub what: Option<What>,
}

/// Appends a compaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compact {
    /// Its id.
    pub id: EntryId,
    /// Its session.
    pub session: SessionId,
    /// Who wrote the summary.
    pub speaker: SpeakerId,
    /// When, where known.
    pub said_at: Option<SaidAt>,
    /// The last entry the summary stands for: at most the session's last.
    pub through: u64,
    /// The summary; may be empty where a program kept it to itself.
    pub summary: String,
    /// The idempotency key.
    pub key: Option<Key>,
}

/// Appends a re-injection: ranges of earlier tool output stand in the context again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reinject {
    /// Its id.
    pub id: EntryId,
    /// Its session.
    pub session: SessionId,
    /// The compaction that it follows: the latest that the session shows. `None` where it belongs to the user turn that
    /// comes next.
    pub of: Option<EntryId>,
    /// The words that it was chosen for; may be empty. They are not kept, only compared where the key is used again.
    pub asked: String,
    /// The ranges, in order. Under a known key what was written is returned, whatever they are.
    pub items: Vec<NewRange>,
    /// The idempotency key.
    pub key: Option<Key>,
}

/// A range to bring back. Its call, its outcome and its place are taken from the turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRange {
    /// The turn that holds the result: one that the session shows.
    pub turn: TurnId,
    /// The place of the result among its parts, from 0.
    pub part: u32,
    /// What it is a range of: an output that the result names, or the result's own text.
    pub source: RangeSource,
    /// The range.
    pub range: TextRange,
    /// Why.
    pub why: Why,
    /// The tool's name, for a result that does not say it; may be empty.
    pub tool: String,
}

/// Appends a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkEntry {
    /// Its id.
    pub id: EntryId,
    /// Its session.
    pub session: SessionId,
    /// Which state.
    pub kind: MarkKind,
    /// The entry that it belongs to: none for `closed` and `reopened`; for `derived`, if anything was copied; else needed.
    pub of: Option<EntryId>,
    /// By which way; may be empty.
    pub route: String,
}

/// Gives a project another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameProject {
    /// Which project.
    pub id: ProjectId,
    /// Its name from now on.
    pub name: String,
}

/// Makes one project part of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MergeProject {
    /// The project that ends.
    pub from: ProjectId,
    /// The project that it becomes part of.
    pub into: ProjectId,
}

/// Gives a session another title.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RenameSession {
    /// The id of the entry that says so.
    pub id: EntryId,
    /// Which session.
    pub session: SessionId,
    /// Its title from now on; may be empty.
    pub title: String,
}

/// Takes the texts of an entry away, and titles that repeat them, see [`crate::title`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Redact {
    /// The id of the mark that says so.
    pub id: EntryId,
    /// The turn or compaction.
    pub of: EntryId,
    /// Which of its texts.
    pub what: Redaction,
}

/// Which texts of an entry are taken away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Redaction {
    /// All of them, with the outputs that nothing else names.
    Whole,
    /// The text of the quote that it holds.
    Quote,
}

impl Redaction {
    /// The mark that says so.
    #[must_use]
    pub const fn mark(self) -> MarkKind {
        match self {
            Self::Whole => MarkKind::Redacted,
            Self::Quote => MarkKind::QuoteRedacted,
        }
    }
}

/// Moves a session into another project.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MoveSession {
    /// The id of the entry that says so.
    pub id: EntryId,
    /// Which session.
    pub session: SessionId,
    /// Its project from now on.
    pub to: ProjectId,
}

/// Records an output.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreOutput {
    /// Its id.
    pub id: OutputId,
    /// The session whose tool produced it.
    pub session: SessionId,
    /// The tool's name; may be empty.
    pub tool: String,
    /// Whether all of it is there.
    pub state: OutputState,
    /// The exit code, where known.
    pub exit: Option<i32>,
    /// What it holds: at least one stream, each kind at most once.
    pub streams: Vec<OutputStream>,
    /// How its tool was run and how it ended, as far as known.
    pub run: Run,
}

/// What a command did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// The project is there.
    Project(ProjectId),
    /// The session is there.
    Session(SessionId),
    /// The speaker is there.
    Speaker(SpeakerId),
    /// The output is there.
    Output(OutputId),
    /// A request or a delivery took a step.
    Relay(Relayed),
    /// The entries are there, in order.
    Entries(Fate, Vec<Placed>),
}

/// Whether a write was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It was written now.
    New,
    /// It had been written before, under the same key.
    Known,
}

/// Where an entry was placed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its id: with [`Fate::Known`] that of the entry written first.
    pub id: EntryId,
    /// Its project.
    pub project: ProjectId,
    /// Its session.
    pub session: SessionId,
    /// Its place in the session.
    pub seq: u64,
    /// Its hash.
    pub hash: Digest,
}
