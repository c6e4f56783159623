//! What can go wrong, typed by what the caller does next.

use sayso_model::{Address, AddressError, IdError, LedgerId, OutputId, SpanError};
use sayso_store::StoreError;
use sayso_view::context::NeedsCompaction;

/// Why the ledger could not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The store could not answer, or refused a write.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Nothing has this name, address or id within the scope.
    #[error("there is no {what} {given:?}{}", next(what, near))]
    Unknown {
        /// What was looked for: project, session, turn, output.
        what: &'static str,
        /// What was given.
        given: String,
        /// Names near to it; empty when there are none.
        near: Vec<String>,
    },
    /// It was erased on purpose.
    #[error(
        "{given} was erased from this ledger and cannot be brought back: quotes of it may still stand elsewhere"
    )]
    Erased {
        /// The address.
        given: Address,
    },
    /// Several things have this name or this end of an id.
    #[error("{given:?} names several {what}s: {}; use {}an address", candidates.join(", "), if *what == "session" { "PROJECT/SESSION or " } else { "" })]
    Ambiguous {
        /// What was looked for.
        what: &'static str,
        /// What was given.
        given: String,
        /// Their addresses, some of them if there are many.
        candidates: Vec<String>,
    },
    /// An address of something else.
    #[error("{given} is the address of a {found}: give the name or address of a {what}")]
    WrongKind {
        /// What was needed.
        what: &'static str,
        /// What the address names.
        found: &'static str,
        /// The address.
        given: Address,
    },
    /// The text means to be an address and is none.
    #[error("{given:?} is not an address of this kind of ledger: copy it whole")]
    Malformed {
        /// What was given.
        given: String,
        /// What is wrong with it.
        #[source]
        reason: AddressError,
    },
    /// The text has the length of an id and is none.
    #[error("{given:?} is not an id: copy it whole")]
    MalformedId {
        /// What was given.
        given: String,
        /// What is wrong with it.
        #[source]
        reason: IdError,
    },
    /// The address belongs to another ledger.
    #[error("{given} belongs to ledger {theirs}, this is {ours}: open that ledger with --ledger")]
    ForeignLedger {
        /// The address.
        given: Address,
        /// Its ledger.
        theirs: LedgerId,
        /// This ledger.
        ours: LedgerId,
    },
    /// The selected words do not stand in the source, or more than once.
    #[error("the selection does not fit the turn's text")]
    Selection(#[source] SpanError),
    /// A new project would lie outside the scope.
    #[error(
        "there is no project {given:?} within the scope, and a new one would lie outside it: widen the scope"
    )]
    OutsideScope {
        /// The name.
        given: String,
    },
    /// The turn holds no quote.
    #[error("{given} holds no quote, so it has no origin: `sayso show` shows the turn itself")]
    NoQuote {
        /// The turn.
        given: Address,
    },
    /// A summary says nothing.
    #[error("the summary is empty: give the words that stand for the earlier turns")]
    EmptySummary,
    /// There is nothing that a summary could stand for.
    #[error("{given} has no entries yet: append turns first")]
    EmptySession {
        /// The session.
        given: Address,
    },
    /// Nothing was taken out of the context that could come back.
    #[error(
        "{given} has no summary yet, so its context shows all of it: record one first, with `sayso compact`"
    )]
    NoCompaction {
        /// The session.
        given: Address,
    },
    /// The boundary of a compaction stands in another session.
    #[error("{given} does not stand in {session}: name an entry of that session")]
    BoundaryElsewhere {
        /// The entry.
        given: Address,
        /// The session to compact.
        session: Address,
    },
    /// The context does not fit the budget.
    #[error(transparent)]
    NeedsCompaction(#[from] NeedsCompaction),
    /// The output went while it was read.
    #[error("output {id} was erased while it was read: what was read so far is all there is")]
    OutputGone {
        /// The output.
        id: OutputId,
    },
    /// A list of heads is not readable.
    #[error("the list of heads is not readable at {given:?}: give the output of `sayso verify --json`")]
    Heads {
        /// The first thing that is wrong.
        given: String,
    },
}

impl Error {
    /// Whether waiting and trying the same again may help.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self, Self::Store(error) if error.is_busy())
    }

    /// The refusal, if a write was refused.
    #[must_use]
    pub const fn refusal(&self) -> Option<&sayso_store::Refusal> {
        match self {
            Self::Store(error) => error.refusal(),
            _ => None,
        }
    }
}

/// The nearest names, or where to look for the right one.
fn next(what: &str, near: &[String]) -> String {
    match (near, what) {
        ([], "project") => ": see `sayso projects`".to_owned(),
        ([], "session") => ": see `sayso sessions`".to_owned(),
        ([], "delivery") => ": see `sayso deliveries list --all`".to_owned(),
        ([], "output") => ": see the outputs in `sayso show ADDRESS --json`".to_owned(),
        ([], _) => ": see `sayso sessions`, then `sayso show SESSION`".to_owned(),
        (names, _) => format!("; near to it: {}", names.join(", ")),
    }
}
