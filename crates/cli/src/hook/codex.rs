//! Hooks of Codex CLI, as observed with version 0.169.0.
//!
//! - `SessionStart`: the session is registered as live, so that turns can be forwarded to it.
//! - `UserPromptSubmit`: forwarded turns that wait are offered as markers, each once.
//! - `Stop`: what is new in the transcript is imported; a marker that it shows is then known to be in context.

use std::path::PathBuf;
use std::time::Duration;

use sayso::model::{EntryId, MarkKind, SessionKind};
use sayso::store::{Alias, Command, Done, MarkEntry, Session, Waiting};
use sayso::view::marker::{self, Message, Profile};
use sayso::{Fate, Ledger, Options, Reader, Scope};
use sayso_import::{Importer, placeholder};
use serde::Deserialize;
use serde_json::json;

use crate::args::Global;
use crate::fail::Failure;
use crate::open;

/// What Codex writes on standard input, as far as it is used.
#[derive(Debug, Deserialize)]
pub(super) struct Input {
    session_id: String,
    #[serde(default)]
    transcript_path: Option<PathBuf>,
    cwd: PathBuf,
}

/// Longest wait for another program's lock: a prompt must not be held up.
const PROMPT_WAIT: Duration = Duration::from_millis(1_500);
/// The same where nobody waits for the answer; Codex gives a hook 10 seconds in the README's set-up.
const STOP_WAIT: Duration = Duration::from_secs(5);

pub(super) fn answer(event: &str, input: &Input, global: &Global) -> Result<String, Failure> {
    match event {
        "SessionStart" => {
            register(&ledger(global, PROMPT_WAIT)?, input)?;
            Ok(String::new())
        }
        "UserPromptSubmit" => offer(&ledger(global, PROMPT_WAIT)?, input),
        "Stop" => {
            import(&ledger(global, STOP_WAIT)?, input)?;
            Ok(String::new())
        }
        other => Err(Failure::request(format!(
            "the event {other:?} is not known: SessionStart, UserPromptSubmit and Stop are"
        ))),
    }
}

fn ledger(global: &Global, wait: Duration) -> Result<Ledger, Failure> {
    let options = Options { wait, ..Options::default() };
    Ok(Ledger::open(&open::path(global)?, &options)?)
}

/// The session of this run, registered on first sight.
fn register(ledger: &Ledger, input: &Input) -> Result<Session, Failure> {
    let reader = ledger.reader(Scope::All);
    let alias = Alias::new("codex", &input.session_id);
    if let Some(session) = reader.sessions_as(&alias)?.into_iter().next() {
        return Ok(session);
    }
    let path = input.cwd.to_string_lossy();
    let project = ledger.project_as(&Scope::All, &Alias::new("path", path.as_ref()), &project_name(&path))?;
    // An import gives it a better title once there is one.
    let title = placeholder("codex", &input.session_id);
    Ok(ledger.session_as(&Scope::All, project.id, &alias, &title, SessionKind::Live)?)
}

fn project_name(path: &str) -> String {
    let last = path.rsplit(['/', '\\']).find(|part| !part.is_empty());
    last.unwrap_or("codex").to_owned()
}

/// Offers what waits for the session, oldest first, as far as one answer may hold it; the rest waits for the next prompt.
fn offer(ledger: &Ledger, input: &Input) -> Result<String, Failure> {
    let session = register(ledger, input)?;
    let reader = ledger.reader(Scope::Projects(vec![session.project]));
    let waiting = reader.inbox(Some(session.id))?;
    let fresh = waiting.iter().filter(|w| w.state.is_none()).filter_map(rendered);
    let mut room = ANSWER_BYTES;
    let fitting: Vec<(EntryId, String)> = fresh.take_while(|(_, marker)| fits(marker, &mut room)).collect();
    // Marked before it is handed out: an offer that got lost is seen in the inbox, one that was repeated is not undone.
    let markers = ours(&reader, &session, fitting)?;
    if markers.is_empty() {
        return Ok(String::new());
    }
    Ok(json!({
        "hookSpecificOutput": {
            "hookEventName": "UserPromptSubmit",
            "additionalContext": marker::join(&markers),
        }
    })
    .to_string())
}

/// Bytes that one answer holds at most, unless one marker alone has more: Codex cuts an answer at 4 bytes for each token of
/// `additionalContextLimit`, and the README's set-up gives 20,000.
const ANSWER_BYTES: usize = 76_000;

fn fits(marker: &str, room: &mut usize) -> bool {
    let first = *room == ANSWER_BYTES;
    let left = room.checked_sub(marker.len());
    *room = left.unwrap_or(0);
    first || left.is_some()
}

fn rendered(waiting: &Waiting) -> Option<(EntryId, String)> {
    let message = Message::of(&waiting.entry)?;
    Some((waiting.entry.id, marker::render(&message, Profile::V1)))
}

/// Marks turns as offered and gives the markers of those that this call marked: of two hooks at once, one offers.
fn ours(reader: &Reader, session: &Session, fitting: Vec<(EntryId, String)>) -> Result<Vec<String>, Failure> {
    let command = |(of, _): &(EntryId, String)| {
        Command::Mark(MarkEntry {
            id: reader.ledger().fresh_entry(),
            session: session.id,
            kind: MarkKind::Offered,
            of: Some(*of),
            route: "codex UserPromptSubmit".to_owned(),
        })
    };
    let done = reader.ledger().write(reader.scope(), fitting.iter().map(command).collect())?;
    let marked = |done: &Done| matches!(done, Done::Entries(Fate::New, _));
    let pairs = fitting.into_iter().zip(&done);
    Ok(pairs.filter(|(_, done)| marked(done)).map(|((_, marker), _)| marker).collect())
}

fn import(ledger: &Ledger, input: &Input) -> Result<(), Failure> {
    register(ledger, input)?;
    let Some(path) = &input.transcript_path else { return Ok(()) };
    let importer = Importer::new(open::owner().name);
    let report = importer.import_paths(ledger, std::slice::from_ref(path), &mut |_| {});
    match report.refused.first() {
        Some(refused) => Err(Failure::request(format!("{}: {}", refused.file.display(), refused.why))),
        None => Ok(()),
    }
}
