//! Field case S9: a commit that began ends or is rolled back whole, whatever becomes of its writer.

use std::collections::BTreeSet;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

use sayso::store::Session;
use sayso::{Error, Ledger, NewTurn, Scope, SpeakerKind, StoreError};

use super::{Other, file, log, logged, open, patient, session, sound, texts, words};

/// Turns of one batch.
const TOGETHER: usize = 3;

fn batch(ledger: &Ledger, session: &Session, texts: &[String]) -> Result<(), Error> {
    let write = |plan: &mut sayso::Plan<'_>| {
        texts.iter().try_for_each(|text| plan.append(session.id, words(text)).map(drop))
    };
    ledger.transact(&Scope::All, write).map(drop)
}

/// Batches that a writer writes at most: a kill that comes late must not fill the disk.
const ROUNDS: usize = 5_000;

/// Appends batches, and writes down which were done; then it waits to be killed.
pub(super) fn append(folder: &Path, n: usize) {
    let ledger = open(folder);
    let session = session(&ledger, &format!("Session {n}"));
    for round in 0..ROUNDS {
        let texts: Vec<String> =
            (0..TOGETHER).map(|at| format!("{n} {round} {at} {}", "더 ".repeat(600))).collect();
        batch(&ledger, &session, &texts).unwrap();
        log(folder, &format!("done {n}"), &round.to_string());
    }
    super::until_killed();
}

#[test]
fn s9_a_killed_writer_leaves_whole_batches_and_all_that_it_was_told_are_there() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    drop(open(folder));
    let mut kills = 0;
    for round in 0..6 {
        let writers: Vec<Other> = (0..2).map(|n| Other::start(folder, "append", round * 2 + n)).collect();
        for n in 0..2 {
            super::wait_for(folder, &format!("done {}", round * 2 + n));
        }
        // Each time in the middle of something else.
        std::thread::sleep(Duration::from_millis(20 + 37 * round as u64));
        kills += writers.len();
        writers.into_iter().for_each(Other::kill);
    }
    let ledger = open(folder);
    sound(&ledger);
    for n in 0..kills {
        let said = texts(&ledger, &session(&ledger, &format!("Session {n}")));
        let acknowledged = logged(folder, &format!("done {n}")).len();
        let batches: Vec<String> =
            said.iter().map(|t| t.split(' ').take(3).collect::<Vec<_>>().join(" ")).collect();
        let whole = said.len() / TOGETHER;
        let expected = (0..whole).flat_map(|round| (0..TOGETHER).map(move |at| format!("{n} {round} {at}")));
        assert_eq!(batches, expected.collect::<Vec<_>>(), "whole batches, in order");
        // One more may have been written without its writer having lived to hear of it.
        assert!(whole == acknowledged || whole == acknowledged + 1, "{whole} {acknowledged}");
    }
}

/// Something that gives some bytes and then ends in a panic, or in an error.
struct Breaks {
    left: usize,
    panics: bool,
}

impl Read for Breaks {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            assert!(!self.panics, "the caller's own code panics");
            return Err(std::io::Error::other("cancelled"));
        }
        let now = to.len().min(self.left);
        to[..now].fill(7);
        self.left -= now;
        Ok(now)
    }
}

#[test]
fn s9_a_cancelled_or_panicking_writer_leaves_nothing_half_and_others_go_on() {
    let folder = tempfile::tempdir().unwrap();
    let ledger = open(folder.path());
    let plan = session(&ledger, "Plan");
    for panics in [false, true] {
        let cancelled = |left| {
            let mut bytes = Breaks { left, panics };
            catch_unwind(AssertUnwindSafe(|| ledger.put_blob(&mut bytes).is_err())).unwrap_or(true)
        };
        assert!(cancelled(0) && cancelled(70_000) && cancelled(3_000_000));
    }
    let panicking = catch_unwind(AssertUnwindSafe(|| {
        ledger.transact(&Scope::All, |plan_of| {
            plan_of.append(plan.id, words("half"))?;
            assert!(plan.turns > 0, "the caller's own code panics");
            Ok(())
        })
    }));
    assert!(panicking.is_err());
    // The second command of a batch is refused: the first is not there either.
    let refused = ledger.transact(&Scope::All, |plan_of| {
        plan_of.append(plan.id, words("half"))?;
        let answers = NewTurn { reply_to: Some(ledger.fresh_entry()), ..words("other half") };
        plan_of.append(plan.id, answers).map(drop)
    });
    assert!(refused.unwrap_err().refusal().is_some());
    assert_eq!(texts(&ledger, &plan), Vec::<String>::new());
    ledger.append(&plan, words("whole")).unwrap();
    assert_eq!(texts(&ledger, &plan), ["whole"]);
    sound(&ledger);
}

fn keyed(n: usize) -> NewTurn {
    let text = format!("{n} {}", "0123456789".repeat(400));
    NewTurn::text(SpeakerKind::Agent, "Rocky", text).with_key(format!("key {n}"))
}

/// Appends until the file may not grow any more, and writes down what it heard then.
pub(super) fn until_full(folder: &Path) {
    let ledger = open(folder);
    let plan = session(&ledger, "Plan");
    for n in 0..10_000 {
        match ledger.append(&plan, keyed(n)) {
            Ok(_) => log(folder, "done", &n.to_string()),
            Err(Error::Store(error @ StoreError::CommitUnknown(_))) => {
                return log(folder, "unknown", &error.to_string());
            }
            Err(other) => return log(folder, "other error", &format!("{other:?}")),
        }
    }
}

/// A commit that fails while its bytes are being written: whether it is there is not known, and a retry with the key settles it.
#[cfg(unix)]
#[test]
fn s9_after_a_commit_whose_end_is_not_known_a_retry_with_the_key_writes_once() {
    for blocks in [900, 1_201, 2_000] {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        drop(session(&open(folder), "Plan"));
        // A limit on the size of files fails a write as a full disk does. The signal that comes with it is ignored.
        let script = format!("ulimit -f {blocks}; trap '' XFSZ; exec \"$0\" \"$@\"");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &script]).arg(std::env::current_exe().unwrap()).args(super::ARGUMENTS);
        Other::spawn(&mut command, folder, "until full", 0).ends_well();
        assert_eq!(logged(folder, "other error"), Vec::<String>::new());
        let said = logged(folder, "unknown");
        assert!(said.len() == 1 && said[0].contains("do the same again"), "{said:?}");
        let done = logged(folder, "done").len();
        assert!(done > 0, "some were written before");
        let ledger = Ledger::open(&file(folder), &patient()).unwrap();
        let plan = session(&ledger, "Plan");
        sound(&ledger);
        let before = texts(&ledger, &plan).len();
        assert!(before == done || before == done + 1, "{before} of {done}");
        for _ in 0..2 {
            ledger.append(&plan, keyed(done)).unwrap();
        }
        let all = texts(&ledger, &plan);
        assert_eq!(all.len(), done + 1);
        assert_eq!(all.iter().collect::<BTreeSet<_>>().len(), done + 1, "none twice");
        sound(&ledger);
    }
}
