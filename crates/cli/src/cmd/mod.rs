//! The commands, one file each.

pub(crate) mod append;
pub(crate) mod backup;
#[cfg(unix)]
pub(crate) mod bridge;
pub(crate) mod compact;
pub(crate) mod context;
pub(crate) mod deliveries;
pub(crate) mod demo;
pub(crate) mod doctor;
pub(crate) mod emit;
pub(crate) mod erase;
pub(crate) mod export;
pub(crate) mod forward;
pub(crate) mod import;
pub(crate) mod inbox;
pub(crate) mod life;
pub(crate) mod list;
pub(crate) mod mcp;
pub(crate) mod meta;
pub(crate) mod origin;
pub(crate) mod output;
#[cfg(unix)]
pub(crate) mod present;
pub(crate) mod redact;
pub(crate) mod reinject;
#[cfg(unix)]
pub(crate) mod run;
pub(crate) mod salvage;
pub(crate) mod search;
pub(crate) mod show;
pub(crate) mod thresholds;
pub(crate) mod verify;
pub(crate) mod watch;
