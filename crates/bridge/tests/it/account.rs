//! One bridge for each account.

use std::process::{Command, Stdio};
use std::time::Duration;

use sayso::{Ledger, Options};
use sayso_bridge::account::{About, Account, AccountError, LEASE, bridges};
use tempfile::TempDir;

const ACCOUNT: &str = "telegram:4711";

fn ledger() -> (Ledger, TempDir) {
    let folder = tempfile::tempdir().unwrap();
    let ledger = Ledger::open(&folder.path().join("ledger.db"), &Options::default()).unwrap();
    (ledger, folder)
}

fn about(process: u32) -> About {
    About {
        version: "0.1.0".to_owned(),
        digest: "d".to_owned(),
        path: "/usr/bin/sayso".to_owned(),
        process,
        machine: "this one".to_owned(),
        since: "2026-11-30T09:00:00Z".to_owned(),
        session: "ferries".to_owned(),
    }
}

fn take(ledger: &Ledger, about: &About) -> Result<Account, AccountError> {
    Account::take(ledger, ACCOUNT, about, LEASE)
}

/// The id of a process that has ended.
fn ended() -> u32 {
    let mut child = Command::new("true").stdin(Stdio::null()).spawn().unwrap();
    child.wait().unwrap();
    child.id()
}

#[test]
fn a_second_bridge_on_an_account_is_refused_until_the_first_has_ended() {
    let (ledger, _folder) = ledger();
    let here = about(std::process::id());
    let first = take(&ledger, &here).unwrap();
    let known = bridges(&ledger).unwrap();
    assert_eq!((known[0].account.as_str(), known[0].about.as_ref()), (ACCOUNT, Some(&here)));
    let refused = take(&ledger, &here).unwrap_err().to_string();
    let process = std::process::id();
    let words = format!(
        "another bridge has {ACCOUNT} (sayso 0.1.0, process {process}, since 2026-11-30T09:00:00Z): end that"
    );
    assert!(refused.starts_with(&words), "{refused}");
    assert!(Account::take(&ledger, "telegram:4712", &here, LEASE).is_ok(), "another account");
    drop(first);
    assert_eq!(bridges(&ledger).unwrap(), [], "it is given up");
    let session = ledger.session("harbour", "ferries").unwrap().id;
    let speaks = Account::take_session(&ledger, session, &here, LEASE).unwrap();
    assert!(Account::take_session(&ledger, session, &here, LEASE).is_err(), "a session has one agent");
    assert_eq!(bridges(&ledger).unwrap(), [], "that is no account");
    drop(speaks);
    drop(take(&ledger, &here).unwrap());
}

#[test]
fn the_lease_of_a_process_that_has_ended_here_is_taken_over() {
    let (ledger, _folder) = ledger();
    let crashed = about(ended());
    // It crashes: nothing gives the lease up.
    std::mem::forget(take(&ledger, &crashed).unwrap());
    let elsewhere = About { machine: "another one".to_owned(), ..about(std::process::id()) };
    assert!(matches!(take(&ledger, &elsewhere), Err(AccountError::InUse { .. })));
    let nowhere = About { machine: String::new(), ..elsewhere };
    assert!(matches!(take(&ledger, &nowhere), Err(AccountError::InUse { .. })));
    drop(take(&ledger, &about(std::process::id())).unwrap());
}

#[test]
fn a_lease_that_is_over_is_lost_to_whoever_takes_it() {
    let (ledger, _folder) = ledger();
    // So short that it is over before it can be renewed or asked for.
    let first =
        Account::take(&ledger, ACCOUNT, &about(std::process::id()), Duration::from_millis(1)).unwrap();
    let second = loop {
        if let Ok(second) = take(&ledger, &about(std::process::id())) {
            break second;
        }
    };
    while !first.is_lost() {
        std::thread::yield_now();
    }
    drop(first);
    assert_eq!(bridges(&ledger).unwrap().len(), 1, "the first does not give up what is not its own");
    assert!(!second.is_lost());
}
