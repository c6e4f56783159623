//! Hooks: an agent program runs `sayso hook PROGRAM EVENT` and reads what it prints.
//!
//! Whatever goes wrong here, the agent must go on as if Sayso were not there: the answer is then empty and the exit code
//! 0, and a record is left outside the ledger for `sayso doctor`. An answer that takes too long is given up, so that no
//! prompt waits: what was written by then is whole batches.

mod bring;
mod events;
mod file_limit;
mod input;
mod known;
pub(crate) mod offer;
pub(crate) mod program;
pub(crate) mod quick;
pub(crate) mod record;
mod settle;
pub(crate) mod state;
mod transcript;
mod work;

use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sayso::Refusal;
use serde_json::json;

use crate::args::{Global, Hook};
use crate::fail::{Chain, Failure};
use events::{Event, Outcome};
use file_limit::FileLimit;
use input::Input;
use program::Program;
use work::Work;

/// How long a hook may take that keeps a person or a tool waiting.
const SOON: Duration = Duration::from_secs(2);
/// How long a hook may take where a turn is over; the set-up gives every hook 10 seconds.
const LATER: Duration = Duration::from_secs(8);
/// Overrides both, in milliseconds.
const LIMIT: &str = "SAYSO_HOOK_MS";

/// What a hook prints, and what went wrong, in words.
#[derive(Default)]
struct Answer {
    text: String,
    failures: Vec<String>,
}

/// Answers a hook.
pub(crate) fn run(hook: Hook, global: Global) -> ExitCode {
    // The default hook of a panic would print into the agent's log.
    std::panic::set_hook(Box::new(|_| {}));
    let file_limit = FileLimit::heeded();
    let limit = limit(&hook.event);
    let over = Arc::new(AtomicBool::new(false));
    let answer = match watch(&hook, limit, &over) {
        Ok(()) => caught(|| answer(&hook, &global, limit)),
        Err(why) => failed(why),
    };
    if over.swap(true, Ordering::SeqCst) {
        // It was given up at this very moment, and the process is about to end.
        loop {
            std::thread::park();
        }
    }
    let printed = print(&answer.text).err().map(|failure| Chain(&failure).to_string());
    for reason in answer.failures.iter().chain(&printed) {
        record::leave(&hook.program, &hook.event, &file_limit.named(reason));
    }
    ExitCode::SUCCESS
}

/// Wrong arguments are a failure of the hook's set-up, not of the agent.
pub(crate) fn refused_arguments(arguments: &[String], why: &str) {
    let after = arguments.iter().skip_while(|a| *a != "hook").skip(1);
    let mut words = after.filter(|a| !a.starts_with('-')).map(String::as_str);
    let (program, event) = (words.next().unwrap_or("?"), words.next().unwrap_or("?"));
    record::leave(program, event, why);
}

fn limit(event: &str) -> Duration {
    let told = std::env::var(LIMIT).ok().and_then(|ms| ms.parse().ok()).map(Duration::from_millis);
    told.unwrap_or(if event == "Stop" { LATER } else { SOON })
}

/// Ends the process after `limit`, in whatever it is doing then, unless it is `over` before: a hook that is given up is one
/// without an answer. The work itself stays on the first thread, whose memory costs less.
fn watch(hook: &Hook, limit: Duration, over: &Arc<AtomicBool>) -> Result<(), String> {
    if limit.is_zero() {
        return Err(too_long(limit));
    }
    let (program, event, over) = (hook.program.clone(), hook.event.clone(), Arc::clone(over));
    let give_up = move || {
        std::thread::sleep(limit);
        if !over.swap(true, Ordering::SeqCst) {
            record::leave(&program, &event, &too_long(limit));
            std::process::exit(0);
        }
    };
    let started = std::thread::Builder::new().spawn(give_up);
    started.map(|_| ()).map_err(|error| format!("no thread could be started: {error}"))
}

fn too_long(limit: Duration) -> String {
    format!(
        "it took longer than {} ms and was given up, so that the agent goes on: the disk is slow or another program holds \
         the ledger; try `sayso doctor`, or raise {LIMIT}",
        limit.as_millis()
    )
}

fn caught(answer: impl FnOnce() -> Answer) -> Answer {
    let answered = catch_unwind(AssertUnwindSafe(answer));
    answered.unwrap_or_else(|panic| failed(format!("a fault in sayso itself: {}", message(panic.as_ref()))))
}

fn failed(reason: String) -> Answer {
    Answer { text: String::new(), failures: vec![reason] }
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

fn answer(hook: &Hook, global: &Global, limit: Duration) -> Answer {
    match outcome(hook, global, limit) {
        Ok(outcome) => Answer {
            text: outcome.text().map(|text| form(&hook.event, &text)).unwrap_or_default(),
            failures: outcome.failures.iter().map(|failure| Chain(failure).to_string()).collect(),
        },
        Err(failure) => failed(Chain(&failure).to_string()),
    }
}

fn outcome(hook: &Hook, global: &Global, limit: Duration) -> Result<Outcome, Failure> {
    let program: Program = hook.program.parse()?;
    let event = Event::of(&hook.event)?;
    let input = Input::read(std::io::stdin().lock())?;
    let mut work = match Work::begin(program, &hook.event, input, global, limit) {
        // A session that was erased while it runs stays out of the ledger, and that is no failure.
        Err(Failure::Ledger(error)) if matches!(error.refusal(), Some(Refusal::Erased(_))) => {
            return Ok(Outcome::default());
        }
        begun => begun?,
    };
    let mut outcome = events::answer(event, &mut work);
    if event == Event::Stop {
        // The next hooks find nothing to read again.
        outcome.failures.extend(work.ledger.empty_log().err().map(Failure::from));
    } else {
        // Closing moves the whole log into the ledger's file, with three syncs, while an agent waits. What was written is on
        // disk, and the end of the turn has the time for the rest.
        std::mem::forget(work);
    }
    Ok(outcome)
}

/// The answer that Codex and Claude Code read, and Sayso's extension of pi.
fn form(event: &str, text: &str) -> String {
    json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": text}}).to_string()
}

fn print(answer: &str) -> Result<(), Failure> {
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(answer.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|e| Failure::io("the answer cannot be handed to the agent", e))
}
