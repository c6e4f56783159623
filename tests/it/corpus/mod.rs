//! The corpus run: real session files that are not part of this repository.
//!
//! `SAYSO_CORPUS` names a folder with `codex/`, `pi/`, `openclaw/`, `claude-code/` and `nasty/` in it. Without
//! it there is nothing to read: the test says so and passes.

mod compare;
mod constructed;
mod contexts;
pub(crate) mod counter;
mod reinject;

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// What the corpus test says when there is no corpus.
const SKIPPED: &str = "SKIPPED corpus: SAYSO_CORPUS is not set";

/// The folder of files with damage, and the one in it of a session and its continued copy.
const NASTY: &str = "nasty";
const COPIES: &str = "resume_copy";

/// The folder of the corpus, if the environment names one.
pub(crate) fn root() -> Option<PathBuf> {
    env::var_os("SAYSO_CORPUS").filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The files of a corpus, sorted: everything below `codex/`, `pi/`, `openclaw/` and `claude-code/`, and those
/// of `nasty/` that are meant for these importers. What is no session is there to be refused.
pub(crate) fn files(root: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in ["codex", "pi", "openclaw", "claude-code"] {
        collect(&root.join(folder), &mut found);
    }
    let mut nasty = Vec::new();
    collect(&root.join(NASTY), &mut nasty);
    found.extend(nasty.into_iter().filter(|path| is_ours(path)));
    found.sort();
    found
}

/// Adds every file in `folder` and below it. A folder that is not there holds nothing.
fn collect(folder: &Path, found: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, found);
        } else {
            found.push(path);
        }
    }
}

/// Whether a nasty file is a session of Codex, pi or Claude Code: its name says so, or its folder.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().map(OsStr::to_string_lossy).unwrap_or_default();
    let folder = path.parent().and_then(Path::file_name);
    ["codex_", "pi_", "cc_"].iter().any(|start| name.starts_with(start)) || folder == Some(OsStr::new(COPIES))
}

/// Writes where the test harness does not capture it, so that a skipped run is seen.
fn say(text: &str) -> io::Result<()> {
    writeln!(io::stderr(), "{text}")
}

#[test]
fn the_files_of_a_corpus_are_listed() -> Result<(), Box<dyn std::error::Error>> {
    let folder = tempfile::tempdir()?;
    let names = [
        "claude-code/a/subagents/agent-b.jsonl",
        "claude-code/a/subagents/agent-b.meta.json",
        "codex/2026/a.jsonl",
        "codex/notes.md",
        "nasty/cc_a.jsonl",
        "nasty/codex_b.jsonl",
        "nasty/pi_c.jsonl",
        "nasty/resume_copy/d.jsonl",
        "openclaw/agent.sqlite",
        "pi/d.jsonl",
        "nasty/other_e.jsonl",
        "elsewhere/f.jsonl",
    ];
    for name in names {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap())?;
        fs::write(path, "")?;
    }
    let wanted: Vec<_> = names.iter().take(10).map(|name| folder.path().join(name)).collect();
    assert_eq!(files(folder.path()), wanted);
    Ok(())
}
