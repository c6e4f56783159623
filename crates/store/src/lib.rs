//! The contract of a Sayso ledger.
//!
//! A write is a [`Batch`] of [`Command`]s, applied atomically: all of it or nothing. Commands carry ids and times; the
//! store mints `seq` and hashes. Every read takes a [`Scope`] first, and what lies outside the scope answers exactly as
//! what never existed. [`Oracle`] implements the contract with plain collections; every backend is compared with it.
//!
//! # Order of refusals
//!
//! A batch is refused by its first command that cannot be applied. Within a command the checks stand in this order, so
//! that every backend refuses for the same reason: the shape of its values ([`check`]); its project or session (unknown
//! and out of scope are the same); its speakers; its idempotency key (known: what was written is returned; other content:
//! [`Refusal::Conflict`]); the expected head; whether the session is closed; what it refers to (the turn it answers,
//! outputs, sources, the compaction and the ranges of a re-injection, in order); taking the quote; limits over all quotes; and last whether its ids are free.

pub mod archive;
pub mod check;
pub mod command;
pub mod content;
pub mod erase;
pub mod error;
pub mod grow;
pub mod oracle;
pub mod query;
pub mod reinject;
pub mod relay;
pub mod salvage;
pub mod search;
pub mod title;
pub mod values;

pub use archive::{ArchivedEntry, ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker, Restore};
pub use command::{
    Alias, AppendTurn, Batch, Command, Compact, CreateProject, CreateSession, CreateSpeaker, Done, Edit,
    Fate, ForkSession, Forward, ForwardItem, Key, MarkEntry, MergeProject, MoveSession, NewPart, NewRange,
    Placed, Redact, Redaction, Reinject, RenameProject, RenameSession, StoreOutput,
};
pub use erase::{Erase, Erasing, Forks, Target};
pub use error::{Refusal, StoreError};
pub use grow::{EndOutput, GrowingOutput, StartOutput};
pub use oracle::Oracle;
pub use query::{
    Blob, Collected, ForkPoint, KnownKeys, Lookup, OpenStream, Output, OutputState, OutputStream, Problem,
    Project, ReadOrder, Report, Run, Scope, Session, SessionHead, Store, StreamKind, Waiting,
};
pub use relay::{Accept, Deliveries, Intend, RelayCommand, RelayStep, Relayed, Requests};
pub use salvage::{Lost, LostPlace, Salvage, Salvaged, Trace};
pub use search::{Excerpt, Found, Hit, Progress, Search};
