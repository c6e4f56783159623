//! One bridge for each account, and one for each session: leases in the ledger.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use sayso::model::{RelayRefusal, SessionId, UtcMs};
use sayso::store::{Command, Refusal, RelayCommand, RelayStep};
use sayso::{Ledger, Scope};
use serde::{Deserialize, Serialize};

/// Stands before the account in a lease's name.
const PREFIX: &str = "bridge ";
/// Stands before the session in a lease's name.
const SESSION_PREFIX: &str = "agent of ";

/// How long a lease lasts unless it is renewed; it is renewed three times in that time.
pub const LEASE: Duration = Duration::from_secs(30);

/// What a bridge says about itself in its lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct About {
    /// The program's version.
    pub version: String,
    /// The digest of the program's file as it runs.
    pub digest: String,
    /// Where that file is.
    pub path: String,
    /// The process.
    pub process: u32,
    /// Which machine, and which of its sets of processes, since when it was started; empty where that cannot be told.
    pub machine: String,
    /// When it started, RFC 3339 in UTC.
    pub since: String,
    /// The session that it feeds.
    pub session: String,
}

/// A bridge that a ledger knows of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// The account.
    pub account: String,
    /// Until when its lease lasts.
    pub until: UtcMs,
    /// What it said about itself; `None` where that is nothing that a bridge of this version says.
    pub about: Option<About>,
}

/// The bridges that have a lease, also those that ended without giving it up.
///
/// # Errors
///
/// Storage errors.
pub fn bridges(ledger: &Ledger) -> Result<Vec<Known>, sayso::Error> {
    let leases = ledger.reader(Scope::All).leases()?;
    let known = leases.into_iter().filter_map(|lease| {
        let account = lease.name.strip_prefix(PREFIX)?.to_owned();
        Some(Known { account, until: lease.until, about: serde_json::from_str(&lease.about).ok() })
    });
    Ok(known.collect())
}

/// An account cannot be had.
#[derive(Debug, thiserror::Error)]
pub enum AccountError {
    /// Another bridge reads it.
    #[error(
        "another bridge has {what}{}: end that one first; if it runs no more, its lease is over at {}, start this again then",
        of(.about.as_deref()), .until.utc()
    )]
    InUse {
        /// The account, or the session.
        what: String,
        /// What it says about itself.
        about: Option<Box<About>>,
        /// Until when its lease lasts.
        until: UtcMs,
    },
    /// The ledger fails.
    #[error(transparent)]
    Ledger(#[from] sayso::Error),
}

fn of(about: Option<&About>) -> String {
    about.map_or_else(String::new, |about| {
        let About { version, process, since, .. } = about;
        format!(" (sayso {version}, process {process}, since {since})")
    })
}

/// A lease that is held, and renewed by a thread of its own. It is given up when this is dropped.
#[derive(Debug)]
pub struct Account {
    lease: Lease,
    stop: Option<Sender<()>>,
    keeper: Option<JoinHandle<()>>,
    lost: Arc<AtomicBool>,
}

#[derive(Debug, Clone)]
struct Lease {
    ledger: Ledger,
    name: String,
    holder: String,
    about: String,
    lasts: Duration,
}

impl Account {
    /// Takes the lease of an account, for a time. The lease of a bridge whose process ran here and has ended is taken over.
    ///
    /// # Errors
    ///
    /// [`AccountError`].
    pub fn take(
        ledger: &Ledger,
        account: &str,
        about: &About,
        lasts: Duration,
    ) -> Result<Self, AccountError> {
        Self::of(ledger, (PREFIX, account), about, lasts)
    }

    /// The same for a session: the agent of one bridge speaks in it.
    ///
    /// # Errors
    ///
    /// [`AccountError`].
    pub fn take_session(
        ledger: &Ledger,
        session: SessionId,
        about: &About,
        lasts: Duration,
    ) -> Result<Self, AccountError> {
        Self::of(ledger, (SESSION_PREFIX, &session.to_string()), about, lasts)
    }

    fn of(
        ledger: &Ledger,
        (prefix, what): (&str, &str),
        about: &About,
        lasts: Duration,
    ) -> Result<Self, AccountError> {
        let lease = Lease {
            ledger: ledger.clone(),
            name: format!("{prefix}{what}"),
            holder: ledger.fresh_request().to_string(),
            about: serde_json::to_string(about).unwrap_or_default(),
            lasts,
        };
        match lease.take() {
            Err(error) if is_held(&error) => lease.take_over(what, about)?,
            taken => taken?,
        }
        let lost = Arc::new(AtomicBool::new(false));
        let (stop, stopped) = channel();
        let keeper = thread::spawn({
            let (lease, lost) = (lease.clone(), Arc::clone(&lost));
            move || {
                while stopped.recv_timeout(lasts / 3) == Err(RecvTimeoutError::Timeout) {
                    lost.store(lease.take().is_err_and(|error| is_held(&error)), Ordering::Relaxed);
                }
            }
        });
        Ok(Self { lease, stop: Some(stop), keeper: Some(keeper), lost })
    }

    /// Whether another bridge has the account meanwhile: this one was stopped for longer than its lease lasts.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Relaxed)
    }
}

impl Drop for Account {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(keeper) = self.keeper.take() {
            let _ = keeper.join();
        }
        // What cannot be given up is over by itself.
        let _ = self.lease.step(self.lease.give_up(self.lease.holder.clone()));
    }
}

impl Lease {
    fn step(&self, what: RelayCommand) -> Result<(), sayso::Error> {
        let at = self.ledger.now();
        self.ledger.write(&Scope::All, vec![Command::Relay(RelayStep { at, what })]).map(drop)
    }

    fn take(&self) -> Result<(), sayso::Error> {
        let lasts = i64::try_from(self.lasts.as_millis()).unwrap_or(i64::MAX);
        self.step(RelayCommand::TakeLease {
            name: self.name.clone(),
            holder: self.holder.clone(),
            until: UtcMs(self.ledger.now().0.saturating_add(lasts)),
            about: self.about.clone(),
        })
    }

    fn give_up(&self, holder: String) -> RelayCommand {
        RelayCommand::DropLease { name: self.name.clone(), holder }
    }

    fn take_over(&self, what: &str, here: &About) -> Result<(), AccountError> {
        let leases = self.ledger.reader(Scope::All).leases()?;
        let Some(held) = leases.into_iter().find(|lease| lease.name == self.name) else {
            return Ok(self.take()?);
        };
        let about: Option<About> = serde_json::from_str(&held.about).ok();
        if about.as_ref().is_some_and(|about| about.has_ended(&here.machine)) {
            self.step(self.give_up(held.holder))?;
            return Ok(self.take()?);
        }
        let about = about.map(Box::new);
        Err(AccountError::InUse { what: what.to_owned(), about, until: held.until })
    }
}

impl About {
    /// Whether its process surely runs no more, as seen from a machine.
    #[must_use]
    pub fn has_ended(&self, machine: &str) -> bool {
        !machine.is_empty() && self.machine == machine && !runs(self.process)
    }
}

#[cfg(unix)]
fn runs(process: u32) -> bool {
    use rustix::io::Errno;
    use rustix::process::{Pid, test_kill_process};
    let pid = i32::try_from(process).ok().and_then(Pid::from_raw);
    pid.is_none_or(|pid| test_kill_process(pid) != Err(Errno::SRCH))
}

#[cfg(not(unix))]
const fn runs(_: u32) -> bool {
    true
}

fn is_held(error: &sayso::Error) -> bool {
    matches!(error.refusal(), Some(Refusal::Relay(RelayRefusal::LeaseHeld { .. })))
}
