//! An independent count of what a session file holds: the check on the importers.
//!
//! It shares no code with them and is written another way on purpose. The whole file is in
//! memory, every record is a plain JSON value, and nothing is remembered but counts and digests
//! of texts. Where the importers and this count disagree, one of the two is wrong.
//!
//! The text of a turn is its text parts and its tool-result texts joined by a line feed.
//! Reasoning and tool calls add nothing to it, so a turn of only those has the empty text.

mod claude;
mod codex;
mod json;
mod lines;
mod openclaw;
mod pi;
mod tallies;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use serde_json::Value;

use self::pi::Program;

/// What lines that stop being JSON are counted as. They are no records.
pub(crate) const BROKEN: &str = "broken_line";

/// What one file holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Complete JSON values in the file. A last one that is cut off is not counted.
    pub(crate) records: u64,
    /// Whether the first record is a header, which holds nothing else.
    pub(crate) header: bool,
    /// Turns of a person.
    pub(crate) human: Tally,
    /// Turns of the model.
    pub(crate) agent: Tally,
    /// What tools answered.
    pub(crate) tool: Tally,
    /// What the program itself put into the conversation.
    pub(crate) system: Tally,
    /// How often earlier turns were replaced by a summary.
    pub(crate) compactions: u64,
    /// The same more closely.
    pub(crate) detail: Option<Detail>,
    /// Why the file is not a session this count knows. Every number is then zero.
    pub(crate) refused: Option<String>,
}

/// The turns of one speaker.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// How many there are.
    pub(crate) turns: u64,
    /// The BLAKE3 digest of each turn's text, in hexadecimal, sorted. Equal texts stay apart.
    pub(crate) digests: Vec<String>,
}

impl Tally {
    /// Adds one turn with this text.
    pub(crate) fn add(&mut self, text: &str) {
        self.turns += 1;
        self.digests.push(digest(text));
    }
}

impl Counts {
    /// The tally with this name.
    pub(crate) fn tally(&mut self, kind: &str) -> &mut Tally {
        match kind {
            "human" => &mut self.human,
            "agent" => &mut self.agent,
            "tool" => &mut self.tool,
            _ => &mut self.system,
        }
    }
}

/// What a file holds, more closely.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Detail {
    /// What each session of the file says, in its order: `KIND DIGEST` for a turn, and
    /// `compaction DIGEST` with that of the summary. Sorted; sessions that say nothing are left out.
    pub(crate) sessions: Vec<Vec<String>>,
    /// Every part that adds to the text of a turn, as `KIND DIGEST` of who said it. Sorted.
    pub(crate) parts: Vec<String>,
    /// The records that are no turn, by kind.
    pub(crate) skipped: BTreeMap<String, u64>,
    /// The records that no rule knows.
    pub(crate) unknown: u64,
}

/// The BLAKE3 digest of a text, in hexadecimal.
pub(crate) fn digest(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex().to_string()
}

/// The formats this count knows.
enum Format {
    /// Codex, each record in an envelope of time, type and payload.
    Codex,
    /// Codex of 2025, a header and then bare items.
    CodexFlat,
    /// pi, and OpenClaw, which is built on it.
    Pi,
    /// Claude Code, which has no header.
    Claude,
}

/// Counts the turns in the file at `path`.
///
/// # Errors
/// When the file cannot be read. A file of another kind is not an error: `refused` says why.
pub(crate) fn count(path: &Path) -> Result<Counts, String> {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    if openclaw::is_aside(&name) {
        return Ok(refused("it only repeats what stands elsewhere"));
    }
    let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    if bytes.starts_with(b"SQLite format 3\0") {
        return openclaw::database(path);
    }
    let program = if openclaw::owns(path) { Program::OpenClaw } else { Program::Pi };
    Ok(count_bytes_of(&name, &bytes, program))
}

/// The count of a file that is no session.
fn refused(reason: &str) -> Counts {
    Counts { refused: Some(reason.to_owned()), ..Counts::default() }
}

/// Counts the turns in the content of a file with this name.
#[cfg(test)]
fn count_bytes(name: &str, bytes: &[u8]) -> Counts {
    count_bytes_of(name, bytes, Program::Pi)
}

/// The same, where a session that looks like pi's is one of this program.
fn count_bytes_of(name: &str, bytes: &[u8], program: Program) -> Counts {
    let lines::Lines { records, broken } = lines::read(bytes);
    let format = sniff(&records);
    let mut counts = match format {
        Ok(Format::Codex) => codex::enveloped(&records),
        Ok(Format::CodexFlat) => codex::flat(&records),
        Ok(Format::Pi) => pi::session(&records, program),
        Ok(Format::Claude) => claude::session(&records, name.starts_with("agent-")),
        Err(reason) => return refused(reason),
    };
    counts.records = records.len() as u64;
    counts.header = !matches!(format, Ok(Format::Claude));
    if let Some(detail) = counts.detail.as_mut().filter(|_| broken > 0) {
        detail.skipped.insert(BROKEN.to_owned(), broken);
    }
    for tally in [&mut counts.human, &mut counts.agent, &mut counts.tool, &mut counts.system] {
        tally.digests.sort();
    }
    counts
}

/// Tells the format from the first record, which is the header in all but one.
fn sniff(records: &[Value]) -> Result<Format, &'static str> {
    let Some(first) = records.first() else {
        return Err("there is no complete JSON record in it");
    };
    let has = |key: &str| first.get(key).is_some();
    match string(first, "type") {
        Some("session_meta") if first.get("payload").is_some_and(Value::is_object) => Ok(Format::Codex),
        Some("session") if string(first, "id").is_some() => Ok(Format::Pi),
        None if !has("type")
            && string(first, "id").is_some()
            && string(first, "timestamp").is_some()
            && (has("instructions") || has("git")) =>
        {
            Ok(Format::CodexFlat)
        }
        _ if claude::opens(first) => Ok(Format::Claude),
        _ => Err("the first record is not one of a Codex, pi or Claude Code session"),
    }
}

/// The string under `key`, if there is one.
fn string<'a>(value: &'a Value, key: &str) -> Option<&'a str> {
    value.get(key).and_then(Value::as_str)
}

/// Words as they stand: a string itself, nothing for null, the JSON of anything else without spaces.
fn written(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}
