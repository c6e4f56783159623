//! The agent programs that call hooks, and what is known of each.
//!
//! - Codex CLI, as observed with version 0.169.0. What a hook adds to the context is a message of the role `developer`; it does
//!   not outlive a compaction, after which `SessionStart` comes with the source `compact`.
//! - Claude Code, as its hooks reference has it (<https://code.claude.com/docs/en/hooks>, read in 2026), not tried with the
//!   program: what a hook adds is a reminder within a user message, at most 10,000 characters.
//! - pi, through the extension that `sayso setup pi` installs, as observed with version 0.73.1: a message of the role `user`.

use std::path::Path;
use std::str::FromStr;

use sayso_import::formats::Format;

use super::input::Input;
use crate::fail::Failure;

/// An agent program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Program {
    /// Codex CLI.
    Codex,
    /// Claude Code.
    ClaudeCode,
    /// pi.
    Pi,
}

impl Program {
    /// Its word, in commands and as the kind of a session's alias.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Self::Codex => Format::Codex.word(),
            Self::ClaudeCode => Format::ClaudeCode.word(),
            Self::Pi => Format::Pi.word(),
        }
    }

    /// The role of the message in which the model is given what a hook adds.
    pub(super) const fn role(self) -> &'static str {
        match self {
            Self::Codex => "developer",
            Self::ClaudeCode | Self::Pi => "user",
        }
    }

    /// The room in one answer. Codex cuts at 4 bytes for each token of `additionalContextLimit`, which `sayso setup` sets
    /// to 20,000; Claude Code at 10,000 characters; pi not at all.
    pub(super) const fn room(self) -> Room {
        match self {
            Self::Codex | Self::Pi => Room::Bytes(76_000),
            Self::ClaudeCode => Room::Units(9_500),
        }
    }

    /// The id under which an import knows the session: Claude Code's files are called by theirs.
    pub(super) fn session<'i>(self, input: &'i Input) -> std::borrow::Cow<'i, str> {
        let stem = input.transcript_path.as_deref().and_then(Path::file_stem);
        match (self, stem) {
            (Self::ClaudeCode, Some(stem)) => stem.to_string_lossy(),
            _ => input.session_id.as_str().into(),
        }
    }
}

impl FromStr for Program {
    type Err = Failure;

    fn from_str(word: &str) -> Result<Self, Failure> {
        let all = [Self::Codex, Self::ClaudeCode, Self::Pi];
        let found = all.into_iter().find(|program| program.word() == word);
        found.ok_or_else(|| {
            Failure::request(format!("hooks of {word:?} are not known: codex, claude-code and pi are"))
        })
    }
}

/// How much one answer may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Room {
    /// Bytes of UTF-8.
    Bytes(usize),
    /// Units of UTF-16, as programs in JavaScript count characters.
    Units(usize),
}

impl Room {
    /// What is left of it behind a text; `None` where that does not fit.
    pub(super) fn behind(self, text: &str) -> Option<Self> {
        match self {
            Self::Bytes(room) => room.checked_sub(text.len()).map(Self::Bytes),
            Self::Units(room) => room.checked_sub(text.encode_utf16().count()).map(Self::Units),
        }
    }

    /// Tokens that surely fit: a token has about 4 bytes or units, and the labels need some.
    pub(super) const fn tokens(self) -> u64 {
        match self {
            Self::Bytes(room) | Self::Units(room) => room as u64 / 5,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_counted_as_the_program_counts() {
        assert_eq!(Room::Bytes(6).behind("가나"), Some(Room::Bytes(0)));
        assert_eq!(Room::Bytes(5).behind("가나"), None);
        assert_eq!(Room::Units(3).behind("가😀"), Some(Room::Units(0)));
        assert_eq!(Room::Units(2).behind("가😀"), None);
    }
}
