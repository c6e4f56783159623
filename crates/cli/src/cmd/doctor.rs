//! `sayso doctor`

use sayso::store::Collected;
use serde::Serialize;

use crate::args::{Doctor, Global};
use crate::fail::Failure;
use crate::hook::record::{self, Record};
use crate::io::{Out, counted};
use crate::open;

#[derive(Serialize)]
struct Check {
    check: &'static str,
    ok: bool,
    detail: String,
}

pub(crate) fn run(args: &Doctor, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let mut checks = checks(global);
    if args.collect {
        checks.push(collect(args, global));
    }
    if args.reindex {
        checks.push(reindex(global));
    }
    if args.salvage {
        checks.extend(salvage(global));
    }
    for check in &checks {
        let mark = if check.ok { "ok     " } else { "TROUBLE" };
        out.either(check, || format!("{mark} {}: {}", check.check, check.detail))?;
    }
    let records = record::read();
    for record in &records {
        out.either(record, || line(record))?;
    }
    if records.is_empty() && !out.json() {
        out.line("ok      hooks: no failure on record")?;
    }
    if checks.iter().all(|c| c.ok) && records.is_empty() { Ok(()) } else { Err(Failure::Problems) }
}

fn line(record: &Record) -> String {
    format!("TROUBLE hook {} {} at {}: {}", record.program, record.event, record.at, record.reason)
}

fn checks(global: &Global) -> Vec<Check> {
    let mut checks =
        vec![Check { check: "program", ok: true, detail: format!("sayso {}", env!("CARGO_PKG_VERSION")) }];
    let path = match open::path(global) {
        Ok(path) => path,
        Err(failure) => {
            checks.push(Check { check: "ledger", ok: false, detail: failure.to_string() });
            return checks;
        }
    };
    // Before the ledger is opened: the last program that closes it moves the log into the file.
    checks.extend(log(&path));
    checks.push(ledger(global, &path));
    #[cfg(unix)]
    checks.extend(super::bridge::checks(global).into_iter().map(|(ok, detail)| Check {
        check: "bridge",
        ok,
        detail,
    }));
    checks.push(records());
    checks
}

/// Commits that almost certainly were acknowledged, and that are not read any more.
const COMMITS_LOST: u64 = 2;

/// Whether the log was changed; nothing is said where it was not.
fn log(ledger: &std::path::Path) -> Option<Check> {
    let end = sayso::log_end(ledger).ok().filter(|end| end.commits_behind >= COMMITS_LOST)?;
    let detail = format!(
        "{} writes stand behind the place where the log beside {} can be read no further, so it was changed there; what they \
         wrote is not in the ledger any more: keep a copy of both files, compare with heads that are kept elsewhere \
         (`sayso verify --against`), and restore a backup",
        end.commits_behind,
        ledger.display()
    );
    Some(Check { check: "log", ok: false, detail })
}

/// A failed hook that can leave no record would be silent, which is worse than the failure.
fn records() -> Check {
    let check = |ok, detail| Check { check: "hook records", ok, detail };
    let Some(path) = record::path() else {
        return check(
            false,
            "there is no home folder to keep them in: set SAYSO_STATE to a folder".to_owned(),
        );
    };
    let shown = path.display();
    match record::try_leaving(&path) {
        Ok(()) => check(true, kept(&path)),
        Err(error) => {
            let next = "make room there, or set SAYSO_STATE to another folder";
            check(false, format!("{shown} cannot be written ({error}): {next}"))
        }
    }
}

/// Where records are, and what to do with them.
fn kept(path: &std::path::Path) -> String {
    let elsewhere = record::there().into_iter().filter(|there| there != path);
    let files = std::iter::once(path.to_owned()).chain(elsewhere).map(|file| file.display().to_string());
    format!("{}; remove the file once its failures are mended", files.collect::<Vec<_>>().join(" and "))
}

/// Bytes that nothing refers to go in two steps: one finds them, and one finds them so again after a while.
fn collect(args: &Doctor, global: &Global) -> Check {
    let hours = u64::from(args.grace);
    let check = |ok, detail| Check { check: "unused bytes", ok, detail };
    match open::collect(global, std::time::Duration::from_secs(hours * 3_600)) {
        Ok(Some(done)) if done == Collected::default() => check(true, "there are none".to_owned()),
        Ok(Some(done)) => {
            let [deleted, waiting] = [done.bytes, done.waiting_bytes].map(sayso::view::grouped);
            let later = match done.waiting {
                0 => String::new(),
                _ => format!("; run this again in {hours} hours for the rest"),
            };
            check(true, format!("{deleted} bytes deleted, {waiting} bytes noted{later}"))
        }
        Ok(None) => check(true, "there is no ledger yet".to_owned()),
        Err(failure) => check(false, crate::fail::Chain(&failure).to_string()),
    }
}

/// Whether everything reads, and what is lost of which session.
fn salvage(global: &Global) -> Vec<Check> {
    let check = |ok, detail| Check { check: "salvage", ok, detail };
    match super::salvage::look(global) {
        Ok(found) if found.whole => vec![check(true, found.line)],
        Ok(found) => {
            let sessions = found.damaged.iter().map(|session| check(false, session.line()));
            let next = format!("{}; save what does with `sayso export --salvage --to FILE`", found.line);
            sessions.chain([check(false, next)]).collect()
        }
        Err(failure) => vec![check(false, crate::fail::Chain(&failure).to_string())],
    }
}

fn reindex(global: &Global) -> Check {
    let check = |ok, detail| Check { check: "index of the search", ok, detail };
    match open::reindex(global) {
        Ok(Some(entries)) => check(true, format!("made anew, {} entries", sayso::view::grouped(entries))),
        Ok(None) => check(true, "there is no ledger yet".to_owned()),
        Err(failure) => check(false, crate::fail::Chain(&failure).to_string()),
    }
}

/// The doctor makes no ledger: a missing one stays missing.
fn ledger(global: &Global, path: &std::path::Path) -> Check {
    let shown = path.display();
    let missing =
        matches!(path.try_exists(), Ok(false)) && path.parent().is_some_and(std::path::Path::is_dir);
    if missing {
        return Check { check: "ledger", ok: true, detail: format!("{shown} is not there yet") };
    }
    match open::look(global) {
        Ok(sessions) => Check {
            check: "ledger",
            ok: true,
            detail: format!(
                "{shown}, {}; `sayso verify` checks all of it",
                counted(sessions as u64, "session", "sessions")
            ),
        },
        Err(failure) => {
            Check { check: "ledger", ok: false, detail: crate::fail::Chain(&failure).to_string() }
        }
    }
}
