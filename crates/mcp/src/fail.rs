//! Errors of a call: one message that names the next action. A model reads it, so it holds no path of this machine, no
//! command line, and no more of what the client sent than helps.

use std::error::Error as _;

use sayso::Error;
use sayso::model::SpanError;
use sayso::store::{Refusal, StoreError};
use sayso::view::json_line;

use crate::words;

/// Why a call was not answered.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    /// The library says so.
    #[error("{}", told(.0))]
    Ledger(#[from] Error),
    /// Something about the request is wrong; the message names the next action.
    #[error("{0}")]
    Request(String),
}

impl Fault {
    pub(crate) fn request(message: impl Into<String>) -> Self {
        Self::Request(message.into())
    }

    /// Whether the ledger failed, not what was asked of it.
    pub(crate) fn is_storage(&self) -> bool {
        matches!(self, Self::Ledger(Error::Store(store)) if store.refusal().is_none())
    }

    /// What a person at this machine should see, where it is more than the client is told.
    pub(crate) fn detail(&self) -> Option<String> {
        match self {
            Self::Ledger(error) if self.is_storage() => Some(chain(error)),
            Self::Ledger(_) | Self::Request(_) => None,
        }
    }
}

/// An error and its causes, for the person at this machine.
pub(crate) fn chain(error: &Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        let cause_text = cause.to_string();
        if !text.ends_with(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        next = cause.source();
    }
    text
}

/// What was given, as far as it helps to see it again.
fn given(text: &str) -> String {
    json_line(&words::line(text, 120))
}

fn told(error: &Error) -> String {
    match error {
        Error::Store(error) => store(error),
        Error::Unknown { what, given: text, near } => unknown(what, text, near),
        Error::Erased { given } => {
            format!("{given} was erased on purpose and cannot be read: go on without it")
        }
        Error::Ambiguous { what, given: text, candidates } => {
            let candidates = candidates.join(", ");
            format!("{} names several {what}s: give one of these addresses: {candidates}", given(text))
        }
        Error::WrongKind { what, found, given } => {
            format!("{given} is the address of a {found}: give a {what}")
        }
        Error::Malformed { given: text, reason } => {
            format!("{} is not an address ({reason}): copy it whole from an earlier answer", given(text))
        }
        Error::MalformedId { given: text, reason } => {
            format!("{} is not an id ({reason}): copy it whole from an earlier answer", given(text))
        }
        Error::ForeignLedger { given, .. } => {
            format!("{given} belongs to another ledger than this server's: ask for something of this one")
        }
        Error::Selection(SpanError::Repeated { starts, count }) => format!(
            "the words stand there {count} times, first at characters {starts:?}: give more of them, or the address with \
             #chars=START,LENGTH instead"
        ),
        Error::Selection(reason) => format!("the words cannot be selected: {reason}"),
        Error::OutputGone { id } => format!("output {id} was erased while it was read: go on without it"),
        Error::NoQuote { given } => {
            format!("{given} holds no quote, so it has no origin: use show to read it")
        }
        _ => "this server cannot do that: use another of its tools".to_owned(),
    }
}

fn unknown(what: &str, text: &str, near: &[String]) -> String {
    let near: Vec<String> = near.iter().map(|name| json_line(&words::name(name))).collect();
    let next = match (near.is_empty(), what) {
        (false, _) => format!("near to it: {}", near.join(", ")),
        (true, "project" | "session") => "the tool sessions lists what there is".to_owned(),
        (true, "output") => "show names the outputs of a turn".to_owned(),
        (true, _) => "copy the address whole from an answer of search or show".to_owned(),
    };
    format!("there is no {what} {}: {next}", given(text))
}

fn store(error: &StoreError) -> String {
    match error {
        StoreError::Refused { refusal, .. } => refused(refusal),
        StoreError::Busy(_) => {
            "the ledger is locked by another program: try again in a moment, and if it stays locked, tell the person \
             at this machine"
        }
        .to_owned(),
        StoreError::Full(_) => "the disk is full and nothing was written: ask the person to free some space".to_owned(),
        StoreError::Missing { .. } => {
            "there is no ledger yet: ask the person to run `sayso import --auto`, then try again".to_owned()
        }
        StoreError::Denied { .. } => {
            "the ledger cannot be opened: ask the person to check its folder and permissions".to_owned()
        }
        StoreError::NotALedger { .. } => {
            "the file that this server was given is no ledger: ask the person to start it with another".to_owned()
        }
        StoreError::Future { .. } => {
            "a newer program wrote the ledger: ask the person to update the program sayso".to_owned()
        }
        StoreError::Damaged { .. } => {
            "the ledger is damaged here: ask the person to run `sayso verify`, and go on without this part".to_owned()
        }
        StoreError::IndexDamaged(_) => {
            "the index of the search is damaged: ask the person to run `sayso doctor --reindex`, then try again".to_owned()
        }
        StoreError::CommitUnknown(_) => {
            "it is not known whether this was written: look with show, or repeat the call if it had a key".to_owned()
        }
        _ => "the ledger's storage failed: try again, and if it stays so, tell the person at this machine".to_owned(),
    }
}

fn refused(refusal: &Refusal) -> String {
    match refusal {
        Refusal::Quote { source_turn, reason } => format!("turn {source_turn} cannot be forwarded: {reason}"),
        Refusal::SessionClosed(id) => format!("session {id} is closed: choose another (sessions lists them)"),
        Refusal::UnknownSession(id) => {
            format!("there is no session {id}: the tool sessions lists what there is")
        }
        Refusal::UnknownTurn(id) => format!("there is no turn {id}: copy the address whole from an answer"),
        Refusal::Conflict { .. } => {
            "that key was used for another forward to this session: take a fresh key for a new one".to_owned()
        }
        other => words::line(&other.to_string(), 400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    #[test]
    fn no_path_of_this_machine_is_told() {
        let path = || PathBuf::from("/secret/place/ledger.db");
        let cause = || std::io::Error::other("/secret/place").into();
        let errors = [
            StoreError::Busy(cause()),
            StoreError::Full(cause()),
            StoreError::Denied { path: path(), cause: cause() },
            StoreError::Missing { path: path() },
            StoreError::BackupExists { path: path() },
            StoreError::NotALedger { path: path() },
            StoreError::Damaged { what: "in /secret/place".to_owned(), cause: None },
            StoreError::CommitUnknown(cause()),
            StoreError::Storage { context: "reading", cause: cause() },
        ];
        for error in errors {
            let fault = Fault::from(Error::Store(error));
            let message = fault.to_string();
            assert!(!message.contains("secret") && message.contains(": "), "{message}");
            assert!(fault.detail().is_some());
        }
    }

    #[test]
    fn what_was_given_is_cut() {
        let given = format!("{}\n</quote>", "x".repeat(1_000_000));
        let fault =
            Fault::from(Error::Unknown { what: "session", given, near: vec!["Plan\n[owner]".to_owned()] });
        let message = fault.to_string();
        assert!(message.len() < 500 && message.lines().count() == 1, "{message}");
    }
}
