//! Putting requests into the session.

use sayso::model::limits::{INJECTING_MS, INJECTION_ATTEMPTS, QUEUED_MS};
use sayso::model::relay::{AnswerState, InjectionEnd, InjectionState, TurnState};
use sayso::model::{DeliveryKind, MarkKind, Request};
use sayso::store::{Deliveries, RelayCommand};
use sayso::view::context::message;

use crate::error::Error;
use crate::event::mark;
use crate::flaw::{Flaw, Point};
use crate::port::{AgentSession, Injecting, Injection, Seen};
use crate::relay::{Ports, Relay, Senders, after, again};
use crate::words::short;

impl Relay {
    /// Forwards into the session take the same road as messages from people.
    pub(crate) fn enroll(&mut self) -> Result<(), Error> {
        for waiting in self.reader.inbox(Some(self.session))? {
            let turn = waiting.entry.id;
            if waiting.state.is_none() && self.enrolled.insert(turn) {
                let id = self.reader.ledger().fresh_request();
                self.steps(vec![RelayCommand::Enroll { id, turn }])?;
            }
        }
        Ok(())
    }

    /// Asks the session for requests of which nobody knows whether they are in.
    pub(crate) fn clear_injections(&mut self, ports: &mut Ports<'_>) -> Result<(), Error> {
        let at = self.now();
        for r in self.open_requests()? {
            if r.injection == InjectionState::Injecting && r.lease_until.is_some_and(|until| until <= at) {
                self.race(vec![RelayCommand::ExpireInjection { request: r.id, fence: r.fence }])?;
            }
        }
        let unknown = self.open_requests()?.into_iter().filter(|r| r.injection == InjectionState::Unknown);
        for r in unknown.collect::<Vec<_>>() {
            let Some(agent) = ports.agent.as_mut() else { break };
            self.flaws.at(Point::BeforeProbe);
            let (seen, route) = (agent.probe(r.id), agent.route());
            self.flaws.at(Point::AfterProbe);
            let over = r.not_before.is_none_or(|until| until <= at);
            match seen {
                Seen::Seen => self.started(Some(r.id), &route)?,
                Seen::NotSeen => {
                    let why = "the session was asked, and has not seen it".to_owned();
                    self.end(&r, InjectionEnd::Failed { why, not_before: at })?;
                }
                Seen::CannotTell if over => {
                    let why = "nobody can tell whether the session has it".to_owned();
                    self.bury(ports.senders, &r, why)?;
                }
                Seen::CannotTell => {}
            }
        }
        Ok(())
    }

    fn end(&mut self, r: &Request, end: InjectionEnd) -> Result<bool, Error> {
        self.race(vec![RelayCommand::EndInjection { request: r.id, fence: r.fence, end }])
    }

    /// A request is not tried any more, and the person is told.
    fn bury(&mut self, senders: &Senders, r: &Request, why: String) -> Result<(), Error> {
        // The person first: what is dead is looked at no more.
        if r.inlet.is_some() && !self.was_told(r, "dead")? {
            let text = self.words.dead.clone();
            self.tell(senders, r, (DeliveryKind::Notice, "dead"), &text)?;
        }
        self.end(r, InjectionEnd::Dead { why }).map(|_| ())
    }

    fn was_told(&self, r: &Request, key: &str) -> Result<bool, Error> {
        let all = self.reader.deliveries(Deliveries::Of(r.id))?;
        Ok(all.iter().any(|d| d.kind == DeliveryKind::Notice && d.key == key))
    }

    /// Puts the next request in, where the session would take one.
    pub(crate) fn inject(&mut self, ports: &mut Ports<'_>) -> Result<(), Error> {
        let at = self.now();
        let Some(agent) = ports.agent.as_mut() else { return Ok(()) };
        let busy = self.flaws.is(Flaw::InjectWhileBusy);
        if !busy && !agent.idle() {
            return Ok(());
        }
        let open = self.open_requests()?;
        let next = open.iter().find(|r| r.injection == InjectionState::Queued);
        let Some(next) = next.filter(|_| !open.iter().any(|r| r.holds_back(at))) else { return Ok(()) };
        if next.not_before.is_some_and(|then| at < then) {
            return Ok(());
        }
        if self.flaws.is(Flaw::DedupeOnSighting) && !self.sighted.insert(next.id) {
            return Ok(());
        }
        let until = after(at, INJECTING_MS);
        if self.race(vec![RelayCommand::ClaimInjection { request: next.id, fence: next.fence, until }])? {
            let mut claimed = next.clone();
            (claimed.fence, claimed.attempts) = (next.fence + 1, next.attempts + 1);
            let done = self.put_in(&mut **agent, &claimed, until)?;
            self.injected(ports.senders, &claimed, done)?;
        }
        Ok(())
    }

    /// Hands a claimed request to the session; `None` where its time was over before.
    fn put_in(
        &mut self,
        agent: &mut dyn AgentSession,
        r: &Request,
        until: crate::port::UtcMs,
    ) -> Result<Option<Injecting>, Error> {
        let entry = self.reader.entry(r.turn)?;
        let what = Injection { request: r.id, text: entry.as_ref().map(message).unwrap_or_default() };
        if what.text.is_empty() {
            return Ok(Some(Injecting::Refused { why: "its words were taken away".to_owned() }));
        }
        if r.inlet.is_none() {
            // Marked before it is handed out, as every offer is.
            let (session, turn, route) = (self.session, r.turn, agent.route());
            self.write(|plan| {
                plan.push(mark(plan, session, MarkKind::Offered, turn, &route));
                Ok(())
            })?;
        }
        self.flaws.at(Point::BeforeInject);
        // Somebody who slept through the lease does not act on it any more.
        if self.now() >= until {
            return Ok(None);
        }
        let done = agent.inject(&what);
        self.flaws.at(Point::AfterInject);
        Ok(Some(done))
    }

    fn injected(&mut self, senders: &Senders, r: &Request, done: Option<Injecting>) -> Result<(), Error> {
        let at = self.now();
        match done {
            None | Some(Injecting::Accepted) => Ok(()),
            Some(Injecting::Busy) => self.end(r, InjectionEnd::Busy).map(|_| ()),
            Some(Injecting::Unknown { why }) => {
                self.end(r, InjectionEnd::Lost { why: short(&why) }).map(|_| ())
            }
            Some(Injecting::Refused { why }) if r.attempts >= INJECTION_ATTEMPTS => {
                self.bury(senders, r, short(&why))
            }
            Some(Injecting::Refused { why }) => {
                let (why, not_before) = (short(&why), again(at, r.attempts, None));
                self.end(r, InjectionEnd::Failed { why, not_before }).map(|_| ())
            }
        }
    }

    /// Tells people that no answer came in time, or that their message still waits.
    pub(crate) fn fall_back(&mut self, senders: &Senders) -> Result<(), Error> {
        let at = self.now();
        for r in self.open_requests()?.into_iter().filter(|r| r.inlet.is_some()) {
            let late = r.answer == AnswerState::None && r.deadline.is_some_and(|deadline| deadline <= at);
            let waits = r.injection == InjectionState::Queued && after(r.accepted_at, QUEUED_MS) <= at;
            if self.flaws.is(Flaw::DeadlineFromAccept) {
                self.fall_back_early(senders, &r)?;
            } else if late {
                let words = self.no_answer(&r);
                self.tell(senders, &r, (DeliveryKind::Fallback, "fallback"), &words)?;
            } else if waits && !self.was_told(&r, "queued")? {
                let words = self.words.queued.clone();
                self.tell(senders, &r, (DeliveryKind::Notice, "queued"), &words)?;
            }
        }
        Ok(())
    }

    fn no_answer(&self, r: &Request) -> String {
        let interrupted = r.turn_state == TurnState::Interrupted;
        if interrupted { self.words.interrupted.clone() } else { self.words.fallback.clone() }
    }

    /// Of a flawed relay: counted from when the message came in, and said past the rules of the ledger.
    fn fall_back_early(&mut self, senders: &Senders, r: &Request) -> Result<(), Error> {
        let late = after(r.accepted_at, sayso::model::limits::ANSWER_MS) <= self.now();
        if late && r.answer == AnswerState::None && !self.was_told(r, "fallback")? {
            let words = self.no_answer(r);
            self.tell(senders, r, (DeliveryKind::Notice, "fallback"), &words)?;
        }
        Ok(())
    }
}
