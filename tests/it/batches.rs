//! Random batches: the embedded backend does, refuses and reads exactly what the oracle does, refuses and reads.

mod compare;
mod copies;
mod growing;
pub(crate) mod random;
mod relay;
mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sayso_model::{LedgerId, UtcMs};
use sayso_sqlite::{Durability, Options, SqliteStore};
use sayso_store::{Batch, Done, Erasing, Fate, Oracle, Refusal, Scope, Store, StoreError};

use compare::Pair;
use copies::Copies;
use growing::Growing;
use random::Random;
use world::World;

const LEDGER: LedgerId = LedgerId::from_u128(7);
/// Bytes of a stored output now and then: nothing, little, and more than one chunk.
const BLOBS: &[usize] = &[0, 5, 70_000];

/// How often each thing happened.
type Counts = BTreeMap<String, usize>;

fn open(path: &Path) -> SqliteStore {
    let options = Options { durability: Durability::Normal, ..Options::new(LEDGER, UtcMs(0)) };
    SqliteStore::open(path, &options).unwrap()
}

fn outcome<T>(done: Result<T, StoreError>) -> Result<T, (usize, Refusal)> {
    match done {
        Ok(done) => Ok(done),
        Err(StoreError::Refused { index, refusal }) => Err((index, refusal)),
        Err(other) => panic!("{other:?}"),
    }
}

fn put_blobs(pair: &Pair<'_>, world: &mut World, r: &mut Random) {
    for len in BLOBS {
        let bytes: Vec<u8> = (0..*len).map(|_| r.number() as u8).collect();
        let expected = pair.oracle.put_blob(&mut bytes.as_slice()).unwrap();
        assert_eq!(pair.store.put_blob(&mut bytes.as_slice()).unwrap(), expected);
        world.blobs.push(expected);
    }
}

fn sequence(seed: u64, batches: usize, counts: &mut Counts) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("ledger.sayso");
    let (oracle, store) = (Arc::new(Oracle::new(LEDGER)), Arc::new(open(&path)));
    let mut growing = Growing::new(Arc::clone(&oracle), Arc::clone(&store));
    let (mut world, mut r) = (World::default(), Random::new(seed));
    let first = world.first(&mut r);
    put_blobs(&Pair { oracle: &*oracle, store: &*store }, &mut world, &mut r);
    write(&Pair { oracle: &*oracle, store: &*store }, &first, counts).unwrap();
    world.settle(true, &mut r);
    for step in 1..=batches {
        if r.chance(7) {
            erase(&Pair { oracle: &*oracle, store: &*store }, &mut world, &mut r, counts);
        }
        if r.chance(40) {
            growing.step(&mut world, &mut r, counts);
        }
        let batch = world.next(&mut r);
        let done = write(&Pair { oracle: &*oracle, store: &*store }, &batch, counts);
        world.settle(done.is_ok(), &mut r);
        if step % 8 == 0 {
            Pair { oracle: &*oracle, store: &*store }.compare(&world, &mut r);
        }
    }
    drop((store, growing));
    let store = open(&path);
    Pair { oracle: &*oracle, store: &store }.compare(&world, &mut r);
}

/// A ledger that is copied when it is half written, and again at the end.
fn copied(seed: u64, batches: usize, counts: &mut Counts) {
    let folder = tempfile::tempdir().unwrap();
    let store: Arc<dyn Store> = Arc::new(open(&folder.path().join("ledger.sayso")));
    let oracle: Arc<dyn Store> = Arc::new(Oracle::new(LEDGER));
    let pair = Pair { oracle: oracle.as_ref(), store: store.as_ref() };
    let (mut world, mut r) = (World::default(), Random::new(seed));
    let first = world.first(&mut r);
    put_blobs(&pair, &mut world, &mut r);
    write(&pair, &first, counts).unwrap();
    world.settle(true, &mut r);
    let mut follower = Some(Copies::new());
    for step in 1..=batches {
        if r.chance(7) {
            erase(&pair, &mut world, &mut r, counts);
        }
        let batch = world.next(&mut r);
        let done = write(&pair, &batch, counts);
        world.settle(done.is_ok(), &mut r);
        if step % 10 == 0 || step == batches {
            let followed = follower.as_ref().is_some_and(|copy| copy.follow(&store, &world, &mut r));
            follower = follower.filter(|_| followed);
            *counts.entry("followed".to_owned()).or_default() += usize::from(followed);
        }
    }
    Copies::new().come_back(&oracle, &store);
}

/// Erases something in both, in the file in steps that are cut off now and then.
fn erase(pair: &Pair<'_>, world: &mut World, r: &mut Random, counts: &mut Counts) {
    let erase = world.erase(r);
    let expected = outcome(pair.oracle.erase(&erase, usize::MAX));
    let steps = r.below(3);
    let found = outcome(pair.store.erase(&erase, steps));
    assert_eq!(found.as_ref().err(), expected.as_ref().err(), "{erase:#?}");
    if found.is_ok() {
        assert_eq!(pair.store.verify(&Scope::All).unwrap().problems, Vec::new(), "after {steps} steps");
        assert_eq!(pair.store.go_on_erasing(&Scope::All, usize::MAX).unwrap(), Erasing::Done);
    }
    if expected.is_ok() && r.chance(80) {
        world.forget(erase.target);
    }
    let what = match &expected {
        Ok(_) => format!("erase {} done", variant(&erase.target)),
        Err((_, refusal)) => variant(refusal),
    };
    *counts.entry(what).or_default() += 1;
}

/// Writes a batch to both; whether it was done.
fn write(pair: &Pair<'_>, batch: &Batch, counts: &mut Counts) -> Result<(), ()> {
    let expected = outcome(pair.oracle.write(batch));
    let found = outcome(pair.store.write(batch));
    assert_eq!(found, expected, "{batch:#?}");
    let mut count = |what: String| *counts.entry(what).or_default() += 1;
    count("batches".to_owned());
    match expected {
        Ok(done) => {
            for (command, done) in batch.commands.iter().zip(done) {
                let fate = if matches!(done, Done::Entries(Fate::Known, _)) { "known" } else { "done" };
                count(format!("{} {fate}", variant(command)));
                if let (sayso_store::Command::Relay(step), Done::Relay(did)) = (command, done) {
                    count(format!("{} {}", variant(&step.what), variant(&did)));
                }
            }
            Ok(())
        }
        Err((index, refusal)) => {
            count("refused".to_owned());
            count(format!("{} refused", variant(&batch.commands[index])));
            count(variant(&refusal));
            if let Refusal::Relay(refusal) = &refusal {
                count(variant(refusal));
            }
            Err(())
        }
    }
}

fn variant(value: &impl std::fmt::Debug) -> String {
    let text = format!("{value:?}");
    text.chars().take_while(|c| c.is_alphanumeric()).collect()
}

#[test]
fn sqlite_does_refuses_and_reads_what_the_oracle_does() {
    let counts = RefCell::new(Counts::new());
    // What is rare may not come up at once: a few more rounds then.
    for _ in 0..6 {
        let config = ProptestConfig { cases: 240, failure_persistence: None, ..ProptestConfig::default() };
        let run = TestRunner::new(config).run(&(any::<u64>(), 14..26usize), |(seed, batches)| {
            sequence(seed, batches, &mut counts.borrow_mut());
            Ok(())
        });
        run.unwrap_or_else(|error| panic!("{error}"));
        if missing(&counts.borrow()).is_empty() {
            break;
        }
    }
    covered(&counts.borrow());
}

#[test]
fn a_copy_of_a_random_ledger_has_its_heads_and_exports_the_same() {
    let counts = RefCell::new(Counts::new());
    let config = ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() };
    let run = TestRunner::new(config).run(&(any::<u64>(), 14..40usize), |(seed, batches)| {
        copied(seed, batches, &mut counts.borrow_mut());
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    for what in
        ["ForkSession", "Edit", "MergeProject", "MoveSession", "RenameSession", "Redact", "StoreOutput"]
    {
        let done = counts.borrow().get(&format!("{what} done")).copied().unwrap_or_default();
        assert!(done > 0, "{what} was never copied");
    }
}

/// Every command was done, known where it can be, and refused; every reason of a refusal occurred.
fn covered(counts: &Counts) {
    let missing = missing(counts);
    assert!(missing.is_empty(), "never happened: {missing:?}\n{counts:#?}");
    let of = |what: &str| counts.get(what).copied().unwrap_or_default();
    assert!(of("refused") * 5 >= of("batches"), "too few refusals: {counts:#?}");
    // Six in ten are, as the commands are drawn; far more would leave too little to compare.
    assert!(of("refused") * 10 <= of("batches") * 7, "too few are written: {counts:#?}");
}

/// What should have occurred and did not.
fn missing(counts: &Counts) -> Vec<String> {
    let of = |what: &str| counts.get(what).copied().unwrap_or_default();
    let commands = [
        "CreateProject",
        "AddAlias",
        "CreateSession",
        "ForkSession",
        "CreateSpeaker",
        "AppendTurn",
        "Edit",
        "Forward",
        "Compact",
        "Reinject",
        "Mark",
        "StoreOutput",
        "RenameProject",
        "MergeProject",
        "RenameSession",
        "MoveSession",
        "Redact",
    ];
    let known = ["AppendTurn", "Edit", "Forward", "Compact", "Reinject", "Mark", "RenameSession", "Redact"]
        .map(|c| format!("{c} known"));
    let wanted = commands.iter().flat_map(|c| [format!("{c} done"), format!("{c} refused")]);
    let reasons = [
        "UnknownProject",
        "UnknownSession",
        "UnknownSpeaker",
        "UnknownTurn",
        "UnknownOutput",
        "UnknownBlob",
        "IdTaken",
        "SameProject",
        "NotTheSpeaker",
        "Superseded",
        "HoldsQuote",
        "NotPinned",
        "NoForkPoint",
        "SharesBeginning",
        "HasForks",
        "Erased",
        "erase Project done",
        "erase Session done",
        "erase Entry done",
        "NothingToRedact",
        "NothingToReinject",
        "NotTheLatest",
        "ProjectAliasTaken",
        "SessionAliasTaken",
        "SpeakerTaken",
        "SessionClosed",
        "NotClosed",
        "HeadMoved",
        "Conflict",
        "Quote",
        "ForwardTooLong",
        "BoundaryPastEnd",
        "TooLarge",
        "Missing",
        "Contradiction",
    ];
    let steps = relay::WANTED.map(str::to_owned);
    let wanted = wanted.chain(known).chain(reasons.map(str::to_owned)).chain(steps);
    wanted.filter(|what| of(what) == 0).collect()
}
