//! A relay between people and one session.

use std::collections::{BTreeMap, BTreeSet};

use sayso::model::limits::{RETRY_FIRST_MS, RETRY_MOST_MS};
use sayso::model::{Delivery, RelayRefusal, Request, RequestId, SessionId, TurnId};
use sayso::store::{Command, Deliveries, Done, RelayCommand, RelayStep, Requests, Session};
use sayso::{Plan, Reader, Refusal};

use crate::error::Error;
use crate::flaw::{Flaws, Point};
use crate::port::{AgentSession, Clock, Sender, UtcMs};
use crate::tempo::Tempo;
use crate::words::Words;

/// The sinks, by the channel whose answers they take.
pub type Senders = BTreeMap<String, Box<dyn Sender>>;

/// What a step works with.
pub struct Ports<'a> {
    /// The sinks.
    pub senders: &'a mut Senders,
    /// The session's agent, while it runs.
    pub agent: Option<&'a mut dyn AgentSession>,
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Stepped {
    /// How many batches were written; 0 when there was nothing to do.
    pub batches: u64,
    /// When something is due next, by the relay's time, where that is known.
    pub due: Option<UtcMs>,
}

/// A relay between people and one session. Several may run on one ledger: of two that want the same, one gets it.
pub struct Relay {
    pub(crate) reader: Reader,
    pub(crate) session: SessionId,
    pub(crate) clock: Box<dyn Clock>,
    pub(crate) tempo: Tempo,
    pub(crate) words: Words,
    pub(crate) batches: u64,
    pub(crate) enrolled: BTreeSet<TurnId>,
    /// What this relay heard was started last; of another relay's session it hears nothing.
    pub(crate) heard: Option<Option<RequestId>>,
    pub(crate) flaws: Flaws,
    /// Of a flawed relay: what it saw before, and where the last message came from.
    pub(crate) sighted: BTreeSet<RequestId>,
    pub(crate) last: Option<String>,
}

impl std::fmt::Debug for Relay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Relay").field("session", &self.session).finish_non_exhaustive()
    }
}

impl Relay {
    /// A relay for a session, going on with what stands in the ledger.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn open(reader: Reader, session: &Session, clock: Box<dyn Clock>) -> Result<Self, Error> {
        let requests = reader.requests(Requests::Open(Some(session.id)))?;
        let deliveries = reader.deliveries(Deliveries::Open(Some(session.id)))?;
        let of_requests = requests.iter().flat_map(|r| [Some(r.accepted_at), r.injected_at]);
        let of_deliveries = deliveries.iter().flat_map(|d| [Some(d.created_at), d.first_sent_at]);
        let tempo = Tempo::new(clock.as_ref(), of_requests.chain(of_deliveries).flatten().max());
        Ok(Self {
            reader,
            session: session.id,
            clock,
            tempo,
            words: Words::default(),
            batches: 0,
            enrolled: BTreeSet::new(),
            heard: None,
            flaws: Flaws::default(),
            sighted: BTreeSet::new(),
            last: None,
        })
    }

    /// The same with other words.
    #[must_use]
    pub fn with_words(self, words: Words) -> Self {
        Self { words, ..self }
    }

    /// A relay that is wrong in one way, and looked at in each step.
    #[cfg(feature = "flaws")]
    #[must_use]
    pub fn flawed(mut self, flaw: Option<crate::flaw::Flaw>, look: Option<crate::flaw::Look>) -> Self {
        self.flaws = Flaws { flaw, look };
        self
    }

    /// The relay's time.
    #[must_use]
    pub fn now(&self) -> UtcMs {
        self.tempo.now(self.clock.as_ref())
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> SessionId {
        self.session
    }

    /// The requests of the session that are not done.
    pub(crate) fn open_requests(&self) -> Result<Vec<Request>, Error> {
        Ok(self.reader.requests(Requests::Open(Some(self.session)))?)
    }

    /// The request for which the session speaks now: what this relay heard was started last, else what stands in the ledger.
    pub(crate) fn listening(&self) -> Result<Option<Request>, Error> {
        match self.heard {
            Some(Some(id)) => Ok(self.reader.request(id)?),
            Some(None) => Ok(None),
            None => Ok(self.open_requests()?.into_iter().find(|r| r.listening)),
        }
    }

    pub(crate) fn open_deliveries(&self) -> Result<Vec<Delivery>, Error> {
        Ok(self.reader.deliveries(Deliveries::Open(Some(self.session)))?)
    }

    /// Writes one batch.
    pub(crate) fn write<T>(
        &mut self,
        build: impl Fn(&mut Plan<'_>) -> Result<T, sayso::Error>,
    ) -> Result<(T, Vec<Done>), Error> {
        self.flaws.at(Point::BeforeWrite);
        let written = self.reader.ledger().transact(self.reader.scope(), build)?;
        self.batches += 1;
        self.flaws.at(Point::AfterWrite);
        Ok(written)
    }

    /// Writes steps as one batch.
    pub(crate) fn steps(&mut self, steps: Vec<RelayCommand>) -> Result<Vec<Done>, Error> {
        let at = self.now();
        let done = self.write(|plan| {
            steps.iter().for_each(|what| plan.push(step(at, what.clone())));
            Ok(())
        })?;
        Ok(done.1)
    }

    /// The same where another relay may have come first; whether this one did.
    pub(crate) fn race(&mut self, steps: Vec<RelayCommand>) -> Result<bool, Error> {
        won(self.steps(steps))
    }
}

/// Whether a batch was written; that another relay came first is no error.
pub(crate) fn won<T>(written: Result<T, Error>) -> Result<bool, Error> {
    match written {
        Ok(_) => Ok(true),
        Err(Error::Ledger(error)) if error.refusal().is_some_and(is_late) => Ok(false),
        Err(error) => Err(error),
    }
}

pub(crate) const fn is_late(refusal: &Refusal) -> bool {
    use RelayRefusal as R;
    matches!(
        refusal,
        Refusal::Relay(
            R::StaleFence { .. }
                | R::NoSuchStep { .. }
                | R::NotItsTurn(_)
                | R::PartsInOrder(_)
                | R::ReplyGoesOtherwise(_)
                | R::NotConfirmed
                | R::Answered(_)
                | R::TooEarly(_)
                | R::NoWords(_)
                | R::KeyForgotten(_)
                | R::MayHaveArrived(_)
                | R::RepeatedEnough(_)
        )
    )
}

/// A step as a command.
pub(crate) fn step(at: UtcMs, what: RelayCommand) -> Command {
    Command::Relay(RelayStep { at, what })
}

/// A time that lies so many milliseconds after another.
pub(crate) fn after(at: UtcMs, ms: i64) -> UtcMs {
    UtcMs(at.0.saturating_add(ms))
}

/// When something that failed so often is tried again; the sink may ask for more time.
pub(crate) fn again(at: UtcMs, attempts: u32, asked: Option<u64>) -> UtcMs {
    let doubled = RETRY_FIRST_MS.saturating_mul(1 << attempts.saturating_sub(1).min(20));
    let asked = asked.map_or(0, |ms| i64::try_from(ms).unwrap_or(i64::MAX));
    after(at, doubled.min(RETRY_MOST_MS).max(asked))
}
