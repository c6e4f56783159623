//! The digests of rows that stand outside every chain, beside [`crate::form::project_row`] and
//! [`crate::form::speaker_row`]. A digest goes with its row, so it keeps nothing that the row does not.

use crate::canon::{Digest, Form};
use crate::id::{EntryId, OutputId, ProjectId, SessionId};
use crate::said::UtcMs;

/// What a session's row holds besides its beginning.
#[derive(Debug, Clone, Copy)]
pub struct SessionRow {
    /// The hash of its beginning, see [`crate::form::genesis`].
    pub genesis: Digest,
    /// The session that it was forked off, and the place there.
    pub fork: Option<(SessionId, u64)>,
    /// The project it is in now.
    pub project: ProjectId,
    /// The commitment to its title as it is now.
    pub title: Digest,
    /// Whether it is closed.
    pub closed: bool,
    /// Its turns.
    pub turns: u64,
    /// The place of its last entry.
    pub last_seq: u64,
    /// The hash of its last entry, or of its beginning.
    pub head: Digest,
    /// When its last turn was said or recorded.
    pub last_at: Option<UtcMs>,
}

/// The digest of a session's row (domain `sayso.session_row.v1`).
#[must_use]
pub fn session(row: &SessionRow) -> Digest {
    Form::new("sayso.session_row.v1")
        .field(1, &row.genesis.0)
        .field(2, &row.project.to_bytes())
        .field(3, &row.title.0)
        .number(4, row.closed)
        .number(5, row.turns)
        .number(6, row.last_seq)
        .field(7, &row.head.0)
        .option(8, row.last_at, |f, tag, at| f.number(tag, at.0))
        .option(9, row.fork, |f, tag, (parent, seq)| f.field(tag, &parent.to_bytes()).number(10, seq))
        .hash()
}

/// The digest of the row of a project's alias (domain `sayso.project_alias.v1`).
#[must_use]
pub fn project_alias(project: ProjectId, kind: &str, value: &str) -> Digest {
    Form::new("sayso.project_alias.v1")
        .field(1, &project.to_bytes())
        .field(2, kind.as_bytes())
        .field(3, value.as_bytes())
        .hash()
}

/// The digest of the row of a session's alias (domain `sayso.session_alias.v1`).
#[must_use]
pub fn session_alias(project: ProjectId, session: SessionId, kind: &str, value: &str) -> Digest {
    Form::new("sayso.session_alias.v1")
        .field(1, &project.to_bytes())
        .field(2, &session.to_bytes())
        .field(3, kind.as_bytes())
        .field(4, value.as_bytes())
        .hash()
}

/// The digest of the row of an idempotency key (domain `sayso.key.v1`), over the commitment to the content it stands for.
#[must_use]
pub fn key(session: SessionId, kind: &str, key: &str, content: Digest, entry: EntryId) -> Digest {
    Form::new("sayso.key.v1")
        .field(1, &session.to_bytes())
        .field(2, kind.as_bytes())
        .field(3, key.as_bytes())
        .field(4, &content.0)
        .field(5, &entry.to_bytes())
        .hash()
}

/// What an output's rows hold.
#[derive(Debug, Clone, Copy)]
pub struct OutputRow<'a> {
    /// Its id.
    pub id: OutputId,
    /// The session whose tool produced it.
    pub session: SessionId,
    /// The tool's name.
    pub tool: &'a str,
    /// The word for whether all of it is there.
    pub state: &'a str,
    /// The exit code, where known.
    pub exit: Option<i32>,
    /// When it was recorded.
    pub recorded_at: UtcMs,
    /// Its streams in order.
    pub streams: &'a [StreamRow<'a>],
    /// How its tool was run; the default for outputs of which nothing of that is known.
    pub run: RunRow<'a>,
}

/// What the row of one stream holds.
#[derive(Debug, Clone, Copy)]
pub struct StreamRow<'a> {
    /// Its word.
    pub kind: &'a str,
    /// The hash of its bytes.
    pub hash: Digest,
    /// Their number.
    pub bytes: u64,
    /// How many there had been, where not all were kept and that is known.
    pub total: Option<u64>,
}

/// What the columns on how a tool was run hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RunRow<'a> {
    /// The command line.
    pub command: Option<&'a str>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Whether its time was over.
    pub timed_out: bool,
    /// How long it ran, in milliseconds.
    pub duration: Option<u64>,
    /// Whether another process still held a pipe when reading ended.
    pub pipe_held: bool,
    /// The charset that was declared.
    pub charset: Option<&'a str>,
    /// The order in which its streams were read; empty where not known.
    pub order: &'a str,
}

/// The digest of an output's rows: domain `sayso.output.v1` where nothing is known of how its tool was run, as in ledgers
/// that have no columns for it, else `sayso.output.v2`.
#[must_use]
pub fn output(row: &OutputRow<'_>) -> Digest {
    output_form(row, Form::new).hash()
}

/// The form that [`output`] is taken over, begun by `begin`.
#[must_use]
pub fn output_form(row: &OutputRow<'_>, begin: fn(&str) -> Form) -> Form {
    let plain = row.run == RunRow::default() && row.streams.iter().all(|s| s.total.is_none());
    let form = begin(if plain { "sayso.output.v1" } else { "sayso.output.v2" })
        .field(1, &row.id.to_bytes())
        .field(2, &row.session.to_bytes())
        .field(3, row.tool.as_bytes())
        .field(4, row.state.as_bytes())
        .option(5, row.exit, |f, tag, exit| f.number(tag, exit))
        .number(6, row.recorded_at.0)
        .list(7, row.streams, |f, stream| {
            f.field(8, stream.kind.as_bytes()).field(9, &stream.hash.0).number(10, stream.bytes).option(
                11,
                stream.total,
                |f, tag, total| f.number(tag, total),
            )
        });
    if plain { form } else { run(form, &row.run) }
}

fn run(form: Form, run: &RunRow<'_>) -> Form {
    form.option(12, run.command, |f, tag, command| f.field(tag, command.as_bytes()))
        .option(13, run.signal, |f, tag, signal| f.number(tag, signal))
        .number(14, run.timed_out)
        .option(15, run.duration, |f, tag, ms| f.number(tag, ms))
        .number(16, run.pipe_held)
        .option(17, run.charset, |f, tag, charset| f.field(tag, charset.as_bytes()))
        .field(18, run.order.as_bytes())
}

/// What stands for something that was forgotten, so that it is known again when it comes back: BLAKE3, keyed with a secret
/// of the ledger, over the words that name it (domain `sayso.forgotten.v1`).
#[must_use]
pub fn forgotten(secret: &[u8; 32], words: &[&[u8]]) -> Digest {
    let form = Form::recorded("sayso.forgotten.v1").list(1, words, |f, word| f.field(2, word));
    Digest(*blake3::keyed_hash(secret, form.bytes()).as_bytes())
}
