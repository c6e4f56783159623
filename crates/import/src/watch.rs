//! Telling which transcripts have changed.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use crate::walk::{self, Found};

/// Remembers how transcripts looked when they were imported last.
#[derive(Debug, Default)]
pub struct Watch {
    seen: HashMap<PathBuf, Stamp>,
}

/// A transcript that is new or has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The file.
    pub path: PathBuf,
    stamp: Stamp,
}

/// How a file looks from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// The same of the file into which a database writes first.
    ahead: Option<(u64, Option<SystemTime>)>,
}

impl Stamp {
    fn of(path: &Path) -> Option<Self> {
        let (bytes, modified) = look(path)?;
        let mut ahead = path.as_os_str().to_owned();
        ahead.push("-wal");
        Some(Self { bytes, modified, ahead: look(Path::new(&ahead)) })
    }
}

fn look(path: &Path) -> Option<(u64, Option<SystemTime>)> {
    let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    Some((about.len(), about.modified().ok()))
}

impl Watch {
    /// A watch that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The transcripts among these files and in these folders that are new, or look other than when they were
    /// [`imported`](Self::imported). What is not there, or cannot be looked into, is left out.
    #[must_use]
    pub fn changed(&self, paths: &[PathBuf]) -> Vec<Changed> {
        let files = walk::files(paths).into_iter().filter_map(|found| match found {
            Found::File(path) => Some(path),
            Found::Beside(..) | Found::Unreadable(..) => None,
        });
        let stamped = files.filter_map(|path| Stamp::of(&path).map(|stamp| Changed { path, stamp }));
        stamped.filter(|changed| self.seen.get(&changed.path) != Some(&changed.stamp)).collect()
    }

    /// Says that a file was imported. What it gained since it was found changed shows as a change again.
    pub fn imported(&mut self, changed: Changed) {
        self.seen.insert(changed.path, changed.stamp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(changed: &[Changed]) -> Vec<String> {
        changed.iter().map(|c| c.path.file_name().unwrap().to_string_lossy().into_owned()).collect()
    }

    #[test]
    fn what_grows_is_found_until_it_was_imported() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let paths = [folder.path().to_owned(), at("gone.jsonl")];
        let mut watch = Watch::new();
        fs::write(at("a.jsonl"), "1").unwrap();
        fs::write(at("openclaw-agent.sqlite"), "x").unwrap();
        fs::write(at("sessions.json"), "{}").unwrap();
        let first = watch.changed(&paths);
        assert_eq!(names(&first), ["a.jsonl", "openclaw-agent.sqlite"]);
        assert_eq!(watch.changed(&paths).len(), 2);
        // It grew while it was imported.
        fs::write(at("a.jsonl"), "12").unwrap();
        first.into_iter().for_each(|changed| watch.imported(changed));
        assert_eq!(names(&watch.changed(&paths)), ["a.jsonl"]);
        watch.changed(&paths).into_iter().for_each(|changed| watch.imported(changed));
        assert_eq!(watch.changed(&paths), []);
        fs::write(at("openclaw-agent.sqlite-wal"), "y").unwrap();
        assert_eq!(names(&watch.changed(&paths)), ["openclaw-agent.sqlite"]);
    }
}
