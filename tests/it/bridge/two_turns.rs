//! The two-turn matrix through the outbox in the ledger, with a Bot API server that delivers, refuses, and loses what it read.

use std::cell::Cell as Shared;
use std::collections::VecDeque;
use std::rc::Rc;
use std::time::Duration;

use sayso::Scope;
use sayso::model::{OutputId, UtcMs};
use sayso_bridge::Waits;
use sayso_bridge::rehearsal::{Act, BotServer};
use sayso_bridge::telegram::{Bot, People, TelegramSender, TelegramSource, Token};
use sayso_output::envelope::{Delivery, Received};
use sayso_relay::port::{
    AgentSession, Blind, Call, Clock, Injecting, Injection, Outcome, RequestId, Seen, Sender, SessionEvent,
    Stop,
};
use sayso_relay::{Ports, Relay, Senders};

use super::{OWNER, TOKEN};
use crate::support::START;
use crate::two_turns::{App, Cell, MATRIX, SHOWN, table};

/// A clock that the test moves.
#[derive(Clone, Default)]
struct Hand(Rc<Shared<u64>>);

impl Hand {
    fn forward(&self, seconds: u64) {
        self.0.set(self.0.get() + seconds);
    }
}

impl Clock for Hand {
    fn now(&self) -> UtcMs {
        UtcMs(START + i64::try_from(self.0.get() * 1_000).unwrap())
    }

    fn elapsed(&self) -> Duration {
        Duration::from_secs(self.0.get())
    }
}

/// An agent that calls the tool and then says that there is news.
struct News {
    result: Received,
    output: OutputId,
    says: VecDeque<SessionEvent>,
}

impl News {
    fn begins(&mut self, request: RequestId) {
        let ended = |text: &str, calls: Vec<Call>, stop| SessionEvent::Ended {
            request: None,
            message: None,
            text_parts: vec![text.to_owned()],
            calls,
            stop,
        };
        let call = Call { id: "c1".to_owned(), tool: "news".to_owned(), arguments: "{}".to_owned() };
        self.says.extend([
            SessionEvent::Started { request: Some(request) },
            ended("I look.", vec![call], Stop::ToolCall),
            SessionEvent::ToolResult {
                request: None,
                call: "c1".to_owned(),
                tool: "news".to_owned(),
                outcome: Outcome::Ok,
                result: self.result.clone(),
                output: Some(self.output),
            },
            ended("There is news.", Vec::new(), Stop::Stop),
            SessionEvent::Settled { request: None },
            SessionEvent::Idle,
        ]);
    }
}

impl AgentSession for News {
    fn name(&self) -> String {
        "Rocky".to_owned()
    }

    fn route(&self) -> String {
        "test".to_owned()
    }

    fn inject(&mut self, what: &Injection) -> Injecting {
        self.begins(what.request);
        Injecting::Accepted
    }

    fn probe(&mut self, _: RequestId) -> Seen {
        Seen::CannotTell
    }

    fn idle(&mut self) -> bool {
        self.says.is_empty()
    }

    fn next(&mut self, _: Duration) -> Option<SessionEvent> {
        self.says.pop_front()
    }

    fn interrupt(&mut self) {}
}

/// Turn one over the bot: who gets what, as the person sees it.
fn turn_one(app: &App<'_>, cell: &Cell<'_>) -> Vec<&'static str> {
    let server = BotServer::start(TOKEN).unwrap();
    let (result, output) = app.bounded(cell.received());
    let display = matches!(&result, Received::Whole(envelope) if envelope.user_presentation().is_some());
    // What is tried is what becomes of the display; without one there is nothing to hear of.
    server.acts(display.then_some(match cell.delivery {
        Delivery::Failed => Act::Refuse(403, "Forbidden: bot was blocked by the user", None),
        Delivery::Unknown => Act::Vanish,
        Delivery::Delivered | Delivery::Pending => Act::Deliver,
    }));
    let bot = Bot::new(&server.url(), Token::parse(TOKEN).unwrap(), Waits::default());
    let people = People { owners: [OWNER].into(), ..People::default() };
    let mut source = TelegramSource::new(bot.clone(), people, Box::new(|_, _| {}));
    let sender: Box<dyn Sender> = Box::new(TelegramSender::new(bot, Blind::Park));
    let mut senders = Senders::from([("telegram".to_owned(), sender)]);
    let mut agent = News { result, output, says: VecDeque::new() };
    let clock = Hand::default();
    let reader = app.ledger.reader(Scope::All);
    let mut relay = Relay::open(reader, &app.session, Box::new(clock.clone())).unwrap();
    server.says(5, OWNER, "What is new at the harbour?");
    for _ in 0..4 {
        relay.read(&mut source, Duration::ZERO).unwrap();
        relay.step(&mut Ports { senders: &mut senders, agent: Some(&mut agent) }).unwrap();
        clock.forward(20);
    }
    let texts = server.texts();
    texts.iter().map(|text| name(text)).collect()
}

fn name(text: &str) -> &'static str {
    match text {
        SHOWN => "display",
        "There is news." => "reply",
        "[possible repeat]\nThere is news." => "reply marked",
        other => panic!("nobody said {other:?}"),
    }
}

#[test]
fn every_cell_over_the_bot() {
    assert_eq!(table(turn_one), MATRIX);
}
