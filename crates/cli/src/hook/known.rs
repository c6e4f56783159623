//! Which ledgers were there before, so that one that goes missing is told of: what stands in a new one looks like
//! all there ever was.

use std::fs;
use std::path::{Path, PathBuf};

use super::record::keep_spare;
use super::state;

/// The note that a ledger was there.
pub(super) struct Known {
    ledger: PathBuf,
    note: Option<PathBuf>,
}

impl Known {
    /// The note about the ledger in this file.
    pub(super) fn of(ledger: &Path) -> Self {
        let ledger = std::path::absolute(ledger).unwrap_or_else(|_| ledger.to_owned());
        let name = blake3::hash(ledger.as_os_str().as_encoded_bytes()).to_hex();
        let note = state::folder().map(|folder| folder.join("ledgers").join(name.as_str()));
        Self { ledger, note }
    }

    /// What to tell, where the ledger was there before and is gone now.
    pub(super) fn gone(&self) -> Option<String> {
        let noted = self.note.as_deref().is_some_and(Path::exists);
        let gone = noted && matches!(self.ledger.try_exists(), Ok(false));
        gone.then(|| {
            format!(
                "the ledger {} went missing, and a new one is made in its place: to have the earlier sessions, put it or a \
                 backup of it back there",
                self.ledger.display()
            )
        })
    }

    /// Notes that it is there.
    pub(super) fn keep(&self) {
        let Some(note) = self.note.as_deref().filter(|note| !note.exists()) else { return };
        let _ = note.parent().map(state::make);
        let _ = fs::write(note, self.ledger.as_os_str().as_encoded_bytes());
        // The first hook of all: where there is room, some of it is kept for when there is none.
        let _ = state::folder().map(|folder| keep_spare(&folder));
    }
}
