//! Recording that a summary now stands for what was said before.

use sayso_model::{EntryBody, SaidAt, SessionId, SpeakerKind};
use sayso_store::{Command, Compact, Fate, Placed};

use crate::error::Error;
use crate::ledger::{SpeakerRef, first};
use crate::reader::Reader;
use crate::resolve::unknown;

/// A compaction to record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactRequest {
    /// The session.
    pub session: SessionId,
    /// The summary.
    pub summary: String,
    /// The last entry that it stands for. Without one it stands for all that is there when this is recorded, also for what
    /// was appended while it was being written: whoever summarises names the last entry that the summary knows of.
    pub through: Option<Placed>,
    /// Who wrote it.
    pub by: SpeakerRef,
    /// When, where known.
    pub said_at: Option<SaidAt>,
    /// The idempotency key.
    pub key: Option<String>,
}

impl CompactRequest {
    /// A summary of all that is there, by an agent without a name.
    pub fn of(session: SessionId, summary: impl Into<String>) -> Self {
        Self {
            session,
            summary: summary.into(),
            through: None,
            by: SpeakerRef::new(SpeakerKind::Agent, ""),
            said_at: None,
            key: None,
        }
    }

    /// The same for what was said up to this entry.
    #[must_use]
    pub const fn through(mut self, last: Placed) -> Self {
        self.through = Some(last);
        self
    }

    /// The same by this speaker.
    #[must_use]
    pub fn by(mut self, kind: SpeakerKind, name: impl Into<String>) -> Self {
        self.by = SpeakerRef::new(kind, name);
        self
    }

    /// The same with an idempotency key.
    #[must_use]
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }
}

/// A compaction that was recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Compacted {
    /// Where it stands.
    pub placed: Placed,
    /// The place of the last entry that it stands for.
    pub through: u64,
}

impl Reader {
    /// Records that a summary stands for the entries of a session up to a boundary. They stay; the next context starts with
    /// the summary.
    ///
    /// ```
    /// use sayso::{CompactRequest, Ledger, NewTurn, Options, Scope, SpeakerKind};
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let folder = tempfile::tempdir()?;
    /// # let ledger = Ledger::open(&folder.path().join("ledger.db"), &Options::default())?;
    /// let session = ledger.session("harbour", "planning")?;
    /// let last = ledger.append(&session, NewTurn::text(SpeakerKind::Agent, "Rocky", "A long plan."))?;
    /// let request = CompactRequest::of(session.id, "They agreed on a plan.").through(last).by(SpeakerKind::Agent, "Rocky");
    /// let (_, compacted) = ledger.reader(Scope::All).compact(&request)?;
    /// assert_eq!((compacted.placed.seq, compacted.through), (2, 1));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::EmptySummary`]; [`Error::EmptySession`]; [`Error::BoundaryElsewhere`]; [`Error::Store`] with the refusal: the
    /// session is closed, the key was used for other content; storage errors.
    pub fn compact(&self, request: &CompactRequest) -> Result<(Fate, Compacted), Error> {
        if request.summary.trim().is_empty() {
            return Err(Error::EmptySummary);
        }
        let through = self.boundary(request)?;
        let ((), done) = self.ledger().transact(self.scope(), |plan| {
            let compact = Compact {
                id: plan.entry_id(),
                session: request.session,
                speaker: plan.speaker(&request.by)?,
                said_at: request.said_at,
                through,
                summary: request.summary.clone(),
                key: request.key.clone(),
            };
            plan.push(Command::Compact(compact));
            Ok(())
        })?;
        first(&done).map(|(fate, placed)| (fate, Compacted { placed, through }))
    }

    fn boundary(&self, request: &CompactRequest) -> Result<u64, Error> {
        let session = self.session(request.session)?;
        let session = session.ok_or_else(|| unknown("session", &request.session.to_string(), Vec::new()))?;
        match request.through {
            Some(last) if last.session != session.id => Err(Error::BoundaryElsewhere {
                given: self.address_of(&last),
                session: self.ledger().session_address(&session),
            }),
            Some(last) => Ok(last.seq),
            None if session.last_seq == 0 => {
                Err(Error::EmptySession { given: self.ledger().session_address(&session) })
            }
            None => Ok(self.through_before(request)?.unwrap_or(session.last_seq)),
        }
    }

    /// The boundary that was recorded under the request's key: by now the session's last entry is another one, and a retry
    /// asks for the same.
    fn through_before(&self, request: &CompactRequest) -> Result<Option<u64>, Error> {
        let Some(key) = &request.key else { return Ok(None) };
        let Some(known) = self.known(request.session, key)? else { return Ok(None) };
        Ok(self.entry(known.id)?.and_then(|entry| match entry.body {
            EntryBody::Compaction(compaction) => Some(compaction.through),
            EntryBody::Turn(_) | EntryBody::Reinjection(_) | EntryBody::Mark(_) => None,
        }))
    }
}
