//! What is told of a damaged ledger: what could be saved, and what could not.

use sayso::model::{ProjectId, SessionId};
use sayso::store::Trace;

use super::write::Exported;

/// What became of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SalvagedSession {
    /// Its id.
    pub session: SessionId,
    /// Its title, where its row can be read.
    pub title: Option<String>,
    /// Entries of its own that are known to have been.
    pub entries: u64,
    /// Those of them that were written out whole.
    pub saved: u64,
    /// Those of which only place and hash could be written, so that what stands behind them keeps its place.
    pub places: u64,
    /// The first ones that are lost, at most 20, with the reasons.
    pub lost: Vec<(u64, String)>,
    /// The place from which on nothing could be written, and why: what stands there cannot be tied to what is before it.
    pub ends: Option<(u64, String)>,
    /// Outputs that were written out whole.
    pub outputs: u64,
    /// Outputs whose bytes do not read, and were left out.
    pub outputs_lost: u64,
    /// Whether its idempotency keys could not all be read.
    pub keys_lost: bool,
}

impl SalvagedSession {
    pub(super) fn new(trace: &Trace) -> Self {
        Self {
            session: trace.session,
            title: None,
            entries: trace.entries(),
            saved: 0,
            places: 0,
            lost: Vec::new(),
            ends: None,
            outputs: 0,
            outputs_lost: 0,
            keys_lost: false,
        }
    }

    /// Whether nothing of it is lost.
    #[must_use]
    pub fn whole(&self) -> bool {
        self.saved == self.entries && self.outputs_lost == 0 && !self.keys_lost && self.ends.is_none()
    }

    pub(super) fn lose(&mut self, seq: u64, what: String) {
        if self.lost.len() < TOLD {
            self.lost.push((seq, what));
        }
    }
}

/// Lost entries of one session that are told one by one.
const TOLD: usize = 20;

/// What could be saved, and what could not.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Salvaged {
    /// Every session that some row still speaks of.
    pub sessions: Vec<SalvagedSession>,
    /// Projects whose rows do not read: they stand in the export under their ids.
    pub nameless: Vec<ProjectId>,
    /// What was written.
    pub exported: Exported,
}

impl Salvaged {
    /// Entries that were written out whole.
    #[must_use]
    pub fn saved(&self) -> u64 {
        self.sessions.iter().map(|s| s.saved).sum()
    }

    /// Entries that are known to have been, and were not written out whole.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.sessions.iter().map(|s| s.entries - s.saved).sum()
    }

    /// Outputs that do not read.
    #[must_use]
    pub fn outputs_lost(&self) -> u64 {
        self.sessions.iter().map(|s| s.outputs_lost).sum()
    }

    /// Whether nothing was found to be lost.
    #[must_use]
    pub fn whole(&self) -> bool {
        self.nameless.is_empty() && self.sessions.iter().all(SalvagedSession::whole)
    }
}
