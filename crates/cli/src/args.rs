//! The program's arguments and their help.

mod life;
mod output;
mod relay;
mod run;
mod setup;

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use sayso::model::{SaidAt, Span, UtcMs};
use sayso::view::context::Provider;
use sayso::{SpeakerKind, SpeakerRef, What};

pub(crate) use life::{Edit, Erase, Fork, Pin, Project, Redact, Session};
pub(crate) use output::{Doctor, Output, Part};
pub(crate) use relay::{Deliveries, Inbox};
pub(crate) use run::{Emit, Policed, Thresholds, ThresholdsOf};
#[cfg(unix)]
pub(crate) use run::{Present, Run};
pub(crate) use setup::Setup;

/// The conversation ledger: every turn, and on whose say-so the words stand there.
#[derive(Debug, Parser)]
#[command(
    name = "sayso",
    version,
    max_term_width = 100,
    after_help = "A SESSION or PROJECT is a name, an address (sayso://…), or 6 or more characters from the end of its \
                  id; a session may also be PROJECT/SESSION. An ADDRESS is an address, an id, or 6 or more characters \
                  from its end.\n\nExit codes: 0 done; 1 it could not be done, and the message says what to do next; \
                  2 the arguments are wrong; 3 `verify` or `doctor` found problems. \
                  `run` exits as its command did; see `sayso run --help`. Results go to standard output, everything else \
                  to standard error."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) global: Global,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Options that every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// The ledger's file [default: ledger.db in the platform's data folder]
    #[arg(
        long,
        global = true,
        help_heading = "Everywhere",
        value_name = "FILE",
        env = "SAYSO_LEDGER",
        hide_env_values = true
    )]
    pub(crate) ledger: Option<PathBuf>,
    /// See only this project; may be given several times
    #[arg(long, global = true, help_heading = "Everywhere", value_name = "PROJECT")]
    pub(crate) scope: Vec<String>,
    /// Print JSON, one object a line for lists
    #[arg(long, global = true, help_heading = "Everywhere")]
    pub(crate) json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Append a turn; its text comes from standard input and is kept byte for byte
    Append(Append),
    /// Replace the words of an earlier turn of the same speaker; the earlier turn stays
    Edit(Edit),
    /// Take the words of a turn away for good; that it was there stays, and what quotes it is named
    Redact(Redact),
    /// Take a project, a session or a turn out of the ledger for good
    Erase(Erase),
    /// Pin a turn, or take the pin off: a mark that apps may read
    Pin(Pin),
    /// Import sessions that Codex, pi, Claude Code and OpenClaw wrote, and exports: files, or folders of them
    Import(Import),
    /// List the projects
    Projects,
    /// List the sessions
    Sessions(Sessions),
    /// Rename, close, reopen or move a session
    #[command(subcommand)]
    Session(Session),
    /// Make a session that shares the beginning of another; nothing is copied
    Fork(Fork),
    /// Rename a project, give it one more name, or merge it into another
    #[command(subcommand)]
    Project(Project),
    /// Show a turn, or every turn of a session
    Show(Show),
    /// Find turns by their words, newest first
    Search(Find),
    /// Forward turns into another session, as quotes with their address
    Forward(Forward),
    /// Tell where a forwarded turn comes from
    Origin(One),
    /// Print what a model would be given next
    Context(Context),
    /// Record that a summary stands for a session's earlier turns, which stay
    Compact(Compact),
    /// Bring earlier tool output back into the context after a compaction: ranges of it, as references
    Reinject(Reinject),
    /// Run a command, store its output whole, and print what a model is shown of it
    #[cfg(unix)]
    Run(Run),
    /// Print what a model would be shown of a file with a tool's output
    #[cfg(unix)]
    Present(Present),
    /// Hand two texts over to whoever runs this tool: one for the model, one for the person
    Emit(Emit),
    /// Measure how long the outputs of each tool are, and what a threshold for two texts would do
    Thresholds(Thresholds),
    /// Print a stored output: whole, a range of lines or bytes, its head or tail, or the lines that match
    Output(Output),
    /// List messages that wait for their agent or for its answer, and forwarded turns that it has not seen yet
    Inbox(Inbox),
    /// See what goes out to people, and decide about what may or may not have arrived
    #[command(subcommand)]
    Deliveries(Deliveries),
    /// Check the whole ledger and print the head of every session
    Verify(Verify),
    /// Copy the ledger into a new file while it is in use
    Backup(Backup),
    /// Write projects or sessions as one file: to import elsewhere, or to read
    Export(Export),
    /// Let people write to an agent from elsewhere, such as Telegram, until interrupted
    #[cfg(unix)]
    Bridge(crate::cmd::bridge::Bridge),
    /// Look for trouble: with the ledger, bridges, and records of hooks that failed
    Doctor(Doctor),
    /// Serve an agent that speaks the Model Context Protocol, over standard input and output
    Mcp(crate::cmd::mcp::Mcp),
    /// Let an agent program call Sayso: its hooks, or its extension
    Setup(Setup),
    /// Answer a hook of an agent program; never fails and never stops the agent
    Hook(Hook),
    /// See it work on a throwaway ledger, whatever --ledger says
    Demo(Demo),
    /// Print the completions of a shell
    Completions {
        /// Which shell
        shell: Shell,
    },
    /// Print the manual page, or write the pages of all commands into a folder
    Man {
        /// The folder
        #[arg(long, value_name = "FOLDER")]
        to: Option<PathBuf>,
    },
}

#[derive(Debug, Args)]
pub(crate) struct Append {
    /// The project; made on first use
    #[arg(long, value_name = "NAME")]
    pub(crate) project: String,
    /// The session; made on first use
    #[arg(long, value_name = "TITLE")]
    pub(crate) session: String,
    /// Who says it: owner, person, agent, tool or system, and a name
    #[arg(long, value_name = "KIND[:NAME]", value_parser = speaker)]
    pub(crate) speaker: SpeakerRef,
    /// An idempotency key: the same key with the same words is written once
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// The turn of the same session that it answers
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) reply_to: Option<String>,
    /// When it was said, as RFC 3339 [default: not known]
    #[arg(long, value_name = "TIME", value_parser = said_at)]
    pub(crate) said_at: Option<SaidAt>,
}

#[derive(Debug, Args)]
pub(crate) struct Import {
    /// Files, or folders to look through
    #[arg(required_unless_present = "auto", value_name = "PATH")]
    pub(crate) paths: Vec<PathBuf>,
    /// Look where Claude Code, Codex, OpenClaw and pi keep their sessions
    #[arg(long)]
    pub(crate) auto: bool,
    /// Go on importing what grows, with a line for each import, until interrupted
    #[arg(long)]
    pub(crate) watch: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Sessions {
    /// Only this project's
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
}

#[derive(Debug, Args)]
pub(crate) struct One {
    /// The turn
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
}

#[derive(Debug, Args)]
pub(crate) struct Show {
    /// A turn, or a session
    #[arg(value_name = "ADDRESS")]
    pub(crate) address: String,
    /// In which form [default: card; with --json: json]
    #[arg(long = "as", value_name = "FORM")]
    pub(crate) form: Option<Form>,
    /// Of a session, only its last N entries
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), conflicts_with_all = ["from", "after"])]
    pub(crate) last: Option<u64>,
    /// Of a session, only this turn and what comes later
    #[arg(long, value_name = "ADDRESS", conflicts_with = "after")]
    pub(crate) from: Option<String>,
    /// Of a session, only what comes after this turn: the last of the page before
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) after: Option<String>,
    /// Of a session, at most so many entries
    #[arg(long, value_name = "N", value_parser = count)]
    pub(crate) limit: Option<usize>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Every word must be there, in upper or lower case, as a whole word. What is written without spaces \
                        between words (Korean, Japanese, Chinese, Thai, …) is also found inside longer words. Different \
                        words stand at different places: two words that overlap are not found in one."
)]
pub(crate) struct Find {
    /// The words
    #[arg(required = true, value_name = "QUERY")]
    pub(crate) query: Vec<String>,
    /// Only in this project
    #[arg(long, value_name = "PROJECT")]
    pub(crate) project: Option<String>,
    /// Only in this session
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// Only words said by: owner, person, agent, tool or system
    #[arg(long, value_name = "KIND", value_parser = kind)]
    pub(crate) speaker: Option<SpeakerKind>,
    /// Only turns said at this time or later: RFC 3339, or a date (in UTC)
    #[arg(long, value_name = "TIME", value_parser = since)]
    pub(crate) since: Option<UtcMs>,
    /// Also in the stored outputs that turns name: the first 1 MiB of each
    #[arg(long)]
    pub(crate) outputs: bool,
    /// At most so many turns
    #[arg(long, value_name = "N", value_parser = count, default_value_t = sayso::store::search::HITS)]
    pub(crate) limit: usize,
    /// Only turns appended before this one: the last of the page before
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) before: Option<String>,
}

/// The forms of a turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Form {
    /// The turn's own text alone, byte for byte; in a terminal with what hides shown
    Text,
    /// For people, in a terminal
    Card,
    /// For people, as Markdown
    Markdown,
    /// For people, as HTML
    Html,
    /// For a model
    Marker,
    /// For a model, as one line of JSON
    MarkerJson,
    /// Everything, exact
    Json,
}

#[derive(Debug, Args)]
pub(crate) struct Forward {
    /// The turns, in order; an address with #chars=START,LEN forwards that part
    #[arg(required = true, value_name = "ADDRESS")]
    pub(crate) addresses: Vec<String>,
    /// The destination: SESSION or PROJECT/SESSION
    #[arg(long, value_name = "SESSION")]
    pub(crate) to: String,
    /// What you add; it stands beside the quote, on the last turn
    #[arg(long, value_name = "TEXT")]
    pub(crate) note: Option<String>,
    /// Forward LEN characters from character START (from 0)
    #[arg(long, value_name = "START,LEN", value_parser = span, conflicts_with = "select_text")]
    pub(crate) select: Option<Span>,
    /// Forward these words, which stand in the turn exactly once
    #[arg(long, value_name = "TEXT")]
    pub(crate) select_text: Option<String>,
    /// Of a turn that holds a quote: its own note, or the quote [default: the note if it has one]
    #[arg(long, value_name = "note|quote", value_parser = ["note", "quote"])]
    pub(crate) what: Option<String>,
    /// An idempotency key
    #[arg(long)]
    pub(crate) key: Option<String>,
    /// Who forwards [default: the owner, named by SAYSO_OWNER, else the login name]
    #[arg(long, value_name = "KIND[:NAME]", value_parser = speaker)]
    pub(crate) by: Option<SpeakerRef>,
    /// Leave out the titles of the project and session it comes from
    #[arg(long)]
    pub(crate) hide_titles: bool,
    /// Make the destination PROJECT/SESSION if it is not there
    #[arg(long)]
    pub(crate) create: bool,
}

impl Forward {
    pub(crate) fn what(&self) -> Option<What> {
        self.what.as_deref().and_then(|w| w.parse().ok())
    }
}

/// What `sayso context --for` takes.
const PROVIDERS: [&str; 3] =
    [Provider::OpenAiResponses.as_str(), Provider::OpenAiChat.as_str(), Provider::Anthropic.as_str()];

#[derive(Debug, Args)]
pub(crate) struct Context {
    /// The session
    pub(crate) session: String,
    /// The provider whose form is printed
    #[arg(long = "for", value_name = "PROVIDER", value_parser = PossibleValuesParser::new(PROVIDERS))]
    pub(crate) provider: String,
    /// Tokens it may take, as estimated; more is an error that asks for a compaction
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<u64>,
}

#[derive(Debug, Args)]
pub(crate) struct Compact {
    /// The session
    pub(crate) session: String,
    /// The file with the summary; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) summary: PathBuf,
    /// The last entry that the summary stands for [default: the last one when the command starts]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) through: Option<String>,
    /// Who wrote the summary [default: an agent without a name]
    #[arg(long, value_name = "KIND[:NAME]", value_parser = speaker)]
    pub(crate) by: Option<SpeakerRef>,
    /// An idempotency key: the same key with the same summary is written once
    #[arg(long)]
    pub(crate) key: Option<String>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Right after `sayso compact`, run it without --for; before each user turn, with the words of that turn; then \
                  append the turn and ask for the context. What comes back: pinned turns, words of the question, what the \
                  summary names, what failed and did not work later, what was read again before. At most 5 ranges, within 15 % \
                  of the free window and 20,000 tokens; nothing that the context shows. The same again changes nothing."
)]
pub(crate) struct Reinject {
    /// The session
    pub(crate) session: String,
    /// The words of the user turn that comes next; - is standard input [default: none, right after a compaction]
    #[arg(long = "for", value_name = "TEXT")]
    pub(crate) words: Option<String>,
    /// Tokens that may come back at most, as estimated
    #[arg(long, value_name = "N")]
    pub(crate) budget: Option<u64>,
    /// Tokens of the model's window [default: 128000, or the next of 200000, 400000 and 1000000 that the context fits in]
    #[arg(long, value_name = "N")]
    pub(crate) window: Option<u64>,
    /// Say what was thought of, why, and what each costs
    #[arg(long)]
    pub(crate) explain: bool,
    /// Write nothing; say what would come back
    #[arg(long)]
    pub(crate) dry_run: bool,
}

#[derive(Debug, Args)]
pub(crate) struct Verify {
    /// Compare with the heads in this file: an earlier output of `sayso verify --json`
    #[arg(long, value_name = "FILE")]
    pub(crate) against: Option<PathBuf>,
}

#[derive(Debug, Args)]
pub(crate) struct Backup {
    /// The new file; one that is there is never overwritten
    #[arg(value_name = "FILE")]
    pub(crate) to: PathBuf,
}

#[derive(Debug, Args)]
#[command(
    after_help = "As jsonl, everything is in it: `sayso import` takes it into another ledger, where every session has the same \
                  head. What was redacted or erased is not in it. The sessions that others were forked off come along. As \
                  markdown or html it is for people: with cards for what was forwarded, and long output of tools shortened."
)]
pub(crate) struct Export {
    /// Projects and sessions [default: everything]
    #[arg(value_name = "PROJECT|SESSION")]
    pub(crate) what: Vec<String>,
    /// In which form
    #[arg(long = "as", value_name = "FORM")]
    pub(crate) form: ExportForm,
    /// The new file, instead of standard output; one that is there is never overwritten
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
    /// Of a damaged ledger, everything that still reads; what does not is counted, and the exit code is 3
    #[arg(long, conflicts_with = "what")]
    pub(crate) salvage: bool,
}

/// The forms of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// Everything, exact, one record a line: `sayso import` reads it
    Jsonl,
    /// For people, as Markdown
    Markdown,
    /// For people, as one page for a browser
    Html,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Takes at most 2 seconds, and 8 at Stop: SAYSO_HOOK_MS sets another limit, in milliseconds. What went wrong \
                  is told by `sayso doctor`. `sayso setup` writes the settings that call this."
)]
pub(crate) struct Hook {
    /// The agent program: codex, claude-code or pi
    pub(crate) program: String,
    /// The event: SessionStart, UserPromptSubmit, PostToolUse, PreCompact or Stop; its input comes from standard input
    pub(crate) event: String,
}

#[derive(Debug, Args)]
pub(crate) struct Demo {
    /// The Codex session to import instead of the one that comes with the program
    #[arg(long, value_name = "FILE")]
    pub(crate) codex: Option<PathBuf>,
    /// The pi session to import instead of the one that comes with the program
    #[arg(long, value_name = "FILE")]
    pub(crate) pi: Option<PathBuf>,
}

fn speaker(text: &str) -> Result<SpeakerRef, String> {
    let (kind, name) = text.split_once(':').unwrap_or((text, ""));
    let kind: SpeakerKind = kind.parse().map_err(|e: sayso::model::UnknownKind| e.to_string())?;
    Ok(SpeakerRef::new(kind, name))
}

fn count(text: &str) -> Result<usize, String> {
    let count = text.parse().ok().filter(|count| *count > 0);
    count.ok_or_else(|| "a number is needed, 1 or more".to_owned())
}

fn kind(text: &str) -> Result<SpeakerKind, String> {
    text.parse().map_err(|e: sayso::model::UnknownKind| e.to_string())
}

fn since(text: &str) -> Result<UtcMs, String> {
    let day = || SaidAt::parse(&format!("{text}T00:00:00Z"));
    let at = SaidAt::parse(text).or_else(day).map(|at| UtcMs(at.ms()));
    at.ok_or_else(|| "a time or a date is needed, such as 2026-11-30T18:14:05+09:00 or 2026-11-30".to_owned())
}

fn span(text: &str) -> Result<Span, String> {
    let numbers =
        text.split_once(',').and_then(|(start, len)| Some((start.parse().ok()?, len.parse().ok()?)));
    let (start, len) = numbers.ok_or("two numbers are needed: START,LEN, such as 0,120")?;
    Span::new(start, len).map_err(|e| e.to_string())
}

fn said_at(text: &str) -> Result<SaidAt, String> {
    SaidAt::parse(text).ok_or_else(|| "a time is needed, such as 2026-11-30T18:14:05+09:00".to_owned())
}
