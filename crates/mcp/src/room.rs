//! Which ledger, and how much of it: fixed at the start.

use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use sayso::{Error, Ledger, Options, Reader, Scope};

/// Whether the client may write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Only read.
    Read,
    /// Also forward.
    Forward,
}

/// What the server serves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The ledger's file. It is opened anew for every call, so that it may be missing, locked or replaced meanwhile.
    pub ledger: PathBuf,
    /// The projects that the client sees, as a person names them; all of them where this is empty.
    pub scope: Vec<String>,
    /// Whether the client may write.
    pub access: Access,
    /// The name under which the agent forwards; what the client calls itself where this is `None`.
    pub agent: Option<String>,
}

/// Longest wait for another program's lock: shorter than clients wait for a tool.
const WAIT: Duration = Duration::from_secs(5);
/// The same at the start, where the client waits for the server itself.
const FIRST_WAIT: Duration = Duration::from_millis(500);

/// The part of a ledger that the client sees.
#[derive(Debug)]
pub(crate) struct Room {
    pub(crate) settings: Settings,
    scope: OnceLock<Scope>,
}

impl Room {
    pub(crate) fn new(settings: Settings) -> Self {
        Self { settings, scope: OnceLock::new() }
    }

    /// Looks whether the scope can be told. A ledger that cannot be opened now is no reason to refuse: the answer is the
    /// reason, for a person.
    pub(crate) fn look(&self) -> Result<Option<Error>, Error> {
        match self.open(FIRST_WAIT) {
            Ok(_) => Ok(None),
            Err(error @ Error::Store(_)) => Ok(Some(error)),
            Err(error) => Err(error),
        }
    }

    /// A reader with the scope of the start.
    pub(crate) fn reader(&self) -> Result<Reader, Error> {
        self.open(WAIT)
    }

    fn open(&self, wait: Duration) -> Result<Reader, Error> {
        let options = Options { wait, create: false, ..Options::default() };
        let ledger = Ledger::open(&self.settings.ledger, &options)?;
        let scope = match self.scope.get() {
            Some(scope) => scope.clone(),
            None => {
                let told = self.told(&ledger.reader(Scope::All))?;
                self.scope.get_or_init(|| told).clone()
            }
        };
        Ok(ledger.reader(scope))
    }

    fn told(&self, all: &Reader) -> Result<Scope, Error> {
        if self.settings.scope.is_empty() {
            return Ok(Scope::All);
        }
        let projects = self.settings.scope.iter().map(|given| Ok(all.find_project(given)?.id));
        Ok(Scope::Projects(projects.collect::<Result<_, Error>>()?))
    }
}
