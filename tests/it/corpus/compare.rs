//! The importers against the independent count, on a real ledger file.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::Instant;

use sayso::model::{Entry, EntryBody, EntryId, SpeakerKind};
use sayso::{Ledger, Options, Scope};
use sayso_import::{FileReport, Importer};

use super::counter::{BROKEN, Counts, Detail, Tally, count, digest};
use super::{COPIES, NASTY, SKIPPED, files, root, say};

/// What a line of the table says of a file that is no session.
const REFUSED: &str = "refused: ";

/// The entries of every session of a ledger.
fn sessions(ledger: &Ledger) -> Vec<Vec<Entry>> {
    let reader = ledger.reader(Scope::All);
    let sessions = reader.sessions(None).expect("sessions can be listed");
    let entries = |id| reader.walk(id, 0).collect::<Result<Vec<_>, _>>().expect("entries");
    sessions.iter().map(|session| entries(session.id)).collect()
}

/// The name of a speaker's tally.
fn kind_name(kind: SpeakerKind) -> &'static str {
    match kind {
        SpeakerKind::Owner | SpeakerKind::Person => "human",
        SpeakerKind::Agent => "agent",
        SpeakerKind::Tool => "tool",
        SpeakerKind::System => "system",
    }
}

/// What a ledger holds, in the count's own shape.
fn held(ledger: &Ledger) -> Counts {
    let mut counts = Counts::default();
    let mut detail = Detail::default();
    let corrected = corrected(ledger);
    for entries in sessions(ledger) {
        let right = entries.iter().filter(|entry| !corrected.contains(&entry.id));
        let said: Vec<String> = right.filter_map(|entry| add(entry, &mut counts, &mut detail)).collect();
        detail.sessions.extend(Some(said).filter(|said| !said.is_empty()));
    }
    let tallies = [&mut counts.human, &mut counts.agent, &mut counts.tool, &mut counts.system];
    tallies.into_iter().for_each(|tally| tally.digests.sort());
    detail.parts.sort();
    detail.sessions.sort();
    counts.detail = Some(detail);
    counts
}

/// Adds what one entry holds; its line in the session.
fn add(entry: &Entry, counts: &mut Counts, detail: &mut Detail) -> Option<String> {
    match &entry.body {
        EntryBody::Turn(turn) => {
            for part in &turn.parts {
                let kind = kind_name(turn.speaker_of(part).kind);
                detail.parts.extend(part.spoken().map(|text| format!("{kind} {}", digest(text))));
            }
            let kind = kind_name(turn.speaker.kind);
            counts.tally(kind).add(&turn.text());
            Some(format!("{kind} {}", digest(&turn.text())))
        }
        EntryBody::Compaction(compaction) => {
            counts.compactions += 1;
            Some(format!("compaction {}", digest(&compaction.summary)))
        }
        EntryBody::Mark(_) | EntryBody::Reinjection(_) => None,
    }
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
    if let (Some(held), Some(counted)) = (&held.detail, &counted.detail) {
        assert_eq!(held.parts, counted.parts, "{}: whose words", file.display());
        assert_eq!(held.sessions, counted.sessions, "{}: order of sessions", file.display());
    }
}

/// A ledger of its own for one file.
pub(super) struct Scratch {
    folder: tempfile::TempDir,
    pub(super) ledger: Ledger,
}

impl Scratch {
    pub(super) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a scratch folder");
        let path = folder.path().join("ledger.db");
        let options = Options { durability: sayso::Durability::Normal, ..Options::default() };
        let ledger = Ledger::open(&path, &options).expect("a new ledger opens");
        Self { folder, ledger }
    }

    pub(super) fn import(&self, file: &Path) -> Result<FileReport, sayso_import::ImportError> {
        Importer::new("owner").import_file(&self.ledger, file, &mut |_| {})
    }

    /// A copy of the first bytes of a file, under its own name and in folders of the same names: they tell programs apart.
    pub(super) fn start_of(&self, file: &Path, bytes: usize) -> PathBuf {
        let whole = std::fs::read(file).expect("the file can be read");
        let names: Vec<_> = file.iter().skip(1).collect();
        let near = &names[names.len().saturating_sub(4)..];
        let copy = self.folder.path().join(near.iter().collect::<PathBuf>());
        std::fs::create_dir_all(copy.parent().expect("a folder")).expect("folders can be made");
        std::fs::write(&copy, &whole[..bytes.min(whole.len())]).expect("a copy can be written");
        copy
    }
}

/// How often each kind was skipped, by format.
pub(super) type Kinds = BTreeMap<&'static str, BTreeMap<String, u64>>;

/// Imports one file in all the ways that matter; its line of the table.
pub(super) fn check(name: &str, file: &Path, kinds: &mut Kinds) -> String {
    let counted = count(file).expect("the file can be counted");
    let scratch = Scratch::new();
    let started = now();
    let report = match (scratch.import(file), &counted.refused) {
        (Ok(report), None) => report,
        (Err(error), Some(_)) => return format!("{name:<102} {REFUSED}{error}\n"),
        (imported, refused) => panic!("{name}: imported {imported:?}, counted {refused:?}"),
    };
    let seconds = started.elapsed().as_secs_f64();
    agree(file, &scratch.ledger, &counted);
    assert_eq!(report.records, counted.records, "{name}");
    if !name.contains(NASTY) {
        assert_eq!(report.unknown, 0, "{name}: {:?}", report.unknown_kinds);
    }
    if let Some(detail) = &counted.detail {
        each_counted_once(name, &report, detail, &counted);
    }
    let again = scratch.import(file).expect("a second import");
    assert_eq!((again.turns_added, again.turns_known), (0, report.turns_added), "{name}");
    grows(file, &counted);
    verified(&scratch);
    let of_format = kinds.entry(report.format.word()).or_default();
    for (kind, count) in &report.skipped {
        *of_format.entry(kind.clone()).or_default() += count;
    }
    line(name, file, &counted, &report, seconds)
}

/// Every record is a turn, a compaction, of a known kind that is passed over, or unknown.
fn each_counted_once(name: &str, report: &FileReport, detail: &Detail, counted: &Counts) {
    assert_eq!(report.skipped, detail.skipped, "{name}: skipped");
    assert_eq!(report.unknown, detail.unknown, "{name}: {:?}", report.unknown_kinds);
    assert_eq!(report.compactions, counted.compactions, "{name}: compactions");
    let skipped: u64 = report.skipped.iter().filter(|(kind, _)| *kind != BROKEN).map(|kind| kind.1).sum();
    let header = u64::from(counted.header);
    let all = header + report.turns_added + report.compactions + skipped + report.unknown;
    assert_eq!(all, counted.records, "{name}: each record is counted once");
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
    // Whose the last words of a file are may only be told by what is written next.
    added -= corrected(&scratch.ledger).len() as u64;
    // Words that were queued may stand where they were taken instead of where they were shown, and what the program
    // added to them in a turn of its own.
    let queued = |detail: &Detail| detail.skipped.keys().any(|kind| kind.starts_with("queue-operation/"));
    if counted.detail.as_ref().is_some_and(queued) {
        assert!(added >= turns, "{}: a grown file loses nothing", file.display());
        return;
    }
    assert_eq!(added, turns, "{}: a grown file adds only what is new", file.display());
    agree(file, &scratch.ledger, counted);
}

/// The turns that were imported by a speaker who did not say them, and that stand once more by the right one.
fn corrected(ledger: &Ledger) -> HashSet<EntryId> {
    let marks = sessions(ledger).into_iter().flatten().filter_map(|entry| match entry.body {
        EntryBody::Mark(mark) if mark.route.ends_with(" corrected") => mark.of,
        _ => None,
    });
    marks.collect()
}

fn verified(scratch: &Scratch) {
    let report = scratch.ledger.reader(Scope::All).verify(&BTreeMap::new()).expect("verify runs");
    assert_eq!(report.problems, []);
}

fn line(name: &str, file: &Path, counted: &Counts, report: &FileReport, seconds: f64) -> String {
    let megabytes = file.metadata().map_or(0.0, |m| m.len() as f64 / 1e6);
    let numbers = [
        report.records,
        counted.human.turns,
        counted.agent.turns,
        counted.tool.turns,
        counted.system.turns,
        counted.compactions,
        report.skipped.values().sum(),
        report.unknown,
        report.repairs,
    ];
    let mut line = format!("{name:<102}");
    for number in numbers {
        let _ = write!(line, " {number:>7}");
    }
    let _ = writeln!(line, " {seconds:>8.3} {:>7.1}", megabytes / seconds.max(1e-6));
    line
}

/// The table tells how long things took; nothing is decided by it.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

fn head() -> String {
    let mut head = format!("{:<102}", "file");
    for column in ["records", "human", "agent", "tool", "system", "compact", "skipped", "unknown", "repairs"]
    {
        let _ = write!(head, " {column:>7}");
    }
    let _ = writeln!(head, " {:>8} {:>7}", "seconds", "MB/s");
    head
}

#[test]
fn the_shipped_sessions_agree() {
    for name in ["codex.jsonl", "pi.jsonl"] {
        check(name, &shipped(name), &mut Kinds::new());
    }
}

pub(super) fn shipped(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/cli/demo").join(name)
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
    let mut apart = Vec::new();
    let mut kinds = Kinds::new();
    for file in &found {
        let name = file.strip_prefix(&root).unwrap_or(file).display().to_string();
        // A disagreement is told at once, and the other files are looked at all the same.
        match catch_unwind(AssertUnwindSafe(|| check(&name, file, &mut kinds))) {
            Ok(line) => table += &line,
            Err(_) => apart.push(name),
        }
    }
    for (format, kinds) in kinds {
        let kinds: Vec<String> = kinds.into_iter().map(|(kind, count)| format!("{kind} {count}")).collect();
        let _ = writeln!(table, "skipped in {format}: {}", kinds.join(", "));
    }
    say(&table).expect("standard error can be written");
    assert_eq!(apart, [""; 0], "these files disagree");
    let copies = found.iter().filter(|file| file.parent().is_some_and(|folder| folder.ends_with(COPIES)));
    both_are_kept(&copies.cloned().collect::<Vec<_>>());
}

/// A continued session repeats the one before it in a file of its own. In one ledger, each keeps
/// its turns.
fn both_are_kept(files: &[PathBuf]) {
    let scratch = Scratch::new();
    let mut counted = Vec::new();
    for file in files {
        scratch.import(file).expect("the file can be imported");
        counted.extend(count(file).expect("the file can be counted").detail);
    }
    let mut wanted: Vec<_> = counted.into_iter().flat_map(|detail| detail.sessions).collect();
    wanted.sort();
    assert_eq!(held(&scratch.ledger).detail.expect("always counted").sessions, wanted);
}
