//! There is no room: the file may have no more pages, or the folder no more bytes, or nothing can be changed at all. The caller
//! is told so with the error that says what to do, nothing that was acknowledged goes, what is there can be read meanwhile, and
//! the same ledger goes on once there is room.
//!
//! `SAYSO_FAULTS=all` tries every bound from none more to as much as the scenario needs, up to 600 of them; without it some are
//! tried.

use std::sync::Arc;

use sayso::model::{LedgerId, UtcMs};
use sayso::{Error, Ledger, StoreError};
use sayso_sqlite::{Options, SqliteStore};

use super::steps::{ALL, Scenario};
use super::{Run, TRIED, Told, open, shape, sound};
use crate::support::{START, TestHost};

/// Bounds that are tried at most: a scenario that needs more never ends.
const MOST: u64 = 20_000;
/// Bounds of one scenario when all are asked for; one that needs more has some of them left out.
const ALL_OF_THEM: u64 = 600;
/// A page with its frame, as it stands in the log.
const FRAME: u64 = 4_096 + 24;

fn all() -> bool {
    std::env::var("SAYSO_FAULTS").is_ok_and(|value| value == "all")
}

fn is_full(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Full(_)))
}

/// A ledger, with the store below it, whose file can be bounded.
fn bounded(run: &Run) -> (Ledger, Arc<SqliteStore>) {
    let options = Options::new(LedgerId::from_u128(9), UtcMs(START));
    let store = Arc::new(SqliteStore::open(run.path(), &options).unwrap());
    let host = TestHost::default();
    // Other ids than those of the ledger that was there before.
    host.drawn.store(7 << 40, std::sync::atomic::Ordering::Relaxed);
    (Ledger::over(store.clone(), Arc::new(host)), store)
}

/// Does the steps until one fails: how many were done, and the error.
fn until(scenario: &Scenario, ledger: &Ledger) -> (usize, Option<Error>) {
    for (done, step) in scenario.steps.iter().enumerate() {
        if let Err(error) = step(ledger) {
            return (done, Some(error));
        }
    }
    (scenario.steps.len(), None)
}

/// What is there while there is no room, and what is there once there is some.
fn goes_on(told: &Told, ledger: &Ledger, done: usize, at: &str, make_room: impl FnOnce()) {
    let found = shape(ledger);
    let lawful = &told.shapes[done..=done + 1];
    assert!(lawful.contains(&found), "{at}: after {done} steps\n{found:#?}\n{lawful:#?}");
    make_room();
    for step in &told.scenario.steps[done..] {
        step(ledger).unwrap_or_else(|error| panic!("{at}: with room again: {error:?}"));
    }
    assert_eq!(Some(&shape(ledger)), told.shapes.last(), "{at}");
    sound(ledger, at);
}

/// Tries one bound after the other, until the scenario has all the room that it needs; how many were too narrow.
fn sweep(what: &str, told: &Told, try_bound: impl Fn(u64) -> bool) -> u64 {
    let tried = if all() { ALL_OF_THEM } else { TRIED as u64 };
    let step = needs(&try_bound).div_ceil(tried);
    for (narrow, more) in (0..).zip((0..MOST).step_by(usize::try_from(step).unwrap())) {
        if !try_bound(more) {
            println!("{what}: {}: {narrow} bounds were too narrow, below {more}", told.scenario.name);
            return narrow;
        }
    }
    panic!("{what}: {}: {MOST} are not enough", told.scenario.name);
}

/// The least bound that is a power of two and enough.
fn needs(try_bound: &impl Fn(u64) -> bool) -> u64 {
    (0..).map(|n| 1 << n).find(|more| !try_bound(*more)).unwrap()
}

/// Whether so many pages more were too few.
fn pages(told: &Told, more: u64) -> bool {
    let run = told.run();
    let (ledger, store) = bounded(&run);
    store.bound_pages(Some(u32::try_from(more).unwrap())).unwrap();
    let (done, error) = until(told.scenario, &ledger);
    let Some(error) = error else { return false };
    let at = format!("{}: {more} pages more", told.scenario.name);
    assert!(is_full(&error), "{at}: {error:?}");
    goes_on(told, &ledger, done, &at, || store.bound_pages(None).unwrap());
    true
}

/// Whether so many bytes more in all files were too few; a half frame more each time, so that writes are cut anywhere.
fn bytes(told: &Told, more: u64) -> bool {
    let run = told.run();
    // Known to the disk before anything is opened, as files that are there.
    for file in super::files(run.folder.path()) {
        run.disk.opened(&file.canonicalize().unwrap());
    }
    run.disk.bound(more * FRAME / 2);
    let at = format!("{}: {more} half frames more", told.scenario.name);
    let ledger = match open(&run.path()) {
        Ok(ledger) => ledger,
        Err(error) => {
            assert!(is_full(&error), "{at}: opening: {error:?}");
            run.disk.heal();
            goes_on(told, &open(&run.path()).unwrap(), 0, &at, || {});
            return true;
        }
    };
    let (done, error) = until(told.scenario, &ledger);
    let Some(error) = error else { return false };
    assert!(is_full(&error), "{at}: {error:?}");
    goes_on(told, &ledger, done, &at, || run.disk.heal());
    true
}

#[test]
fn a_file_that_may_have_no_more_pages_says_that_it_is_full_and_goes_on_with_room() {
    let mut narrow = 0;
    // An upgrade runs before there is a ledger that could be bounded so; bytes bound it too.
    for scenario in ALL.iter().filter(|s| s.name != "make" && !s.name.starts_with("upgrade")) {
        let told = Told::new(scenario);
        narrow += sweep("pages", &told, |more| pages(&told, more));
    }
    // Small things find room in pages that are there.
    assert!(narrow >= 20, "{narrow}");
}

#[test]
fn a_folder_that_may_have_no_more_bytes_says_that_it_is_full_and_goes_on_with_room() {
    let mut narrow = 0;
    for scenario in ALL {
        let told = Told::new(scenario);
        narrow += sweep("bytes", &told, |more| bytes(&told, more));
    }
    assert!(narrow > 4 * ALL.len() as u64, "{narrow}");
}

#[test]
fn a_ledger_that_may_only_be_read_can_be_read_and_takes_no_writes_and_stays_as_it_is() {
    for scenario in ALL.iter().filter(|s| s.name != "make") {
        let told = Told::new(scenario);
        let run = told.run();
        let before = std::fs::read(run.path()).unwrap();
        run.disk.make_read_only();
        // Of an older schema it cannot be read either; else it can, and only that.
        let error = match open(&run.path()) {
            Err(error) => error,
            Ok(ledger) => {
                assert_eq!(shape(&ledger), told.shapes[0], "{}", scenario.name);
                until(scenario, &ledger).1.expect("something is to be written")
            }
        };
        assert!(matches!(error, Error::Store(StoreError::Denied { .. })), "{}: {error:?}", scenario.name);
        assert!(std::fs::read(run.path()).unwrap() == before, "{}", scenario.name);
        run.disk.heal();
        goes_on(&told, &open(&run.path()).unwrap(), 0, scenario.name, || {});
    }
}

/// The folder can be written no more while a ledger is open in it: what was under way is not known, or was not begun.
#[test]
fn a_folder_that_becomes_read_only_takes_nothing_that_was_acknowledged() {
    for scenario in ALL.iter().filter(|s| s.name != "make" && !s.name.starts_with("upgrade")) {
        let told = Told::new(scenario);
        for from in 0..scenario.steps.len() {
            let run = told.run();
            let ledger = open(&run.path()).unwrap();
            for step in &scenario.steps[..from] {
                step(&ledger).unwrap();
            }
            run.disk.make_read_only();
            // A step that finds nothing to do may go well.
            let at = format!("{}: read only from step {from}", scenario.name);
            let rest = &scenario.steps[from..];
            let failed = rest.iter().enumerate().find_map(|(n, step)| step(&ledger).err().map(|e| (n, e)));
            let Some((more, error)) = failed else { continue };
            let typed = matches!(
                error,
                Error::Store(
                    StoreError::CommitUnknown(_) | StoreError::Storage { .. } | StoreError::Denied { .. }
                )
            );
            assert!(typed, "{at}: {error:?}");
            goes_on(&told, &ledger, from + more, &at, || run.disk.heal());
        }
    }
}
