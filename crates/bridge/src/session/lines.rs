//! Any other agent: a program that is given a line of JSON for each message and says in lines what happens.
//!
//! # What it is given
//!
//! ```json
//! {"type": "message", "request": "01K…", "text": "…"}
//! {"type": "interrupt"}
//! {"type": "probe", "request": "01K…"}
//! ```
//!
//! # What it says
//!
//! ```json
//! {"type": "accepted", "request": "01K…"}
//! {"type": "busy", "request": "01K…"}
//! {"type": "refused", "request": "01K…", "why": "…"}
//! {"type": "seen", "request": "01K…", "seen": true}
//! {"type": "started", "request": "01K…"}
//! {"type": "progress", "request": "01K…", "id": "p1", "text": "I look."}
//! {"type": "ended", "request": "01K…", "id": "m1", "texts": ["…"],
//!  "calls": [{"id": "c1", "tool": "news", "arguments": "{}"}], "stop": "stop"}
//! {"type": "tool_result", "request": "01K…", "call": "c1", "tool": "news", "ok": true, "text": "…", "user": "…",
//!  "purpose": "listing", "output": "01K…"}
//! {"type": "settled", "request": "01K…"}
//! {"type": "idle"}
//! {"type": "failed", "request": "01K…", "why": "…"}
//! ```
//!
//! A message is answered with `accepted`, `busy` or `refused`; `started` follows when the agent begins with it. `stop` is `stop`,
//! `tool_call`, `error` or `aborted`; only the texts of a message that ended with `stop` answer. `probe` asks whether a message was
//! started, also before the program was last started, and is answered with `seen`: `true`, `false` (and never will be), or `null`.
//!
//! `request` in `progress`, `ended`, `tool_result`, `settled` and `failed` is the message that it belongs to. It may be left out, and should not
//! be: with it an answer reaches who it is for, however late it comes. Without it, it is taken to belong to the message that was
//! started last; where an earlier message never had its answer nobody can tell, and the answer is parked until a person decides about
//! it (`sayso deliveries list`). An id that is none of the ledger's belongs to nobody who wrote.
//!
//! An `id` that comes again is the same message. `output` is the stored output that holds all of a result, where `sayso run` stored one. The
//! text of a result may hold frames of texts for two recipients, made with the nonce in the variable `SAYSO_NONCE`, which the program is
//! started with. The agent is taken to be idle from the beginning and after `idle`. A line that is none of these is passed over.

use std::collections::VecDeque;
use std::io;
use std::time::Duration;

use sayso_output::envelope::{Envelope, Purpose, Received};
use sayso_output::wire::{FRAME_VARIABLE, FrameReader, Nonce};
use sayso_relay::port::{
    AgentSession, Call, Injecting, Injection, Outcome, RequestId, Seen, SessionEvent, Stop,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::peer::{Heard, Peer, Start};
use crate::json;

/// A session of a program that speaks lines, see [the module](self).
#[derive(Debug)]
pub struct LinesSession {
    peer: Peer,
    name: String,
    nonce: Nonce,
    patience: Duration,
    ready: VecDeque<SessionEvent>,
    busy: bool,
    gone: bool,
}

#[derive(Debug, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Line {
    Accepted { request: String },
    Busy { request: String },
    Refused { request: String, why: Option<String> },
    Seen { request: String, seen: Option<bool> },
    Started { request: Option<String> },
    Progress { request: Option<String>, id: Option<String>, text: String },
    Ended(Ended),
    ToolResult(ToolResult),
    Settled { request: Option<String> },
    Idle,
    Failed { request: Option<String>, why: Option<String> },
}

#[derive(Debug, Deserialize)]
struct Ended {
    request: Option<String>,
    id: Option<String>,
    #[serde(default)]
    texts: Vec<String>,
    #[serde(default)]
    calls: Vec<Called>,
    stop: Stopped,
}

#[derive(Debug, Deserialize)]
struct Called {
    id: String,
    tool: String,
    #[serde(default)]
    arguments: String,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stopped {
    Stop,
    ToolCall,
    Error,
    Aborted,
}

#[derive(Debug, Deserialize)]
struct ToolResult {
    request: Option<String>,
    call: String,
    tool: String,
    ok: bool,
    #[serde(default)]
    text: String,
    #[serde(default)]
    user: String,
    purpose: Option<String>,
    output: Option<String>,
}

impl LinesSession {
    /// Starts the program, under a name for the agent.
    ///
    /// # Errors
    ///
    /// What the system says, also where it has no random bytes.
    pub fn start(start: &Start, name: &str, patience: Duration) -> io::Result<Self> {
        let (mut start, nonce) = (start.clone(), Nonce::random()?);
        start.variables.push((FRAME_VARIABLE.into(), nonce.as_str().into()));
        let peer = Peer::start(&start)?;
        let ready = VecDeque::new();
        Ok(Self { peer, name: name.to_owned(), nonce, patience, ready, busy: false, gone: false })
    }

    /// Says a line and waits for one that answers it.
    fn ask<T>(&mut self, line: &Value, answers: impl Fn(&Line) -> Option<T>) -> Option<T> {
        if self.gone || !self.peer.say(line) {
            return None;
        }
        loop {
            match self.peer.hear(self.patience) {
                Heard::Line(line) => {
                    let line = self.take(&line);
                    if let Some(answer) = line.as_ref().and_then(&answers) {
                        return Some(answer);
                    }
                }
                Heard::Nothing => return None,
                Heard::Over => {
                    self.over();
                    return None;
                }
            }
        }
    }

    /// Whether its program has ended.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.gone
    }

    fn over(&mut self) {
        if !self.gone {
            self.gone = true;
            self.ready.push_back(SessionEvent::Gone);
        }
    }

    /// Takes in a line: an answer is given back, an event is made ready.
    fn take(&mut self, line: &str) -> Option<Line> {
        let (line, _) = json::read::<Line>(line).ok()?;
        let event = match line {
            Line::Started { request } => {
                self.busy = true;
                SessionEvent::Started { request: request.and_then(|id| id.parse().ok()) }
            }
            Line::Progress { request, id, text } => {
                SessionEvent::Progress { request: named(request), message: id, text }
            }
            Line::Ended(ended) => ended.event(),
            Line::ToolResult(result) => result.event(&self.nonce),
            Line::Settled { request } => SessionEvent::Settled { request: named(request) },
            Line::Idle => {
                self.busy = false;
                SessionEvent::Idle
            }
            Line::Failed { request, why } => {
                SessionEvent::Failed { request: named(request), why: why.unwrap_or_default() }
            }
            answer => return Some(answer),
        };
        self.ready.push_back(event);
        None
    }
}

impl AgentSession for LinesSession {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn route(&self) -> String {
        "lines".to_owned()
    }

    fn inject(&mut self, what: &Injection) -> Injecting {
        if self.gone {
            return Injecting::Refused { why: "the session's program has ended".to_owned() };
        }
        let id = what.request.to_string();
        let line = json!({"type": "message", "request": id, "text": what.text});
        let answer = self.ask(&line, |line| match line {
            Line::Accepted { request } if *request == id => Some(Injecting::Accepted),
            Line::Busy { request } if *request == id => Some(Injecting::Busy),
            Line::Refused { request, why } if *request == id => {
                Some(Injecting::Refused { why: why.clone().unwrap_or_default() })
            }
            _ => None,
        });
        let answer = answer
            .unwrap_or_else(|| Injecting::Unknown { why: "the session's program gave no answer".to_owned() });
        self.busy |= !matches!(answer, Injecting::Refused { .. });
        answer
    }

    fn probe(&mut self, request: RequestId) -> Seen {
        let id = request.to_string();
        let answer = self.ask(&json!({"type": "probe", "request": id}), |line| match line {
            Line::Seen { request, seen } if *request == id => Some(*seen),
            _ => None,
        });
        match answer.flatten() {
            Some(true) => Seen::Seen,
            Some(false) => Seen::NotSeen,
            None => Seen::CannotTell,
        }
    }

    fn idle(&mut self) -> bool {
        !self.busy && !self.gone
    }

    fn next(&mut self, wait: Duration) -> Option<SessionEvent> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.gone {
                return None;
            }
            match self.peer.hear(wait) {
                Heard::Line(line) => drop(self.take(&line)),
                Heard::Nothing => return None,
                Heard::Over => self.over(),
            }
        }
    }

    fn interrupt(&mut self) {
        let _ = self.peer.say(&json!({"type": "interrupt"}));
    }
}

/// The request that a line names. An id that is none names nobody's request, which is not the same as naming none.
fn named(request: Option<String>) -> Option<RequestId> {
    request.map(|id| id.parse().unwrap_or(RequestId::from_u128(0)))
}

impl Ended {
    fn event(self) -> SessionEvent {
        let calls = self.calls.into_iter();
        let calls = calls.map(|c| Call { id: c.id, tool: c.tool, arguments: c.arguments }).collect();
        let stop = match self.stop {
            Stopped::Stop => Stop::Stop,
            Stopped::ToolCall => Stop::ToolCall,
            Stopped::Error => Stop::Error,
            Stopped::Aborted => Stop::Aborted,
        };
        let (request, message) = (named(self.request), self.id);
        SessionEvent::Ended { request, message, text_parts: self.texts, calls, stop }
    }
}

impl ToolResult {
    fn event(self, nonce: &Nonce) -> SessionEvent {
        let result = match self.user.is_empty() {
            true => framed(&self.text, nonce),
            false => {
                let purpose = self.purpose.as_deref().and_then(Purpose::parse).unwrap_or_default();
                whole(&self.text, &self.user, purpose)
            }
        };
        let outcome = if self.ok { Outcome::Ok } else { Outcome::Failed };
        let output = self.output.and_then(|id| id.parse().ok());
        let request = named(self.request);
        SessionEvent::ToolResult { request, call: self.call, tool: self.tool, outcome, result, output }
    }
}

fn whole(model: &str, user: &str, purpose: Purpose) -> Received {
    Envelope::received(model, user, purpose)
        .map_or_else(|_| Received::Truncated(model.to_owned()), Received::Whole)
}

/// The frames in a text, and what stands around them, as one result. Where one is broken everything is the model's.
fn framed(text: &str, nonce: &Nonce) -> Received {
    let mut around = Vec::new();
    let mut reader = FrameReader::new(nonce.clone(), &mut around);
    // Writing into memory does not fail.
    let found = reader.feed(text.as_bytes()).and_then(|()| reader.finish()).unwrap_or_default();
    let (mut model, mut user) = (String::from_utf8_lossy(&around).into_owned(), Vec::new());
    let (mut broken, mut purpose) = (false, None);
    for received in found.iter().map(|found| found.received()) {
        match received {
            Received::Whole(envelope) => {
                model.push_str(envelope.model_context());
                user.extend(envelope.user_presentation().map(str::to_owned));
                purpose = purpose.or(envelope.purpose());
            }
            Received::Truncated(text) => {
                broken = true;
                model.push_str(&text);
            }
        }
    }
    match broken {
        true => Received::Truncated(model),
        false => whole(&model, &user.join("\n\n"), purpose.unwrap_or_default()),
    }
}

/// Reads anything as a line of a session, for tests; whether it is one.
#[cfg(feature = "rehearsal")]
#[doc(hidden)]
#[must_use]
pub fn any_line(line: &str) -> bool {
    match json::read::<Line>(line) {
        Ok((Line::Ended(ended), _)) => matches!(ended.event(), SessionEvent::Ended { .. }),
        Ok((Line::ToolResult(result), _)) => {
            matches!(result.event(&Nonce::of([7; 16])), SessionEvent::ToolResult { .. })
        }
        read => read.is_ok(),
    }
}

#[cfg(test)]
mod tests {
    use sayso_output::wire::{Sections, frame};

    use super::*;

    #[test]
    fn the_frames_of_a_result_are_one_result() {
        let nonce = Nonce::of([7; 16]);
        let mut text = b"before\n".to_vec();
        for (model, user, purpose) in [("one\n", "1", Purpose::Detail), ("two\n", "2", Purpose::Listing)] {
            let sections = Sections { model: model.into(), user: user.into(), purpose };
            frame(&sections, &nonce, &mut text).unwrap();
        }
        let text = String::from_utf8(text).unwrap();
        let envelope = Envelope::received("before\none\ntwo\n", "1\n\n2", Purpose::Detail).unwrap();
        assert_eq!(framed(&text, &nonce), Received::Whole(envelope));
        let plain = framed(&text, &Nonce::of([8; 16]));
        let Received::Whole(plain) = plain else { panic!("{plain:?}") };
        assert_eq!((plain.model_context(), plain.user_presentation()), (text.as_str(), None));
        let cut = framed(text.get(..text.len() - 9).unwrap(), &nonce);
        assert!(
            matches!(&cut, Received::Truncated(all) if all.starts_with("before\none\ntwo\n2")),
            "{cut:?}"
        );
    }
}
