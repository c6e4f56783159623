//! The corpus run: real session files that are not part of this repository.
//!
//! `SAYSO_CORPUS` names a folder with `codex/`, `pi/` and `nasty/` in it. Without it there is
//! nothing to read: the test says so and passes.

mod compare;
pub(crate) mod counter;

use std::env;
use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What the corpus test says when there is no corpus.
const SKIPPED: &str = "SKIPPED corpus: SAYSO_CORPUS is not set";

/// The folder of the corpus, if the environment names one.
pub(crate) fn root() -> Option<PathBuf> {
    env::var_os("SAYSO_CORPUS").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The session files of a corpus, sorted: every `*.jsonl` under `codex/` and `pi/`, and those
/// in `nasty/` whose name begins with `codex_` or `pi_`.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    collect(&root.join("codex"), &mut found);
    collect(&root.join("pi"), &mut found);
    let mut nasty = Vec::new();
    collect(&root.join("nasty"), &mut nasty);
    found.extend(nasty.into_iter().filter(|path| is_ours(path)));
    found.sort();
    found
}

/// Adds every `*.jsonl` in `folder` and below it. A folder that is not there holds nothing.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension() == Some(OsStr::new("jsonl")) {
            found.push(path);
        }
    }
}

/// Whether the name of a nasty file says that it is a Codex or a pi session.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    name.starts_with("codex_") || name.starts_with("pi_")
}

/// Writes where the test harness does not capture it, so that a skipped run is seen.
fn say(text: &str) -> io::Result<()> {
    writeln!(io::stderr(), "{text}")
}

/// One line of the table for each file.
fn table(root: &Path, files: &[PathBuf]) -> Result<String, String> {
    let mut out = line("file", ["records", "human", "agent", "tool", "system", "compactions"]);
    for path in files {
        let counts = counter::count(path)?;
        let name = path.strip_prefix(root).unwrap_or(path).display().to_string();
        let numbers = [
            counts.records,
            counts.human.turns,
            counts.agent.turns,
            counts.tool.turns,
            counts.system.turns,
            counts.compactions,
        ];
        match counts.refused {
            Some(reason) => {
                let _ = writeln!(out, "{name:<90} refused: {reason}");
            }
            None => out += &line(&name, numbers),
        }
    }
    Ok(out)
}

/// A name and six cells.
fn line<T: std::fmt::Display>(name: &str, cells: [T; 6]) -> String {
    let mut out = format!("{name:<90}");
    for cell in cells {
        let _ = write!(out, " {cell:>11}");
    }
    out.push('\n');
    out
}

#[test]
fn the_corpus_is_counted() -> Result<(), Box<dyn std::error::Error>> {
    let Some(root) = root() else {
        say(SKIPPED)?;
        return Ok(());
    };
    let files = files(&root);
    assert!(!files.is_empty(), "SAYSO_CORPUS names a folder without session files");
    say(&table(&root, &files)?)?;
    Ok(())
}

#[test]
fn only_session_files_are_listed() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let names = [
        "codex/2026/a.jsonl",
        "nasty/codex_b.jsonl",
        "nasty/pi_c.jsonl",
        "pi/d.jsonl",
        "codex/notes.md",
        "nasty/other_e.jsonl",
        "elsewhere/f.jsonl",
    ];
    for name in names {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap())?;
        fs::write(path, "")?;
    }
    let wanted: Vec<_> = names.iter().take(4).map(|name| folder.path().join(name)).collect();
    assert_eq!(files(folder.path()), wanted);
    Ok(())
}
