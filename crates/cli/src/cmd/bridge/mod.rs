//! `sayso bridge`

mod about;

use std::path::PathBuf;

use clap::Args;
use sayso_bridge::config::{Config, EXAMPLE};
use sayso_bridge::run::{Around, BridgeError};

pub(crate) use about::checks;

use crate::args::Global;
use crate::cmd::watch;
use crate::fail::Failure;
use crate::io::{Out, say};
use crate::open;

#[derive(Debug, Args)]
#[command(
    after_help = "The config is a TOML file; --example prints one, explained. Each message becomes a turn of the session \
                  that the config names, and its answer goes back to where the message came from. What is under way stands in the ledger: \
                  started again after a crash, the bridge goes on, and what may have arrived is never sent again blindly (`sayso deliveries`). \
                  One account has one bridge; `sayso doctor` lists those that run.\n\n\
                  The agent's tools find the session in SAYSO_SESSION and this program in SAYSO_PROGRAM. SIGINT and SIGTERM end the bridge and \
                  its agent; a second one ends it at once."
)]
pub(crate) struct Bridge {
    /// The config
    #[arg(long, value_name = "FILE", required_unless_present = "example")]
    config: Option<PathBuf>,
    /// Print a config that explains itself, and end
    #[arg(long)]
    example: bool,
}

pub(crate) fn run(args: &Bridge, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let Some(config) = args.config.as_ref().filter(|_| !args.example) else {
        return out.bytes(EXAMPLE.as_bytes());
    };
    let config = Config::read(config).map_err(BridgeError::from)?;
    if !global.scope.is_empty() {
        return Err(Failure::request("a bridge works with the whole ledger: leave --scope out"));
    }
    let stop = watch::stop()?;
    let ledger = open::ledger(global)?;
    let path = open::path(global)?;
    let session = format!("{}/{}", config.session.project, config.session.title);
    let around = Around {
        about: about::about(session),
        program: std::env::current_exe().unwrap_or_else(|_| "sayso".into()),
        ledger: std::path::absolute(&path).unwrap_or(path),
        variable: |name| std::env::var(name).ok(),
        stop,
        say: |text| say(text),
    };
    Ok(sayso_bridge::run::run(&ledger, &config, &around)?)
}
