//! A ledger, a relay on it, and what lies outside.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use sayso::model::{
    Delivery, DeliveryId, DeliveryKind, DeliveryState, Entry, EntryBody, LedgerId, MarkKind, Request,
    RequestId, SpeakerKind,
};
use sayso::store::{Deliveries, Oracle, RelayCommand, RelayStep, Requests, Session};
use sayso::{Durability, Ledger, Options, Reader, Scope};
use sayso_output::envelope::{Envelope, ModelContext, Purpose, Received};
use sayso_relay::flaw::{Flaw, Look};
use sayso_relay::port::{Ability, AgentSession, Blind, Call, Incoming, Outcome, Sender, SessionEvent, Stop};
use sayso_relay::{Accepted, Error, Ports, Relay, Senders, Stepped};
use tempfile::TempDir;

use crate::net::{AgentPort, Net, Script, Shared, SinkPort, TestHost, Time};

pub(crate) struct World {
    pub(crate) net: Shared,
    pub(crate) time: Time,
    pub(crate) ledger: Ledger,
    pub(crate) session: Session,
    pub(crate) relay: Relay,
    pub(crate) flaw: Option<Flaw>,
    file: Option<(TempDir, PathBuf)>,
    updates: u32,
}

fn host(time: &Time) -> Arc<TestHost> {
    Arc::new(TestHost { time: time.clone(), drawn: AtomicU64::new(0) })
}

fn relay(ledger: &Ledger, session: &Session, time: &Time) -> Relay {
    Relay::open(ledger.reader(Scope::All), session, Box::new(time.clone())).unwrap()
}

impl World {
    pub(crate) fn on_oracle() -> Self {
        let time = Time::default();
        let store = Arc::new(Oracle::new(LedgerId::from_u128(7)));
        Self::over(Ledger::over(store, host(&time)), time, None)
    }

    pub(crate) fn on_sqlite() -> Self {
        let time = Time::default();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("ledger.db");
        let options = Options { durability: Durability::Normal, ..Options::default() };
        let ledger = Ledger::open_with(&path, &options, host(&time)).unwrap();
        Self::over(ledger, time, Some((folder, path)))
    }

    fn over(ledger: Ledger, time: Time, file: Option<(TempDir, PathBuf)>) -> Self {
        let session = ledger.session("harbour", "desk").unwrap();
        let net = Net::new(time.clone(), Ability::Opaque(Blind::Park));
        let relay = relay(&ledger, &session, &time);
        Self { net, time, ledger, session, relay, flaw: None, file, updates: 0 }
    }

    pub(crate) fn with(self, ability: Ability) -> Self {
        self.net.borrow_mut().sink.ability = ability;
        self
    }

    pub(crate) fn flawed(mut self, flaw: Option<Flaw>) -> Self {
        self.flaw = flaw;
        self.look(None);
        self
    }

    /// Has each step looked at.
    pub(crate) fn look(&mut self, look: Option<Look>) {
        let fresh = relay(&self.ledger, &self.session, &self.time);
        self.relay = std::mem::replace(&mut self.relay, fresh).flawed(self.flaw, look);
    }

    /// The process dies and another one begins, on the file where there is one.
    pub(crate) fn crash(&mut self, session_dies: bool) {
        self.net.borrow_mut().crash(session_dies);
        if let Some((_, path)) = &self.file {
            let options = Options { durability: Durability::Normal, ..Options::default() };
            let fresh = Arc::new(TestHost {
                time: self.time.clone(),
                drawn: AtomicU64::new(1_000_000 + u64::from(self.updates)),
            });
            self.updates += 1_000_000;
            self.ledger = Ledger::open_with(path, &options, fresh).unwrap();
        }
        self.relay = relay(&self.ledger, &self.session, &self.time).flawed(self.flaw, None);
    }

    pub(crate) fn scripts(&self, script: Script) {
        self.net.borrow_mut().agent.scripts.push_back(script);
    }

    pub(crate) fn acts(&self, acts: &[crate::net::Act]) {
        self.net.borrow_mut().sink.acts.extend(acts);
    }

    pub(crate) fn incoming(who: &str, text: &str, update: &str) -> Incoming {
        Incoming {
            update: update.to_owned(),
            message: format!("msg {update}"),
            destination: format!("{{\"chat\":\"{who}\"}}"),
            speaker_kind: SpeakerKind::Person,
            speaker_id: who.to_owned(),
            speaker_name: who.to_owned(),
            said_at: None,
            text: text.to_owned(),
            repairs: 0,
            cursor: Some(update.to_owned()),
        }
    }

    /// Somebody writes.
    pub(crate) fn says(&mut self, who: &str, text: &str) -> RequestId {
        self.updates += 1;
        let incoming = Self::incoming(who, text, &self.updates.to_string());
        match self.relay.accept("bot", "chat", &incoming).unwrap() {
            Accepted::New(id) | Accepted::Duplicate(id) => id,
        }
    }

    pub(crate) fn try_step(&mut self) -> Result<Stepped, Error> {
        let sink: Box<dyn Sender> = Box::new(SinkPort(self.net.clone()));
        let mut senders = Senders::from([("chat".to_owned(), sink)]);
        let mut agent = AgentPort(self.net.clone());
        let agent: Option<&mut dyn AgentSession> = Some(&mut agent);
        self.relay.step(&mut Ports { senders: &mut senders, agent })
    }

    /// Steps until there is nothing to do now.
    pub(crate) fn settle(&mut self) {
        self.try_settle().unwrap();
    }

    pub(crate) fn try_settle(&mut self) -> Result<Stepped, Error> {
        for _ in 0..200 {
            let stepped = self.try_step()?;
            if stepped.batches == 0 {
                return Ok(stepped);
            }
        }
        panic!("it never comes to rest: {:#?}", self.deliveries());
    }

    /// So many milliseconds pass, with everything done on the way that is due.
    pub(crate) fn pass(&mut self, ms: i64) {
        self.try_pass(ms).unwrap();
    }

    pub(crate) fn try_pass(&mut self, ms: i64) -> Result<(), Error> {
        let end = self.time.ms() + ms;
        loop {
            let stepped = self.try_settle()?;
            let due = stepped.due.map(|due| due.0 - self.relay.now().0).filter(|ms| *ms > 0);
            let next = self.net.borrow().next_event().map(|at| at - self.time.ms()).filter(|ms| *ms > 0);
            let wait = due.into_iter().chain(next).min().unwrap_or(ms);
            let left = end - self.time.ms();
            self.time.pass(wait.min(left).max(1).min(left));
            if self.time.ms() >= end {
                self.try_settle()?;
                return Ok(());
            }
        }
    }

    pub(crate) fn reader(&self) -> Reader {
        self.ledger.reader(Scope::All)
    }

    pub(crate) fn request(&self, id: RequestId) -> Request {
        self.reader().request(id).unwrap().unwrap()
    }

    pub(crate) fn requests(&self) -> Vec<Request> {
        self.reader().requests(Requests::All(None)).unwrap()
    }

    pub(crate) fn deliveries(&self) -> Vec<Delivery> {
        self.reader().deliveries(Deliveries::All(None)).unwrap()
    }

    /// The states of a request's deliveries of one kind, in order.
    pub(crate) fn states(&self, id: RequestId, kind: DeliveryKind) -> Vec<&'static str> {
        let all = self.reader().deliveries(Deliveries::Of(id)).unwrap();
        all.iter().filter(|d| d.kind == kind).map(|d| d.state.as_str()).collect()
    }

    pub(crate) fn delivery(&self, id: RequestId, kind: DeliveryKind) -> Delivery {
        let all = self.reader().deliveries(Deliveries::Of(id)).unwrap();
        all.into_iter().find(|d| d.kind == kind).unwrap_or_else(|| panic!("there is no {kind}"))
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.reader().entries(self.session.id, 0, usize::MAX).unwrap()
    }

    /// Marks of this kind in the session.
    pub(crate) fn marks(&self, kind: MarkKind) -> usize {
        let is = |e: &&Entry| matches!(&e.body, EntryBody::Mark(m) if m.kind == kind);
        self.entries().iter().filter(is).count()
    }

    /// What people saw: to whom, and what.
    pub(crate) fn seen(&self) -> Vec<(String, String)> {
        let net = self.net.borrow();
        let who = |d: &str| d.split('"').nth(3).unwrap_or_default().to_owned();
        net.sink.copies.iter().map(|c| (who(&c.destination), c.text.clone())).collect()
    }

    /// What one person saw.
    pub(crate) fn saw(&self, who: &str) -> Vec<String> {
        self.seen().into_iter().filter(|(to, _)| to == who).map(|(_, text)| text).collect()
    }

    /// A step of somebody else's, such as an operator's.
    pub(crate) fn does(&self, what: RelayCommand) -> Result<(), sayso::Error> {
        let step = RelayStep { at: self.relay.now(), what };
        self.ledger.write(&Scope::All, vec![sayso::store::Command::Relay(step)]).map(|_| ())
    }

    pub(crate) fn park_state(&self, id: DeliveryId) -> DeliveryState {
        self.reader().delivery(id).unwrap().unwrap().state
    }
}

/// A message of the agent that ends its turn with words.
pub(crate) fn last(id: &str, text: &str) -> SessionEvent {
    ended(id, &[text], Stop::Stop)
}

pub(crate) fn ended(id: &str, texts: &[&str], stop: Stop) -> SessionEvent {
    let text_parts = texts.iter().map(|t| (*t).to_owned()).collect();
    SessionEvent::Ended { request: None, message: Some(id.to_owned()), text_parts, calls: Vec::new(), stop }
}

/// A message that calls a tool, with words beside it.
pub(crate) fn calls(id: &str, text: &str, call: &str) -> SessionEvent {
    let call = Call { id: call.to_owned(), tool: "news".to_owned(), arguments: "{}".to_owned() };
    let text_parts = vec![text.to_owned()];
    SessionEvent::Ended {
        request: None,
        message: Some(id.to_owned()),
        text_parts,
        calls: vec![call],
        stop: Stop::ToolCall,
    }
}

/// A tool's result with something for the person.
pub(crate) fn display(call: &str, shown: &str) -> SessionEvent {
    let plain = Envelope::plain(ModelContext::new("5 entries about ferries").unwrap());
    SessionEvent::ToolResult {
        request: None,
        call: call.to_owned(),
        tool: "news".to_owned(),
        outcome: Outcome::Ok,
        result: Received::Whole(plain.with_presentation(shown, Purpose::Listing)),
        output: None,
    }
}
