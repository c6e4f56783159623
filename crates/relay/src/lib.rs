//! Requests and deliveries: a message from a person goes into an agent's session, and the answer goes back to where the
//! message came from.
//!
//! Nothing here opens a socket or a process: sources, senders, sessions and the clock come in through [`port`]. What is under
//! way stands in the ledger, so that another process goes on where one died: every transition is one batch, and what may
//! have happened without a word is `unknown`, never done again blindly.
//!
//! [`Relay::accept`] takes a message in, [`Relay::event`] takes in what a session says, [`Relay::step`] does everything that is
//! due, and [`Relay::run`] does all three until it is told to stop.
//!
//! ```
//! use std::collections::VecDeque;
//! use std::time::{Duration, Instant, SystemTime};
//!
//! use sayso::model::{RequestId, SpeakerKind, UtcMs};
//! use sayso::store::Deliveries;
//! use sayso::{Ledger, Options, Scope};
//! use sayso_relay::port::{
//!     Ability, AgentSession, Blind, Clock, Incoming, Injecting, Injection, Outgoing, Probed, Receipt, Seen, Sender, Sent,
//!     SessionEvent, Stop,
//! };
//! use sayso_relay::{Ports, Relay, Senders};
//!
//! struct SystemClock(Instant);
//!
//! impl Clock for SystemClock {
//!     fn now(&self) -> UtcMs {
//!         let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
//!         UtcMs(since.as_millis().try_into().unwrap_or(i64::MAX))
//!     }
//!
//!     fn elapsed(&self) -> Duration {
//!         self.0.elapsed()
//!     }
//! }
//!
//! /// A sink that prints.
//! struct Printer;
//!
//! impl Sender for Printer {
//!     fn ability(&self) -> Ability {
//!         Ability::Opaque(Blind::Park)
//!     }
//!
//!     fn split(&self, text: &str) -> Vec<String> {
//!         vec![text.to_owned()]
//!     }
//!
//!     fn send(&mut self, what: &Outgoing) -> Sent {
//!         println!("to {}: {}", what.destination, what.text);
//!         Sent::Delivered(Receipt(what.key.clone()))
//!     }
//!
//!     fn probe(&mut self, _: &Outgoing) -> Probed {
//!         Probed::CannotTell { why: "a printer does not know".to_owned() }
//!     }
//! }
//!
//! /// An agent that answers every message at once. It works on one at a time, and so it knows which one its answer is for.
//! struct Echo(VecDeque<SessionEvent>);
//!
//! impl AgentSession for Echo {
//!     fn name(&self) -> String {
//!         "Echo".to_owned()
//!     }
//!
//!     fn route(&self) -> String {
//!         "in the same process".to_owned()
//!     }
//!
//!     fn inject(&mut self, what: &Injection) -> Injecting {
//!         let request = Some(what.request);
//!         self.0.push_back(SessionEvent::Started { request });
//!         self.0.push_back(SessionEvent::Ended {
//!             request,
//!             message: Some(format!("answer to {}", what.request)),
//!             text_parts: vec!["At nine.".to_owned()],
//!             calls: Vec::new(),
//!             stop: Stop::Stop,
//!         });
//!         self.0.push_back(SessionEvent::Settled { request });
//!         Injecting::Accepted
//!     }
//!
//!     fn probe(&mut self, _: RequestId) -> Seen {
//!         Seen::CannotTell
//!     }
//!
//!     fn idle(&mut self) -> bool {
//!         self.0.is_empty()
//!     }
//!
//!     fn next(&mut self, _: Duration) -> Option<SessionEvent> {
//!         self.0.pop_front()
//!     }
//!
//!     fn interrupt(&mut self) {}
//! }
//!
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("ledger.db");
//! let ledger = Ledger::open(&path, &Options::default())?;
//! let session = ledger.session("harbour", "desk")?;
//! let clock = Box::new(SystemClock(Instant::now()));
//! let mut relay = Relay::open(ledger.reader(Scope::All), &session, clock)?;
//!
//! // A message came in, with where its answer goes and where reading goes on.
//! relay.accept(
//!     "a bot",
//!     "chat",
//!     &Incoming {
//!         update: "1".to_owned(),
//!         message: "17".to_owned(),
//!         destination: "room 5".to_owned(),
//!         speaker_kind: SpeakerKind::Person,
//!         speaker_id: "7".to_owned(),
//!         speaker_name: "Ben".to_owned(),
//!         said_at: None,
//!         text: "When does the ferry leave?".to_owned(),
//!         repairs: 0,
//!         cursor: Some("1".to_owned()),
//!     },
//! )?;
//! let sink: Box<dyn Sender> = Box::new(Printer);
//! let mut senders = Senders::from([("chat".to_owned(), sink)]);
//! let mut agent = Echo(VecDeque::new());
//! // Until nothing more is to be done.
//! while relay.step(&mut Ports { senders: &mut senders, agent: Some(&mut agent) })?.batches > 0 {}
//!
//! let all = ledger.reader(Scope::All).deliveries(Deliveries::All(None))?;
//! let said: Vec<(&str, &str)> = all.iter().map(|d| (d.text.as_str(), d.state.as_str())).collect();
//! assert_eq!(said, [("At nine.", "delivered")]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod accept;
mod clear;
mod error;
mod event;
#[cfg(feature = "flaws")]
pub mod flaw;
#[cfg(not(feature = "flaws"))]
mod flaw;
mod follows;
mod inject;
pub mod port;
mod relay;
mod run;
mod send;
mod tempo;
mod tool;
mod whose;
mod words;

pub use accept::Accepted;
pub use error::Error;
pub use follows::resolve;
pub use relay::{Ports, Relay, Senders, Stepped};
pub use tempo::Tempo;
pub use words::Words;
