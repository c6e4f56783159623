//! Why a file was not imported.

use std::path::PathBuf;

/// Why a file was not imported, or only up to its last committed batch.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The file cannot be read.
    #[error("{} cannot be read: check that it is there and may be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: std::io::Error,
    },
    /// The file holds no complete record.
    #[error("{} holds no complete record yet{}: import it again once it has grown", path.display(), hint)]
    NoRecord {
        /// The file.
        path: PathBuf,
        /// What its first bytes look like, in words; may be empty.
        hint: &'static str,
    },
    /// The first record belongs to no format that is read.
    #[error(
        "{} starts with {found}; what is read: Codex rollouts (their first record is a session_meta, or an id with \
         instructions or git) and pi sessions (their first record has the type \"session\")",
        path.display()
    )]
    Unrecognised {
        /// The file.
        path: PathBuf,
        /// What its first record is, in words.
        found: String,
    },
    /// The first record names no session.
    #[error("{} names no session in its first record, so its turns would have no place", path.display())]
    NoSession {
        /// The file.
        path: PathBuf,
    },
    /// The ledger refused or could not be read.
    #[error("the ledger did not take the turns of {}; what was written before stays", path.display())]
    Ledger {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        cause: sayso::Error,
    },
}
