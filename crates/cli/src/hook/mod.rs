//! Hooks: an agent program runs `sayso hook PROGRAM EVENT` and reads what it prints.
//!
//! Whatever goes wrong here, the agent must go on as if Sayso were not there: the answer is then empty and the exit code
//! 0, and a record is left outside the ledger for `sayso doctor`.

mod codex;
pub(crate) mod record;

use std::io::{Read, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;

use crate::args::{Global, Hook};
use crate::fail::{Chain, Failure};

/// Bytes of input that are read at most; a hook's input holds a prompt or a message, not a file.
const INPUT_BYTES: u64 = 64 * 1024 * 1024;

/// Answers a hook.
pub(crate) fn run(hook: &Hook, global: &Global) -> ExitCode {
    // The default hook of a panic would print into the agent's log.
    std::panic::set_hook(Box::new(|_| {}));
    let answered = catch_unwind(AssertUnwindSafe(|| answer(hook, global)));
    let reason = match answered {
        Ok(Ok(())) => return ExitCode::SUCCESS,
        Ok(Err(failure)) => Chain(&failure).to_string(),
        Err(panic) => format!("a fault in sayso itself: {}", message(panic.as_ref())),
    };
    record::leave(&hook.program, &hook.event, &reason);
    ExitCode::SUCCESS
}

/// Wrong arguments are a failure of the hook's set-up, not of the agent.
pub(crate) fn refused_arguments(arguments: &[String], why: &str) {
    let after = arguments.iter().skip_while(|a| *a != "hook").skip(1);
    let mut words = after.filter(|a| !a.starts_with('-')).map(String::as_str);
    let (program, event) = (words.next().unwrap_or("?"), words.next().unwrap_or("?"));
    record::leave(program, event, why);
}

fn message(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<&str>().copied();
    text.or_else(|| panic.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message")
}

fn answer(hook: &Hook, global: &Global) -> Result<(), Failure> {
    if hook.program != "codex" {
        return Err(Failure::request(format!("hooks of {:?} are not known: codex is", hook.program)));
    }
    let mut input = String::new();
    let read = std::io::stdin().lock().take(INPUT_BYTES).read_to_string(&mut input);
    read.map_err(|e| Failure::io("the hook's input cannot be read", e))?;
    let input: codex::Input = serde_json::from_str(&input)
        .map_err(|e| Failure::request(format!("the hook's input is not what codex sends: {e}")))?;
    let answer = codex::answer(&hook.event, &input, global)?;
    let mut stdout = std::io::stdout().lock();
    let written = stdout.write_all(answer.as_bytes()).and_then(|()| stdout.flush());
    written.map_err(|e| Failure::io("the answer cannot be handed to the agent", e))
}
