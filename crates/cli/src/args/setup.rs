//! Arguments of `setup`.

use clap::Args;

use crate::hook::program::Program;

#[derive(Debug, Args)]
#[command(
    after_help = "What is changed is shown first, as a difference. Everything else in the files stays as it was; --remove gives \
                  back the same bytes where nobody changed them since, and otherwise takes out what was added. Files: \
                  hooks.json (and config.toml for --mcp) in CODEX_HOME or ~/.codex, settings.json in CLAUDE_CONFIG_DIR or \
                  ~/.claude, extensions/sayso.ts in PI_CODING_AGENT_DIR or ~/.pi/agent. With --ledger the program is told to \
                  use that ledger."
)]
pub(crate) struct Setup {
    /// The agent program
    pub(crate) program: Program,
    /// Only show what would be changed
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Take back what was set up
    #[arg(long, conflicts_with = "mcp")]
    pub(crate) remove: bool,
    /// Let codex also read the ledger itself, over the Model Context Protocol; what it may see is named with --scope
    #[arg(long)]
    pub(crate) mcp: bool,
}
