//! One session that a file is written to.

use sayso::Placed;
use sayso::store::Session;
use sayso_model::EntryId;

use crate::draft::Draft;
use crate::session::Home;

/// Bytes that wait at most for a conversation that is not written to just now.
pub(super) const PARKED_BYTES: usize = 1 << 20;

/// A session and what waits to be written to it.
pub(super) struct Track {
    /// Its name among the conversations of the file; empty for the file's own.
    pub(super) name: String,
    pub(super) home: Home,
    pub(super) session: Option<Session>,
    pub(super) title: Option<String>,
    pub(super) queue: Vec<Step>,
    pub(super) commands: usize,
    pub(super) bytes: usize,
    /// The places of its entries in the session, in the order of the file.
    pub(super) places: Vec<Place>,
}

impl Track {
    pub(super) fn new(name: String, home: Home) -> Self {
        Self {
            name,
            home,
            session: None,
            title: None,
            queue: Vec::new(),
            commands: 0,
            bytes: 0,
            places: Vec::new(),
        }
    }

    pub(super) fn is_own(&self) -> bool {
        self.name.is_empty()
    }
}

/// What waits to be written.
pub(super) enum Step {
    /// A turn, and which of the track's entries it is.
    Turn(Draft, usize),
    Mark(EntryId),
}

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// 0 while it waits to be written.
    pub(super) seq: u64,
    pub(super) id: EntryId,
}

impl Place {
    pub(super) const fn of(placed: &Placed) -> Self {
        Self { seq: placed.seq, id: placed.id }
    }
}
