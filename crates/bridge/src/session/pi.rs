//! pi in RPC mode: `pi --mode rpc`.
//!
//! What is told here was read from pi 0.73.1, its documentation (`docs/rpc.md`) and its behaviour:
//!
//! - A `prompt` while it works is refused ("already processing") unless it says how to queue it; here it never does, so that
//!   a message goes in at an idle edge or not at all.
//! - A `message_start` by the user shows the words, and no id of the prompt. So the words begin with a line that names the request. It
//!   also keeps a person's `/command` from being one of pi's.
//! - It works on one prompt at a time: from the user's message to where it has settled everything is for that request.
//! - After `agent_end` it may still work: retry, compact, run what its extensions do. It has settled when it says so itself
//!   (`get_state`).

mod event;

#[cfg(feature = "rehearsal")]
#[doc(hidden)]
pub use event::any_event;

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use sayso_relay::port::{AgentSession, Injecting, Injection, RequestId, Seen, SessionEvent};
use serde::Deserialize;
use serde_json::{Value, json};

use self::event::{Event, Message};
use super::peer::{Heard, Peer, Start};
use super::{headed, heading};
use crate::json;

/// The extension that runs pi's commands through `sayso run`, so that their texts for two recipients reach both.
pub const EXTENSION: &str = include_str!("pi/bash.ts");

/// How long pi is left alone before it is asked again whether it has settled.
const SETTLING: Duration = Duration::from_millis(50);

/// A session of pi.
#[derive(Debug)]
pub struct PiSession {
    peer: Peer,
    /// How long pi may say nothing at all while an answer of its is waited for.
    patience: Duration,
    ready: VecDeque<SessionEvent>,
    /// The request that it works on.
    on: Option<RequestId>,
    asked: u64,
    rest: Rest,
    /// Whether a run has ended of which it is not known yet that it has settled.
    ended: bool,
    retrying: bool,
    gone: bool,
}

/// Whether pi would take a message, as far as it said so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Unknown,
    Rests,
    Works,
}

#[derive(Debug, Deserialize)]
struct Response {
    id: Option<String>,
    success: bool,
    error: Option<String>,
    data: Option<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct State {
    is_streaming: bool,
    is_compacting: bool,
    #[serde(default)]
    pending_message_count: u64,
    session_file: Option<std::path::PathBuf>,
}

#[derive(Debug, Deserialize)]
struct Messages {
    messages: Vec<Message>,
}

/// A line of a session file; other kinds of entry have no message.
#[derive(Debug, Deserialize)]
struct Entry {
    message: Option<Message>,
}

impl PiSession {
    /// Starts pi; `start` has to name it with its options and `--mode rpc`.
    ///
    /// # Errors
    ///
    /// What the system says.
    pub fn start(start: &Start, patience: Duration) -> io::Result<Self> {
        Ok(Self::over(Peer::start(start)?, patience))
    }

    /// Whether its program has ended.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.gone
    }

    fn over(peer: Peer, patience: Duration) -> Self {
        Self {
            peer,
            patience,
            ready: VecDeque::new(),
            on: None,
            asked: 0,
            rest: Rest::Unknown,
            ended: false,
            retrying: false,
            gone: false,
        }
    }

    /// Asks, and waits for the answer; what else is heard meanwhile is kept.
    fn ask(&mut self, kind: &str, message: Option<&str>) -> Asked {
        self.asked += 1;
        let id = format!("sayso-{}", self.asked);
        let mut command = json!({"id": id, "type": kind});
        if let (Some(message), Some(fields)) = (message, command.as_object_mut()) {
            fields.insert("message".to_owned(), message.into());
        }
        if self.gone || !self.peer.say(&command) {
            return Asked::Unheard;
        }
        loop {
            match self.peer.hear(self.patience) {
                Heard::Line(line) => match self.take(&line) {
                    Some(response) if response.id.as_ref() == Some(&id) => return Asked::Answered(response),
                    _ => {}
                },
                Heard::Nothing => return Asked::Silent,
                Heard::Over => {
                    self.over_now();
                    return Asked::Silent;
                }
            }
        }
    }

    fn over_now(&mut self) {
        if !self.gone {
            self.gone = true;
            self.ready.push_back(SessionEvent::Gone);
        }
    }

    /// Takes in a line: a response is given back, an event is made ready.
    fn take(&mut self, line: &str) -> Option<Response> {
        let (event, _) = json::read::<Event>(line).ok()?;
        match event {
            Event::Response(response) => return Some(response),
            Event::MessageStart { message: Message::User { content } } => {
                self.on = headed(&content.text());
                self.ready.push_back(SessionEvent::Started { request: self.on });
            }
            Event::MessageEnd { message } => self.ready.extend(message.ended(self.on)),
            Event::ToolExecutionEnd(tool) => self.ready.push_back(tool.result(self.on)),
            Event::AgentStart => {
                (self.rest, self.ended, self.retrying) = (Rest::Works, false, false);
            }
            Event::AgentEnd => (self.rest, self.ended) = (Rest::Works, true),
            Event::CompactionStart => self.rest = Rest::Works,
            Event::CompactionEnd => self.rest = Rest::Unknown,
            Event::AutoRetryStart => self.retrying = true,
            Event::AutoRetryEnd => self.retrying = false,
            Event::MessageStart { .. } | Event::Other => {}
        }
        None
    }

    fn state(&mut self) -> Option<State> {
        match self.ask("get_state", None) {
            Asked::Answered(Response { success: true, data: Some(data), .. }) => {
                serde_json::from_value(data).ok()
            }
            _ => None,
        }
    }

    fn at_rest(&mut self) -> bool {
        let state = self.state();
        let rests =
            state.is_some_and(|s| !s.is_streaming && !s.is_compacting && s.pending_message_count == 0);
        rests && !self.retrying
    }

    /// After the end of a run: settled, once pi rests.
    fn settle(&mut self) {
        if self.at_rest() && self.ended {
            (self.ended, self.rest) = (false, Rest::Rests);
            // What an extension begins by itself later is not known to be for it.
            let request = self.on.take();
            self.ready.extend([SessionEvent::Settled { request }, SessionEvent::Idle]);
        }
    }

    /// Whether a request's words are among the messages of pi's context, or in the file of its session: a compaction takes
    /// them out of the context.
    fn holds(&mut self, request: RequestId) -> Option<bool> {
        let Asked::Answered(Response { success: true, data: Some(data), .. }) =
            self.ask("get_messages", None)
        else {
            return None;
        };
        let found: Messages = serde_json::from_value(data).ok()?;
        if found.messages.iter().any(|message| message.carries(request)) {
            return Some(true);
        }
        let Some(file) = self.state()?.session_file else { return Some(false) };
        match std::fs::read_to_string(file) {
            Ok(text) => Some(text.lines().filter_map(entry).any(|message| message.carries(request))),
            // It is written with the first answer.
            Err(error) if error.kind() == io::ErrorKind::NotFound => Some(false),
            Err(_) => None,
        }
    }
}

fn entry(line: &str) -> Option<Message> {
    json::read::<Entry>(line).ok()?.0.message
}

enum Asked {
    Answered(Response),
    /// No answer came.
    Silent,
    /// It surely did not hear the question.
    Unheard,
}

impl AgentSession for PiSession {
    fn name(&self) -> String {
        "pi".to_owned()
    }

    fn route(&self) -> String {
        "pi rpc".to_owned()
    }

    fn inject(&mut self, what: &Injection) -> Injecting {
        let message = format!("{}{}", heading(what.request), what.text);
        match self.ask("prompt", Some(&message)) {
            Asked::Answered(Response { success: true, .. }) => {
                self.rest = Rest::Works;
                Injecting::Accepted
            }
            Asked::Answered(Response { error, .. }) => match error.unwrap_or_default() {
                busy if busy.contains("already processing") => {
                    self.rest = Rest::Unknown;
                    Injecting::Busy
                }
                why => Injecting::Refused { why },
            },
            Asked::Silent => Injecting::Unknown { why: "pi gave no answer".to_owned() },
            Asked::Unheard => Injecting::Refused { why: "pi does not run".to_owned() },
        }
    }

    fn probe(&mut self, request: RequestId) -> Seen {
        let rests = self.at_rest();
        match self.holds(request) {
            Some(true) => Seen::Seen,
            Some(false) if rests => Seen::NotSeen,
            Some(false) | None => Seen::CannotTell,
        }
    }

    fn idle(&mut self) -> bool {
        if self.rest == Rest::Unknown && !self.ended {
            let rests = self.at_rest();
            // It may have begun to work while it was asked.
            if rests && self.rest == Rest::Unknown {
                self.rest = Rest::Rests;
            }
        }
        self.rest == Rest::Rests && !self.gone
    }

    fn next(&mut self, wait: Duration) -> Option<SessionEvent> {
        loop {
            if self.ready.is_empty() && self.ended {
                self.settle();
            }
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.gone {
                return None;
            }
            let wait = if self.ended { wait.min(SETTLING) } else { wait };
            match self.peer.hear(wait) {
                Heard::Line(line) => drop(self.take(&line)),
                Heard::Nothing => return None,
                Heard::Over => self.over_now(),
            }
        }
    }

    fn interrupt(&mut self) {
        let _ = self.ask("abort", None);
    }
}
