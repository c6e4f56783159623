//! `sayso import`

use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::path::PathBuf;

use sayso_import::records::DamageKind;
use sayso_import::{DamagedLine, Importer, Late, Refused, Report, Rewritten, UnknownRecords};
use serde::Serialize;

use crate::args::{Global, Import};
use crate::cmd::watch;
use crate::fail::Failure;
use crate::io::Out;
use crate::open;

#[derive(Serialize)]
struct Imported<'a> {
    files: u64,
    records: u64,
    turns_added: u64,
    turns_known: u64,
    skipped: &'a BTreeMap<String, u64>,
    unknown: u64,
    refused: Vec<RefusedFile<'a>>,
    repairs: u64,
    passed_over: Vec<RefusedFile<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    erased: Vec<RefusedFile<'a>>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    damaged: &'a [DamagedLine],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    rewritten: &'a [Rewritten],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    late: &'a [Late],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unknown_records: &'a [UnknownRecords],
}

#[derive(Serialize)]
struct RefusedFile<'a> {
    file: &'a PathBuf,
    why: &'a str,
}

pub(crate) fn run(args: &Import, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    if !global.scope.is_empty() {
        return Err(Failure::request(
            "an import goes to whatever project a session belongs to: leave --scope out",
        ));
    }
    let paths = paths(args)?;
    if args.watch {
        return watch::run(args, global, out);
    }
    let ledger = open::ledger(global)?;
    let importer = Importer::new(open::owner().name);
    let mut progress = Progress::default();
    let report = importer.import_paths(&ledger, &paths, &mut |bytes| progress.more(bytes));
    progress.done();
    // Searches find the same without the index, only more slowly: what goes wrong here is no failure of the import.
    while ledger.index(1_000).is_ok_and(|progress| progress.left > 0) {}
    let imported = imported(&report);
    out.either(&imported, || text(&report))?;
    refused(&report, &args.paths)
}

/// What was named, and with `--auto` where programs keep their sessions.
pub(crate) fn paths(args: &Import) -> Result<Vec<PathBuf>, Failure> {
    let mut paths = args.paths.clone();
    if args.auto {
        let folders = directories::BaseDirs::new();
        let home = folders.as_ref().map(directories::BaseDirs::home_dir);
        let home =
            home.ok_or_else(|| Failure::request("there is no home folder to look in: name the folders"))?;
        let places = sayso_import::places(home, &|name| std::env::var_os(name));
        paths.extend(places.into_iter().map(|place| place.path));
        if paths.is_empty() && !args.watch {
            return Err(Failure::request(
                "neither Claude Code, Codex, OpenClaw nor pi keeps sessions here: name the folders that hold them",
            ));
        }
    }
    Ok(paths)
}

fn imported(report: &Report) -> Imported<'_> {
    Imported {
        files: report.files,
        records: report.records,
        turns_added: report.turns_added,
        turns_known: report.turns_known,
        skipped: &report.skipped,
        unknown: report.unknown,
        refused: named(&report.refused),
        repairs: report.repairs,
        passed_over: named(&report.passed_over),
        erased: named(&report.erased),
        damaged: &report.damaged,
        rewritten: &report.rewritten,
        late: &report.late,
        unknown_records: &report.unknown_records,
    }
}

fn named(files: &[Refused]) -> Vec<RefusedFile<'_>> {
    files.iter().map(|r| RefusedFile { file: &r.file, why: &r.why }).collect()
}

fn text(report: &Report) -> String {
    let mut lines = vec![format!(
        "{}, {}: {} added, {} known before",
        many(report.files, "file"),
        many(report.records, "record"),
        many(report.turns_added, "turn"),
        report.turns_known
    )];
    let (damaged_kinds, kinds): (Vec<_>, Vec<_>) =
        report.skipped.iter().partition(|(kind, _)| is_damage(kind));
    let listed = |kinds: Vec<(&String, &u64)>| {
        kinds.into_iter().map(|(kind, n)| format!("{kind} {n}")).collect::<Vec<_>>().join(", ")
    };
    let (carried, kinds): (Vec<_>, Vec<_>) =
        kinds.into_iter().partition(|(kind, _)| CARRIED.contains(&kind.as_str()));
    let (gone, kinds): (Vec<_>, Vec<_>) =
        kinds.into_iter().partition(|(kind, _)| GONE.contains(&kind.as_str()));
    if !carried.is_empty() {
        lines.push(format!(
            "{} of projects, sessions, speakers, keys, outputs and marks that go with the turns",
            many(carried.iter().map(|(_, n)| **n).sum(), "record")
        ));
    }
    if !gone.is_empty() {
        lines.push(format!("left out, with what was erased here or is not merged: {}", listed(gone)));
    }
    if !kinds.is_empty() {
        lines.push("skipped, since they hold no words:".to_owned());
        lines.extend(kinds.into_iter().map(|(kind, n)| format!("  {kind} {n}")));
    }
    if !damaged_kinds.is_empty() {
        lines.push(format!("lines that could not be read, or not all of them: {}", listed(damaged_kinds)));
    }
    if report.unknown > 0 {
        lines.push(format!(
            "{} of unknown kinds left out, which perhaps a newer program wrote:",
            many(report.unknown, "record")
        ));
        lines.extend(report.unknown_records.iter().flat_map(|unknown| {
            unknown.kinds.iter().map(|(kind, n)| format!("  {}: {kind} {n}", unknown.file.display()))
        }));
    }
    if report.repairs > 0 {
        lines.push(format!(
            "{} repaired in reading: what is no UTF-8 became U+FFFD, what is no JSON was kept as text",
            many(report.repairs, "place")
        ));
    }
    lines.extend(report.damaged.iter().map(damaged));
    lines.extend(report.rewritten.iter().map(|r| {
        format!(
            "{} was rewritten: {} from what was imported before, which stays as it is",
            r.file.display(),
            if r.turns == 1 { "1 turn differs".to_owned() } else { format!("{} turns differ", r.turns) }
        )
    }));
    lines.extend(report.late.iter().map(|late| {
        format!(
            "{}: {} of the added turns stand in the file before turns that were here already, so they are at the end of the session",
            late.file.display(),
            late.turns
        )
    }));
    match report.passed_over.len() {
        0 => {}
        // Where there is nothing else, the reasons are what was asked for.
        _ if report.files == 0 => {
            lines.extend(
                report.passed_over.iter().map(|r| format!("passed over {}: {}", r.file.display(), r.why)),
            );
        }
        count => lines.push(format!(
            "passed over, since they only repeat what stands elsewhere: {}",
            many(count as u64, "file")
        )),
    }
    lines.extend(report.erased.iter().map(|r| format!("passed over {}: {}", r.file.display(), r.why)));
    lines.extend(report.refused.iter().map(|r| format!("refused {}: {}", r.file.display(), r.why)));
    lines.join("\n")
}

/// Kinds of records of an export that are imported with the turns.
const CARRIED: [&str; 2] = ["beside_turns", "mark"];
/// Kinds of records that were not imported, though nothing is wrong with them.
const GONE: [&str; 2] = ["erased", "passed_over"];

pub(crate) fn many(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn is_damage(kind: &str) -> bool {
    [DamageKind::Broken, DamageKind::Unreadable].iter().any(|damage| damage.word() == kind)
}

fn damaged(line: &DamagedLine) -> String {
    let what = match line.damage.kind {
        DamageKind::Broken => "breaks off: what is whole in it was read",
        DamageKind::Unreadable => "holds a value that cannot be read",
    };
    format!("{}: line {} {what}", line.file.display(), line.damage.line)
}

/// Files of a folder may be refused and the others go on; that a file which was named was refused is a failure.
fn refused(report: &Report, named: &[PathBuf]) -> Result<(), Failure> {
    let of_named = report.refused.iter().filter(|r| named.contains(&r.file)).count();
    match (report.files, report.refused.len()) {
        (0, 0) if !report.erased.is_empty() => Ok(()),
        (0, 0) if !report.passed_over.is_empty() => {
            Err(Failure::request("every file was passed over: the reasons stand above"))
        }
        (0, 0) => {
            Err(Failure::request("there is no transcript: name a session's file or the folder that holds it"))
        }
        (0, _) => Err(Failure::request("no file could be imported: the reasons stand above")),
        _ if of_named > 0 => Err(Failure::request(format!(
            "{of_named} of the files that were named could not be imported: the reasons stand above"
        ))),
        _ => Ok(()),
    }
}

/// A line on a terminal for work that takes long; nothing where nobody watches.
#[derive(Default)]
struct Progress {
    read: u64,
    shown: u64,
}

impl Progress {
    const STEP: u64 = 4 * 1024 * 1024;

    fn more(&mut self, bytes: u64) {
        self.read += bytes;
        if self.read - self.shown >= Self::STEP && std::io::stderr().is_terminal() {
            self.shown = self.read;
            draw(&format!("\r{} MB read", self.read / 1_000_000));
        }
    }

    fn done(&self) {
        if self.shown > 0 {
            draw("\n");
        }
    }
}

fn draw(text: &str) {
    let _ = std::io::stderr().write_all(text.as_bytes());
}
