//! Requests and deliveries as commands and reads.
//!
//! Every row is compared and set: a command carries the fence that it was decided under, and what would make a row say what is
//! not so is refused by the rules of [`sayso_model::relay`], the same on every backend. `at` is the relay's time, which goes on
//! evenly while somebody sets the system's clock.

pub mod apply;
mod deliver;
mod shape;

pub(crate) use shape::check;

use sayso_model::relay::{Attempt, DeliveryKind, Ground, InjectionEnd, Inlet, TurnEnd};
use sayso_model::{Delivery, DeliveryId, EntryId, RequestId, SessionId, TurnId, UtcMs};

use crate::command::{AppendTurn, Fate};

/// A step of a request or a delivery, at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelayStep {
    /// The relay's time.
    pub at: UtcMs,
    /// The step.
    pub what: RelayCommand,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RelayCommand {
    /// Takes a message in: its turn, its request and the source's cursor at once. A known update moves the cursor alone.
    Accept(Box<Accept>),
    /// Reading of a source goes on from there, past what cannot be taken in.
    MoveCursor {
        /// The session that the source feeds.
        session: SessionId,
        /// The account.
        account: String,
        /// Where reading goes on.
        cursor: String,
    },
    /// Makes a request of a forwarded turn, so that it reaches its live session. The same turn again is the same request.
    Enroll {
        /// The request's id.
        id: RequestId,
        /// The forwarded turn.
        turn: TurnId,
    },
    /// Begins to put a request into its session.
    ClaimInjection {
        /// Which.
        request: RequestId,
        /// The fence that it is under.
        fence: u64,
        /// Until when there is time.
        until: UtcMs,
    },
    /// An attempt to put a request in ended without the session showing it, or an unknown one was cleared up.
    EndInjection {
        /// Which.
        request: RequestId,
        /// The fence that it is under.
        fence: u64,
        /// How.
        end: InjectionEnd,
    },
    /// The time of whoever puts a request in is over.
    ExpireInjection {
        /// Which.
        request: RequestId,
        /// The fence that it is under.
        fence: u64,
    },
    /// The session showed a started message: of a request, or of none. What the agent says from now on is for that one.
    Started {
        /// The session.
        session: SessionId,
        /// The request whose id the message carries.
        request: Option<RequestId>,
    },
    /// The session ended, and nothing more comes of it: what was going on broke off, what was being put in may be in, and nothing that
    /// is not named answers what it was given before.
    SessionGone {
        /// The session.
        session: SessionId,
        /// Why, for people.
        why: String,
    },
    /// The turn of a request ended. That answers nothing.
    EndTurn {
        /// Which.
        request: RequestId,
        /// How.
        end: TurnEnd,
    },
    /// Something is to be said to the person: an answer, a fallback, what a tool gave for them, progress, a notice.
    Intend(Intend),
    /// Begins to send a delivery: written down before it is sent.
    ClaimDelivery {
        /// Which.
        delivery: DeliveryId,
        /// The fence that it is under.
        fence: u64,
        /// Until when there is time.
        until: UtcMs,
        /// For how many milliseconds after the first attempt the sink knows the key, where it takes one: what may have arrived is
        /// not sent again as it is without one.
        key_ttl_ms: Option<u64>,
    },
    /// Word of an attempt to send. What was delivered is recorded as shown in the session, in the same batch.
    Attempted {
        /// Which.
        delivery: DeliveryId,
        /// The fence that it was sent under.
        fence: u64,
        /// What became of it.
        attempt: Attempt,
        /// The id of the mark that says that it was shown.
        mark: EntryId,
    },
    /// The time of whoever sends a delivery is over.
    ExpireDelivery {
        /// Which.
        delivery: DeliveryId,
        /// The fence that it is under.
        fence: u64,
    },
    /// It turned out that a delivery had arrived.
    Resolve {
        /// Which.
        delivery: DeliveryId,
        /// The fence that it is under.
        fence: u64,
        /// What the sink had given back, or what a person saw.
        receipt: String,
        /// The id of the mark that says that it was shown.
        mark: EntryId,
    },
    /// A delivery is sent again; where nobody knew whether it was for its request ([`Intend::doubt`]), the whole message is, and
    /// answers the request.
    Retry {
        /// Which.
        delivery: DeliveryId,
        /// The fence that it is under.
        fence: u64,
        /// Why that is right.
        ground: Ground,
    },
    /// A person has to decide about a delivery.
    Park {
        /// Which.
        delivery: DeliveryId,
        /// The fence that it is under.
        fence: u64,
        /// Why, for people.
        why: String,
    },
    /// A delivery is not sent, or not again, and neither are later parts of the same message that were not begun.
    Cancel {
        /// Which.
        delivery: DeliveryId,
        /// The fence that it is under.
        fence: u64,
        /// Why, for people.
        why: String,
    },
    /// A held reply goes out; direct deliveries of its request that were not begun yet do not.
    Release {
        /// Which part of the reply.
        delivery: DeliveryId,
        /// Whether it says that it may be a repeat.
        repeat_mark: bool,
    },
    /// A held reply does not go out: a direct delivery, confirmed in all its parts, stands for it.
    Suppress {
        /// Which part of the reply.
        delivery: DeliveryId,
        /// The key of the direct delivery.
        by: String,
    },
    /// Takes a lease, or renews one's own.
    TakeLease {
        /// What is leased.
        name: String,
        /// Who takes it.
        holder: String,
        /// Until when, unless it is renewed.
        until: UtcMs,
        /// What the holder says about itself, unread.
        about: String,
    },
    /// Gives a lease up. One that somebody else has is left alone.
    DropLease {
        /// What is leased.
        name: String,
        /// Who had it.
        holder: String,
    },
}

/// Takes a message in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Accept {
    /// The request's id.
    pub id: RequestId,
    /// The turn with its words.
    pub turn: AppendTurn,
    /// Where it came in.
    pub inlet: Inlet,
    /// Where reading of the source goes on.
    pub cursor: Option<String>,
}

/// A message to the person who sent a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intend {
    /// The request.
    pub request: RequestId,
    /// What it is.
    pub kind: DeliveryKind,
    /// Which message of this kind; the same key of one request is the same message.
    pub key: String,
    /// The turn that its words come from, in the request's session.
    pub turn: TurnId,
    /// Its parts, in order, each with its id and words. None where the request came from nowhere that an answer could go to.
    pub parts: Vec<(DeliveryId, String)>,
    /// Why nobody knows whether it is for this request, for people: then it is parked, and answers nothing before a person says that
    /// it is.
    pub doubt: Option<String>,
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Relayed {
    /// The request is there.
    Request(Fate, RequestId),
    /// It was done.
    Changed,
    /// It was so before.
    Known,
    /// It came too late to count, and was kept as evidence.
    Evidence,
}

/// Which requests are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Requests {
    /// Those that are not done yet, of one session or all.
    Open(Option<SessionId>),
    /// All of one session, or of all.
    All(Option<SessionId>),
}

impl Requests {
    /// The session.
    #[must_use]
    pub const fn session(self) -> Option<SessionId> {
        match self {
            Self::Open(session) | Self::All(session) => session,
        }
    }
}

/// Which deliveries are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deliveries {
    /// Those that are neither delivered nor suppressed nor cancelled, of one session or all.
    Open(Option<SessionId>),
    /// All of one session, or of all.
    All(Option<SessionId>),
    /// Those of one request.
    Of(RequestId),
}

/// Brings deliveries into the order in which they are read: by time, then as they belong together.
pub fn in_order(deliveries: &mut [Delivery]) {
    deliveries.sort_by(|a, b| {
        let of = |d: &Delivery| (d.created_at, d.request, d.kind, d.part);
        of(a).cmp(&of(b)).then_with(|| a.key.cmp(&b.key))
    });
}
