//! The importers against the independent count, on a real ledger file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Instant;

use sayso::model::{Entry, EntryBody, SpeakerKind};
use sayso::{Ledger, Options, Scope};
use sayso_import::{FileReport, Importer};

use super::counter::{Counts, Tally, count};
use super::{SKIPPED, files, root, say};

/// Every entry of a ledger.
fn entries(ledger: &Ledger) -> Vec<Entry> {
    let reader = ledger.reader(Scope::All);
    let sessions = reader.sessions(None).expect("sessions can be listed");
    sessions
        .iter()
        .flat_map(|s| reader.walk(s.id, 0).collect::<Result<Vec<_>, _>>().expect("entries"))
        .collect()
}

/// What a ledger holds, in the count's own shape.
fn held(ledger: &Ledger) -> Counts {
    let mut counts = Counts::default();
    for entry in entries(ledger) {
        match &entry.body {
            EntryBody::Turn(turn) => {
                let tally = match turn.speaker.kind {
                    SpeakerKind::Owner | SpeakerKind::Person => &mut counts.human,
                    SpeakerKind::Agent => &mut counts.agent,
                    SpeakerKind::Tool => &mut counts.tool,
                    SpeakerKind::System => &mut counts.system,
                };
                tally.turns += 1;
                tally.digests.push(blake3::hash(turn.text().as_bytes()).to_hex().to_string());
            }
            EntryBody::Compaction(_) => counts.compactions += 1,
            EntryBody::Mark(_) => {}
        }
    }
    let tallies = [&mut counts.human, &mut counts.agent, &mut counts.tool, &mut counts.system];
    tallies.into_iter().for_each(|tally| tally.digests.sort());
    counts
}

#[track_caller]
fn agree(file: &Path, ledger: &Ledger, counted: &Counts) {
    let held = held(ledger);
    let pairs: [(&str, &Tally, &Tally); 4] = [
        ("human", &held.human, &counted.human),
        ("agent", &held.agent, &counted.agent),
        ("tool", &held.tool, &counted.tool),
        ("system", &held.system, &counted.system),
    ];
    for (who, held, counted) in pairs {
        assert_eq!(held.turns, counted.turns, "{}: {who} turns", file.display());
        assert_eq!(held.digests, counted.digests, "{}: {who} texts", file.display());
    }
    assert_eq!(held.compactions, counted.compactions, "{}", file.display());
}

/// A ledger of its own for one file.
struct Scratch {
    folder: tempfile::TempDir,
    ledger: Ledger,
}

impl Scratch {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("ledger.db");
        let options = Options { durability: sayso::Durability::Normal, ..Options::default() };
        let ledger = Ledger::open(&path, &options).expect("a new ledger opens");
        Self { folder, ledger }
    }

    fn import(&self, file: &Path) -> Result<FileReport, sayso_import::ImportError> {
        Importer::new("owner").import_file(&self.ledger, file, &mut |_| {})
    }

    /// A copy of the first bytes of a file, under its own name.
    fn start_of(&self, file: &Path, bytes: usize) -> PathBuf {
        let whole = std::fs::read(file).expect("the file can be read");
        let copy = self.folder.path().join(file.file_name().expect("a file has a name"));
        std::fs::write(&copy, &whole[..bytes.min(whole.len())]).expect("a copy can be written");
        copy
    }
}

/// Imports one file in all the ways that matter; its line of the table.
fn check(name: &str, file: &Path) -> String {
    let counted = count(file).expect("the file can be counted");
    let scratch = Scratch::new();
    let started = now();
    let report = match (scratch.import(file), &counted.refused) {
        (Ok(report), None) => report,
        (Err(error), Some(_)) => return format!("{name:<86} refused: {error}\n"),
        (imported, refused) => panic!("{name}: imported {imported:?}, counted {refused:?}"),
    };
    let seconds = started.elapsed().as_secs_f64();
    agree(file, &scratch.ledger, &counted);
    assert_eq!(report.records, counted.records, "{name}");
    if !name.starts_with("nasty") {
        assert_eq!(report.unknown, 0, "{name}: {:?}", report.unknown_kinds);
    }
    let again = scratch.import(file).expect("a second import");
    assert_eq!((again.turns_added, again.turns_known), (0, report.turns_added), "{name}");
    grows(file, &counted);
    verified(&scratch);
    line(name, file, &report, seconds)
}

/// A file that is imported while it grows, also in the middle of a line, gives the same.
fn grows(file: &Path, counted: &Counts) {
    let length = usize::try_from(file.metadata().expect("the file is there").len()).expect("it fits");
    let scratch = Scratch::new();
    let mut added = 0;
    for share in [3, 5, 8, 9] {
        let start = scratch.start_of(file, length * share / 10);
        // Too little of a file may hold no header yet.
        added += scratch.import(&start).map_or(0, |r| r.turns_added);
    }
    let whole = scratch.start_of(file, length);
    added += scratch.import(&whole).expect("the whole file").turns_added;
    let turns = counted.human.turns + counted.agent.turns + counted.tool.turns + counted.system.turns;
    assert_eq!(added, turns, "{}: a grown file adds only what is new", file.display());
}

fn verified(scratch: &Scratch) {
    let report =
        scratch.ledger.reader(Scope::All).verify(&std::collections::BTreeMap::new()).expect("verify runs");
    assert_eq!(report.problems, []);
}

fn line(name: &str, file: &Path, report: &FileReport, seconds: f64) -> String {
    let megabytes = file.metadata().map_or(0.0, |m| m.len() as f64 / 1e6);
    let skipped: u64 = report.skipped.values().sum();
    let mut line = format!("{name:<86} {:>7} {:>6} {skipped:>7}", report.records, report.turns_added);
    let _ = writeln!(
        line,
        " {:>7} {:>7} {seconds:>8.3} {:>7.1}",
        report.unknown,
        report.repairs,
        megabytes / seconds.max(1e-6)
    );
    line
}

/// The table tells how long things took; nothing is decided by it.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

fn head() -> String {
    format!(
        "{:<86} {:>7} {:>6} {:>7} {:>7} {:>7} {:>8} {:>7}\n",
        "file", "records", "turns", "skipped", "unknown", "repairs", "seconds", "MB/s"
    )
}

#[test]
fn the_shipped_sessions_agree() {
    for name in ["codex.jsonl", "pi.jsonl"] {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/cli/demo").join(name);
        check(name, &file);
    }
}

#[test]
fn the_corpus_agrees() {
    let Some(root) = root() else {
        say(SKIPPED).expect("standard error can be written");
        return;
    };
    let found = files(&root);
    assert!(!found.is_empty(), "SAYSO_CORPUS names a folder without session files");
    let mut table = head();
    for file in &found {
        let name = file.strip_prefix(&root).unwrap_or(file).display().to_string();
        table += &check(&name, file);
    }
    say(&table).expect("standard error can be written");
    let refused = table.lines().filter(|l| l.contains("not_a_rollout_") && l.contains("refused: "));
    assert_eq!(
        refused.count(),
        found.iter().filter(|f| f.to_string_lossy().contains("not_a_rollout_")).count()
    );
}
