//! `sayso run`

mod call;
mod held;
mod print;
mod record;
mod session;
mod stop;
mod tee;

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

use sayso::NewOutput;
use sayso_output::Ending;
use sayso_output::execute::{Execution, Request, Sinks, SpawnError, Stdin, execute};

use self::call::Call;
pub(crate) use self::held::{Held, IN_MEMORY};
use self::record::{Record, Recorded};
use self::stop::Stop;
use self::tee::Tee;
use crate::args::{Global, Run};
use crate::fail::{Chain, Failure, RUN};
use crate::io::say;

/// The exit code of a command whose time was over, as `timeout` has it.
const TIMEOUT: u8 = 124;

pub(crate) fn run(args: &Run, global: &Global) -> ExitCode {
    let ran = match (args.raw, global.json) {
        (true, true) => Err(Failure::request("--raw prints the bytes alone: leave --json or --raw out")),
        (true, false) => raw(args, global),
        (false, _) => viewed(args, global),
    };
    ran.map_or_else(
        |failure| {
            let _ = failure.report(&mut io::stderr());
            if matches!(&failure, Failure::Spawn(SpawnError::NotFound { program }) if is_line(program)) {
                say("note: a line for a shell needs --shell");
            }
            ExitCode::from(failure.run_code())
        },
        |ending| ExitCode::from(code(ending)),
    )
}

fn is_line(program: &OsString) -> bool {
    program.to_string_lossy().contains(|c: char| " |;&<>$".contains(c))
}

/// The exit code for how a command ended.
fn code(ending: Ending) -> u8 {
    let low = |number: i32| number.to_le_bytes()[0];
    match ending {
        Ending::Exit(code) => low(code),
        Ending::Signal(number) => low(128 + number),
        Ending::Timeout => TIMEOUT,
        Ending::Unknown => RUN,
    }
}

/// Passes the bytes on as they come.
fn raw(args: &Run, global: &Global) -> Result<Ending, Failure> {
    let (stop, record) = (Stop::new()?, record(args, global)?);
    let (mut stdout, mut stderr) = (io::stdout().lock(), io::stderr().lock());
    let out = Tee::new(&mut stdout).flushed().ended_by(&stop);
    let err = Tee::new(&mut stderr).flushed().ended_by(&stop);
    let ran = execution(args, &stop, &record, Vec::new(), (out, err));
    drop(stderr);
    let ran = ran?;
    recorded(&record, &ran.went);
    Ok(ran.went.ending)
}

/// Prints what a model is shown.
fn viewed(args: &Run, global: &Global) -> Result<Ending, Failure> {
    let (stop, record, call) = (Stop::new()?, record(args, global)?, Call::new());
    let (mut stdout, mut stderr) = (held::spool(), held::spool());
    let mut frames = call.frames(&mut stdout);
    let (out, err) = (Tee::new(&mut frames), Tee::new(&mut stderr));
    let ran = execution(args, &stop, &record, call.variables(), (out, err))?;
    let stored = recorded(&record, &ran.went);
    let received = call.received(frames.finish());
    let envelopes = print::envelopes(&received, args, stored.as_ref(), &record);
    let streams = (Held::of(stdout), Held::of(stderr));
    let view = print::view(args, &ran, &streams, stored.as_ref())?;
    print::print(&ran, &view, &envelopes, stored.as_ref(), global.json)?;
    Ok(ran.went.ending)
}

/// How it went, and what is known of each stream.
struct Ran {
    went: Execution,
    lines: [u64; 2],
    /// Whether each stream went whole to where it was passed on.
    whole: [bool; 2],
}

fn execution(
    args: &Run,
    stop: &Stop,
    record: &Record,
    variables: Vec<(OsString, OsString)>,
    (mut out, mut err): (Tee<'_>, Tee<'_>),
) -> Result<Ran, Failure> {
    let request = Request {
        variables,
        stdin: if io::IsTerminal::is_terminal(&io::stdin()) { Stdin::Null } else { Stdin::Inherit },
        timeout: args.timeout,
        stop: Some(stop.flag()),
        ..request(args)
    };
    let went = record.keeping(|| {
        let (mut stdout, mut stderr) = (record.stdout(&mut out), record.stderr(&mut err));
        execute(&request, Sinks { stdout: &mut stdout, stderr: &mut stderr })
    });
    let (lines, whole) = ([out.lines(), err.lines()], [out.whole(), err.whole()]);
    Ok(Ran { went: went?, lines, whole })
}

fn request(args: &Run) -> Request {
    let mut words = args.command.iter().cloned();
    if args.shell {
        return Request::shell(args.command.join(" ".as_ref()));
    }
    Request::argv(words.next().unwrap_or_default(), words)
}

/// The tool's name: what was said, else that of the program.
fn tool(args: &Run) -> String {
    let program = if args.shell { Some("sh".as_ref()) } else { args.command.first().map(Path::new) };
    let name = program.and_then(Path::file_name).unwrap_or_default().to_string_lossy();
    args.tool.clone().unwrap_or_else(|| name.into_owned())
}

fn record(args: &Run, global: &Global) -> Result<Record, Failure> {
    let command = args.command.join(" ".as_ref()).to_string_lossy().into_owned();
    let output = NewOutput::of(within(&tool(args))).command(shortened(&command));
    match session::find(args.session.as_deref(), global) {
        Ok((ledger, session)) => Ok(Record::start(ledger, session, output)),
        Err(failure) if failure.is_storage() => Ok(Record::broken(failure)),
        Err(failure) => Err(failure),
    }
}

fn within(name: &str) -> &str {
    cut(name, sayso::model::limits::NAME_LENGTH)
}

fn shortened(command: &str) -> &str {
    cut(command, sayso::model::limits::COMMAND_CHARS)
}

fn cut(text: &str, chars: usize) -> &str {
    let end = text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    text.get(..end).unwrap_or_default()
}

/// Ends the record, and says what was not stored.
fn recorded(record: &Record, went: &Execution) -> Option<Recorded> {
    let (stored, trouble) = record.finish(went);
    if let Some(trouble) = trouble {
        let what = match &stored {
            Some(recorded) => format!("only the beginning of the output was stored, as {}", recorded.id),
            None => "the output was not stored".to_owned(),
        };
        say(format!("warning: {what}: {}", Chain(&trouble)));
    }
    stored.filter(|recorded| recorded.whole)
}

impl From<SpawnError> for Failure {
    fn from(error: SpawnError) -> Self {
        Self::Spawn(error)
    }
}

/// Writes to standard output; that nobody reads it is no failure, for the command has run.
fn put(text: &str) -> Result<(), Failure> {
    let mut stdout = io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(e) if e.kind() != io::ErrorKind::BrokenPipe => {
            Err(Failure::io("standard output cannot be written: the command has run", e))
        }
        _ => Ok(()),
    }
}
