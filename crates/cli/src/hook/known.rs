//! Which ledgers were there before, so that one that goes missing is told of: what stands in a new one looks like
//! all there ever was.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use sayso::model::LedgerId;

use super::record::keep_spare;
use super::state;

/// The note that a ledger was there.
pub(super) struct Known {
    ledger: PathBuf,
    note: Option<PathBuf>,
    /// The id of the ledger that was there; notes of earlier versions hold none.
    before: Option<LedgerId>,
}

impl Known {
    /// The note about the ledger in this file.
    pub(super) fn of(ledger: &Path) -> Self {
        let ledger = std::path::absolute(ledger).unwrap_or_else(|_| ledger.to_owned());
        let name = blake3::hash(ledger.as_os_str().as_encoded_bytes()).to_hex();
        let note = state::folder().map(|folder| folder.join("ledgers").join(name.as_str()));
        let before = note.as_deref().and_then(id);
        Self { ledger, note, before }
    }

    /// What to tell, where the ledger was there before and is gone or empty now.
    pub(super) fn gone(&self) -> Option<String> {
        self.note.as_deref().filter(|note| note.exists())?;
        let what = match fs::metadata(&self.ledger) {
            Err(error) if error.kind() == ErrorKind::NotFound => "went missing",
            Ok(about) if about.is_file() && about.len() == 0 => "was emptied",
            _ => return None,
        };
        Some(format!(
            "the ledger {} {what}, and a new one is made in its place: to have the earlier sessions, put it or a backup of it \
             back there",
            self.ledger.display()
        ))
    }

    /// What to tell, where another ledger than the one before is in the file.
    pub(super) fn replaced(&self, id: LedgerId) -> Option<String> {
        let before = self.before.filter(|before| *before != id)?;
        Some(format!(
            "the ledger {} was emptied or replaced by another one ({before} before, {id} now), which is used from here on: to \
             have the earlier sessions, put the earlier file or a backup of it back there",
            self.ledger.display()
        ))
    }

    /// Notes that it is there, and which one.
    pub(super) fn keep(&self, id: LedgerId) {
        if self.before == Some(id) {
            return;
        }
        let Some(note) = self.note.as_deref() else { return };
        let _ = note.parent().map(state::make);
        let id = format!("\n{id}");
        let _ = fs::write(note, [self.ledger.as_os_str().as_encoded_bytes(), id.as_bytes()].concat());
        // The first hook of all: where there is room, some of it is kept for when there is none.
        let _ = state::folder().map(|folder| keep_spare(&folder));
    }
}

/// The id in a note.
fn id(note: &Path) -> Option<LedgerId> {
    let text = fs::read(note).ok()?;
    let last = text.rsplit(|byte| *byte == b'\n').next()?;
    std::str::from_utf8(last).ok()?.parse().ok()
}
