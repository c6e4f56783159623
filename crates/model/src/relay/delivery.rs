//! Deliveries.

use super::refusal::RelayRefusal;
use super::request::early;
use crate::entry::Kept;
use crate::id::{DeliveryId, RequestId, SessionId, TurnId};
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
        /// It may have arrived, and a person has to decide.
        Parked = "parked",
        /// Another delivery, confirmed, stands for it.
        Suppressed = "suppressed",
        /// It is not sent.
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
    /// It surely did not arrive, and would not.
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
    /// It says visibly that it may be a repeat.
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

    fn go(&mut self, to: DeliveryState, why: Option<&str>) {
        (self.state, self.lease_until, self.not_before) = (to, None, None);
        self.why = why.map(str::to_owned);
    }

    /// Somebody begins to send it, under the next fence.
    ///
    /// # Errors
    ///
    /// It is not ready, under another fence, too early, without words, or the lease has no time.
    pub fn claim(&mut self, fence: u64, until: UtcMs, at: UtcMs) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        if self.state != DeliveryState::Ready {
            return Err(self.no_step(DeliveryState::Sending));
        }
        if self.kept == Kept::Redacted {
            return Err(RelayRefusal::NoWords(self.id));
        }
        early(self.not_before, at)?;
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
            Attempt::Failed { .. } => DeliveryState::Failed,
            Attempt::Retry { .. } => DeliveryState::Ready,
            Attempt::Unknown { .. } => DeliveryState::Unknown,
        };
        if self.state != DeliveryState::Sending {
            return Err(self.no_step(to));
        }
        match attempt {
            Attempt::Delivered { receipt } => {
                self.go(to, None);
                self.receipt = Some(receipt.clone());
            }
            Attempt::Failed { why } | Attempt::Unknown { why } => self.go(to, Some(why)),
            Attempt::Retry { why, not_before } => {
                self.go(to, Some(why));
                self.not_before = Some(*not_before);
            }
        }
        Ok(true)
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
            DeliveryState::Unknown | DeliveryState::Parked => {
                self.go(DeliveryState::Delivered, None);
                self.receipt = Some(receipt.to_owned());
                Ok(())
            }
            _ => Err(self.no_step(DeliveryState::Delivered)),
        }
    }

    /// It is sent again.
    ///
    /// # Errors
    ///
    /// It may not be from where it is, under another fence, or the sink does not know its key any more.
    pub fn retry(&mut self, fence: u64, ground: Ground, at: UtcMs) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        let uncertain = matches!(self.state, DeliveryState::Unknown | DeliveryState::Parked);
        let certain = self.state == DeliveryState::Failed && ground == Ground::Person;
        if !uncertain && !certain {
            return Err(self.no_step(DeliveryState::Ready));
        }
        if let Ground::Key { ttl_ms } = ground {
            let until = self.first_sent_at.unwrap_or(self.created_at).0;
            let until = UtcMs(until.saturating_add(i64::try_from(ttl_ms).unwrap_or(i64::MAX)));
            if at >= until {
                return Err(RelayRefusal::KeyForgotten(until));
            }
        }
        self.go(DeliveryState::Ready, None);
        self.repeat_mark |= ground == Ground::Marked || (ground == Ground::Person && uncertain);
        Ok(())
    }

    /// A person has to decide.
    ///
    /// # Errors
    ///
    /// It is not unknown, or under another fence.
    pub fn park(&mut self, fence: u64, why: &str) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        if self.state != DeliveryState::Unknown {
            return Err(self.no_step(DeliveryState::Parked));
        }
        self.go(DeliveryState::Parked, Some(why));
        Ok(())
    }

    /// It is not sent.
    ///
    /// # Errors
    ///
    /// It is being sent, may have arrived without anybody having looked, or is at its end; or under another fence.
    pub fn cancel(&mut self, fence: u64, why: &str) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        match self.state {
            DeliveryState::Held | DeliveryState::Ready | DeliveryState::Parked | DeliveryState::Failed => {
                self.go(DeliveryState::Cancelled, Some(why));
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
