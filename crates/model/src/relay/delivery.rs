//! Deliveries.

use super::refusal::RelayRefusal;
use super::request::early;
use crate::entry::Kept;
use crate::id::{DeliveryId, RequestId, SessionId, TurnId};
use crate::limits::{MARKED_COPIES, RELAY_BYTES, RETRY_FIRST_MS, RETRY_MOST_MS};
use crate::said::UtcMs;
use crate::speaker::kinds;

kinds! {
    /// What a delivery is.
    DeliveryKind, "kind of delivery", "reply, fallback, direct, progress, notice" {
        /// The answer.
        Reply = "reply",
        /// Word that no answer came in time.
        Fallback = "fallback",
        /// What a tool gave for the person alone; once it is confirmed it stands for the reply.
        Direct = "direct",
        /// A part of an answer that was shown at once. It is never taken back.
        Progress = "progress",
        /// Word that the request waits, or will not be put in.
        Notice = "notice",
    }
}

kinds! {
    /// Where a delivery is.
    DeliveryState, "state of a delivery",
    "held, ready, sending, delivered, failed, unknown, parked, suppressed, cancelled" {
        /// It waits for word of another delivery that may stand for it.
        Held = "held",
        /// It is to be sent.
        Ready = "ready",
        /// Somebody sends it, under a fence and a lease.
        Sending = "sending",
        /// The sink confirmed it.
        Delivered = "delivered",
        /// It surely did not arrive, and is not tried again by itself.
        Failed = "failed",
        /// It may have arrived.
        Unknown = "unknown",
        /// A person has to decide: it may have arrived, or nobody knows whether it is for this request.
        Parked = "parked",
        /// Another delivery, confirmed, stands for it.
        Suppressed = "suppressed",
        /// It is not sent, or not again: see [`Delivery::uncertain`].
        Cancelled = "cancelled",
    }
}

impl DeliveryState {
    /// Whether nothing more happens by itself.
    #[must_use]
    pub const fn is_at_rest(self) -> bool {
        !matches!(self, Self::Held | Self::Ready | Self::Sending | Self::Unknown)
    }
}

/// One part of a message to a person. Where it goes is frozen in its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delivery {
    /// Its id.
    pub id: DeliveryId,
    /// The request that it belongs to.
    pub request: RequestId,
    /// The request's session.
    pub session: SessionId,
    /// What it is.
    pub kind: DeliveryKind,
    /// Which message of this kind: the same key of one request is the same message.
    pub key: String,
    /// Which part of the message, from 0.
    pub part: u32,
    /// How many parts the message has.
    pub parts: u32,
    /// The turn that its words come from.
    pub turn: TurnId,
    /// The words; empty where they were taken away.
    pub text: String,
    /// Whether they are still there.
    pub kept: Kept,
    /// Where it is.
    pub state: DeliveryState,
    /// Counts who sent it; what comes under an earlier number is evidence at most.
    pub fence: u64,
    /// Until when whoever sends it has time.
    pub lease_until: Option<UtcMs>,
    /// Before when it is not sent.
    pub not_before: Option<UtcMs>,
    /// How often somebody sent it.
    pub attempts: u32,
    /// When somebody sent it first.
    pub first_sent_at: Option<UtcMs>,
    /// Whether an attempt may have arrived of which nothing was heard since: neither a receipt, nor that it surely did not.
    pub uncertain: bool,
    /// Whether it says visibly that it may be a repeat.
    pub repeat_mark: bool,
    /// Until when it waits for word of another delivery.
    pub held_until: Option<UtcMs>,
    /// The key of the direct delivery that stands for it.
    pub suppressed_by: Option<String>,
    /// What the sink gave back.
    pub receipt: Option<String>,
    /// Receipts that came under a fence that was over.
    pub late: Vec<String>,
    /// What went wrong last, for people.
    pub why: Option<String>,
    /// When it was made.
    pub created_at: UtcMs,
}

/// What became of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Attempt {
    /// The sink took it.
    Delivered {
        /// What it gave back; not empty.
        receipt: String,
    },
    /// This attempt surely did not arrive, and another would not. Where an earlier one may have, a person decides.
    Failed {
        /// Why, for people.
        why: String,
    },
    /// It surely did not arrive; again from then on.
    Retry {
        /// Why, for people.
        why: String,
        /// From when on.
        not_before: UtcMs,
    },
    /// It may have arrived.
    Unknown {
        /// Why, for people.
        why: String,
    },
}

/// Why something that may have arrived, or surely did not, is sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// The sink knows its key for so long after the first attempt, in milliseconds.
    Key {
        /// How long.
        ttl_ms: u64,
    },
    /// The sink was asked, and has it not.
    NotSent,
    /// It says visibly that it may be a repeat; [`MARKED_COPIES`] copies at most.
    Marked,
    /// A person decided so; where it may have arrived, it is marked.
    Person,
}

impl Delivery {
    fn no_step(&self, wanted: DeliveryState) -> RelayRefusal {
        RelayRefusal::NoSuchStep { what: "the delivery", state: self.state.as_str(), wanted: wanted.as_str() }
    }

    fn fenced(&self, given: u64) -> Result<(), RelayRefusal> {
        if given == self.fence {
            Ok(())
        } else {
            Err(RelayRefusal::StaleFence { given, current: self.fence })
        }
    }

    /// Whether the person may have it, as far as anybody knows.
    #[must_use]
    pub const fn may_have_arrived(&self) -> bool {
        match self.state {
            DeliveryState::Unknown | DeliveryState::Sending => true,
            // What was never sent is parked for another reason.
            DeliveryState::Parked => self.uncertain || self.attempts > 0,
            _ => self.uncertain,
        }
    }

    /// Whether it waits for a person to say whether it is for this request at all: it was never sent.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        self.state == DeliveryState::Parked && !self.may_have_arrived()
    }

    /// Whether the person has it, may have it, or is to have it.
    #[must_use]
    pub fn is_out(&self) -> bool {
        matches!(self.state, DeliveryState::Ready | DeliveryState::Delivered) || self.may_have_arrived()
    }

    /// Whether it may be sent as it is: nothing of it may have arrived, or it says that it may be a repeat, or the sink knows its
    /// key (for so many milliseconds after the first attempt).
    ///
    /// # Errors
    ///
    /// It would be sent blindly.
    pub fn sendable(&self, key_ttl_ms: Option<u64>, at: UtcMs) -> Result<(), RelayRefusal> {
        match key_ttl_ms {
            _ if !self.uncertain || self.repeat_mark => Ok(()),
            Some(ttl_ms) => self.key_known(ttl_ms, at),
            None => Err(RelayRefusal::MayHaveArrived(self.id)),
        }
    }

    /// Whether a sink that knows keys for so many milliseconds after the first attempt still knows this one's.
    ///
    /// # Errors
    ///
    /// It does not.
    pub fn key_known(&self, ttl_ms: u64, at: UtcMs) -> Result<(), RelayRefusal> {
        let since = self.first_sent_at.unwrap_or(self.created_at).0;
        let until = UtcMs(since.saturating_add(i64::try_from(ttl_ms).unwrap_or(i64::MAX)));
        if at < until { Ok(()) } else { Err(RelayRefusal::KeyForgotten(until)) }
    }

    /// When a delivery that may have arrived is cleared up: the more attempts there were, the later, so that a sink that takes and
    /// never confirms is neither asked nor given the same again in every round. 1 s after the first attempt began
    /// ([`RETRY_FIRST_MS`]), 3 s after it once there were two, 7 s for three, and so on; an attempt adds [`RETRY_MOST_MS`] at most.
    #[must_use]
    pub fn cleared_from(&self) -> UtcMs {
        let doubled = (1_i64 << self.attempts.min(20)).saturating_sub(1).saturating_mul(RETRY_FIRST_MS);
        let most = RETRY_MOST_MS.saturating_mul(i64::from(self.attempts));
        UtcMs(self.first_sent_at.unwrap_or(self.created_at).0.saturating_add(doubled.min(most)))
    }

    /// A cause behind the one that stands there, within the bound of reasons: the first is kept whole.
    fn because(&self, why: &str) -> String {
        let mut all = match &self.why {
            Some(first) => format!("{first}; {why}"),
            None => why.to_owned(),
        };
        all.truncate(all.floor_char_boundary(RELAY_BYTES));
        all
    }

    fn go(&mut self, to: DeliveryState, why: Option<&str>) {
        (self.state, self.lease_until, self.not_before) = (to, None, None);
        self.why = why.map(str::to_owned);
    }

    /// Somebody begins to send it, under the next fence.
    ///
    /// # Errors
    ///
    /// It is not ready, under another fence, too early, without words, would be sent blindly ([`Delivery::sendable`]), or the
    /// lease has no time.
    pub fn claim(
        &mut self,
        fence: u64,
        key_ttl_ms: Option<u64>,
        (until, at): (UtcMs, UtcMs),
    ) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        if self.state != DeliveryState::Ready {
            return Err(self.no_step(DeliveryState::Sending));
        }
        if self.kept == Kept::Redacted {
            return Err(RelayRefusal::NoWords(self.id));
        }
        early(self.not_before, at)?;
        self.sendable(key_ttl_ms, at)?;
        if until <= at {
            return Err(RelayRefusal::NoTime);
        }
        self.go(DeliveryState::Sending, None);
        (self.fence, self.lease_until) = (self.fence + 1, Some(until));
        self.attempts += 1;
        self.first_sent_at.get_or_insert(at);
        Ok(())
    }

    /// Word of an attempt; whether it counts. Under a fence that is over, a receipt is kept as evidence and changes nothing else.
    ///
    /// # Errors
    ///
    /// Its fence is over and it brings no receipt; it has no receipt though it should; or there is no such step.
    pub fn attempted(&mut self, fence: u64, attempt: &Attempt) -> Result<bool, RelayRefusal> {
        if let Attempt::Delivered { receipt } = attempt {
            if receipt.is_empty() {
                return Err(RelayRefusal::NoReceipt);
            }
            if fence < self.fence {
                if self.receipt.as_ref() != Some(receipt) && !self.late.contains(receipt) {
                    self.late.push(receipt.clone());
                }
                return Ok(false);
            }
        }
        self.fenced(fence)?;
        let to = match attempt {
            Attempt::Delivered { .. } => DeliveryState::Delivered,
            Attempt::Failed { .. } if self.uncertain => DeliveryState::Parked,
            Attempt::Failed { .. } => DeliveryState::Failed,
            Attempt::Retry { .. } => DeliveryState::Ready,
            Attempt::Unknown { .. } => DeliveryState::Unknown,
        };
        if self.state != DeliveryState::Sending {
            return Err(self.no_step(to));
        }
        self.take_word(to, attempt);
        Ok(true)
    }

    fn take_word(&mut self, to: DeliveryState, attempt: &Attempt) {
        match attempt {
            Attempt::Delivered { receipt } => self.arrived(receipt),
            Attempt::Failed { why } if self.uncertain => {
                self.go(to, Some(&format!("{why}; an earlier attempt may have arrived")));
            }
            Attempt::Failed { why } => self.go(to, Some(why)),
            Attempt::Unknown { why } => {
                self.go(to, Some(why));
                self.uncertain = true;
            }
            Attempt::Retry { why, not_before } => {
                self.go(to, Some(why));
                self.not_before = Some(*not_before);
            }
        }
    }

    fn arrived(&mut self, receipt: &str) {
        self.go(DeliveryState::Delivered, None);
        self.receipt = Some(receipt.to_owned());
        self.uncertain = false;
    }

    /// The time of whoever sends it is over: it may have arrived. The fence goes on.
    ///
    /// # Errors
    ///
    /// Nobody sends it, or under another fence, or there is time left.
    pub fn expire(&mut self, fence: u64, at: UtcMs) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        if self.state != DeliveryState::Sending {
            return Err(self.no_step(DeliveryState::Unknown));
        }
        early(self.lease_until, at)?;
        self.go(DeliveryState::Unknown, Some("whoever sent it gave no word in time"));
        self.uncertain = true;
        self.fence += 1;
        Ok(())
    }

    /// It turned out that it had arrived.
    ///
    /// # Errors
    ///
    /// It is not known to be unknown, under another fence, or there is no receipt.
    pub fn resolve(&mut self, fence: u64, receipt: &str) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        if receipt.is_empty() {
            return Err(RelayRefusal::NoReceipt);
        }
        match self.state {
            DeliveryState::Unknown | DeliveryState::Parked => {}
            DeliveryState::Ready if self.uncertain => {}
            _ => return Err(self.no_step(DeliveryState::Delivered)),
        }
        self.arrived(receipt);
        Ok(())
    }

    /// It is sent again.
    ///
    /// # Errors
    ///
    /// It may not be from where it is, under another fence, the sink does not know its key any more, or there are
    /// [`MARKED_COPIES`] copies already and no person asked for another.
    pub fn retry(&mut self, fence: u64, ground: Ground, at: UtcMs) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        let uncertain = self.may_have_arrived();
        let possible = match self.state {
            DeliveryState::Unknown => true,
            DeliveryState::Parked => uncertain || ground == Ground::Person,
            DeliveryState::Ready => uncertain && ground != Ground::Person,
            DeliveryState::Failed => ground == Ground::Person,
            _ => false,
        };
        if !possible {
            return Err(self.no_step(DeliveryState::Ready));
        }
        match ground {
            Ground::Key { ttl_ms } => self.key_known(ttl_ms, at)?,
            Ground::Marked if self.attempts >= MARKED_COPIES => {
                return Err(RelayRefusal::RepeatedEnough(self.id));
            }
            _ => {}
        }
        self.go(DeliveryState::Ready, None);
        self.repeat_mark |= ground == Ground::Marked || (ground == Ground::Person && uncertain);
        self.uncertain = uncertain && ground != Ground::NotSent;
        Ok(())
    }

    /// A person has to decide. What went wrong before stays, with this behind it.
    ///
    /// # Errors
    ///
    /// It may not have arrived, is being sent, or at rest; or under another fence.
    pub fn park(&mut self, fence: u64, why: &str) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        match self.state {
            DeliveryState::Unknown => {}
            DeliveryState::Ready if self.uncertain => {}
            _ => return Err(self.no_step(DeliveryState::Parked)),
        }
        let why = self.because(why);
        self.go(DeliveryState::Parked, Some(&why));
        Ok(())
    }

    /// It is not sent, or not again.
    ///
    /// # Errors
    ///
    /// It is being sent, may have arrived without anybody having looked, or is at its end; or under another fence.
    pub fn cancel(&mut self, fence: u64, why: &str) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        match self.state {
            DeliveryState::Held | DeliveryState::Ready | DeliveryState::Parked | DeliveryState::Failed => {
                self.uncertain = self.may_have_arrived();
                let may = if self.uncertain { "; an earlier attempt may have arrived" } else { "" };
                self.go(DeliveryState::Cancelled, Some(&format!("{why}{may}")));
                Ok(())
            }
            _ => Err(self.no_step(DeliveryState::Cancelled)),
        }
    }

    /// Its words were taken away: it is not sent any more, unless somebody is in the middle of it.
    pub fn take_words(&mut self) {
        self.text.clear();
        self.kept = Kept::Redacted;
        if matches!(self.state, DeliveryState::Held | DeliveryState::Ready | DeliveryState::Failed) {
            self.go(DeliveryState::Cancelled, Some("its words were taken away"));
        }
    }

    /// It does not wait any longer, and is to be sent.
    ///
    /// # Errors
    ///
    /// It is not held.
    pub fn release(&mut self, repeat_mark: bool) -> Result<(), RelayRefusal> {
        if self.state != DeliveryState::Held {
            return Err(self.no_step(DeliveryState::Ready));
        }
        self.go(DeliveryState::Ready, None);
        self.repeat_mark |= repeat_mark;
        Ok(())
    }

    /// Another delivery stands for it.
    ///
    /// # Errors
    ///
    /// It is not held.
    pub fn suppress(&mut self, by: &str) -> Result<(), RelayRefusal> {
        if self.state != DeliveryState::Held {
            return Err(self.no_step(DeliveryState::Suppressed));
        }
        self.go(DeliveryState::Suppressed, None);
        self.suppressed_by = Some(by.to_owned());
        Ok(())
    }
}
