//! Requests.

use super::refusal::RelayRefusal;
use crate::id::{RequestId, SessionId, TurnId};
use crate::limits::{ANSWER_MS, INJECTION_UNKNOWN_MS};
use crate::said::UtcMs;
use crate::speaker::kinds;

kinds! {
    /// How far a request got on its way into the session.
    InjectionState, "state of an injection", "queued, injecting, injected, unknown, dead" {
        /// It waits; for the first time, or after an attempt that surely failed.
        Queued = "queued",
        /// Somebody puts it in, under a fence and a lease.
        Injecting = "injecting",
        /// The session showed a started message that carries its id.
        Injected = "injected",
        /// It may have been put in.
        Unknown = "unknown",
        /// It is not tried any more.
        Dead = "dead",
    }
}

kinds! {
    /// What became of the turn that a request started. Settled is not answered.
    TurnState, "state of a turn", "none, open, settled, interrupted" {
        /// None was started.
        None = "none",
        /// It goes on.
        Open = "open",
        /// The session has nothing more to do for it.
        Settled = "settled",
        /// It broke off, and is not run again.
        Interrupted = "interrupted",
    }
}

kinds! {
    /// Whether a request has its answer.
    AnswerState, "state of an answer", "none, fallback_issued, final" {
        /// It has none.
        None = "none",
        /// The person was told that none came in time; one may still come.
        FallbackIssued = "fallback_issued",
        /// It has one.
        Final = "final",
    }
}

/// Where a request came in, frozen when it was accepted: its answers go back there, and nowhere else.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inlet {
    /// The account that read it, such as a bot's name.
    pub account: String,
    /// The source's own id of the update; in a session, the same of one account again is the same request.
    pub update: String,
    /// The id of the message, for answering it.
    pub message: String,
    /// The channel that answers leave by.
    pub channel: String,
    /// Where an answer goes, unread.
    pub destination: String,
}

/// A message that expects an answer, or a forward that is to reach a live session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Its id.
    pub id: RequestId,
    /// The session that it goes into.
    pub session: SessionId,
    /// The turn that holds its words.
    pub turn: TurnId,
    /// The turn's place in the session: requests go in in this order.
    pub seq: u64,
    /// Where it came in; `None` for a forward, whose answer goes nowhere.
    pub inlet: Option<Inlet>,
    /// When it was accepted.
    pub accepted_at: UtcMs,
    /// How far it got.
    pub injection: InjectionState,
    /// Counts who worked on the injection; what comes under an earlier number changes nothing.
    pub fence: u64,
    /// Until when whoever puts it in has time.
    pub lease_until: Option<UtcMs>,
    /// Before when it is not tried again; where nobody knows whether it is in, until when the session is asked.
    pub not_before: Option<UtcMs>,
    /// How often somebody tried, not counting that the session was busy.
    pub attempts: u32,
    /// When the session showed it.
    pub injected_at: Option<UtcMs>,
    /// When the person is told that no answer came, unless one does.
    pub deadline: Option<UtcMs>,
    /// Whether what the agent says now is for it: at most one in a session.
    pub listening: bool,
    /// Whether the session that it was put into ended since: then no answer comes any more, unless it is named.
    pub gone: bool,
    /// What became of its turn.
    pub turn_state: TurnState,
    /// Whether it has its answer.
    pub answer: AnswerState,
    /// The turn that answers it.
    pub answered_by: Option<TurnId>,
    /// What went wrong last, for people.
    pub why: Option<String>,
}

/// How an attempt to inject ended, or an unknown one was cleared up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InjectionEnd {
    /// The session was in the middle of something; that is no attempt.
    Busy,
    /// It surely did not go in; again from then on.
    Failed {
        /// Why, for people.
        why: String,
        /// From when on it may be tried again.
        not_before: UtcMs,
    },
    /// It may have gone in.
    Lost {
        /// Why, for people.
        why: String,
    },
    /// It is not tried any more.
    Dead {
        /// Why, for people.
        why: String,
    },
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The session has nothing more to do for it.
    Settled,
    /// It broke off.
    Interrupted {
        /// Why, for people.
        why: String,
    },
}

impl Request {
    /// A request that was accepted now.
    #[must_use]
    pub fn new(
        id: RequestId,
        session: SessionId,
        turn: (TurnId, u64),
        inlet: Option<Inlet>,
        at: UtcMs,
    ) -> Self {
        Self {
            id,
            session,
            turn: turn.0,
            seq: turn.1,
            inlet,
            accepted_at: at,
            injection: InjectionState::Queued,
            fence: 0,
            lease_until: None,
            not_before: None,
            attempts: 0,
            injected_at: None,
            deadline: None,
            listening: false,
            gone: false,
            turn_state: TurnState::None,
            answer: AnswerState::None,
            answered_by: None,
            why: None,
        }
    }

    /// Whether nothing more is to be done about it: it was answered, or its answer goes nowhere and does not come any more, or it is
    /// dead, and the session does not speak for it any more.
    #[must_use]
    pub fn is_done(&self) -> bool {
        let done = match self.injection {
            InjectionState::Dead => true,
            InjectionState::Injected => {
                self.answer == AnswerState::Final || (self.inlet.is_none() && self.gone)
            }
            _ => false,
        };
        done && !self.listening
    }

    /// Whether its answer may still come: it is in, in a session that goes on, and has none.
    #[must_use]
    pub fn is_owed(&self) -> bool {
        self.injection == InjectionState::Injected && self.answer != AnswerState::Final && !self.gone
    }

    /// The session ended: what was being put in may be in, what was going on broke off, and nothing more comes.
    pub fn end_session(&mut self, why: &str, at: UtcMs) {
        let why = why.to_owned();
        match self.injection {
            // Neither can be refused where it is tried.
            InjectionState::Injecting => {
                let _ = self.end_injection(self.fence, &InjectionEnd::Lost { why }, at);
            }
            InjectionState::Injected => {
                if self.listening {
                    let _ = self.end_turn(&TurnEnd::Interrupted { why });
                }
                self.gone = true;
            }
            _ => {}
        }
        self.listening = false;
    }

    /// Whether the next request of the session has to wait for this one: somebody puts it in, nobody knows whether it is
    /// in, or an answer to it may still come in time. What is said later would be taken for the other's answer.
    #[must_use]
    pub fn holds_back(&self, at: UtcMs) -> bool {
        match self.injection {
            InjectionState::Injecting | InjectionState::Unknown => true,
            InjectionState::Injected => {
                let open = self.listening && self.answer == AnswerState::None;
                open && self.deadline.is_none_or(|deadline| at < deadline)
            }
            InjectionState::Queued | InjectionState::Dead => false,
        }
    }

    fn no_step(&self, wanted: &'static str) -> RelayRefusal {
        RelayRefusal::NoSuchStep { what: "the injection", state: self.injection.as_str(), wanted }
    }

    fn fenced(&self, given: u64) -> Result<(), RelayRefusal> {
        if given == self.fence {
            Ok(())
        } else {
            Err(RelayRefusal::StaleFence { given, current: self.fence })
        }
    }

    /// Somebody begins to put it in, under the next fence.
    ///
    /// # Errors
    ///
    /// It is not queued, under another fence, not yet to be tried again, or the lease has no time.
    pub fn claim(&mut self, fence: u64, until: UtcMs, at: UtcMs) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        if self.injection != InjectionState::Queued {
            return Err(self.no_step("injecting"));
        }
        early(self.not_before, at)?;
        if until <= at {
            return Err(RelayRefusal::NoTime);
        }
        self.injection = InjectionState::Injecting;
        (self.fence, self.lease_until, self.not_before) = (self.fence + 1, Some(until), None);
        self.attempts += 1;
        Ok(())
    }

    /// An attempt ended without the session showing it, or an unknown one was cleared up.
    ///
    /// # Errors
    ///
    /// It is under another fence, or there is no such step.
    pub fn end_injection(&mut self, fence: u64, end: &InjectionEnd, at: UtcMs) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        let (to, not_before, why) = match end {
            InjectionEnd::Busy => (InjectionState::Queued, None, None),
            InjectionEnd::Failed { why, not_before } => {
                (InjectionState::Queued, Some(*not_before), Some(why))
            }
            InjectionEnd::Lost { why } => (InjectionState::Unknown, Some(asked_until(at)), Some(why)),
            InjectionEnd::Dead { why } => (InjectionState::Dead, None, Some(why)),
        };
        let possible = match self.injection {
            InjectionState::Injecting => true,
            InjectionState::Unknown => matches!(end, InjectionEnd::Failed { .. } | InjectionEnd::Dead { .. }),
            InjectionState::Queued => to == InjectionState::Dead,
            InjectionState::Injected | InjectionState::Dead => false,
        };
        if !possible {
            return Err(self.no_step(to.as_str()));
        }
        if *end == InjectionEnd::Busy {
            self.attempts = self.attempts.saturating_sub(1);
        }
        (self.injection, self.lease_until, self.not_before) = (to, None, not_before);
        self.why = why.cloned();
        Ok(())
    }

    /// The time of whoever puts it in is over: it may be in, or not. The fence goes on.
    ///
    /// # Errors
    ///
    /// Nobody puts it in, or under another fence, or there is time left.
    pub fn expire(&mut self, fence: u64, at: UtcMs) -> Result<(), RelayRefusal> {
        self.fenced(fence)?;
        if self.injection != InjectionState::Injecting {
            return Err(self.no_step("unknown"));
        }
        early(self.lease_until, at)?;
        self.injection = InjectionState::Unknown;
        (self.fence, self.lease_until) = (self.fence + 1, None);
        self.not_before = Some(asked_until(at));
        self.why = Some("whoever put it in gave no word in time".to_owned());
        Ok(())
    }

    /// The session showed a started message that carries its id; whether that is news. Then its time runs.
    pub fn start(&mut self, at: UtcMs) -> bool {
        (self.listening, self.gone) = (true, false);
        if self.injection == InjectionState::Injected {
            return false;
        }
        self.injection = InjectionState::Injected;
        (self.fence, self.lease_until, self.not_before) = (self.fence + 1, None, None);
        (self.injected_at, self.deadline) = (Some(at), Some(UtcMs(at.0.saturating_add(ANSWER_MS))));
        (self.turn_state, self.why) = (TurnState::Open, None);
        true
    }

    /// Its turn ended; whether that is news.
    ///
    /// # Errors
    ///
    /// It has no turn.
    pub fn end_turn(&mut self, end: &TurnEnd) -> Result<bool, RelayRefusal> {
        let to = match end {
            TurnEnd::Settled => TurnState::Settled,
            TurnEnd::Interrupted { .. } => TurnState::Interrupted,
        };
        match self.turn_state {
            TurnState::Open => {}
            TurnState::None => {
                return Err(RelayRefusal::NoSuchStep {
                    what: "the turn",
                    state: "none",
                    wanted: to.as_str(),
                });
            }
            TurnState::Settled | TurnState::Interrupted => return Ok(false),
        }
        self.turn_state = to;
        if let TurnEnd::Interrupted { why } = end {
            self.why = Some(why.clone());
        }
        Ok(true)
    }

    /// A turn answers it.
    ///
    /// # Errors
    ///
    /// It was never injected, or has another answer.
    pub fn answer(&mut self, by: TurnId) -> Result<(), RelayRefusal> {
        if self.injection != InjectionState::Injected {
            return Err(self.no_step("answered"));
        }
        if let Some(by) = self.answered_by {
            return Err(RelayRefusal::Answered(by));
        }
        (self.answer, self.answered_by) = (AnswerState::Final, Some(by));
        Ok(())
    }

    /// The person is told that no answer came in time.
    ///
    /// # Errors
    ///
    /// It was never injected, has an answer, the person was told, or there is time left.
    pub fn fall_back(&mut self, at: UtcMs) -> Result<(), RelayRefusal> {
        if self.injection != InjectionState::Injected {
            return Err(self.no_step("answered by a fallback"));
        }
        if let Some(by) = self.answered_by {
            return Err(RelayRefusal::Answered(by));
        }
        if self.answer != AnswerState::None {
            let state = self.answer.as_str();
            return Err(RelayRefusal::NoSuchStep { what: "the answer", state, wanted: "fallback_issued" });
        }
        early(self.deadline, at)?;
        self.answer = AnswerState::FallbackIssued;
        Ok(())
    }
}

/// Refuses what is not to happen yet.
pub(super) fn early(not_before: Option<UtcMs>, at: UtcMs) -> Result<(), RelayRefusal> {
    match not_before.filter(|then| at < *then) {
        Some(then) => Err(RelayRefusal::TooEarly(then)),
        None => Ok(()),
    }
}

fn asked_until(at: UtcMs) -> UtcMs {
    UtcMs(at.0.saturating_add(INJECTION_UNKNOWN_MS))
}
