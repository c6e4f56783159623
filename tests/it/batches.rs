//! Random batches: the embedded backend does, refuses and reads exactly what the oracle does, refuses and reads.

mod compare;
pub(crate) mod random;
mod world;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use sayso_model::{LedgerId, UtcMs};
use sayso_sqlite::{Durability, Options, SqliteStore};
use sayso_store::{Batch, Done, Fate, Oracle, Refusal, StoreError};

use compare::Pair;
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

fn outcome(done: Result<Vec<Done>, StoreError>) -> Result<Vec<Done>, (usize, Refusal)> {
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
    let (oracle, mut store) = (Oracle::new(LEDGER), open(&path));
    let (mut world, mut r) = (World::default(), Random::new(seed));
    let first = world.first(&mut r);
    put_blobs(&Pair { oracle: &oracle, store: &store }, &mut world, &mut r);
    write(&Pair { oracle: &oracle, store: &store }, &first, counts).unwrap();
    world.settle(true, &mut r);
    for step in 1..=batches {
        let batch = world.next(&mut r);
        let done = write(&Pair { oracle: &oracle, store: &store }, &batch, counts);
        world.settle(done.is_ok(), &mut r);
        if step % 8 == 0 {
            Pair { oracle: &oracle, store: &store }.compare(&world, &mut r);
        }
    }
    drop(store);
    store = open(&path);
    Pair { oracle: &oracle, store: &store }.compare(&world, &mut r);
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
            }
            Ok(())
        }
        Err((index, refusal)) => {
            count("refused".to_owned());
            count(format!("{} refused", variant(&batch.commands[index])));
            count(variant(&refusal));
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
    let config = ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let run = runner.run(&(any::<u64>(), 14..26usize), |(seed, batches)| {
        sequence(seed, batches, &mut counts.borrow_mut());
        Ok(())
    });
    run.unwrap_or_else(|error| panic!("{error}"));
    covered(&counts.borrow());
}

/// Every command was done, known where it can be, and refused; every reason of a refusal occurred.
fn covered(counts: &Counts) {
    let of = |what: &str| counts.get(what).copied().unwrap_or_default();
    let commands = [
        "CreateProject",
        "AddAlias",
        "CreateSession",
        "CreateSpeaker",
        "AppendTurn",
        "Forward",
        "Compact",
        "Mark",
        "StoreOutput",
    ];
    let known = ["AppendTurn", "Forward", "Compact", "Mark"].map(|c| format!("{c} known"));
    let wanted = commands.iter().flat_map(|c| [format!("{c} done"), format!("{c} refused")]);
    let reasons = [
        "UnknownProject",
        "UnknownSession",
        "UnknownSpeaker",
        "UnknownTurn",
        "UnknownOutput",
        "UnknownBlob",
        "IdTaken",
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
    let wanted = wanted.chain(known).chain(reasons.map(str::to_owned));
    let missing: Vec<String> = wanted.filter(|what| of(what) == 0).collect();
    assert!(missing.is_empty(), "never happened: {missing:?}\n{counts:#?}");
    assert!(of("refused") * 5 >= of("batches"), "too few refusals: {counts:#?}");
    assert!(of("refused") * 5 <= of("batches") * 3, "too few are written: {counts:#?}");
}
