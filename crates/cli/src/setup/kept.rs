//! What was changed: the text of each file before and after, beside the records of hooks, for its owner's eyes alone.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fail::Failure;
use crate::hook::state;

/// The changes of all files.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Kept(Vec<Was>);

/// One file's text before Sayso first changed it, and as Sayso left it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Was {
    file: PathBuf,
    /// `None` where there was no file.
    pub(super) before: Option<String>,
    pub(super) after: String,
}

fn path() -> Option<PathBuf> {
    state::folder().map(|folder| folder.join("setup.json"))
}

impl Kept {
    /// What is kept; nothing where it cannot be read.
    pub(super) fn read() -> Self {
        let text = path().and_then(|path| fs::read_to_string(path).ok());
        text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default()
    }

    pub(super) fn of(&self, file: &Path) -> Option<&Was> {
        self.0.iter().find(|was| was.file == file)
    }

    pub(super) fn forget(&mut self, file: &Path) {
        self.0.retain(|was| was.file != file);
    }

    /// Notes a change. What stood there before the first of several changes stays noted, unless somebody else changed the
    /// file in between.
    pub(super) fn note(&mut self, file: &Path, before: Option<&str>, after: &str) {
        let earlier =
            self.of(file).filter(|was| Some(was.after.as_str()) == before).map(|was| was.before.clone());
        let before = earlier.unwrap_or_else(|| before.map(str::to_owned));
        self.forget(file);
        self.0.push(Was { file: file.to_owned(), before, after: after.to_owned() });
    }

    pub(super) fn write(&self) -> Result<(), Failure> {
        let Some(path) = path() else { return Ok(()) };
        let failed = |cause| {
            Failure::io(
                format!(
                    "what was changed cannot be kept in {}: set SAYSO_STATE to another folder",
                    path.display()
                ),
                cause,
            )
        };
        let folder = path.parent().unwrap_or(Path::new("."));
        state::make(folder).map_err(failed)?;
        let text = serde_json::to_string(self).map_err(|e| failed(std::io::Error::other(e)))?;
        // Temporary files are their owner's alone, and stay so under their new name.
        let mut file = tempfile::NamedTempFile::new_in(folder).map_err(failed)?;
        file.write_all(text.as_bytes()).map_err(failed)?;
        file.persist(&path).map_err(|e| failed(e.error))?;
        Ok(())
    }
}
