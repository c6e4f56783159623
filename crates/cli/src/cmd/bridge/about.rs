//! Which bridges run, and which program each of them runs.

use std::fs::File;
use std::io;
use std::path::Path;

use sayso::model::UtcMs;
use sayso::{Host, SystemHost};
use sayso_bridge::account::{About, Known, bridges};

use crate::args::Global;
use crate::fail::Failure;
use crate::open;

/// The program's version.
const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a bridge that is started now says about itself.
pub(super) fn about(session: String) -> About {
    About {
        version: VERSION.to_owned(),
        digest: running(),
        path: std::env::current_exe().unwrap_or_default().display().to_string(),
        process: std::process::id(),
        machine: machine(),
        since: SystemHost.now().utc(),
        session,
    }
}

/// The digest of the program as it runs. On Linux also where its file was replaced meanwhile.
fn running() -> String {
    let own = if cfg!(target_os = "linux") { Ok("/proc/self/exe".into()) } else { std::env::current_exe() };
    own.and_then(|path| digest(&path)).unwrap_or_default()
}

fn digest(path: &Path) -> io::Result<String> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(File::open(path)?)?;
    Ok(hasher.finalize().to_hex().to_string())
}

/// This start of this machine, and the set of processes that is seen from here: only within both does a process's number tell
/// anything. Empty where that cannot be told.
fn machine() -> String {
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id");
    let set = std::fs::read_link("/proc/self/ns/pid");
    match (boot, set) {
        (Ok(boot), Ok(set)) => format!("{} {}", boot.trim(), set.display()),
        _ => String::new(),
    }
}

/// A line about each bridge of the ledger, and whether it is well. None where there is no ledger, or it cannot be read: that is
/// told elsewhere.
pub(crate) fn checks(global: &Global) -> Vec<(bool, String)> {
    // A bridge belongs to the whole ledger; within a scope nothing is told of it.
    let ledger = open::existing(global).ok().filter(|_| global.scope.is_empty());
    let known = ledger.map(|ledger| bridges(&ledger).map_err(Failure::from));
    match known {
        None => Vec::new(),
        Some(Ok(known)) => known.iter().map(|known| check(known, SystemHost.now(), &machine())).collect(),
        Some(Err(failure)) => vec![(false, crate::fail::Chain(&failure).to_string())],
    }
}

fn check(known: &Known, now: UtcMs, machine: &str) -> (bool, String) {
    let Known { account, until, about } = known;
    let Some(about) = about else {
        return (
            false,
            format!("{account}: by another version of sayso, which does not say more: restart it"),
        );
    };
    let About { version, process, since, session, path, .. } = about;
    let who = format!("{account} for {session}: sayso {version}, process {process}, since {since}");
    let over = *until <= now || about.has_ended(machine);
    let replaced = digest(Path::new(path)).ok().is_some_and(|digest| digest != about.digest);
    match () {
        () if over => (
            false,
            format!("{who}; it has ended without giving its account back: start it again, nothing is lost"),
        ),
        () if version != VERSION => {
            (false, format!("{who}; this is sayso {VERSION}: restart the bridge to run that"))
        }
        () if replaced => (
            false,
            format!("{who}; {path} was replaced since then, and it still runs the old code: restart it"),
        ),
        () => (true, who),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(change: impl FnOnce(&mut About)) -> Known {
        let mut about = about("harbour/telegram".to_owned());
        about.since = "2026-11-30T09:00:00Z".to_owned();
        about.process = std::process::id();
        change(&mut about);
        Known { account: "telegram:4711".to_owned(), until: UtcMs(2_000), about: Some(about) }
    }

    #[test]
    fn a_bridge_that_runs_other_code_is_named() {
        let at = |known: &Known, now| check(known, UtcMs(now), &machine());
        let (ok, said) = at(&known(|_| {}), 1_000);
        let process = std::process::id();
        assert_eq!(
            (ok, said),
            (
                true,
                format!(
                    "telegram:4711 for harbour/telegram: sayso {VERSION}, process {process}, since 2026-11-30T09:00:00Z"
                )
            )
        );
        for (known, now, words) in [
            (known(|about| about.version = "0.0.9".to_owned()), 1_000, "this is sayso"),
            (known(|about| about.digest = "another".to_owned()), 1_000, "was replaced since then"),
            (known(|_| {}), 2_000, "has ended without"),
            (Known { about: None, ..known(|_| {}) }, 1_000, "by another version of sayso"),
        ] {
            let (ok, said) = at(&known, now);
            assert!(!ok && said.contains(words), "{said}");
        }
    }
}
