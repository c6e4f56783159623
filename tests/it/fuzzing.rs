//! Every file of every corpus, as the fuzz targets run it; and each corpus stays small.

use std::path::PathBuf;

use sayso_tests::fuzzing::TARGETS;

/// Bytes of one corpus.
const MOST: u64 = 60_000;

fn corpus(target: &str) -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../fuzz/corpus")).join(target)
}

#[test]
fn every_file_of_every_corpus_holds() {
    for (target, run) in TARGETS {
        let files = std::fs::read_dir(corpus(target)).unwrap_or_else(|error| panic!("{target}: {error}"));
        let files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
        assert!(files.len() >= 3, "{target}: {}", files.len());
        let bytes: u64 = files.iter().map(|file| file.metadata().unwrap().len()).sum();
        assert!(bytes <= MOST, "{target}: {bytes} bytes");
        for file in files {
            run(&std::fs::read(file).unwrap());
        }
    }
}

/// Pieces of the corpora, cut and put together: a little of what a fuzzer does, in each run of the tests.
#[test]
fn mixtures_of_the_corpora_hold() {
    for (target, run) in TARGETS {
        let files = std::fs::read_dir(corpus(target))
            .unwrap()
            .map(|file| std::fs::read(file.unwrap().path()).unwrap());
        let mut files: Vec<Vec<u8>> = files.collect();
        files.sort();
        for n in 0..60_u64 {
            let draw = |what: &str, below: usize| {
                let hash = blake3::hash(format!("{target} {n} {what}").as_bytes());
                let number = u64::from_le_bytes(hash.as_bytes()[..8].try_into().unwrap());
                usize::try_from(number % below.max(1) as u64).unwrap()
            };
            let (one, other) = (&files[draw("one", files.len())], &files[draw("other", files.len())]);
            let mut bytes = one[..draw("head", one.len() + 1)].to_vec();
            bytes.extend_from_slice(&other[draw("tail", other.len() + 1)..]);
            if let Some(byte) = (!bytes.is_empty()).then(|| draw("at", bytes.len())) {
                bytes[byte] ^= 1 << draw("bit", 8);
            }
            run(&bytes);
        }
    }
}
