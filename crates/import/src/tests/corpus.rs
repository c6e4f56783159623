//! A run over people's own files: `SAYSO_CORPUS=FOLDER cargo test -p sayso-import corpus -- --nocapture`. With
//! `SAYSO_CORPUS_TURNS` it shows every turn.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::growth::grows_from;
use super::{Sample, assert_counted, parts};
use crate::Importer;
use crate::walk::{self, Found};

/// At how many places a file is cut, to see whether it grows well from there.
const CUTS: usize = 12;

#[test]
fn the_corpus_is_read_whole() {
    let Some(folder) = std::env::var_os("SAYSO_CORPUS") else { return };
    for found in walk::files(&[PathBuf::from(folder)]) {
        let Found::File(path) = found else {
            println!("{found:?}");
            continue;
        };
        let sample = Sample::new();
        match Importer::new("Mira").import_file(&sample.ledger, &path, &mut |_| {}) {
            Err(error) => println!("{error}"),
            Ok(report) => {
                assert_counted(&report);
                println!("{}: {report:?}", path.file_name().unwrap().to_string_lossy());
                show(&sample);
                cut(&path);
            }
        }
    }
}

fn cut(path: &Path) {
    if path.extension().is_none_or(|e| e != "jsonl") {
        return;
    }
    let text = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
    let lengths = (1..CUTS).map(|part| text.len() / CUTS * part);
    grows_from(&path.to_string_lossy(), &text, lengths);
}

fn show(sample: &Sample) {
    let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
    for turn in sample.turns() {
        *kinds.entry(turn.speaker.kind.as_str()).or_default() += 1;
    }
    println!("    {kinds:?}");
    if std::env::var_os("SAYSO_CORPUS_TURNS").is_none() || kinds.is_empty() {
        return;
    }
    println!("    title {:?}", sample.title());
    for turn in sample.turns() {
        let parts = parts(&turn).into_iter().map(|(kind, word, text)| {
            let start: String = text.chars().take(60).collect();
            format!("{kind}/{word}:{start:?}")
        });
        let parts: Vec<_> = parts.collect();
        println!("    {} {:?} {}", turn.speaker.kind, turn.speaker.name, parts.join(" | "));
    }
}
