//! Field case S1: whoever finds the ledger locked waits until a deadline, and one at a time brings it up to date.

use std::path::Path;
use std::time::Duration;

use sayso::{Ledger, Options, Scope};

use super::schemas;
use super::{Other, file, log, logged, open, patient, session, sound, tell, texts, wait_for, words};

const PROCESSES: usize = 4;
const THREADS: usize = 2;
const ROUNDS: usize = 8;

/// Opens the ledger with several threads as soon as it is told to, and says something with each.
pub(super) fn open_and_say(folder: &Path, n: usize) {
    log(folder, "ready", &n.to_string());
    while !folder.join("go").exists() {
        std::thread::yield_now();
    }
    std::thread::scope(|threads| {
        for thread in 0..THREADS {
            threads.spawn(move || {
                let ledger = open(folder);
                let turn = words(format!("{n} {thread}"));
                ledger.append(&session(&ledger, "Together"), turn).unwrap();
                log(folder, "ids", &ledger.id().to_string());
            });
        }
    });
}

fn at_once(prepare: impl Fn(&Path)) {
    for _ in 0..ROUNDS {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        prepare(folder);
        let others: Vec<Other> = (0..PROCESSES).map(|n| Other::start(folder, "open", n)).collect();
        while logged(folder, "ready").len() < PROCESSES {
            std::thread::sleep(Duration::from_millis(1));
        }
        tell(folder, "go");
        others.into_iter().for_each(Other::ends_well);
        let ledger = open(folder);
        assert_eq!(logged(folder, "ids"), vec![ledger.id().to_string(); PROCESSES * THREADS]);
        let mut said = texts(&ledger, &session(&ledger, "Together"));
        said.sort();
        let all = (0..PROCESSES).flat_map(|n| (0..THREADS).map(move |thread| format!("{n} {thread}")));
        assert_eq!(said, all.collect::<Vec<_>>());
        sound(&ledger);
        assert_eq!(schemas::tables(&file(folder)), schemas::newest());
    }
}

#[test]
fn s1_many_that_open_a_new_ledger_at_once_make_one() {
    at_once(|_| {});
}

#[test]
fn s1_many_that_open_an_old_ledger_at_once_bring_it_up_to_date_once() {
    at_once(|folder| schemas::load(1, &file(folder)));
}

/// The same with threads only, which come closer together.
#[test]
fn s1_threads_that_open_a_new_ledger_at_once_make_one() {
    for _ in 0..60 {
        let folder = tempfile::tempdir().unwrap();
        let path = file(folder.path());
        let start = std::sync::Barrier::new(6);
        let open = || {
            start.wait();
            Ledger::open(&path, &patient()).map(|ledger| ledger.id())
        };
        let ids: Vec<_> = std::thread::scope(|threads| {
            let all: Vec<_> = (0..6).map(|_| threads.spawn(open)).collect();
            all.into_iter().map(|thread| thread.join().unwrap().unwrap()).collect()
        });
        assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
    }
}

/// A lock that another process holds for a while: everybody waits, and nothing is lost.
#[test]
fn s1_a_lock_that_is_held_for_a_while_is_waited_for() {
    for number in [1, sayso_schema::SQLITE.len()] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        schemas::load(number, &file(folder));
        let holder = Other::start(folder, "hold", 0);
        wait_for(folder, "held");
        std::thread::scope(|threads| {
            let writers: Vec<_> = (0..4)
                .map(|n| {
                    threads.spawn(move || {
                        let ledger = open(folder);
                        ledger.append(&session(&ledger, "Plan"), words(n.to_string())).unwrap();
                    })
                })
                .collect();
            std::thread::sleep(Duration::from_millis(700));
            assert!(writers.iter().all(|w| !w.is_finished()), "nobody writes while it is locked");
            tell(folder, "let go");
            writers.into_iter().for_each(|w| w.join().unwrap());
        });
        holder.ends_well();
        let ledger = open(folder);
        assert_eq!(texts(&ledger, &session(&ledger, "Plan")).len(), 4);
        sound(&ledger);
    }
}

/// A lock that is held past the deadline: an error that can be told from others, and nothing was done.
#[test]
fn s1_a_deadline_that_passes_is_a_typed_error() {
    for number in [1, sayso_schema::SQLITE.len()] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        schemas::load(number, &file(folder));
        let before = schemas::tables(&file(folder));
        let holder = Other::start(folder, "hold", 0);
        wait_for(folder, "held");
        let hasty = Options { wait: Duration::from_millis(200), ..Options::default() };
        let outcome = Ledger::open(&file(folder), &hasty).and_then(|ledger| {
            assert!(ledger.reader(Scope::All).projects().is_ok(), "reading goes on");
            ledger.session("Acme", "Plan")
        });
        let error = outcome.unwrap_err();
        assert!(error.is_busy(), "{error:?}");
        assert!(error.to_string().contains("try again"), "{error}");
        tell(folder, "let go");
        holder.ends_well();
        assert_eq!(schemas::tables(&file(folder)), before);
        let ledger = open(folder);
        ledger.append(&session(&ledger, "Plan"), words("now")).unwrap();
        sound(&ledger);
    }
}
