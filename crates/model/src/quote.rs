//! The quote: a bounded, addressed quotation held by a user turn.

use crate::address::{Address, Span};
use crate::canon::Digest;
use crate::said::{SaidAt, UtcMs};
use crate::speaker::{SessionKind, Speaker, kinds};

/// A bounded, addressed quotation. The ledger takes it from the source turn; no client supplies its text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Quote {
    /// Where the words stand.
    pub origin: Origin,
    /// The selection, when only a part of the source's text was forwarded.
    pub span: Option<Span>,
    /// Who said the words.
    pub speaker: Speaker,
    /// When they were said, where the source knew.
    pub said_at: Option<SaidAt>,
    /// The title of the origin's project as it was; `None` where titles are hidden or there was none.
    pub project_title: Option<String>,
    /// The title of the origin's session as it was; `None` where titles are hidden or there was none.
    pub session_title: Option<String>,
    /// The quoted words, at most [`crate::limits::QUOTE_CHARS`] characters, byte for byte as they stand in the source.
    pub text: String,
    /// Characters in `text`.
    pub kept: u32,
    /// Characters in the source or the selection.
    pub total: u64,
    /// Whether and how the words were cut.
    pub cut: Cut,
    /// Whether a code fence is still open at the end of `text`.
    pub open_fence: bool,
    /// The sessions the quote has passed since its origin, oldest first.
    pub hops: Vec<Hop>,
    /// The origin of a quote that the source turn held and that did not travel on.
    pub nested: Option<Address>,
    /// Who forwarded it here.
    pub forwarded_by: Speaker,
    /// When it was forwarded.
    pub forwarded_at: UtcMs,
    /// BLAKE3 over the commitments of the source's parts: which text the words were taken from, without telling it.
    pub source: Digest,
}

/// Where quoted words stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The source turn.
    pub address: Address,
    /// The kind of its session.
    pub session_kind: SessionKind,
    /// The channel of its session, such as `telegram`.
    pub channel: Option<String>,
}

/// A session that a quote passed on its way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hop {
    /// The turn that held the quote there.
    pub address: Address,
    /// Who had forwarded it there.
    pub by: Speaker,
    /// When it had been forwarded there.
    pub at: UtcMs,
}

kinds! {
    /// Whether and how quoted words were cut.
    Cut, "kind of cut", "none, length, mid_cluster" {
        /// Not at all.
        None = "none",
        /// At the last grapheme boundary within the limit.
        Length = "length",
        /// Inside a grapheme cluster: a selection that starts or ends in one, or a cluster longer than the limit.
        MidCluster = "mid_cluster",
    }
}

kinds! {
    /// What of a source turn that holds a quote is forwarded.
    What, "choice", "note, quote" {
        /// Its own words; the quote it holds is named by address.
        Note = "note",
        /// The quote it holds travels on, with one more hop.
        Quote = "quote",
    }
}

kinds! {
    /// Whether the titles of the origin's project and session go along.
    Titles, "choice for titles", "shown, hidden" {
        /// They do.
        Shown = "shown",
        /// They stay behind.
        Hidden = "hidden",
    }
}

kinds! {
    /// What became of the words' origin since they were quoted.
    OriginState, "state of an origin", "same, changed, moved, deleted, unavailable" {
        /// It stands as it was.
        Same = "same",
        /// It was superseded or redacted.
        Changed = "changed",
        /// It stands in another project or session now.
        Moved = "moved",
        /// It is gone.
        Deleted = "deleted",
        /// It is unknown here or outside the reader's scope.
        Unavailable = "unavailable",
    }
}
