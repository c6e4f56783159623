//! What hooks keep outside the ledger: records of failures, and hints. Losing it costs time and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use serde::{Deserialize, Serialize};

/// Characters of an id in a file's name at most.
const ID_CHARS: usize = 80;

/// The folder: the one in `SAYSO_STATE`, else the platform's state or data folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let told = std::env::var_os("SAYSO_STATE").map(PathBuf::from);
    told.or_else(|| {
        let folders = directories::ProjectDirs::from("", "", "sayso")?;
        Some(folders.state_dir().unwrap_or_else(|| folders.data_local_dir()).to_owned())
    })
}

/// Makes a folder that is its owner's alone.
pub(crate) fn make(folder: &Path) -> std::io::Result<()> {
    private(fs::DirBuilder::new().recursive(true)).create(folder)
}

#[cfg(unix)]
fn private(builder: &mut fs::DirBuilder) -> &mut fs::DirBuilder {
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700)
}

#[cfg(not(unix))]
fn private(builder: &mut fs::DirBuilder) -> &mut fs::DirBuilder {
    builder
}

/// How a transcript looked when it was imported last, and what its session was given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Seen {
    /// Into which ledger.
    pub(super) ledger: String,
    /// Which file.
    pub(super) path: PathBuf,
    /// Bytes and time of its last change; `None` until it was read to its end.
    pub(super) stamp: Option<Stamp>,
    /// The last compaction behind which the session was given what comes back, by its id.
    pub(super) answered: Option<String>,
}

/// How a file looks from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) bytes: u64,
    /// Nanoseconds since 1970.
    pub(super) changed: u128,
}

impl Stamp {
    /// Of a plain file that is there.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let changed = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Some(Self { bytes: about.len(), changed: changed.unwrap_or_default().as_nanos() })
    }
}

/// The file for the hints about one session.
pub(super) struct Hints(Option<PathBuf>);

impl Hints {
    pub(super) fn of(program: &str, session: &str) -> Self {
        let name: String =
            session.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(ID_CHARS).collect();
        Self(folder().map(|folder| folder.join("seen").join(format!("{program}-{name}.json"))))
    }

    /// What was kept; nothing where nothing can be read.
    pub(super) fn read(&self, ledger: &str, path: &Path) -> Seen {
        let text = self.0.as_deref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        let seen: Option<Seen> = serde_json::from_str(&text).ok();
        let fresh = || Seen { ledger: ledger.to_owned(), path: path.to_owned(), ..Seen::default() };
        seen.filter(|seen| seen.ledger == ledger && seen.path == path).unwrap_or_else(fresh)
    }

    /// Keeps it, as far as that is possible.
    pub(super) fn keep(&self, seen: &Seen) {
        if let (Some(file), Ok(text)) = (&self.0, serde_json::to_string(seen)) {
            let _ = file.parent().map(make);
            let _ = fs::write(file, text);
        }
    }
}
