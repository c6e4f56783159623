//! What a process writes down: what it begins, and what it was told is done. One line each, in a file of its own that outlives it.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};

/// One line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Line {
    /// A write begins.
    Begin { key: String },
    /// It is done, and has this id.
    Done { key: String, id: String, took: u64 },
    /// A search found what had been written.
    Found { took: u64 },
    /// A search did not.
    Missed { key: String },
    /// Something failed.
    Error { what: String },
}

impl Line {
    fn text(&self) -> String {
        match self {
            Self::Begin { key } => format!("begin {key}"),
            Self::Done { key, id, took } => format!("done {key} {id} {took}"),
            Self::Found { took } => format!("found {took}"),
            Self::Missed { key } => format!("missed {key}"),
            Self::Error { what } => format!("error {}", what.replace('\n', " ")),
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let (word, rest) = line.split_once(' ')?;
        Some(match word {
            "begin" => Self::Begin { key: rest.to_owned() },
            "found" => Self::Found { took: rest.parse().ok()? },
            "missed" => Self::Missed { key: rest.to_owned() },
            "error" => Self::Error { what: rest.to_owned() },
            "done" => {
                let mut words = rest.split(' ').map(str::to_owned);
                let (key, id) = (words.next()?, words.next()?);
                Self::Done { key, id, took: words.next()?.parse().ok()? }
            }
            _ => return None,
        })
    }
}

/// A journal that is being written.
pub(super) struct Journal(File);

impl Journal {
    pub(super) fn open(path: &Path) -> Result<Self> {
        Ok(Self(OpenOptions::new().create(true).append(true).open(path)?))
    }

    pub(super) fn note(&mut self, line: &Line) -> Result<()> {
        Ok(self.0.write_all(format!("{}\n", line.text()).as_bytes())?)
    }
}

/// Everything in a journal; a line that was cut off stands for nothing.
pub(super) fn read(path: &Path) -> Result<Vec<Line>> {
    let text = if path.exists() { std::fs::read_to_string(path)? } else { String::new() };
    let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    whole
        .map(|line| Line::parse(line).with_context(|| format!("not a line of a journal: {line:?}")))
        .collect()
}

/// Whole microseconds.
pub(super) fn micros(took: Duration) -> u64 {
    u64::try_from(took.as_micros()).unwrap_or(u64::MAX)
}
