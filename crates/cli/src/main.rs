//! The program `sayso`.

mod args;
mod cmd;
mod fail;
mod hook;
mod io;
mod open;
mod setup;

use std::io::BufWriter;
use std::process::ExitCode;

use clap::Parser;

use crate::args::{Cli, Command};
use crate::fail::Failure;
use crate::io::Out;

fn main() -> ExitCode {
    if let Some((hook, global)) = hook::quick::hook(std::env::args_os()) {
        return hook::run(hook, global);
    }
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return arguments(&error),
    };
    let cli = match cli {
        Cli { command: Command::Hook(hook), global } => return hook::run(hook, global),
        cli => cli,
    };
    if let Command::Mcp(mcp) = &cli.command {
        return cmd::mcp::run(mcp, &cli.global);
    }
    #[cfg(unix)]
    if let Command::Run(run) = &cli.command {
        return cmd::run::run(run, &cli.global);
    }
    let mut stdout = BufWriter::new(std::io::stdout().lock());
    let mut out = Out::new(&mut stdout, cli.global.json);
    let done = run(cli, &mut out).and_then(|()| out.flush());
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            // What was printed before the failure is data all the same.
            let _ = out.flush();
            failure.report(&mut std::io::stderr())
        }
    }
}

/// Help, a version or a complaint; a hook with wrong arguments must not stop its agent.
fn arguments(error: &clap::Error) -> ExitCode {
    let given: Vec<String> = std::env::args().skip(1).collect();
    if error.use_stderr() && given.iter().any(|a| a == "hook") {
        hook::refused_arguments(&given, &error.to_string());
        return ExitCode::SUCCESS;
    }
    // A closed stream is no reason to complain about.
    let _ = error.print();
    match error.use_stderr() {
        false => ExitCode::SUCCESS,
        true if command(&given) == Some("run") => ExitCode::from(fail::RUN),
        true => ExitCode::from(2),
    }
}

/// The command among these arguments: the first word that is no option, nor the value of one.
fn command(given: &[String]) -> Option<&str> {
    let mut words = given.iter().map(String::as_str);
    loop {
        match words.next()? {
            "--ledger" | "--scope" => drop(words.next()),
            option if option.starts_with('-') => {}
            command => return Some(command),
        }
    }
}

fn run(cli: Cli, out: &mut Out<'_>) -> Result<(), Failure> {
    let global = &cli.global;
    match cli.command {
        Command::Append(args) => cmd::append::run(&args, global, out),
        Command::Edit(args) => cmd::append::edit(&args, global, out),
        Command::Redact(args) => cmd::redact::redact(&args, global, out),
        Command::Erase(args) => cmd::erase::run(&args, global, out),
        Command::Pin(args) => cmd::redact::pin(&args, global, out),
        Command::Export(args) => cmd::export::run(&args, global, out),
        Command::Import(args) => cmd::import::run(&args, global, out),
        Command::Projects => cmd::list::projects(global, out),
        Command::Sessions(args) => cmd::list::sessions(&args, global, out),
        Command::Session(change) => cmd::life::session(&change, global, out),
        Command::Fork(args) => cmd::life::fork(&args, global, out),
        Command::Project(change) => cmd::life::project(&change, global, out),
        Command::Inbox(args) => cmd::inbox::run(&args, global, out),
        Command::Deliveries(what) => cmd::deliveries::run(&what, global, out),
        Command::Show(args) => cmd::show::run(&args, global, out),
        Command::Search(args) => cmd::search::run(&args, global, out),
        Command::Forward(args) => cmd::forward::run(&args, global, out),
        Command::Origin(args) => cmd::origin::run(&args, global, out),
        Command::Context(args) => cmd::context::run(&args, global, out),
        Command::Compact(args) => cmd::compact::run(&args, global, out),
        Command::Reinject(args) => cmd::reinject::run(&args, global, out),
        #[cfg(unix)]
        Command::Present(args) => cmd::present::run(&args, out),
        Command::Emit(args) => cmd::emit::run(&args, out),
        Command::Thresholds(args) => cmd::thresholds::run(&args, global, out),
        Command::Output(args) => cmd::output::run(&args, global, out),
        Command::Verify(args) => cmd::verify::run(&args, global, out),
        Command::Backup(args) => cmd::backup::run(&args, global, out),
        #[cfg(unix)]
        Command::Bridge(args) => cmd::bridge::run(&args, global, out),
        Command::Doctor(args) => cmd::doctor::run(&args, global, out),
        Command::Setup(args) => setup::run(&args, global, out),
        Command::Demo(args) => cmd::demo::run(&args, out),
        Command::Completions { shell } => cmd::meta::completions(shell, out),
        Command::Man { to } => cmd::meta::man(to.as_deref(), out),
        // Answered before standard output was taken.
        Command::Hook(_) | Command::Mcp(_) => Ok(()),
        #[cfg(unix)]
        Command::Run(_) => Ok(()),
    }
}
