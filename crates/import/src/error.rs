//! Why a file was not imported.

use std::path::{Path, PathBuf};

use sayso::store::StoreError;

use crate::report::FileReport;

/// Why a file was not imported, or only up to its last committed batch. Messages say "it" for the file: whoever prints one
/// names the file.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("it cannot be read: check that it is there and may be read")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The file holds no complete record.
    #[error("it holds no complete record yet{hint}: import it again once it has grown")]
    NoRecord {
        /// The file.
        path: PathBuf,
        /// What its first bytes look like, in words; may be empty.
        hint: &'static str,
    },
    /// The first record belongs to no format that is read.
    #[error(
        "it starts with {found}; what is read: Codex rollouts (their first record is a session_meta, or an id with \
         instructions or git), pi and OpenClaw sessions (their first record has the type \"session\"), Claude \
         Code sessions (their first record has a type and a sessionId) and exports of Sayso"
    )]
    Unrecognised {
        /// The file.
        path: PathBuf,
        /// What its first record is, in words.
        found: String,
    },
    /// The file stands beside transcripts and adds nothing to them.
    #[error("it was passed over: {why}")]
    Beside {
        /// The file.
        path: PathBuf,
        /// Why.
        why: &'static str,
    },
    /// The first record names no session.
    #[error(
        "its first record names no session, so its turns would have no place: check where the file comes from"
    )]
    NoSession {
        /// The file.
        path: PathBuf,
    },
    /// An export has no end.
    #[error(
        "it is an export that was cut off after record {records}, so nothing of it was imported: copy it again, or export \
         again where it comes from"
    )]
    CutOff {
        /// The file.
        path: PathBuf,
        /// Records that are whole.
        records: u64,
    },
    /// A record of an export is not what was written.
    #[error(
        "record {record} of the export is not what was written, so nothing of it was imported: copy it again, or export \
         again where it comes from"
    )]
    Edited {
        /// The file.
        path: PathBuf,
        /// The number of the record, from 1.
        record: u64,
    },
    /// A record of an export makes no sense, though it is as it was written.
    #[error(
        "record {record} of the export cannot be used; what stands before it was imported: export again where it comes from"
    )]
    Unusable {
        /// The file.
        path: PathBuf,
        /// The number of the record, from 1.
        record: u64,
        /// Why.
        #[source]
        cause: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A newer program wrote the export.
    #[error("it is an export of version {found}, this program reads up to {known}: use a newer program")]
    NewerExport {
        /// The file.
        path: PathBuf,
        /// The export's version.
        found: u64,
        /// The newest known here.
        known: u32,
    },
    /// The ledger refused or could not be read.
    #[error("the ledger stopped taking its turns; what was written before stays")]
    Ledger {
        /// The file.
        path: PathBuf,
        /// What was read and written before.
        before: Box<FileReport>,
        /// Why.
        #[source]
        cause: sayso::Error,
    },
    /// The ledger's disk is full.
    #[error(
        "the ledger's disk is full; the {} of this file that were added before stay: free some space and import it again, which \
         adds the rest",
        counted(before.turns_added)
    )]
    Full {
        /// The file.
        path: PathBuf,
        /// What was read and written before.
        before: Box<FileReport>,
    },
}

fn counted(turns: u64) -> String {
    if turns == 1 { "1 turn".to_owned() } else { format!("{turns} turns") }
}

impl ImportError {
    pub(crate) fn ledger(path: &Path, before: FileReport, cause: sayso::Error) -> Self {
        let (path, before) = (path.to_owned(), Box::new(before));
        match cause {
            sayso::Error::Store(StoreError::Full(_)) => Self::Full { path, before },
            cause => Self::Ledger { path, before, cause },
        }
    }

    /// What was read and written before the ledger stopped taking the file's turns.
    #[must_use]
    pub fn before(&self) -> Option<&FileReport> {
        match self {
            Self::Ledger { before, .. } | Self::Full { before, .. } => Some(before),
            _ => None,
        }
    }

    /// Whether the file's session was erased here: nothing of it comes back, and nothing is wrong with the file.
    #[must_use]
    pub fn is_erased(&self) -> bool {
        matches!(self, Self::Ledger { cause, .. } if is_erased(cause))
    }
}

/// Whether a write was refused since what it would bring back was erased.
pub(crate) fn is_erased(error: &sayso::Error) -> bool {
    matches!(error.refusal(), Some(sayso::Refusal::Erased(_)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::formats::Format;

    #[test]
    fn a_full_disk_says_what_stays_and_what_to_do_once() {
        let mut before = FileReport::new(Format::Pi);
        before.turns_added = 2_048;
        let cause = sayso::Error::Store(StoreError::Full("Error code 13".into()));
        let error = ImportError::ledger(Path::new("a.jsonl"), before, cause);
        assert_eq!(error.before().map(|before| before.turns_added), Some(2_048));
        let mut report = crate::Report::default();
        report.refuse("a.jsonl".into(), &error);
        report.add_before("a.jsonl".into(), &error);
        assert_eq!((report.files, report.turns_added), (0, 2_048));
        assert_eq!(
            report.refused[0].why,
            "the ledger's disk is full; the 2048 turns of this file that were added before stay: free some space and import it \
             again, which adds the rest"
        );
    }
}
