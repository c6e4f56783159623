//! How a ledger is opened.

use std::time::Duration;

use sayso_model::{LedgerId, UtcMs};

/// What is certain when a write returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// It is on disk: it survives a loss of power.
    #[default]
    Full,
    /// It survives the end of the process; a loss of power may take the last writes, never a part of one.
    Normal,
}

/// Whether a missing file is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Create {
    /// It is, with its folder.
    #[default]
    IfMissing,
    /// It is not.
    Never,
}

/// How many connections a ledger keeps to its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Connections {
    /// One that writes, and more that read: no reader waits for a write of the same process.
    #[default]
    Several,
    /// One, as long as nobody uses it: for a program that does one thing and ends, since each more reads the schema again.
    One,
}

/// How a ledger is opened. What is random or told by a clock comes in here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// What is certain when a write returns.
    pub durability: Durability,
    /// How long to wait while others hold the ledger.
    pub wait: Duration,
    /// Whether a missing file is made.
    pub create: Create,
    /// How many connections it keeps.
    pub connections: Connections,
    /// The id of a ledger that is made now; one that is there keeps its own.
    pub ledger: LedgerId,
    /// When it is made.
    pub created_at: UtcMs,
}

impl Options {
    /// Full durability, 30 seconds of patience, made if missing under this id and time.
    #[must_use]
    pub const fn new(ledger: LedgerId, created_at: UtcMs) -> Self {
        Self {
            durability: Durability::Full,
            wait: Duration::from_secs(30),
            create: Create::IfMissing,
            connections: Connections::Several,
            ledger,
            created_at,
        }
    }
}
