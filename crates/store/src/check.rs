//! The shape of a command's values: what can be refused without looking into a ledger. Every backend calls this first.

use sayso_model::MarkKind;
use sayso_model::limits::{FORWARD_TURNS, KEY_BYTES, NAME_BYTES, TURN_BYTES, TURN_PARTS};

use crate::command::{Alias, AppendTurn, Command, Compact, Forward, MarkEntry, StoreOutput};
use crate::error::Refusal;

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
            bytes("a session's title", &c.title, NAME_BYTES)?;
            bytes("a channel", c.channel.as_deref().unwrap_or_default(), NAME_BYTES)?;
            c.alias.as_ref().map_or(Ok(()), alias)
        }
        Command::CreateSpeaker(c) => bytes("a speaker's name", &c.name, NAME_BYTES),
        Command::AppendTurn(c) => turn(c),
        Command::Forward(c) => forward(c),
        Command::Compact(c) => compact(c),
        Command::Mark(c) => mark(c),
        Command::StoreOutput(c) => output(c),
    }
}

fn bytes(what: &'static str, value: &str, limit: usize) -> Result<(), Refusal> {
    size(what, value.len(), limit)
}

fn size(what: &'static str, found: usize, limit: usize) -> Result<(), Refusal> {
    if found > limit {
        return Err(Refusal::TooLarge { what, found, limit });
    }
    Ok(())
}

fn name(what: &'static str, value: &str) -> Result<(), Refusal> {
    if value.is_empty() {
        return Err(Refusal::Missing { what });
    }
    bytes(what, value, NAME_BYTES)
}

fn alias(alias: &Alias) -> Result<(), Refusal> {
    name("an alias's kind", &alias.kind)?;
    if alias.value.is_empty() {
        return Err(Refusal::Missing { what: "an alias" });
    }
    // Paths may be long: 4,096 bytes on Linux.
    bytes("an alias", &alias.value, 4 * NAME_BYTES)
}

fn key(key: Option<&String>) -> Result<(), Refusal> {
    match key.map(String::as_str) {
        Some("") => Err(Refusal::Missing { what: "the key" }),
        Some(key) => bytes("the key", key, KEY_BYTES),
        None => Ok(()),
    }
}

fn turn(turn: &AppendTurn) -> Result<(), Refusal> {
    key(turn.key.as_ref())?;
    if turn.parts.is_empty() {
        return Err(Refusal::Missing { what: "the turn's list of parts" });
    }
    size("the turn's list of parts", turn.parts.len(), TURN_PARTS)?;
    let total = turn.parts.iter().map(|p| p.body.text().len()).sum();
    size("the turn's text, in bytes,", total, TURN_BYTES)
}

fn forward(forward: &Forward) -> Result<(), Refusal> {
    key(forward.key.as_ref())?;
    if forward.items.is_empty() {
        return Err(Refusal::Missing { what: "the list of turns to forward" });
    }
    size("the list of turns to forward", forward.items.len(), FORWARD_TURNS)?;
    bytes("the note, in bytes,", forward.note.as_deref().unwrap_or_default(), TURN_BYTES)
}

fn compact(compact: &Compact) -> Result<(), Refusal> {
    key(compact.key.as_ref())?;
    bytes("the summary, in bytes,", &compact.summary, TURN_BYTES)
}

fn mark(mark: &MarkEntry) -> Result<(), Refusal> {
    bytes("a route", &mark.route, NAME_BYTES)?;
    let of_entry = matches!(mark.kind, MarkKind::Offered | MarkKind::InContext);
    match (of_entry, mark.of) {
        (true, None) => Err(Refusal::Contradiction("this mark belongs to an entry: name it")),
        (false, Some(_)) => Err(Refusal::Contradiction("this mark belongs to the session: name no entry")),
        _ => Ok(()),
    }
}

fn output(output: &StoreOutput) -> Result<(), Refusal> {
    bytes("a tool's name", &output.tool, NAME_BYTES)?;
    let kinds: std::collections::BTreeSet<_> = output.streams.iter().map(|s| s.kind).collect();
    match output.streams.len() {
        0 => Err(Refusal::Missing { what: "the output's list of streams" }),
        n if n != kinds.len() => Err(Refusal::Contradiction("an output has each stream at most once")),
        _ => Ok(()),
    }
}
