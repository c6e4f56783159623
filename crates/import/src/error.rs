//! Why a file was not imported.

use std::path::PathBuf;

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
    #[error("the ledger did not take its turns; what was written before stays")]
    Ledger {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: sayso::Error,
    },
}

impl ImportError {
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
