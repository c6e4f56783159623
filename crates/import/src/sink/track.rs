//! One session that a file is written to.

use std::cell::OnceCell;

use sayso::Placed;
use sayso::store::{KnownKeys, Session};
use sayso_model::{EntryId, MarkKind};

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
    /// What the ledger knows of the session; `None` inside where that is too much to hold. Read once it is asked for.
    pub(super) known: OnceCell<Option<KnownKeys>>,
    pub(super) title: Option<String>,
    pub(super) queue: Vec<Step>,
    pub(super) commands: usize,
    pub(super) bytes: usize,
    /// The places of its entries in the session, in the order of the file.
    pub(super) places: Vec<Place>,
    /// Whether turns were added to it by this reading.
    pub(super) grew: bool,
    /// The session that it comes from, by the id that the program gave that.
    pub(super) source: Option<String>,
    /// The last entry that was copied from there.
    pub(super) copied: Option<usize>,
}

impl Track {
    pub(super) fn new(name: String, home: Home) -> Self {
        Self {
            name,
            home,
            session: None,
            known: OnceCell::new(),
            title: None,
            queue: Vec::new(),
            commands: 0,
            bytes: 0,
            places: Vec::new(),
            grew: false,
            source: None,
            copied: None,
        }
    }

    pub(super) fn is_own(&self) -> bool {
        self.name.is_empty()
    }

    /// Turns that this reading wrote behind ones that follow them in the file. Places tell that, not the order of looking them
    /// up: another program may import the same file meanwhile.
    pub(super) fn late(&self) -> u64 {
        let (mut late, mut first) = (0, u64::MAX);
        for place in self.places.iter().rev() {
            match place.came {
                Came::Before => first = first.min(place.seq),
                Came::Now => late += u64::from(place.seq > first),
                Came::Somehow => {}
            }
        }
        late
    }
}

/// What waits to be written.
pub(super) enum Step {
    /// A turn, and which of the track's entries it is.
    Turn(Draft, usize),
    Mark(MarkKind, Of, String),
}

/// What a mark is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// An entry of the ledger.
    Entry(EntryId),
    /// One of the track's entries.
    Place(usize),
    Session,
}

/// Where an entry stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    /// 0 while it waits to be written.
    pub(super) seq: u64,
    pub(super) id: EntryId,
    pub(super) sort: Sort,
    /// Whether it was taken back.
    pub(super) gone: bool,
    pub(super) came: Came,
}

/// What is told of an entry's place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Came {
    /// Nothing: it waits, or stands where it stands for reasons of its own.
    Somehow,
    /// The ledger had it before.
    Before,
    /// This reading wrote it.
    Now,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sort {
    /// A turn of the owner.
    Owner,
    /// Any other turn.
    Turn,
    /// Anything else.
    Entry,
}

impl Place {
    pub(super) const fn new(id: EntryId, sort: Sort) -> Self {
        Self { seq: 0, id, sort, gone: false, came: Came::Somehow }
    }

    pub(super) const fn at(self, placed: &Placed) -> Self {
        Self { seq: placed.seq, id: placed.id, ..self }
    }

    pub(super) const fn came(self, came: Came) -> Self {
        Self { came, ..self }
    }

    pub(super) fn is_turn(self) -> bool {
        self.sort != Sort::Entry
    }
}
