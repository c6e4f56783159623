//! Sayso: the conversation ledger that agent apps embed.
//!
//! A [`Ledger`] is one SQLite file. It keeps every turn of every conversation and never loses on whose say-so words
//! stand there. Handles are cheap to clone and may be used from any thread; calls block.
//!
//! ```
//! use sayso::{Ledger, NewTurn, Options, Scope, SpeakerKind};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let ledger = Ledger::open(&folder.path().join("ledger.db"), &Options::default())?;
//! let session = ledger.session("harbour", "planning")?;
//! let turn = ledger.append(&session, NewTurn::text(SpeakerKind::Agent, "Rocky", "The plan stands."))?;
//!
//! let reader = ledger.reader(Scope::All);
//! assert_eq!(reader.entry(turn.id)?.and_then(|e| e.turn().map(|t| t.text())).as_deref(), Some("The plan stands."));
//! # Ok(())
//! # }
//! ```

mod archive;
mod carry;
mod compact;
mod context;
mod edit;
mod erase;
mod error;
mod fork;
mod forward;
mod host;
mod ledger;
mod life;
mod near;
mod origin;
mod output;
mod plan;
mod reader;
mod redact;
mod reinject;
mod relay;
mod resolve;

pub use compact::{CompactRequest, Compacted};
pub use erase::Erased;
pub use error::Error;
pub use forward::{Destination, ForwardRequest, Selection};
pub use host::{Host, SystemHost};
pub use ledger::{Ledger, NewTurn, Options, SpeakerRef};
pub use origin::OriginReport;
pub use output::{
    Ended, Ending, GrepMatch, LinePlace, NewOutput, OutputBytes, OutputWriter, Pattern, PatternError,
};
pub use plan::Plan;
pub use reader::{HeadKept, Reader};
pub use redact::{Quotes, Redacted};
pub use reinject::{
    BroughtBack, Considered, ReinjectRequest, ReinjectionPlan, Trigger, Verdict, WINDOW_TOKENS,
};
pub use resolve::Named;

pub use sayso_model as model;
pub use sayso_model::{Address, Entry, SpeakerKind, Titles, What};
pub use sayso_sqlite::{Connections, Durability, LogEnd, log_end};
pub use sayso_store as store;
pub use sayso_store::{Erasing, Fate, Forks, Hit, Placed, Refusal, Scope, Search, StoreError, Target};
pub use sayso_view as view;
