//! The disk fails at every single call that SQLite makes of it, and the power goes there: what was acknowledged stays, and
//! of what was under way all is there, or nothing.
//!
//! `SAYSO_FAULTS=all` tries every call; without it some are tried, spread over each scenario.

mod disk;
mod flips;
mod relay;
mod room;
mod saved;
mod steps;
mod vfs;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use sayso::store::{OutputState, StreamKind};
use sayso::{Durability, Error, Ledger, Options, Scope, Search, StoreError};
use tempfile::TempDir;

use crate::support::TestHost;
use disk::{Call, Disk, Fault, Unsynced};
use steps::{ALL, GONE, Scenario};

/// Calls of one scenario that are tried when not all are asked for.
const TRIED: usize = 8;

fn open(path: &Path) -> Result<Ledger, Error> {
    open_with(path, Durability::Full)
}

fn open_with(path: &Path, durability: Durability) -> Result<Ledger, Error> {
    static OPENED: AtomicU64 = AtomicU64::new(1);
    let host = TestHost::default();
    // No two draw the same ids.
    host.drawn.store(OPENED.fetch_add(1, Ordering::Relaxed) << 32, Ordering::Relaxed);
    Ledger::open_with(path, &Options { durability, ..Options::default() }, Arc::new(host))
}

/// What a ledger answers, in words, with everything that must be there twice in equal form.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Shape {
    sessions: Vec<(String, Vec<String>)>,
    outputs: BTreeSet<String>,
    found: Vec<String>,
    relay: Vec<String>,
}

fn shape(ledger: &Ledger) -> Shape {
    let reader = ledger.reader(Scope::All);
    let relay = relay::words(ledger);
    let mut shape = Shape { sessions: Vec::new(), outputs: BTreeSet::new(), found: Vec::new(), relay };
    for session in reader.sessions(None).unwrap() {
        let entries = reader.walk(session.id, 0).map(|entry| steps::words(&entry.unwrap())).collect();
        let name = format!("{} closed:{}", session.title, session.closed);
        shape.sessions.push((name, entries));
        for output in reader.archived_outputs(session.id, None, 100).unwrap() {
            let mut bytes = Vec::new();
            reader.read_output(output.id, StreamKind::Stdout, &mut bytes).unwrap();
            if output.state == OutputState::Complete {
                let known = format!("{} {}", output.tool, blake3::hash(&bytes));
                assert!(shape.outputs.insert(known), "one complete output of this tool");
            } else if output.tool.starts_with("tool ") {
                let whole = output.tool.strip_prefix("tool ").unwrap().parse().unwrap();
                let tail = format!("error: {GONE}\n");
                let whole = [steps::noise(whole).as_slice(), tail.as_bytes()].concat();
                assert!(whole.starts_with(&bytes), "a part is the beginning");
            }
        }
    }
    shape.sessions.sort();
    for query in ["보고서", "words", GONE] {
        let hits = reader.search(&Search { limit: 1_000, ..Search::new(query) }).unwrap();
        shape.found.push(format!("{query}: {}", hits.len()));
    }
    shape
}

/// A scenario, the file it begins with, and the shapes that it has after each of its steps when nothing fails.
struct Told {
    scenario: &'static Scenario,
    folder: TempDir,
    shapes: Vec<Shape>,
    /// What is asked of the disk in the whole of it.
    calls: Vec<Call>,
}

fn files(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

fn ledger_in(folder: &Path) -> PathBuf {
    folder.join("ledger.db")
}

/// The files of a ledger as they are now, without the memory that processes share.
fn copy(from: &Path) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in files(from).iter().filter(|file| !file.to_string_lossy().ends_with("-shm")) {
        fs::copy(file, folder.path().join(file.file_name().unwrap())).unwrap();
    }
    folder
}

impl Told {
    fn new(scenario: &'static Scenario) -> Self {
        let folder = tempfile::tempdir().unwrap();
        (scenario.before)(&ledger_in(folder.path()));
        let mut told = Self { scenario, folder, shapes: Vec::new(), calls: Vec::new() };
        let run = told.run();
        run.disk.strike_at(usize::MAX, Fault::Once);
        let mut shapes = Vec::new();
        let ledger = open(&run.path()).unwrap();
        for step in scenario.steps {
            step(&ledger).unwrap();
        }
        told.calls = run.disk.calls();
        drop(ledger);
        // Apart from the run that is counted: reading asks the disk too.
        let again = told.run();
        again.opened_and_read(&mut shapes);
        told.shapes = shapes;
        told
    }

    /// A copy of the file on a disk of its own.
    fn run(&self) -> Run {
        let folder = copy(self.folder.path());
        Run { disk: disk::under(folder.path()), scenario: self.scenario, folder }
    }

    /// The calls that are tried: all, or some spread over the whole.
    fn points(&self) -> Vec<usize> {
        let all = std::env::var("SAYSO_FAULTS").is_ok_and(|value| value == "all");
        let step = if all { 1 } else { self.calls.len().div_ceil(TRIED) };
        (0..self.calls.len()).step_by(step.max(1)).collect()
    }
}

struct Run {
    disk: Arc<Disk>,
    scenario: &'static Scenario,
    folder: TempDir,
}

impl Run {
    fn path(&self) -> PathBuf {
        ledger_in(self.folder.path())
    }

    fn opened_and_read(&self, shapes: &mut Vec<Shape>) {
        if self.path().exists() {
            shapes.push(shape(&open(&self.path()).unwrap()));
        } else {
            let (sessions, outputs, relay) = (Vec::new(), BTreeSet::new(), Vec::new());
            shapes.push(Shape { sessions, outputs, found: nothing_found(), relay });
        }
        let ledger = open(&self.path()).unwrap();
        for step in self.scenario.steps {
            step(&ledger).unwrap();
            shapes.push(shape(&ledger));
        }
    }

    /// Does the steps until one fails; how many were done.
    fn until_it_fails(&self) -> usize {
        let Ok(ledger) = open(&self.path()) else { return 0 };
        self.scenario.steps.iter().take_while(|step| step(&ledger).is_ok()).count()
    }

    /// Does the steps from one on, each again until it is done, a few times at most.
    fn with_patience(&self, from: usize) -> Ledger {
        let ledger = patiently(&self.disk, || open(&self.path()));
        for step in &self.scenario.steps[from..] {
            patiently(&self.disk, || step(&ledger));
        }
        ledger
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        disk::release(self.folder.path());
    }
}

fn nothing_found() -> Vec<String> {
    ["보고서", "words", GONE].map(|query| format!("{query}: 0")).to_vec()
}

fn patiently<T>(disk: &Disk, mut act: impl FnMut() -> Result<T, Error>) -> T {
    for _ in 0..3 {
        match act() {
            Ok(done) => return done,
            Err(error) => tells_the_truth(&error),
        }
        disk.heal();
    }
    act().expect("done again, it goes well")
}

/// A disk that fails for a moment has damaged nothing, and the error must not say that it has.
#[track_caller]
fn tells_the_truth(error: &Error) {
    let Error::Store(error) = error else { panic!("a typed error of the store: {error:?}") };
    let lies = matches!(
        error,
        StoreError::Damaged { .. }
            | StoreError::NotALedger { .. }
            | StoreError::Future { .. }
            | StoreError::Refused { .. }
    );
    assert!(!lies, "{error:?}");
}

#[track_caller]
fn sound(ledger: &Ledger, at: &str) {
    let report = ledger.reader(Scope::All).verify(&BTreeMap::new()).unwrap();
    assert_eq!(report.problems, [], "{at}");
}

/// The power goes at a call; afterwards all that was acknowledged is there, and at most what was under way, whole.
fn power_goes(told: &Told, at: usize, unsynced: Unsynced) {
    let run = told.run();
    run.disk.strike_at(at, Fault::Power);
    let done = run.until_it_fails();
    if !run.disk.powerless() {
        return; // Threads take turns in another order now and then, so that the last calls may not come.
    }
    run.disk.power_back(run.folder.path(), unsynced);
    let place = format!("{}: {:?} call {at}, {unsynced:?}", told.scenario.name, told.calls.get(at));
    let ledger = open(&run.path()).unwrap_or_else(|error| panic!("{place}: {error:?}"));
    sound(&ledger, &place);
    let found = shape(&ledger);
    let lawful = &told.shapes[done..=(done + 1).min(told.shapes.len() - 1)];
    let Some(whole) = lawful.iter().position(|shape| *shape == found) else {
        panic!("{place}: after {done} steps\n{found:#?}\n{lawful:#?}");
    };
    drop(ledger);
    let last = run.with_patience(done + whole);
    last.reader(Scope::All).go_on_erasing().unwrap();
    assert_eq!(Some(&shape(&last)), told.shapes.last(), "{place}: gone on with");
    drop(last);
    for file in files(run.folder.path()) {
        let bytes = fs::read(&file).unwrap();
        let left = told.scenario.gone.filter(|gone| holds(&bytes, gone.as_bytes()));
        assert_eq!(left, None, "{place}: {}", file.display());
    }
}

fn holds(bytes: &[u8], words: &[u8]) -> bool {
    bytes.windows(words.len()).any(|window| window == words)
}

/// A call fails and the program lives on: done again, all goes well, and nothing is there twice.
fn one_fails(told: &Told, at: usize, fault: Fault) {
    let run = told.run();
    run.disk.strike_at(at, fault);
    let ledger = run.with_patience(0);
    run.disk.heal();
    let place = format!("{}: {:?} call {at}, {fault:?}", told.scenario.name, told.calls.get(at));
    assert_eq!(Some(&shape(&ledger)), told.shapes.last(), "{place}");
    sound(&ledger, &place);
}

fn every_scenario(what: &str, try_at: impl Fn(&Told, usize) -> usize) {
    let mut tried = 0;
    for scenario in ALL {
        let told = Told::new(scenario);
        assert!(told.calls.contains(&Call::Write) && told.calls.contains(&Call::Sync), "{}", scenario.name);
        let points = told.points();
        let here: usize = points.iter().map(|at| try_at(&told, *at)).sum();
        println!(
            "{what}: {}: {here} faults at {} of {} calls",
            scenario.name,
            points.len(),
            told.calls.len()
        );
        tried += here;
    }
    println!("{what}: {tried} faults tried");
    assert!(tried > 15 * ALL.len(), "{tried}");
}

#[test]
fn the_power_goes_at_any_call_and_what_was_acknowledged_stays() {
    every_scenario("power", |told, at| {
        let ways =
            [Unsynced::Lost, Unsynced::Kept, Unsynced::Torn(at as u64), Unsynced::Torn(at as u64 + 7_919)];
        ways.into_iter().for_each(|unsynced| power_goes(told, at, unsynced));
        ways.len()
    });
}

#[test]
fn any_call_fails_once_and_the_step_done_again_goes_well() {
    every_scenario("one call", |told, at| {
        let faults = [Fault::Once, Fault::Half, Fault::Full];
        faults.into_iter().for_each(|fault| one_fails(told, at, fault));
        faults.len()
    });
}

/// What `Normal` promises: a loss of power may take the last writes, never a part of one, nor one from the middle. That it takes
/// some shows that this disk does forget.
#[test]
fn with_normal_durability_the_last_writes_may_go_and_nothing_else() {
    let mut lost = 0;
    for scenario in ALL.iter().filter(|s| ["append", "batch", "forward", "output"].contains(&s.name)) {
        let told = Told::new(scenario);
        for at in told.points() {
            let run = told.run();
            run.disk.strike_at(at, Fault::Power);
            let ledger = open_with(&run.path(), Durability::Normal);
            let done = ledger
                .map_or(0, |ledger| scenario.steps.iter().take_while(|step| step(&ledger).is_ok()).count());
            if !run.disk.powerless() {
                continue;
            }
            run.disk.power_back(run.folder.path(), Unsynced::Torn(at as u64));
            let place = format!("{}: call {at}", scenario.name);
            let ledger = open(&run.path()).unwrap();
            sound(&ledger, &place);
            let found = shape(&ledger);
            let lawful = &told.shapes[..=(done + 1).min(told.shapes.len() - 1)];
            assert!(lawful.contains(&found), "{place}: after {done} steps");
            lost += usize::from(!told.shapes[done..].contains(&found));
        }
    }
    assert!(lost > 0, "some acknowledged write went with the power");
}
