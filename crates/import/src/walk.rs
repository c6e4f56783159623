//! The files that paths name.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// A file, or what could not be looked into.
pub(crate) type Found = Result<PathBuf, (PathBuf, io::Error)>;

/// The files among the paths as they are, and the `*.jsonl` files under the folders among them, sorted.
pub(crate) fn files(paths: &[PathBuf]) -> Vec<Found> {
    let (mut found, mut seen) = (Vec::new(), BTreeSet::new());
    for path in paths {
        if path.is_dir() {
            folder(path, &mut seen, &mut found);
        } else {
            found.push(Ok(path.clone()));
        }
    }
    found
}

/// A link to a folder is followed, once: `seen` holds the real paths.
fn folder(path: &Path, seen: &mut BTreeSet<PathBuf>, found: &mut Vec<Found>) {
    let listed = fs::canonicalize(path).and_then(|real| Ok((real, names(path)?)));
    let (real, names) = match listed {
        Ok(listed) => listed,
        Err(error) => return found.push(Err((path.to_owned(), error))),
    };
    if !seen.insert(real) {
        return;
    }
    for name in names {
        if name.is_dir() {
            folder(&name, seen, found);
        } else if name.extension().is_some_and(|e| e == "jsonl") && name.is_file() {
            found.push(Ok(name));
        }
    }
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
        for name in ["b/2.jsonl", "b/c/1.jsonl", "a.jsonl", "b/notes.txt"] {
            fs::write(at(name), "").unwrap();
        }
        #[cfg(unix)]
        std::os::unix::fs::symlink(root.path(), at("b/loop")).unwrap();
        let found: Vec<_> =
            files(&[root.path().to_owned(), at("b/notes.txt")]).into_iter().flatten().collect();
        assert_eq!(found, [at("a.jsonl"), at("b/2.jsonl"), at("b/c/1.jsonl"), at("b/notes.txt")]);
    }
}
