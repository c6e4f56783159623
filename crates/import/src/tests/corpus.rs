//! A run over people's own files: `SAYSO_CORPUS=FOLDER cargo test -p sayso-import corpus -- --nocapture`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::{Sample, assert_counted};
use crate::{Importer, walk};

#[test]
fn the_corpus_is_read_whole() {
    let Some(folder) = std::env::var_os("SAYSO_CORPUS") else { return };
    for path in walk::files(&[PathBuf::from(folder)]).into_iter().flatten() {
        let sample = Sample::new();
        let importer = Importer::new("owner");
        let name = path.file_name().unwrap().to_string_lossy();
        match importer.import_file(&sample.ledger, &path, &mut |_| {}) {
            Err(error) => println!("{name}: {error}"),
            Ok(report) => {
                let mut kinds: BTreeMap<_, usize> = BTreeMap::new();
                for turn in sample.turns() {
                    *kinds.entry(turn.speaker.kind.as_str()).or_default() += 1;
                }
                println!("{name}: {report:?}\n    {kinds:?}");
                assert_counted(&report);
                let again = importer.import_file(&sample.ledger, &path, &mut |_| {}).unwrap();
                assert_eq!((again.turns_added, again.turns_known), (0, report.turns_added), "{name}");
                if std::env::var_os("SAYSO_CORPUS_TURNS").is_some() {
                    println!("    title {:?}", sample.title());
                    for turn in sample.turns() {
                        let short: Vec<_> = super::parts(&turn)
                            .into_iter()
                            .map(|(k, w, t)| format!("{k}/{w}:{:?}", t.chars().take(60).collect::<String>()))
                            .collect();
                        println!("    {} {:?} {}", turn.speaker.kind, turn.speaker.name, short.join(" | "));
                    }
                }
            }
        }
    }
}
