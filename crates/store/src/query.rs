//! Reads, all of them scoped.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sayso_model::{
    Address, Compaction, Delivery, DeliveryId, Digest, Entry, EntryId, Lease, LedgerId, Mark, OutputId,
    ProjectId, Request, RequestId, SessionId, Speaker, SpeakerId, SpeakerKind, UtcMs,
};

use crate::archive::{ArchivedEntry, ArchivedKey, ArchivedProject, ArchivedSession, ArchivedSpeaker};
use crate::command::{Batch, Done, Placed};
use crate::erase::{Erase, Erasing};
use crate::error::StoreError;
use crate::grow::{GrowingOutput, StartOutput};
use crate::relay::{Deliveries, Requests};
use crate::salvage::Salvage;
use crate::search::{Hit, Progress, Search};

pub use crate::values::{
    Blob, Collected, ForkPoint, KnownKeys, Lookup, OpenStream, Output, OutputState, OutputStream, Problem,
    Project, ReadOrder, Report, Run, Scope, Session, SessionHead, StreamKind, Waiting,
};

/// A ledger's storage.
///
/// Every method fails with a [`StoreError`] whose variant names the decision: wait, free space, choose another file, use
/// a newer program, restore a backup. A lookup that finds nothing is `None` or empty, never an error.
pub trait Store: Salvage + Send + Sync {
    /// The ledger's id.
    fn ledger(&self) -> LedgerId;

    /// Applies a batch: all of it, or nothing. The results stand in the order of the commands.
    ///
    /// # Errors
    ///
    /// [`StoreError::Refused`] with the first command that cannot be applied; storage errors.
    fn write(&self, batch: &Batch) -> Result<Vec<Done>, StoreError>;

    /// Stores bytes under their hash, over as many transactions as it takes. Bytes that nothing refers to are harmless.
    ///
    /// # Errors
    ///
    /// Storage errors; an error of `bytes` itself as [`StoreError::Storage`].
    fn put_blob(&self, bytes: &mut dyn Read) -> Result<Blob, StoreError>;

    /// Starts an output whose bytes stream in while its tool runs. Nothing of it is there before some of it was kept.
    ///
    /// # Errors
    ///
    /// [`StoreError::Refused`] for values of a wrong shape and a session that is not there; storage errors.
    fn start_output(self: Arc<Self>, start: StartOutput) -> Result<Box<dyn GrowingOutput>, StoreError>;

    /// Deletes bytes that no output refers to and that a collection found so before, `grace` or longer ago; what it finds
    /// so for the first time it notes. Whether something refers to bytes is looked up in the transaction that deletes them,
    /// whatever the clock says: a clock that jumps costs at most bytes that an output has yet to name, and naming them is
    /// then refused.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn collect(&self, now: UtcMs, grace: Duration) -> Result<Collected, StoreError>;

    /// All projects, by id, without those that were merged into another.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn projects(&self, scope: &Scope) -> Result<Vec<Project>, StoreError>;

    /// One project. The id of a project that was merged leads to the one that it is part of now.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn project(&self, scope: &Scope, id: ProjectId) -> Result<Option<Project>, StoreError>;

    /// The projects that a lookup finds, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_projects(&self, scope: &Scope, lookup: &Lookup) -> Result<Vec<Project>, StoreError>;

    /// The sessions of a project, or all, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn sessions(&self, scope: &Scope, project: Option<ProjectId>) -> Result<Vec<Session>, StoreError>;

    /// One session.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn session(&self, scope: &Scope, id: SessionId) -> Result<Option<Session>, StoreError>;

    /// The sessions of a project, or of all, that a lookup finds, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_sessions(
        &self,
        scope: &Scope,
        project: Option<ProjectId>,
        lookup: &Lookup,
    ) -> Result<Vec<Session>, StoreError>;

    /// One speaker. Speakers belong to the ledger, not to a project; a scope of projects finds only those that spoke or
    /// forwarded in one of them.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn speaker(&self, scope: &Scope, id: SpeakerId) -> Result<Option<Speaker>, StoreError>;

    /// The speaker of this kind and name, for a writer that wants to use it; not scoped, since it tells nothing but an id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_speaker(&self, kind: SpeakerKind, name: &str) -> Result<Option<SpeakerId>, StoreError>;

    /// One entry, its texts checked against their commitments.
    ///
    /// # Errors
    ///
    /// Storage errors; [`StoreError::Damaged`] where a text is not what was written.
    fn entry(&self, scope: &Scope, id: EntryId) -> Result<Option<Entry>, StoreError>;

    /// The turn that took the place of this one, if it was superseded.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn superseding(&self, scope: &Scope, of: EntryId) -> Result<Option<Placed>, StoreError>;

    /// The turns that hold a quote of this turn, by session, in order.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn quotes_of(&self, scope: &Scope, turn: EntryId) -> Result<Vec<Placed>, StoreError>;

    /// The entries of a session that are pinned, in their order.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn pinned(&self, scope: &Scope, session: SessionId) -> Result<Vec<Placed>, StoreError>;

    /// At most `limit` entries whose id ends with `suffix`, as places, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_entries(&self, scope: &Scope, suffix: &str, limit: usize) -> Result<Vec<Placed>, StoreError>;

    /// At most `limit` entries of a session with `seq` greater than `after`, in order. Of an unknown session, none.
    /// A fork's entries begin with those that it shares; each says which session it stands in.
    ///
    /// # Errors
    ///
    /// As for [`Store::entry`].
    fn entries(
        &self,
        scope: &Scope,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<Entry>, StoreError>;

    /// The place and the content of the latest compaction of a session.
    ///
    /// # Errors
    ///
    /// As for [`Store::entry`].
    fn latest_compaction(
        &self,
        scope: &Scope,
        session: SessionId,
    ) -> Result<Option<(Placed, Compaction)>, StoreError>;

    /// The turns of a session that hold a quote and have `seq` at most `through`, in order.
    ///
    /// # Errors
    ///
    /// As for [`Store::entry`].
    fn quotes(&self, scope: &Scope, session: SessionId, through: u64) -> Result<Vec<Entry>, StoreError>;

    /// Forwarded turns of a session, or of all, that are not yet in the context of their agent; by session, in order.
    ///
    /// # Errors
    ///
    /// As for [`Store::entry`].
    fn waiting(&self, scope: &Scope, session: Option<SessionId>) -> Result<Vec<Waiting>, StoreError>;

    /// The marks of an entry, in order.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn marks(&self, scope: &Scope, of: EntryId) -> Result<Vec<Mark>, StoreError>;

    /// What was written under a key of a session, for appended turns, compactions and re-injections.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn known(&self, scope: &Scope, session: SessionId, key: &str) -> Result<Option<Placed>, StoreError>;

    /// Every key of a session with what was written under it, as [`Store::known`] finds them, for who asks for many; `None`
    /// where there are more than `most`, or the scope does not see the session.
    ///
    /// # Errors
    ///
    /// As for [`Store::known`].
    fn known_keys(
        &self,
        scope: &Scope,
        session: SessionId,
        most: usize,
    ) -> Result<Option<KnownKeys>, StoreError>;

    /// One output.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn output(&self, scope: &Scope, id: OutputId) -> Result<Option<Output>, StoreError>;

    /// At most `limit` outputs whose id ends with `suffix`, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_outputs(&self, scope: &Scope, suffix: &str, limit: usize) -> Result<Vec<OutputId>, StoreError>;

    /// Writes one stream of an output to `to`, each chunk checked against the blob's hash before it is handed out.
    /// Whether there was such an output and stream.
    ///
    /// # Errors
    ///
    /// Storage errors; [`StoreError::Damaged`] before the first wrong byte is written; an error of `to` itself as
    /// [`StoreError::Storage`] with the `std::io::Error` as its cause.
    fn read_output(
        &self,
        scope: &Scope,
        id: OutputId,
        stream: StreamKind,
        to: &mut dyn Write,
    ) -> Result<bool, StoreError>;

    /// Looks at one stream of an output before its bytes are read in parts; `None` where there is no such output or stream.
    ///
    /// # Errors
    ///
    /// Storage errors; [`StoreError::Damaged`] where the stream's parts are not those that were written.
    fn open_stream(
        &self,
        scope: &Scope,
        id: OutputId,
        stream: StreamKind,
    ) -> Result<Option<OpenStream>, StoreError>;

    /// Bytes of a stream from a place on, checked against the stream's hash: at most `most`, at most a few MiB, and at
    /// least one unless the stream ends there. `None` where the stream is no longer what was opened: it has grown or is gone, and is to be opened again.
    ///
    /// # Errors
    ///
    /// Storage errors; [`StoreError::Damaged`] where the bytes are not what was written.
    fn read_stream(
        &self,
        scope: &Scope,
        stream: &OpenStream,
        from: u64,
        most: usize,
    ) -> Result<Option<Vec<u8>>, StoreError>;

    /// The turns whose texts have the words of a query, the last appended first. Every turn that is committed is found.
    /// What is found, and where, is defined in [`crate::search`].
    ///
    /// # Errors
    ///
    /// Storage errors; [`StoreError::Damaged`] where a text that may be a hit is not what was written.
    fn search(&self, scope: &Scope, search: &Search) -> Result<Vec<Hit>, StoreError>;

    /// Takes at most `limit` more entries into the index of the search, in the order they were appended: one bounded step.
    /// It changes how fast a search is, never what it finds. A store without an index has nothing left to do.
    ///
    /// # Errors
    ///
    /// Storage errors; [`StoreError::Damaged`] where an entry cannot be read.
    fn index(&self, limit: usize) -> Result<Progress, StoreError>;

    /// The same without waiting: `None` where somebody else is writing, for readers that search right after it.
    ///
    /// # Errors
    ///
    /// As for [`Store::index`].
    fn index_at_once(&self, limit: usize) -> Result<Option<Progress>, StoreError>;

    /// Makes the index of the search anew, and empty, also where it is damaged or gone; [`Store::index`] then fills it in
    /// steps. A store without an index has nothing to do.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn reindex(&self) -> Result<(), StoreError>;

    /// Erases a project, a session or an entry: texts, names, keys, marks, and outputs that nothing else names. It is out of
    /// sight at once; `steps` transactions at most are run, and [`Store::go_on_erasing`] runs the rest, also after a crash.
    /// What was erased before is [`Erasing::Done`] again.
    ///
    /// # Errors
    ///
    /// [`StoreError::NeedsWholeLedger`] for a narrower scope; [`StoreError::Refused`] for an unknown target, an entry
    /// without words, and a session with forks; storage errors.
    fn erase(&self, erase: &Erase, steps: usize) -> Result<Erasing, StoreError>;

    /// Runs at most `steps` transactions of what is still to be erased.
    ///
    /// # Errors
    ///
    /// [`StoreError::NeedsWholeLedger`] for a narrower scope; storage errors.
    fn go_on_erasing(&self, scope: &Scope, steps: usize) -> Result<Erasing, StoreError>;

    /// Whether what an address names was erased, as far as the scope would have seen it.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn was_erased(&self, scope: &Scope, address: &Address) -> Result<bool, StoreError>;

    /// Copies the ledger into a new file while it is in use: one state of it, with nothing half written.
    ///
    /// # Errors
    ///
    /// [`StoreError::NeedsWholeLedger`] for a narrower scope; [`StoreError::BackupExists`] where there is a file already;
    /// [`StoreError::Denied`] where none can be made; [`StoreError::Full`]; storage errors.
    fn backup(&self, scope: &Scope, to: &Path) -> Result<(), StoreError>;

    /// Takes what was deleted out of the files that stand beside the ledger, such as a log of changes. Whether that was
    /// done: a reader in the middle of something holds it up, and then it is to be tried again.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn purge(&self) -> Result<bool, StoreError>;

    /// Looks at everything: chains, texts, counters, rows, blobs. Finds damage and partial edits; a session that was
    /// rewritten as a whole only shows against heads that were kept elsewhere.
    ///
    /// # Errors
    ///
    /// [`StoreError::NeedsWholeLedger`] for a narrower scope; storage errors that keep it from looking.
    fn verify(&self, scope: &Scope) -> Result<Report, StoreError>;

    /// The hash of the entry at a place, for comparing with a head kept elsewhere; at 0 that of the session's beginning,
    /// while the session has no entry.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn hash_at(&self, scope: &Scope, session: SessionId, seq: u64) -> Result<Option<Digest>, StoreError>;

    /// A project for an export: the one that an id leads to first, then those that were merged into it, each after the
    /// one that it became part of.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn archived_project(&self, scope: &Scope, id: ProjectId) -> Result<Vec<ArchivedProject>, StoreError>;

    /// A session for an export.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn archived_session(&self, scope: &Scope, id: SessionId) -> Result<Option<ArchivedSession>, StoreError>;

    /// A speaker for an export; as for [`Store::speaker`].
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn archived_speaker(&self, scope: &Scope, id: SpeakerId) -> Result<Option<ArchivedSpeaker>, StoreError>;

    /// At most `limit` of a session's own entries with `seq` greater than `after`, in order; of those of a beginning that it
    /// shares, none.
    ///
    /// # Errors
    ///
    /// As for [`Store::entry`].
    fn archived_entries(
        &self,
        scope: &Scope,
        session: SessionId,
        after: u64,
        limit: usize,
    ) -> Result<Vec<ArchivedEntry>, StoreError>;

    /// At most `limit` keys of a session, by kind and key, after the pair given. Those whose text was taken away are left out.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn archived_keys(
        &self,
        scope: &Scope,
        session: SessionId,
        after: (&str, &str),
        limit: usize,
    ) -> Result<Vec<ArchivedKey>, StoreError>;

    /// At most `limit` outputs of a session, by id, after the one given.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn archived_outputs(
        &self,
        scope: &Scope,
        session: SessionId,
        after: Option<OutputId>,
        limit: usize,
    ) -> Result<Vec<Output>, StoreError>;

    /// Requests, by session and then by the place of their turns.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn requests(&self, scope: &Scope, which: Requests) -> Result<Vec<Request>, StoreError>;

    /// A request.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn request(&self, scope: &Scope, id: RequestId) -> Result<Option<Request>, StoreError>;

    /// Deliveries, in the order of [`crate::relay::in_order`].
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn deliveries(&self, scope: &Scope, which: Deliveries) -> Result<Vec<Delivery>, StoreError>;

    /// A delivery.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn delivery(&self, scope: &Scope, id: DeliveryId) -> Result<Option<Delivery>, StoreError>;

    /// At most `limit` deliveries whose ids end so, by id.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn find_deliveries(
        &self,
        scope: &Scope,
        suffix: &str,
        limit: usize,
    ) -> Result<Vec<DeliveryId>, StoreError>;

    /// Where reading of a source that feeds a session goes on.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn cursor(&self, scope: &Scope, session: SessionId, account: &str) -> Result<Option<String>, StoreError>;

    /// The leases that somebody took and did not give up, also those that are over, by name; none for a narrower scope than all.
    ///
    /// # Errors
    ///
    /// Storage errors.
    fn leases(&self, scope: &Scope) -> Result<Vec<Lease>, StoreError>;
}
