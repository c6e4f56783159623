//! `sayso mcp`

use std::io;
use std::process::ExitCode;

use clap::Args;
use sayso_mcp::{Access, ServeError, Settings, serve};

use crate::args::Global;
use crate::fail::Failure;
use crate::io::say;
use crate::open;

#[derive(Debug, Args)]
#[command(
    after_help = "An agent program starts it; for Codex, in ~/.codex/config.toml:\n\n  [mcp_servers.sayso]\n  command = \
                  \"sayso\"\n  args = [\"mcp\", \"--scope\", \"harbour\"]\n\nWithout --write it offers reading only. What an agent \
                  forwards with --write is the agent's, never yours. The ledger is opened anew for every call."
)]
pub(crate) struct Mcp {
    /// Also offer to forward turns, as the agent
    #[arg(long)]
    write: bool,
    /// The name under which the agent forwards [default: what the client calls itself]
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

/// Serves until standard input ends. Standard output belongs to the protocol.
pub(crate) fn run(args: &Mcp, global: &Global) -> ExitCode {
    match settings(args, global).and_then(|settings| serve(settings, |text| say(text)).map_err(failure)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(&mut io::stderr()),
    }
}

fn settings(args: &Mcp, global: &Global) -> Result<Settings, Failure> {
    Ok(Settings {
        ledger: open::path(global)?,
        scope: global.scope.clone(),
        access: if args.write { Access::Forward } else { Access::Read },
        agent: args.agent.clone(),
    })
}

fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Scope(error) => error.into(),
        ServeError::Start(cause) => Failure::io("the server cannot start", cause),
        ServeError::Protocol { .. } => Failure::request(error.to_string()),
    }
}
