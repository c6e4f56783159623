//! Why a step is refused.

use crate::id::{DeliveryId, RequestId, TurnId};
use crate::said::UtcMs;

/// Why a request or a delivery does not take a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RelayRefusal {
    /// No such request.
    #[error("there is no request {0}: see `sayso inbox`")]
    UnknownRequest(RequestId),
    /// No such delivery.
    #[error("there is no delivery {0}: see `sayso deliveries list`")]
    UnknownDelivery(DeliveryId),
    /// Somebody else works on it since.
    #[error(
        "fence {given} is over, {current} is valid now: read the row again, and do not repeat what was done"
    )]
    StaleFence {
        /// The fence that was given.
        given: u64,
        /// The one that is valid.
        current: u64,
    },
    /// There is no such step from where it is.
    #[error(
        "{what} is {state}, and cannot be {wanted} from there: see `sayso deliveries list` and `sayso inbox`"
    )]
    NoSuchStep {
        /// Which row and field.
        what: &'static str,
        /// Where it is.
        state: &'static str,
        /// Where it should have gone.
        wanted: &'static str,
    },
    /// It is too early.
    #[error("that is possible from {} on: wait until then", .0.utc())]
    TooEarly(UtcMs),
    /// A lease has to end later than now.
    #[error("the lease is over before it begins: give a later end")]
    NoTime,
    /// Another request of the session goes first.
    #[error("request {0} of the session goes first: wait until it is answered or its time is over")]
    NotItsTurn(RequestId),
    /// The request has its answer.
    #[error("the request was answered by turn {0}: nothing else takes its place")]
    Answered(TurnId),
    /// The delivery that is to stand for a reply was not confirmed in all its parts.
    #[error("not every part of what would stand for the reply was delivered: the reply waits, or goes out")]
    NotConfirmed,
    /// The reply goes out in another way than asked for.
    #[error("the reply has to be {0}: read its deliveries again")]
    ReplyGoesOtherwise(&'static str),
    /// An earlier part has not arrived.
    #[error("part {0} of the message has not arrived yet, and goes first")]
    PartsInOrder(u32),
    /// A delivery is confirmed by what the sink gave back, and there is nothing.
    #[error(
        "there is no receipt, and nothing else confirms a delivery: give what the sink gave back, or what shows that it arrived"
    )]
    NoReceipt,
    /// The sink does not know the key any more.
    #[error("the sink knew the key until {}: sent again now it may arrive twice", .0.utc())]
    KeyForgotten(UtcMs),
    /// Sent again as it is, it may arrive twice.
    #[error(
        "an earlier attempt at delivery {0} may have arrived: ask the sink, send it with a key that the sink knows, or marked as a \
         possible repeat"
    )]
    MayHaveArrived(DeliveryId),
    /// There are as many copies as there may be without a person's word.
    #[error("delivery {0} was repeated often enough: see `sayso deliveries show`, and let a person decide")]
    RepeatedEnough(DeliveryId),
    /// The request came from nowhere that an answer could go to.
    #[error("request {0} was forwarded by somebody: its answer stands in the session, and goes nowhere else")]
    NoDestination(RequestId),
    /// The words of the delivery were taken away.
    #[error("the words of delivery {0} were taken away: there is nothing to send")]
    NoWords(DeliveryId),
    /// The turn holds no quote, or was enrolled before under another id.
    #[error("turn {0} was not forwarded: only what was forwarded is enrolled")]
    NotForwarded(TurnId),
    /// Another holder has the lease.
    #[error("{name} is in use by {holder} ({about}) until {}: stop that one first", until.utc())]
    LeaseHeld {
        /// What is leased.
        name: String,
        /// Who has it.
        holder: String,
        /// What the holder says about itself.
        about: String,
        /// Until when, unless it is renewed.
        until: UtcMs,
    },
    /// Leases belong to the whole ledger.
    #[error("a lease is for the whole ledger: leave the scope out")]
    NeedsWholeLedger,
}
