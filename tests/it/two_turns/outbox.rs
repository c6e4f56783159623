//! The same matrix through a relay's outbox: the display is a direct delivery, and the reply waits for word of it.

use std::cell::{Cell as Slot, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use sayso::model::{RequestId, UtcMs};
use sayso_relay::port::{
    Ability, AgentSession, Blind, Call, Clock, Incoming, Injecting, Injection, Outgoing, Probed, Receipt,
    Seen, Sender, Sent, SessionEvent, Stop,
};
use sayso_relay::{Ports, Relay, Senders};

use super::*;

const ANSWER: &str = "There is news.";

/// A clock that goes on a second with every look.
#[derive(Default)]
struct Seconds(Slot<u64>);

impl Clock for Seconds {
    fn now(&self) -> UtcMs {
        UtcMs(1_796_029_200_000)
    }

    fn elapsed(&self) -> Duration {
        self.0.set(self.0.get() + 1);
        Duration::from_secs(self.0.get())
    }
}

/// A sink that says of the display what the cell says, and takes everything else.
struct Sink {
    delivery: Delivery,
    got: Rc<RefCell<Vec<&'static str>>>,
}

impl Sender for Sink {
    fn ability(&self) -> Ability {
        Ability::Opaque(Blind::Park)
    }

    fn split(&self, text: &str) -> Vec<String> {
        vec![text.to_owned()]
    }

    fn send(&mut self, what: &Outgoing) -> Sent {
        let display = what.text == SHOWN;
        assert!(display || what.text == ANSWER, "{what:?}");
        let why = "the cell says so".to_owned();
        match (display, self.delivery) {
            (true, Delivery::Failed) => return Sent::Permanent { why },
            (true, Delivery::Unknown) => return Sent::Unknown { why },
            _ => {}
        }
        let word = if what.repeat_mark { "reply marked" } else { "reply" };
        self.got.borrow_mut().push(if display { "display" } else { word });
        Sent::Delivered(Receipt("m1".to_owned()))
    }

    fn probe(&mut self, _: &Outgoing) -> Probed {
        Probed::NotSent
    }
}

/// An agent that calls the tool and then answers.
struct Agent {
    events: VecDeque<SessionEvent>,
    begun: bool,
}

impl AgentSession for Agent {
    fn name(&self) -> String {
        "x".to_owned()
    }

    fn route(&self) -> String {
        "a test".to_owned()
    }

    fn inject(&mut self, what: &Injection) -> Injecting {
        assert_eq!(what.text, "What is new at the harbour?");
        self.begun = true;
        self.events.push_front(SessionEvent::Started { request: Some(what.request) });
        Injecting::Accepted
    }

    fn probe(&mut self, _: RequestId) -> Seen {
        Seen::CannotTell
    }

    fn idle(&mut self) -> bool {
        true
    }

    fn next(&mut self, _: Duration) -> Option<SessionEvent> {
        self.begun.then(|| self.events.pop_front()).flatten()
    }

    fn interrupt(&mut self) {}
}

fn ended(text: &str, calls: Vec<Call>, stop: Stop) -> SessionEvent {
    let text_parts = vec![text.to_owned()];
    SessionEvent::Ended { request: None, message: None, text_parts, calls, stop }
}

/// Turn one: what the person got.
fn turn_one(app: &App<'_>, cell: &Cell<'_>) -> Vec<&'static str> {
    let (result, output) = app.bounded(cell.received());
    let call = Call { id: "c1".into(), tool: "news".into(), arguments: "{}".into() };
    let tool = SessionEvent::ToolResult {
        request: None,
        call: "c1".into(),
        tool: "news".into(),
        outcome: Outcome::Ok,
        result,
        output: Some(output),
    };
    let events = [ended("", vec![call], Stop::ToolCall), tool, ended(ANSWER, Vec::new(), Stop::Stop)];
    let events = events.into_iter().chain([SessionEvent::Settled { request: None }]).collect();
    let mut agent = Agent { events, begun: false };
    let got = Rc::new(RefCell::new(Vec::new()));
    let sink: Box<dyn Sender> = Box::new(Sink { delivery: cell.delivery, got: got.clone() });
    let mut senders = Senders::from([("chat".to_owned(), sink)]);
    let reader = app.ledger.reader(Scope::All);
    let mut relay = Relay::open(reader, &app.session, Box::new(Seconds::default())).unwrap();
    let asked = Incoming {
        update: "1".into(),
        message: "m0".into(),
        destination: "here".into(),
        speaker_kind: SpeakerKind::Owner,
        speaker_id: "1".into(),
        speaker_name: "x".into(),
        said_at: None,
        text: "What is new at the harbour?".into(),
        repairs: 0,
        cursor: None,
    };
    relay.accept("bot", "chat", &asked).unwrap();
    for _ in 0..12 {
        let agent: Option<&mut dyn AgentSession> = Some(&mut agent);
        relay.step(&mut Ports { senders: &mut senders, agent }).unwrap();
    }
    assert!(agent.events.is_empty());
    got.take()
}

#[test]
fn every_cell_through_the_outbox() {
    let came_out = table(turn_one);
    assert_eq!(came_out, MATRIX);
}
