//! The tool's side: leaving an envelope for whoever runs it.

use std::io::{self, Write};

use super::frame::{Nonce, Sections, frame};
use crate::envelope::Envelope;
use crate::limits::WIRE_BYTES;

/// The variable that names the spool folder: `<folder>`, its nonce being in [`FRAME_VARIABLE`].
pub const SPOOL_VARIABLE: &str = "SAYSO_SPOOL";
/// The variable that holds the call's nonce.
pub const FRAME_VARIABLE: &str = "SAYSO_NONCE";

/// How an envelope gets to whoever runs the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Route {
    /// Through a spool folder.
    Spool(std::path::PathBuf, Nonce),
    /// By a frame on standard output.
    Frame(Nonce),
    /// Nobody asked for envelopes: the text for the model is plain output.
    Plain,
}

impl Route {
    /// The route that these variables name; `variable` looks one up, as `std::env::var` does.
    pub fn of(variable: impl Fn(&str) -> Option<String>) -> Self {
        let nonce = variable(FRAME_VARIABLE).and_then(|nonce| Nonce::parse(&nonce));
        let folder = variable(SPOOL_VARIABLE).filter(|folder| !folder.is_empty());
        match (nonce, folder) {
            (Some(nonce), Some(folder)) => Self::Spool(folder.into(), nonce),
            (Some(nonce), None) => Self::Frame(nonce),
            (None, _) => Self::Plain,
        }
    }
}

/// An envelope could not be handed over.
#[derive(Debug, thiserror::Error)]
pub enum EmitError {
    /// Both texts together have more than 16 MiB.
    #[error("the texts have {bytes} bytes and 16 MiB is the most: store the output and say where it is")]
    TooLong {
        /// The bytes of both.
        bytes: u64,
    },
    /// The spool folder refused.
    #[cfg(unix)]
    #[error(transparent)]
    Spool(#[from] super::SpoolError),
    /// Standard output refused.
    #[error("standard output is closed: nothing was handed over")]
    Output(#[from] io::Error),
}

/// Hands an envelope over and returns once it is: a file is on disk, a frame is flushed. `stdout` is not written to where there is a spool.
///
/// # Errors
///
/// [`EmitError`]; then nothing, or a frame that is seen to be truncated, was written.
pub fn emit(envelope: &Envelope, route: &Route, stdout: &mut dyn Write) -> Result<(), EmitError> {
    let sections = Sections {
        model: envelope.model_context().as_bytes().to_vec(),
        user: envelope.user_presentation().unwrap_or_default().as_bytes().to_vec(),
        purpose: envelope.purpose().unwrap_or_default(),
    };
    let bytes = (sections.model.len() + sections.user.len()) as u64;
    if bytes > WIRE_BYTES {
        return Err(EmitError::TooLong { bytes });
    }
    match route {
        #[cfg(unix)]
        Route::Spool(folder, nonce) => super::Spool::open(folder, nonce.clone())?.put(&sections)?,
        #[cfg(not(unix))]
        Route::Spool(_, nonce) => frame(&sections, nonce, stdout)?,
        Route::Frame(nonce) => frame(&sections, nonce, stdout)?,
        Route::Plain => {
            stdout.write_all(&sections.model)?;
            stdout.flush()?;
        }
    }
    Ok(())
}
