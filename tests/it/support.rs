//! A ledger whose clock, ids and salts the test decides, and short ways to say things in it.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use sayso::model::{Entry, Quote, UtcMs};
use sayso::store::Session;
use sayso::view::marker::{Marker, Message, Profile, parse, render};
use sayso::{Destination, Error, ForwardRequest, Host, Ledger, NewTurn, Placed, Reader, Scope, SpeakerKind};
use tempfile::TempDir;

/// 2026-11-30T09:00:00Z.
pub(crate) const START: i64 = 1_796_029_200_000;

/// A host whose clock moves by one second a look and whose random bytes are a counter's hash.
pub(crate) struct TestHost {
    pub(crate) clock: AtomicI64,
    pub(crate) step: AtomicI64,
    pub(crate) drawn: AtomicU64,
}

impl Default for TestHost {
    fn default() -> Self {
        Self { clock: AtomicI64::new(START), step: AtomicI64::new(1_000), drawn: AtomicU64::new(0) }
    }
}

impl Host for TestHost {
    fn now(&self) -> UtcMs {
        UtcMs(self.clock.fetch_add(self.step.load(Ordering::Relaxed), Ordering::Relaxed))
    }

    fn random(&self) -> [u8; 32] {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        *blake3::hash(&drawn.to_le_bytes()).as_bytes()
    }
}

/// A ledger on some backend.
pub(crate) struct World {
    pub(crate) ledger: Ledger,
    pub(crate) host: Arc<TestHost>,
    /// The folder of the ledger's file, where it has one; held so that it is removed with the world.
    pub(crate) _folder: Option<TempDir>,
}

impl World {
    pub(crate) fn all(&self) -> Reader {
        self.ledger.reader(Scope::All)
    }

    /// Sees only the project of this name.
    pub(crate) fn only(&self, project: &str) -> Reader {
        let project = self.all().find_project(project).expect("the project is there");
        self.ledger.reader(Scope::Projects(vec![project.id]))
    }

    pub(crate) fn session(&self, project: &str, title: &str) -> Session {
        self.ledger.session(project, title).expect("a session can be made")
    }

    /// Somebody says something in a session, both made on first use.
    pub(crate) fn says(&self, at: &str, who: (SpeakerKind, &str), text: &str) -> Placed {
        let (project, title) = at.split_once('/').expect("PROJECT/SESSION");
        let session = self.session(project, title);
        self.ledger.append(&session, NewTurn::text(who.0, who.1, text)).expect("a turn can be appended")
    }

    pub(crate) fn request(&self, source: &Placed, to: &str) -> ForwardRequest {
        let (project, title) = to.split_once('/').expect("PROJECT/SESSION");
        let to = Destination::New { project: project.to_owned(), title: title.to_owned() };
        ForwardRequest::of(*source, to).by(SpeakerKind::Owner, "Mira")
    }

    pub(crate) fn try_forward(&self, request: ForwardRequest) -> Result<Vec<Entry>, Error> {
        let (_, placed) = self.all().forward(request)?;
        placed.iter().map(|p| Ok(self.entry(p))).collect()
    }

    /// Forwards one turn whole, without a note.
    pub(crate) fn forward(&self, source: &Placed, to: &str) -> Entry {
        self.forward_with(self.request(source, to))
    }

    pub(crate) fn forward_with(&self, request: ForwardRequest) -> Entry {
        self.try_forward(request).expect("the turn can be forwarded").remove(0)
    }

    pub(crate) fn entry(&self, placed: &Placed) -> Entry {
        self.all().entry(placed.id).expect("the entry can be read").expect("the entry is there")
    }
}

pub(crate) fn placed(entry: &Entry) -> Placed {
    Placed { id: entry.id, project: entry.project, session: entry.session, seq: entry.seq, hash: entry.hash }
}

pub(crate) fn quote(entry: &Entry) -> &Quote {
    entry.turn().and_then(|t| t.quote.as_deref()).expect("the turn holds a quote")
}

pub(crate) fn text(entry: &Entry) -> String {
    entry.turn().expect("the entry is a turn").text()
}

pub(crate) fn marker(entry: &Entry) -> String {
    render(&Message::of(entry).expect("the turn holds a quote"), Profile::V1)
}

pub(crate) fn parsed(entry: &Entry) -> Marker {
    parse(marker(entry).as_bytes()).expect("a rendered marker parses")
}
