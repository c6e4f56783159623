//! No snapshot waits unread, and none is left that no test looks at.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};

/// Compares the snapshot files under `root` with the list that insta wrote while the tests ran.
pub(super) fn check(root: &Path, references: &Path) -> Result<()> {
    let mut found = Vec::new();
    collect(root, &mut found)?;
    let ends = |path: &PathBuf, ending: &str| path.to_string_lossy().ends_with(ending);
    let (waiting, kept): (Vec<_>, Vec<_>) = found.into_iter().partition(|path| !ends(path, ".snap"));
    ensure!(waiting.is_empty(), "not read yet, `cargo insta review` shows them: {}", list(&waiting));
    let seen = referenced(references)?;
    let forgotten: Vec<_> = kept.into_iter().filter(|path| !seen.contains(path)).collect();
    ensure!(forgotten.is_empty(), "no test looks at: {}", list(&forgotten));
    Ok(())
}

/// The files of the list; without a list no test used a snapshot file.
fn referenced(references: &Path) -> Result<BTreeSet<PathBuf>> {
    if !references.exists() {
        return Ok(BTreeSet::new());
    }
    let text = std::fs::read_to_string(references)?;
    // A file that a failing test wanted need not exist: that test has said so itself.
    Ok(text.lines().filter_map(|line| Path::new(line).canonicalize().ok()).collect())
}

fn collect(folder: &Path, found: &mut Vec<PathBuf>) -> Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot list {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let (path, name) = (entry.path(), entry.file_name());
        let name = name.to_string_lossy();
        if entry.file_type()?.is_dir() {
            if name != "target" && !name.starts_with('.') {
                collect(&path, found)?;
            }
        } else if [".snap", ".snap.new", ".pending-snap"].iter().any(|ending| name.ends_with(ending)) {
            found.push(path.canonicalize()?);
        }
    }
    Ok(())
}

fn list(paths: &[PathBuf]) -> String {
    let paths: Vec<_> = paths.iter().map(|path| path.display().to_string()).collect();
    paths.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a folder with these snapshot files passes, when the tests looked at `looked_at`.
    fn passes(files: &[&str], looked_at: &[&str]) -> bool {
        let folder = tempfile::tempdir().unwrap();
        for file in files {
            std::fs::write(folder.path().join(file), "").unwrap();
        }
        let references = folder.path().join("references");
        let lines = looked_at.iter().map(|file| format!("{}\n", folder.path().join(file).display()));
        std::fs::write(&references, lines.collect::<String>()).unwrap();
        check(folder.path(), &references).is_ok()
    }

    #[test]
    fn only_files_that_were_looked_at_and_read_may_stay() {
        assert!(passes(&[], &[]));
        assert!(passes(&["a.snap"], &["a.snap", "a.snap"]));
        assert!(passes(&["a.snap"], &["a.snap", "missing.snap"]));
        assert!(!passes(&["a.snap", "b.snap"], &["a.snap"]));
        assert!(!passes(&["a.snap", "a.snap.new"], &["a.snap"]));
        assert!(!passes(&["a.snap", ".x.pending-snap"], &["a.snap"]));
    }
}
