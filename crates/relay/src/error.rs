//! What can go wrong, typed by what the caller does next.

use sayso::model::SessionId;

use crate::port::SourceFail;

/// Why a relay could not go on.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The ledger could not answer, or refused a write. What was written before stays; a new relay goes on from there.
    #[error(transparent)]
    Ledger(#[from] sayso::Error),
    /// The session is not there, or not in the scope.
    #[error("there is no session {0}: see `sayso sessions`")]
    NoSession(SessionId),
    /// The source does not let this account read, or another program does.
    #[error("nothing is read from the source")]
    Source(#[from] SourceFail),
}

impl From<sayso::StoreError> for Error {
    fn from(error: sayso::StoreError) -> Self {
        Self::Ledger(error.into())
    }
}
