//! The files that paths name.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::names::{Sort, sort};

/// What was found.
#[derive(Debug)]
pub(crate) enum Found {
    File(PathBuf),
    /// A file that adds nothing, and why.
    Beside(PathBuf, &'static str),
    Unreadable(PathBuf, io::Error),
}

/// The files among the paths as they are, and the transcripts under the folders among them, sorted.
pub(crate) fn files(paths: &[PathBuf]) -> Vec<Found> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for path in paths {
        if path.is_dir() {
            folder(path, &mut seen, &mut found);
        } else {
            found.push(Found::File(path.clone()));
        }
    }
    found
}

/// A link to a folder is followed, once: `seen` holds the real paths.
fn folder(path: &Path, seen: &mut BTreeSet<PathBuf>, found: &mut Vec<Found>) {
    let listed = fs::canonicalize(path).and_then(|real| Ok((real, names(path)?)));
    let (real, names) = match listed {
        Ok(listed) => listed,
        Err(error) => return found.push(Found::Unreadable(path.to_owned(), error)),
    };
    if !seen.insert(real) {
        return;
    }
    for name in &names {
        if name.is_dir() {
            folder(name, seen, found);
        } else if name.is_file() {
            found.extend(file(name, &names));
        }
    }
}

/// A file of a folder with these names.
fn file(path: &Path, names: &[PathBuf]) -> Option<Found> {
    match sort(path) {
        Sort::Other => None,
        Sort::Beside(why) => Some(Found::Beside(path.to_owned(), why)),
        _ if is_compressed(path) && names.binary_search(&path.with_extension("")).is_ok() => {
            Some(Found::Beside(path.to_owned(), "the same transcript stands beside it, not compressed"))
        }
        Sort::Transcript | Sort::Archive(_) | Sort::Database => Some(Found::File(path.to_owned())),
    }
}

fn is_compressed(path: &Path) -> bool {
    path.extension().is_some_and(|e| e == "zst")
}

fn names(path: &Path) -> io::Result<Vec<PathBuf>> {
    let mut names: Vec<PathBuf> =
        fs::read_dir(path)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_walked_in_order_and_links_once() {
        let root = tempfile::tempdir().unwrap();
        let at = |name: &str| root.path().join(name);
        fs::create_dir_all(at("b/c")).unwrap();
        for name in [
            "b/2.jsonl",
            "b/2.jsonl.zst",
            "b/3.jsonl.zst",
            "b/c/1.jsonl",
            "b/c/sessions.json",
            "a.jsonl",
            "a.jsonl.reset.1",
            "b/notes.txt",
        ] {
            fs::write(at(name), "").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.path(), at("b/loop")).unwrap();
        let found: Vec<_> = files(&[root.path().to_owned(), at("b/notes.txt")])
            .into_iter()
            .map(|found| match found {
                Found::File(path) => (path, true),
                Found::Beside(path, _) | Found::Unreadable(path, _) => (path, false),
            })
            .collect();
        let wanted = [
            (at("a.jsonl"), true),
            (at("a.jsonl.reset.1"), true),
            (at("b/2.jsonl"), true),
            (at("b/2.jsonl.zst"), false),
            (at("b/3.jsonl.zst"), true),
            (at("b/c/1.jsonl"), true),
            (at("b/c/sessions.json"), false),
            (at("b/notes.txt"), true),
        ];
        assert_eq!(found, wanted);
    }
}
