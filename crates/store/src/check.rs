//! The shape of a command's values: what can be refused without looking into a ledger. Every backend calls this first.

use sayso_model::limits::{
    ALIAS_LENGTH, COMMAND_CHARS, FORWARD_TURNS, KEY_BYTES, NAME_LENGTH, NOTE_CHARS, REINJECTED_ITEMS,
    TURN_BYTES, TURN_PARTS,
};
use sayso_model::{EntryBody, text};

use crate::archive::Restore;
use crate::command::{Alias, AppendTurn, Command, Compact, Forward, MarkEntry, Reinject, StoreOutput};
use crate::error::Refusal;
use crate::grow::StartOutput;
use crate::query::{Output, OutputState, OutputStream, ReadOrder, Run};
use crate::relay;

/// Checks the shape of a command.
///
/// # Errors
///
/// [`Refusal::TooLarge`], [`Refusal::Missing`] or [`Refusal::Contradiction`].
pub fn command(command: &Command) -> Result<(), Refusal> {
    match command {
        Command::CreateProject(c) => {
            name("a project's name", &c.name)?;
            c.alias.as_ref().map_or(Ok(()), alias)
        }
        Command::AddAlias(_, a) => alias(a),
        Command::CreateSession(c) => {
            chars("a session's title", &c.title, NAME_LENGTH)?;
            chars("a channel", c.channel.as_deref().unwrap_or_default(), NAME_LENGTH)?;
            c.alias.as_ref().map_or(Ok(()), alias)
        }
        Command::ForkSession(c) => {
            chars("a session's title", &c.title, NAME_LENGTH)?;
            c.alias.as_ref().map_or(Ok(()), alias)
        }
        Command::CreateSpeaker(c) => chars("a speaker's name", &c.name, NAME_LENGTH),
        Command::AppendTurn(c) => turn(c),
        Command::Edit(c) => turn(&c.turn),
        Command::Forward(c) => forward(c),
        Command::Compact(c) => compact(c),
        Command::Reinject(c) => reinject(c),
        Command::Mark(c) => mark(c),
        Command::StoreOutput(c) => output(c),
        Command::CloseOutput(_) => Ok(()),
        Command::RenameProject(c) => name("a project's name", &c.name),
        Command::MergeProject(_) | Command::MoveSession(_) | Command::Redact(_) => Ok(()),
        Command::Restore(c) => restore(c),
        Command::Relay(step) => relay::check(&step.what),
        Command::RenameSession(c) => chars("a session's title", &c.title, NAME_LENGTH),
    }
}

pub(crate) fn bytes(what: &'static str, value: &str, limit: usize) -> Result<(), Refusal> {
    size(what, "bytes", value.len(), limit)
}

fn chars(what: &'static str, value: &str, limit: usize) -> Result<(), Refusal> {
    // No text has more characters than bytes.
    if value.len() <= limit { Ok(()) } else { size(what, "characters", text::chars(value), limit) }
}

pub(crate) fn size(
    what: &'static str,
    unit: &'static str,
    found: usize,
    limit: usize,
) -> Result<(), Refusal> {
    if found > limit {
        return Err(Refusal::TooLarge { what, unit, found, limit });
    }
    Ok(())
}

fn name(what: &'static str, value: &str) -> Result<(), Refusal> {
    if value.is_empty() {
        return Err(Refusal::Missing { what });
    }
    chars(what, value, NAME_LENGTH)
}

fn alias(alias: &Alias) -> Result<(), Refusal> {
    name("an alias's kind", &alias.kind)?;
    if alias.value.is_empty() {
        return Err(Refusal::Missing { what: "an alias" });
    }
    chars("an alias", &alias.value, ALIAS_LENGTH)
}

fn key(key: Option<&String>) -> Result<(), Refusal> {
    match key.map(String::as_str) {
        Some("") => Err(Refusal::Missing { what: "the key" }),
        Some(key) => bytes("the key", key, KEY_BYTES),
        None => Ok(()),
    }
}

pub(crate) fn turn(turn: &AppendTurn) -> Result<(), Refusal> {
    key(turn.key.as_ref())?;
    if turn.parts.is_empty() {
        return Err(Refusal::Missing { what: "the turn's list of parts" });
    }
    size("the turn's list", "parts", turn.parts.len(), TURN_PARTS)?;
    let total = turn.parts.iter().map(|p| p.body.text().len()).sum();
    size("the turn's text", "bytes", total, TURN_BYTES)
}

fn forward(forward: &Forward) -> Result<(), Refusal> {
    key(forward.key.as_ref())?;
    if forward.items.is_empty() {
        return Err(Refusal::Missing { what: "the list of turns to forward" });
    }
    size("the list to forward", "turns", forward.items.len(), FORWARD_TURNS)?;
    chars("the note", forward.note.as_deref().unwrap_or_default(), NOTE_CHARS)
}

/// The bounds that the commands had by which it was written first.
fn restore(restore: &Restore) -> Result<(), Refusal> {
    match restore {
        Restore::Project(c) => {
            name("a project's name", &c.name)?;
            c.aliases.iter().try_for_each(alias)
        }
        Restore::Speaker(c) => chars("a speaker's name", &c.speaker.name, NAME_LENGTH),
        Restore::Session(c) => {
            let title = c.title.as_ref().map(|(title, _)| title.as_str());
            chars("a session's title", title.unwrap_or_default(), NAME_LENGTH)?;
            chars("a channel", c.channel.as_deref().unwrap_or_default(), NAME_LENGTH)?;
            c.aliases.iter().try_for_each(alias)
        }
        Restore::Entry(c) => restored_entry(&c.entry.body),
        Restore::Key(c) => key(Some(&c.value)),
        Restore::Output(c) => streams(&c.tool, &c.streams).and_then(|()| end(c)),
    }
}

fn restored_entry(body: &EntryBody) -> Result<(), Refusal> {
    if let EntryBody::Turn(turn) = body {
        size("the turn's list", "parts", turn.parts.len(), TURN_PARTS)?;
    }
    size("the entry's text", "bytes", body.texts().iter().map(|text| text.len()).sum(), TURN_BYTES)
}

fn compact(compact: &Compact) -> Result<(), Refusal> {
    key(compact.key.as_ref())?;
    bytes("the summary", &compact.summary, TURN_BYTES)
}

fn reinject(reinject: &Reinject) -> Result<(), Refusal> {
    key(reinject.key.as_ref())?;
    bytes("the text to look for", &reinject.asked, TURN_BYTES)?;
    size("the list to bring back", "ranges", reinject.items.len(), REINJECTED_ITEMS)?;
    for item in &reinject.items {
        chars("a tool's name", &item.tool, NAME_LENGTH)?;
        if !item.range.is_some() {
            return Err(Refusal::Contradiction(
                "a range has at least one line or byte, lines from 1: give another",
            ));
        }
    }
    Ok(())
}

fn mark(mark: &MarkEntry) -> Result<(), Refusal> {
    chars("a route", &mark.route, NAME_LENGTH)?;
    if mark.kind.has_command() {
        return Err(Refusal::Contradiction("this mark is written by the command of its name: use that one"));
    }
    match mark.of {
        None if mark.kind.is_of_entry() => {
            Err(Refusal::Contradiction("this mark belongs to an entry: name it"))
        }
        Some(_) if mark.kind.is_of_session() => {
            Err(Refusal::Contradiction("this mark belongs to the session: name no entry"))
        }
        _ => Ok(()),
    }
}

fn output(output: &StoreOutput) -> Result<(), Refusal> {
    streams(&output.tool, &output.streams)?;
    run(&output.run, output.exit)?;
    output.streams.iter().try_for_each(|s| stream(s, output.state, &output.run))
}

fn streams(tool: &str, streams: &[OutputStream]) -> Result<(), Refusal> {
    chars("a tool's name", tool, NAME_LENGTH)?;
    let kinds: std::collections::BTreeSet<_> = streams.iter().map(|s| s.kind).collect();
    match streams.len() {
        0 => Err(Refusal::Missing { what: "the output's list of streams" }),
        n if n != kinds.len() => Err(Refusal::Contradiction("an output has each stream at most once")),
        _ => Ok(()),
    }
}

/// The shape of an output's start.
///
/// # Errors
///
/// A value that is too long.
pub fn start(start: &StartOutput) -> Result<(), Refusal> {
    chars("a tool's name", &start.tool, NAME_LENGTH)?;
    run(&start.run(ReadOrder::default()), None)
}

/// The shape of what an output is once it is finished.
///
/// # Errors
///
/// Values that do not go together.
pub fn end(output: &Output) -> Result<(), Refusal> {
    run(&output.run, output.exit)?;
    output.streams.iter().try_for_each(|s| stream(s, output.state, &output.run))
}

fn run(run: &Run, exit: Option<i32>) -> Result<(), Refusal> {
    chars("a command line", run.command.as_deref().unwrap_or_default(), COMMAND_CHARS)?;
    chars("a charset", run.charset.as_deref().unwrap_or_default(), NAME_LENGTH)?;
    if run.duration_ms.is_some_and(is_no_number) {
        return Err(Refusal::Contradiction("no tool runs so many milliseconds: leave the duration out"));
    }
    match exit {
        Some(_) if run.timed_out => {
            Err(Refusal::Contradiction("a tool that was stopped in time has no exit code: leave it out"))
        }
        Some(_) if run.signal.is_some() => {
            Err(Refusal::Contradiction("a tool that a signal ended has no exit code: leave it out"))
        }
        _ => Ok(()),
    }
}

fn stream(stream: &OutputStream, state: OutputState, run: &Run) -> Result<(), Refusal> {
    let bytes = stream.blob.bytes;
    let runs = run.order.runs().iter().filter(|(kind, _)| *kind == stream.kind);
    if runs.fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes)) > bytes {
        return Err(Refusal::Contradiction("more bytes of a stream were read in order than it has"));
    }
    match stream.total {
        Some(_) if state != OutputState::Capped => {
            Err(Refusal::Contradiction("only a capped output has a number of bytes beside what was kept"))
        }
        Some(total) if total < bytes || is_no_number(total) => {
            Err(Refusal::Contradiction("a stream has at least as many bytes as were kept"))
        }
        _ => Ok(()),
    }
}

/// Backends keep numbers with a sign.
fn is_no_number(value: u64) -> bool {
    i64::try_from(value).is_err()
}
