//! What is wrong with a config.

use std::io;
use std::path::PathBuf;

use crate::telegram::NoToken;

/// A config that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the config {} cannot be read: name a file that is there; `sayso bridge --example` prints one", .path.display())]
    NotRead {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is no TOML, or a value has another form than it should.
    #[error("the config {} is not as it should be: mend the place that is named\n{what}", .path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What and where.
        what: String,
    },
    /// A key that does not exist.
    #[error("there is no key `{key}` in {table} of the config {}: {near}", .path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The table.
        table: String,
        /// The key.
        key: String,
        /// What it may have been meant to be.
        near: Near,
    },
    /// Two values do not go together, or one is missing.
    #[error("the config {}: {what}", .path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What, and what to do.
        what: String,
    },
    /// There is no token.
    #[error("the bot's token is not in {place}: put it there, and not into the config")]
    NoToken {
        /// Where it should be.
        place: String,
        /// What is there.
        #[source]
        source: TokenFault,
    },
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenFault {
    /// Nothing is there.
    #[error("there is no such variable")]
    Missing,
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is something else.
    #[error(transparent)]
    Form(#[from] NoToken),
}

/// Keys that a mistyped one may have been meant to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    near: Vec<&'static str>,
    all: &'static [&'static str],
}

impl std::fmt::Display for Near {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let quoted = |keys: &[&str]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        match self.near.as_slice() {
            [] => write!(f, "there are {}", quoted(self.all)),
            near => write!(f, "did you mean {}?", quoted(near)),
        }
    }
}

impl Near {
    pub(super) fn of(key: &str, all: &'static [&'static str]) -> Self {
        let near = all.iter().filter(|known| strsim::damerau_levenshtein(key, known) <= 2).copied().collect();
        Self { near, all }
    }
}
