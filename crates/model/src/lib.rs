//! Values, rules, canonical form and limits of the Sayso ledger.
//!
//! Nothing here reads a clock, a file, a socket or a random source: ids, times and salts come in as values. That is
//! what lets the in-memory oracle, every backend and every test agree on what a rule means.

pub mod address;
pub mod canon;
pub mod entry;
pub mod escape;
pub mod form;
pub mod hidden;
pub mod id;
pub mod limits;
pub mod quote;
pub mod reinjection;
pub mod relay;
pub mod row;
pub mod said;
pub mod speaker;
pub mod take;
pub mod text;

pub use address::{Address, AddressError, Span, SpanError};
pub use canon::{Digest, Salt};
pub use entry::{
    Attachment, Compaction, Entry, EntryBody, Kept, Mark, MarkKind, Outcome, Part, PartBody, Seal, ToolCall,
    ToolResult, Turn,
};
pub use form::Seed;
pub use id::{
    DeliveryId, EntryId, IdError, LedgerId, OutputId, ProjectId, RequestId, SessionId, SpeakerId, TurnId,
};
pub use quote::{Cut, Hop, Origin, OriginState, Quote, Titles, What};
pub use reinjection::{Layout, RangeSource, RangeUnit, Reinjected, Reinjection, StreamKind, TextRange, Why};
pub use relay::{Delivery, DeliveryKind, DeliveryState, Lease, RelayRefusal, Request};
pub use said::{SaidAt, UtcMs};
pub use speaker::{SessionKind, Speaker, SpeakerKind, UnknownKind};
pub use take::{QuoteRefusal, Source, TakeRequest, take};
