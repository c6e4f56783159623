//! A program that is killed while it writes a large output.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use sayso::store::{OutputState, StreamKind};
use sayso::{Ended, Ending, Ledger, NewOutput, Scope};

use super::{Other, log, logged, open, session, sound, words};

/// Bytes of one output: three transactions and a bit, since they do not get smaller.
const SIZE: usize = 14 * 1024 * 1024 + 17;
const PIECE: usize = 128 * 1024;

/// The bytes that a writer writes as its output `round`.
fn bytes(n: usize, round: usize) -> Vec<u8> {
    let mut all = vec![0; SIZE];
    blake3::Hasher::new().update(format!("{n} {round}").as_bytes()).finalize_xof().fill(&mut all);
    all
}

/// Outputs that a writer writes at most: a kill that comes late must not fill the disk.
const ROUNDS: usize = 3;

/// Writes outputs, and writes down which it began and which were done; then it waits to be killed.
pub(super) fn stream(folder: &Path, n: usize) {
    let ledger = open(folder);
    let session = session(&ledger, &format!("Outputs {n}"));
    for round in 0..ROUNDS {
        let bytes = bytes(n, round);
        let mut output = ledger.start_output(&session, NewOutput::of("cat")).unwrap();
        log(folder, &format!("begun {n}"), &output.id().to_string());
        for piece in bytes.chunks(PIECE) {
            output.write(StreamKind::Stdout, piece).unwrap();
            output.write(StreamKind::Stderr, b".").unwrap();
        }
        output.finish(Ended::by(Ending::Exit(0))).unwrap();
        log(folder, &format!("finished {n}"), &round.to_string());
    }
    super::until_killed();
}

/// What became of a writer's outputs: complete ones, then at most one that is partial or absent.
fn check(ledger: &Ledger, folder: &Path, n: usize) -> OutputState {
    let reader = ledger.reader(Scope::All);
    let begun = logged(folder, &format!("begun {n}"));
    let finished = logged(folder, &format!("finished {n}")).len();
    let mut last = OutputState::Complete;
    for (round, id) in begun.iter().enumerate() {
        let id = id.parse().unwrap();
        let Some(output) = reader.output(id).unwrap() else {
            assert!(round >= finished, "what was finished is there");
            continue;
        };
        let mut found = Vec::new();
        reader.read_output(id, StreamKind::Stdout, &mut found).unwrap();
        let expected = bytes(n, round);
        match output.state {
            OutputState::Complete => assert!(found == expected && output.exit == Some(0), "{n} {round}"),
            OutputState::Partial => {
                assert!(output.growing && output.exit.is_none() && round >= finished, "{n} {round}");
                assert!(
                    !found.is_empty() && expected.starts_with(&found),
                    "{n} {round}: {} bytes",
                    found.len()
                );
            }
            OutputState::Capped => panic!("nothing capped it"),
        }
        last = output.state;
    }
    last
}

#[test]
fn a_killed_writer_leaves_its_output_absent_or_partial_and_others_go_on_meanwhile() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let ledger = open(folder);
    let (done, plan) = (AtomicBool::new(false), session(&ledger, "Plan"));
    let (mut partial, mut others) = (0, 0);
    std::thread::scope(|threads| {
        let appending = threads.spawn(|| {
            let mut said = 0;
            while !done.load(Ordering::Relaxed) {
                ledger.append(&plan, words("meanwhile")).unwrap();
                said += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            said
        });
        for n in 0..12 {
            let writer = Other::start(folder, "stream", n);
            super::wait_for(folder, &format!("begun {n}"));
            std::thread::sleep(Duration::from_millis(15 + 31 * n as u64));
            writer.kill();
        }
        done.store(true, Ordering::Relaxed);
        others = appending.join().unwrap();
    });
    for n in 0..12 {
        partial += usize::from(check(&ledger, folder, n) == OutputState::Partial);
    }
    assert!(partial > 0, "at least one was hit in the middle");
    assert!(others > 12, "{others} turns were appended while outputs were written");
    sound(&ledger);
    // Bytes that a crash left without an output go, and nothing else.
    while ledger.collect(Duration::ZERO).unwrap().blobs > 0 {}
    (0..12).for_each(|n| _ = check(&ledger, folder, n));
    sound(&ledger);
}
