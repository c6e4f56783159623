//! What is done at each event.
//!
//! - `SessionStart`: the session is registered as live, so that turns can be forwarded to it. With the source `compact` what
//!   the summary took out of the context comes back; with `resume` the transcript is caught up with.
//! - `UserPromptSubmit`: forwarded turns that wait are offered as markers, and again, a few times, where the transcript goes on
//!   without them; after a compaction, ranges of earlier output that have words of the prompt come with them.
//! - `PostToolUse`, `PreCompact`, `Stop`: what is new in the transcript is imported, with the whole outputs of tools; a marker
//!   that it shows is then known to be in context.
//! - `Stop`: after that the last turn is marked as settled, since the agent's work on what stands there ended.

use sayso::view::marker;

use super::program::Room;
use super::settle::settle;
use super::transcript::{When, import};
use super::work::Work;
use super::{bring, offer};
use crate::fail::Failure;

/// An event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    SessionStart,
    UserPromptSubmit,
    PostToolUse,
    PreCompact,
    Stop,
}

impl Event {
    pub(super) fn of(word: &str) -> Result<Self, Failure> {
        Ok(match word {
            "SessionStart" => Self::SessionStart,
            "UserPromptSubmit" => Self::UserPromptSubmit,
            "PostToolUse" => Self::PostToolUse,
            "PreCompact" => Self::PreCompact,
            "Stop" => Self::Stop,
            other => {
                return Err(Failure::request(format!(
                    "the event {other:?} is not known: SessionStart, UserPromptSubmit, PostToolUse, PreCompact and \
                     Stop are"
                )));
            }
        })
    }
}

/// What came of it: texts for the model, and what went wrong on the way, which keeps nothing else from being done.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) texts: Vec<String>,
    pub(super) failures: Vec<Failure>,
}

impl Outcome {
    /// The texts as one, markers last: what follows a marker is its note.
    pub(super) fn text(&self) -> Option<String> {
        (!self.texts.is_empty()).then(|| marker::join(&self.texts))
    }

    fn take<T: Default>(&mut self, done: Result<T, Failure>) -> T {
        done.unwrap_or_else(|failure| {
            self.failures.push(failure);
            T::default()
        })
    }
}

pub(super) fn answer(event: Event, work: &mut Work) -> Outcome {
    let mut outcome = Outcome::default();
    match event {
        Event::SessionStart => start(work, &mut outcome),
        Event::UserPromptSubmit => prompt(work, &mut outcome),
        Event::PostToolUse => outcome.take(import(work, When::Grown)),
        Event::PreCompact => outcome.take(import(work, When::Changed)),
        Event::Stop => stop(work, &mut outcome),
    }
    outcome
}

fn start(work: &mut Work, outcome: &mut Outcome) {
    match work.input.source.as_deref() {
        Some("compact") => {
            outcome.take(import(work, When::Changed));
            let texts = bring::behind_compaction(work, work.program.room());
            outcome.texts = outcome.take(texts);
        }
        Some("resume") if is_there(work) => outcome.take(import(work, When::Changed)),
        _ => {}
    }
}

fn prompt(work: &mut Work, outcome: &mut Outcome) {
    if is_there(work) {
        // What waits is offered whether or not there is time to read all of the transcript.
        work.hurry();
        outcome.take(import(work, When::Changed));
    }
    let (markers, room) = match offer::offer(work) {
        Ok(offered) => offered,
        Err(failure) => {
            outcome.failures.push(failure);
            (Vec::new(), Room::Bytes(0))
        }
    };
    let texts = bring::before_prompt(work, room);
    outcome.texts = outcome.take(texts);
    outcome.texts.extend(markers);
}

/// What stood there by now has settled also where the transcript could not be read.
fn stop(work: &mut Work, outcome: &mut Outcome) {
    outcome.take(import(work, When::Changed));
    outcome.take(settle(work));
}

/// Whether there is a transcript: before the first prompt there need not be one.
fn is_there(work: &Work) -> bool {
    work.input.transcript_path.as_deref().is_some_and(std::path::Path::is_file)
}
