//! One hook at work: the ledger, the session, and how long it may take.

use std::path::Path;
use std::time::Duration;

use sayso::model::{EntryId, SessionKind, UtcMs};
use sayso::store::{Alias, Session};
use sayso::{Connections, Host, Ledger, Options, Reader, Scope, SystemHost};
use sayso_import::placeholder;

use super::input::Input;
use super::known::Known;
use super::program::Program;
use super::record;
use super::state::{Hints, Seen, Stamp};
use crate::args::Global;
use crate::fail::Failure;
use crate::open;

/// Milliseconds that a prompt waits for its transcript to be read; the end of the turn has the time for the rest.
const HURRY_MS: i64 = 300;

/// What a hook works with.
pub(super) struct Work {
    pub(super) program: Program,
    pub(super) event: String,
    pub(super) input: Input,
    pub(super) ledger: Ledger,
    pub(super) session: Session,
    /// When long work has to end, so that the answer is there in time.
    pub(super) until: UtcMs,
    pub(super) seen: Seen,
    hints: Hints,
}

impl Work {
    /// Opens the ledger and finds the session, which is registered on first sight. A third of `limit` goes to waiting for other
    /// programs, two thirds to long work.
    pub(super) fn begin(
        program: Program,
        event: &str,
        input: Input,
        global: &Global,
        limit: Duration,
    ) -> Result<Self, Failure> {
        let started = SystemHost.now();
        let options = Options { wait: limit / 3, connections: Connections::One, ..Options::default() };
        let place = open::path_to_make(global)?;
        let known = Known::of(&place);
        // Told first: where the new one cannot be made whole, its file may be there already.
        let gone = known.gone();
        let tell = |why: &String| record::leave(program.word(), event, why);
        gone.iter().for_each(tell);
        let ledger = Ledger::open(&place, &options)?;
        known.replaced(ledger.id()).iter().filter(|_| gone.is_none()).for_each(tell);
        known.keep(ledger.id());
        let id = program.session(&input);
        let session = register(&ledger, program, &id, &input.cwd)?;
        let hints = Hints::of(program.word(), &id);
        let path = input.transcript_path.as_deref().unwrap_or(Path::new(""));
        let seen = hints.read(&ledger.id().to_string(), path);
        let long = i64::try_from((limit * 2 / 3).as_millis()).unwrap_or(i64::MAX);
        let until = UtcMs(started.0.saturating_add(long));
        Ok(Self { program, event: event.to_owned(), input, ledger, session, until, seen, hints })
    }

    /// A reader of the session's project.
    pub(super) fn reader(&self) -> Reader {
        self.ledger.reader(Scope::Projects(vec![self.session.project]))
    }

    /// Leaves less time for long work from here on: a person waits for this one.
    pub(super) fn hurry(&mut self) {
        self.until = self.until.min(UtcMs(SystemHost.now().0.saturating_add(HURRY_MS)));
    }

    /// Whether there is time for more.
    pub(super) fn in_time(&self) -> bool {
        SystemHost.now() < self.until
    }

    /// The latest compaction that the ledger knows.
    pub(super) fn latest(&self) -> Result<Option<EntryId>, Failure> {
        Ok(self.reader().latest_compaction(self.session.id)?.map(|(placed, _)| placed.id))
    }

    /// Keeps the hints for the next hook of this session; whether that could be done.
    pub(super) fn keep(&self) -> bool {
        self.hints.keep(&self.seen)
    }

    /// How the transcript looks now, where there is one.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        self.input.transcript_path.as_deref().and_then(Stamp::of)
    }
}

/// The session of this run, registered on first sight.
fn register(ledger: &Ledger, program: Program, id: &str, cwd: &Path) -> Result<Session, Failure> {
    let alias = Alias::new(program.word(), id);
    if let Some(session) = ledger.reader(Scope::All).sessions_as(&alias)?.into_iter().next() {
        return Ok(session);
    }
    let path = cwd.to_string_lossy();
    let project =
        ledger.project_as(&Scope::All, &Alias::new("path", path.as_ref()), folder_name(program, &path))?;
    // An import gives it a better title once there is one.
    let title = placeholder(program.word(), id);
    Ok(ledger.session_as(&Scope::All, project.id, &alias, &title, SessionKind::Live)?)
}

fn folder_name(program: Program, path: &str) -> &str {
    path.rsplit(['/', '\\']).find(|part| !part.is_empty()).unwrap_or(program.word())
}
