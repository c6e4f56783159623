//! A file with one JSON object a line: what most agents keep.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde_json::json;

#[derive(Debug)]
pub(crate) struct Lines {
    file: File,
    path: PathBuf,
}

impl Lines {
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        Ok(Self { file, path: path.to_owned() })
    }

    pub(crate) fn append(&mut self, id: &str, text: &str) -> Result<()> {
        let line =
            json!({"id": id, "role": "owner", "name": "Kim", "at": 1_800_000_000_000_i64, "text": text});
        self.file.write_all((line.to_string() + "\n").as_bytes())?;
        Ok(())
    }

    /// Makes it last.
    pub(crate) fn sync(&self) -> Result<()> {
        Ok(self.file.sync_data()?)
    }

    pub(crate) fn count(&self) -> Result<u64> {
        Ok(std::fs::read_to_string(&self.path)?.lines().count() as u64)
    }
}
