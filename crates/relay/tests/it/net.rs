//! What lies outside of a relay and outlives it: a clock, a sink, an agent's session.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
use std::time::Duration;

use sayso::Host;
use sayso::model::{RequestId, UtcMs};
use sayso_relay::port::{
    Ability, AgentSession, Clock, Injecting, Injection, Outgoing, Probed, Receipt, Seen, Sender, Sent,
    SessionEvent,
};

/// 2026-11-30T09:00:00Z.
pub(crate) const START: i64 = 1_796_029_200_000;

/// A clock that stands until a test moves it.
#[derive(Debug, Clone)]
pub(crate) struct Time {
    pub(crate) wall: Arc<AtomicI64>,
    pub(crate) even: Arc<AtomicI64>,
}

impl Default for Time {
    fn default() -> Self {
        Self { wall: Arc::new(AtomicI64::new(START)), even: Arc::new(AtomicI64::new(0)) }
    }
}

impl Time {
    pub(crate) fn pass(&self, ms: i64) {
        self.wall.fetch_add(ms, Ordering::Relaxed);
        self.even.fetch_add(ms, Ordering::Relaxed);
    }

    /// Since the beginning, as nobody can set it.
    pub(crate) fn ms(&self) -> i64 {
        self.even.load(Ordering::Relaxed)
    }
}

impl Clock for Time {
    fn now(&self) -> UtcMs {
        UtcMs(self.wall.load(Ordering::Relaxed))
    }

    fn elapsed(&self) -> Duration {
        Duration::from_millis(self.even.load(Ordering::Relaxed).unsigned_abs())
    }
}

/// A ledger's host on that clock; its random bytes are a counter's hash.
pub(crate) struct TestHost {
    pub(crate) time: Time,
    pub(crate) drawn: AtomicU64,
}

impl Host for TestHost {
    fn now(&self) -> UtcMs {
        self.time.now()
    }

    fn random(&self) -> [u8; 32] {
        let drawn = self.drawn.fetch_add(1, Ordering::Relaxed);
        *blake3::hash(&drawn.to_le_bytes()).as_bytes()
    }
}

/// What a sink does with one attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Act {
    /// It arrives, and that is confirmed.
    Take,
    /// It arrives, and the confirmation is lost.
    Lose,
    /// It does not arrive, and nobody knows.
    Drop,
    /// It is refused for good.
    Refuse,
    /// It is refused for now.
    Later(Option<u64>),
}

/// A copy that a person sees.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Copy {
    pub(crate) at: i64,
    pub(crate) key: String,
    pub(crate) destination: String,
    pub(crate) reply_to: Option<String>,
    pub(crate) text: String,
    pub(crate) marked: bool,
}

/// What an agent does once a message was started: each event so many milliseconds after the one before.
pub(crate) type Script = Vec<(i64, SessionEvent)>;

/// A sink that outlives relays.
#[derive(Debug)]
pub(crate) struct Sink {
    pub(crate) ability: Ability,
    /// What it does with the next attempts; then it takes everything.
    pub(crate) acts: VecDeque<Act>,
    pub(crate) copies: Vec<Copy>,
    pub(crate) attempts: Vec<String>,
    /// The receipt of what it took, and when it was first given that key.
    known: BTreeMap<String, (String, i64)>,
    /// How often it cannot tell, when it is asked next.
    pub(crate) cannot_tell: usize,
    /// Characters of one part at most.
    pub(crate) most: usize,
}

/// An agent's session that outlives relays.
#[derive(Debug, Default)]
pub(crate) struct Agent {
    /// What it does with messages that hold these words.
    pub(crate) on: Vec<(String, Script)>,
    /// What it does with each other message, in order; then it says nothing.
    pub(crate) scripts: VecDeque<Script>,
    /// What it answers to the next injections; then it takes them.
    pub(crate) answers: VecDeque<Injecting>,
    /// Requests that were put in, and when.
    pub(crate) injected: Vec<(i64, RequestId, String)>,
    pub(crate) started: Vec<RequestId>,
    pub(crate) events: VecDeque<(i64, SessionEvent)>,
    /// What was told last, until somebody asks for the next.
    told: Option<SessionEvent>,
    pub(crate) busy_until: i64,
    /// Requests that were put in while it was busy.
    pub(crate) overrun: Vec<RequestId>,
    pub(crate) probes: VecDeque<Seen>,
    pub(crate) interrupted: bool,
    /// Whether it shows nothing of what it took.
    pub(crate) silent: bool,
    /// Whether what it says names the request that it belongs to.
    pub(crate) names: bool,
}

#[derive(Debug)]
pub(crate) struct Net {
    pub(crate) time: Time,
    pub(crate) sink: Sink,
    pub(crate) agent: Agent,
}

pub(crate) type Shared = Rc<RefCell<Net>>;

impl Net {
    pub(crate) fn new(time: Time, ability: Ability) -> Shared {
        let (acts, copies) = (VecDeque::new(), Vec::new());
        let sink = Sink {
            ability,
            acts,
            copies,
            attempts: Vec::new(),
            known: BTreeMap::new(),
            cannot_tell: 0,
            most: 200,
        };
        Rc::new(RefCell::new(Self { time, sink, agent: Agent::default() }))
    }

    /// The relay is gone. A session that goes on tells again what it told last; one that went with it is interrupted.
    pub(crate) fn crash(&mut self, session_dies: bool) {
        let agent = &mut self.agent;
        if session_dies {
            agent.events.clear();
            agent.told = None;
            agent.busy_until = 0;
            agent.events.push_back((0, SessionEvent::Gone));
        } else if let Some(told) = agent.told.take() {
            agent.events.push_front((0, told));
        }
    }

    /// When the session says something next.
    pub(crate) fn next_event(&self) -> Option<i64> {
        self.agent.events.iter().map(|(at, _)| *at).min()
    }
}

pub(crate) struct SinkPort(pub(crate) Shared);

impl Sink {
    fn take(&mut self, at: i64, what: &Outgoing) -> String {
        let fresh = format!("m{}", self.copies.len() + 1);
        if let (Ability::Key { ttl_ms }, Some((known, since))) = (self.ability, self.known.get(&what.key))
            && at < since + ttl_ms as i64
        {
            return known.clone();
        }
        self.known.insert(what.key.clone(), (fresh.clone(), at));
        self.copies.push(Copy {
            at,
            key: what.key.clone(),
            destination: what.destination.clone(),
            reply_to: what.reply_to.clone(),
            text: what.text.clone(),
            marked: what.repeat_mark,
        });
        fresh
    }
}

impl Sender for SinkPort {
    fn ability(&self) -> Ability {
        self.0.borrow().sink.ability
    }

    fn split(&self, text: &str) -> Vec<String> {
        let most = self.0.borrow().sink.most;
        let chars: Vec<char> = text.chars().collect();
        chars.chunks(most).map(|part| part.iter().collect()).collect()
    }

    fn send(&mut self, what: &Outgoing) -> Sent {
        let mut net = self.0.borrow_mut();
        let at = net.time.ms();
        let sink = &mut net.sink;
        sink.attempts.push(what.text.clone());
        match sink.acts.pop_front().unwrap_or(Act::Take) {
            Act::Take => Sent::Delivered(Receipt(sink.take(at, what))),
            Act::Lose => {
                sink.take(at, what);
                Sent::Unknown { why: "the connection was lost".into() }
            }
            Act::Drop => Sent::Unknown { why: "no answer in time".into() },
            Act::Refuse => Sent::Permanent { why: "blocked".into() },
            Act::Later(retry_after_ms) => Sent::Temporary { why: "503".into(), retry_after_ms },
        }
    }

    fn probe(&mut self, what: &Outgoing) -> Probed {
        let sink = &mut self.0.borrow_mut().sink;
        if sink.cannot_tell > 0 {
            sink.cannot_tell -= 1;
            return Probed::CannotTell { why: "it is down".into() };
        }
        match sink.known.get(&what.key) {
            Some((receipt, _)) => Probed::Delivered(Receipt(receipt.clone())),
            None => Probed::NotSent,
        }
    }
}

/// Why nobody knows whether a message was taken, where it was.
pub(crate) const TAKEN: &str = "the answer was lost";

/// The same, naming the request that it belongs to.
pub(crate) fn naming(mut event: SessionEvent, id: RequestId) -> SessionEvent {
    use SessionEvent as E;
    match &mut event {
        E::Ended { request, .. }
        | E::Progress { request, .. }
        | E::ToolResult { request, .. }
        | E::Settled { request }
        | E::Failed { request, .. } => *request = Some(id),
        E::Started { .. } | E::Idle | E::Gone => {}
    }
    event
}

pub(crate) struct AgentPort(pub(crate) Shared);

impl Agent {
    fn take(&mut self, now: i64, what: &Injection) -> Injecting {
        if self.busy_until > now {
            self.overrun.push(what.request);
        }
        self.injected.push((now, what.request, what.text.clone()));
        if self.silent {
            return Injecting::Accepted;
        }
        let mut at = now;
        self.started.push(what.request);
        self.events.push_back((at, SessionEvent::Started { request: Some(what.request) }));
        let on = self.on.iter().position(|(words, _)| what.text.contains(words));
        let script = on.map(|at| self.on.remove(at).1).or_else(|| self.scripts.pop_front());
        for (after, event) in script.unwrap_or_default() {
            at += after;
            if matches!(event, SessionEvent::Settled { .. }) {
                self.busy_until = self.busy_until.max(at);
            }
            self.events.push_back((at, if self.names { naming(event, what.request) } else { event }));
        }
        self.events.make_contiguous().sort_by_key(|(at, _)| *at);
        Injecting::Accepted
    }
}

impl AgentSession for AgentPort {
    fn name(&self) -> String {
        "Rocky".into()
    }

    fn route(&self) -> String {
        "a test".into()
    }

    fn inject(&mut self, what: &Injection) -> Injecting {
        let mut net = self.0.borrow_mut();
        let now = net.time.ms();
        match net.agent.answers.pop_front().unwrap_or(Injecting::Accepted) {
            Injecting::Accepted => net.agent.take(now, what),
            Injecting::Unknown { why } if why == TAKEN => {
                net.agent.take(now, what);
                Injecting::Unknown { why }
            }
            other => other,
        }
    }

    fn probe(&mut self, request: RequestId) -> Seen {
        let agent = &mut self.0.borrow_mut().agent;
        let seen = if agent.started.contains(&request) { Seen::Seen } else { Seen::NotSeen };
        agent.probes.pop_front().unwrap_or(seen)
    }

    fn idle(&mut self) -> bool {
        let net = self.0.borrow();
        net.agent.busy_until <= net.time.ms()
    }

    fn next(&mut self, _: Duration) -> Option<SessionEvent> {
        let mut net = self.0.borrow_mut();
        let now = net.time.ms();
        net.agent.told = None;
        if net.agent.events.front().is_some_and(|(at, _)| *at <= now) {
            net.agent.told = net.agent.events.pop_front().map(|(_, event)| event);
        }
        net.agent.told.clone()
    }

    fn interrupt(&mut self) {
        self.0.borrow_mut().agent.interrupted = true;
    }
}
