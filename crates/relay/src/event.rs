//! What a session says.

use sayso::model::relay::{AnswerState, InjectionEnd, InjectionState, TurnEnd};
use sayso::model::{DeliveryKind, MarkKind, PartBody, Request, RequestId, SpeakerKind, ToolCall, TurnId};
use sayso::store::{Command, Intend, MarkEntry, RelayCommand};
use sayso::{NewTurn, Plan, SpeakerRef};

use crate::error::Error;
use crate::flaw::Flaw;
use crate::port::{Call, SessionEvent, Stop};
use crate::relay::{Ports, Relay, Senders, step, won};
use crate::words::short;

/// A message of the agent that ended.
struct Ended<'e> {
    message: Option<&'e str>,
    texts: Vec<String>,
    calls: &'e [Call],
    stop: Stop,
}

impl Relay {
    /// Takes in what the session said. What the agent says is for the message that was started last.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn event(&mut self, ports: &mut Ports<'_>, event: &SessionEvent) -> Result<(), Error> {
        let (agent, route) = match &ports.agent {
            Some(agent) => (agent.name(), agent.route()),
            None => Default::default(),
        };
        match event {
            SessionEvent::Started { request } => self.started(*request, &route),
            SessionEvent::Ended { message, text_parts, calls, stop } => {
                let texts = text_parts.iter().filter(|t| !t.trim().is_empty()).cloned().collect();
                let ended = Ended { message: message.as_deref(), texts, calls, stop: *stop };
                self.ended(ports.senders, &agent, &ended)
            }
            SessionEvent::Progress { message, text } => {
                self.progress(ports.senders, &agent, message.as_deref(), text)
            }
            SessionEvent::ToolResult { call, tool, outcome, result, output } => {
                self.tool_result(ports.senders, (call, tool, *outcome), result, *output)
            }
            SessionEvent::Settled => self.settled(ports.senders, &agent),
            SessionEvent::Idle => Ok(()),
            SessionEvent::Failed { why } => self.interrupted(why),
            SessionEvent::Gone => self.gone(),
        }
    }

    /// Takes in everything that the session has to say now.
    pub(crate) fn listen(&mut self, ports: &mut Ports<'_>) -> Result<(), Error> {
        while let Some(event) = ports.agent.as_mut().and_then(|agent| agent.next(std::time::Duration::ZERO)) {
            self.event(ports, &event)?;
        }
        Ok(())
    }

    pub(crate) fn started(&mut self, request: Option<RequestId>, route: &str) -> Result<(), Error> {
        let (session, at) = (self.session, self.now());
        // An id that this ledger does not have for this session came another way.
        let known = request.map(|id| self.reader.request(id)).transpose()?.flatten();
        let known = known.filter(|r| r.session == session);
        let forward = known.as_ref().filter(|r| r.inlet.is_none()).map(|r| r.turn);
        let request = known.map(|r| r.id);
        self.write(|plan| {
            plan.push(step(at, RelayCommand::Started { session, request }));
            if let Some(turn) = forward {
                plan.push(mark(plan, session, MarkKind::InContext, turn, route));
            }
            Ok(())
        })?;
        self.heard = Some(request);
        Ok(())
    }

    fn ended(&mut self, senders: &Senders, agent: &str, ended: &Ended<'_>) -> Result<(), Error> {
        let request = self.listening()?;
        if ended.texts.is_empty() && ended.calls.is_empty() {
            return self.stopped(request.as_ref(), ended.stop);
        }
        let beside = self.flaws.is(Flaw::AnyTextIsFinal);
        let is_final = ended.stop == Stop::Stop && ended.calls.is_empty() || beside;
        let answers = request.as_ref().filter(|r| is_final && r.answer != AnswerState::Final);
        let answers = answers.filter(|_| !ended.texts.is_empty());
        let turn = said(agent, request.as_ref(), ended);
        self.say(senders, turn, answers, (DeliveryKind::Reply, "reply"), &ended.texts.join("\n"))?;
        self.stopped(request.as_ref(), ended.stop)
    }

    fn stopped(&mut self, request: Option<&Request>, stop: Stop) -> Result<(), Error> {
        match (request, stop) {
            (Some(_), Stop::Aborted) => self.interrupted("somebody stopped the agent"),
            _ => Ok(()),
        }
    }

    /// Appends a turn, and sends its words to the person who sent a request.
    pub(crate) fn say(
        &mut self,
        senders: &Senders,
        turn: NewTurn,
        to: Option<&Request>,
        (kind, key): (DeliveryKind, &str),
        text: &str,
    ) -> Result<(), Error> {
        let (session, at) = (self.session, self.now());
        let known = turn.key.as_deref().map(|key| self.reader.known(session, key)).transpose()?.flatten();
        let parts = to.map(|request| self.split(senders, request, text));
        self.write(|plan| {
            let id = match &known {
                Some(known) => known.id,
                None => plan.append(session, turn.clone())?,
            };
            if let (Some(request), Some(parts)) = (to, &parts) {
                let (request, key) = (request.id, key.to_owned());
                let parts = parts.clone();
                plan.push(step(at, RelayCommand::Intend(Intend { request, kind, key, turn: id, parts })));
            }
            Ok(())
        })?;
        Ok(())
    }

    /// The parts in which a text goes out; none where it goes nowhere.
    pub(crate) fn split(
        &self,
        senders: &Senders,
        request: &Request,
        text: &str,
    ) -> Vec<(sayso::model::DeliveryId, String)> {
        let Some(inlet) = &request.inlet else { return Vec::new() };
        let parts = senders.get(&inlet.channel).map(|sender| sender.split(text)).unwrap_or_default();
        let mut parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() {
            parts.push(text.to_owned());
        }
        parts.into_iter().map(|part| (self.reader.ledger().fresh_delivery(), part)).collect()
    }

    fn progress(
        &mut self,
        senders: &Senders,
        agent: &str,
        message: Option<&str>,
        text: &str,
    ) -> Result<(), Error> {
        let request = self.listening()?.filter(|r| r.inlet.is_some());
        let Some(request) = request.filter(|_| !text.trim().is_empty()) else { return Ok(()) };
        let key = match message {
            Some(message) => format!("message {message}"),
            // Each is a message of its own.
            None => self.reader.ledger().fresh_delivery().to_string(),
        };
        let turn = NewTurn::text(SpeakerKind::Agent, agent, text).with_key(key.clone());
        let turn = NewTurn { reply_to: Some(request.turn), ..turn };
        self.say(senders, turn, Some(&request), (DeliveryKind::Progress, &key), text)
    }

    fn settled(&mut self, senders: &Senders, agent: &str) -> Result<(), Error> {
        let Some(request) = self.listening()? else { return Ok(()) };
        if self.flaws.is(Flaw::AnswerOnSettle) && request.answer != AnswerState::Final {
            let turn = NewTurn::text(SpeakerKind::Agent, agent, "Done.");
            self.say(senders, turn, Some(&request), (DeliveryKind::Reply, "reply"), "Done.")?;
        }
        self.end_turn(&request, TurnEnd::Settled)
    }

    fn interrupted(&mut self, why: &str) -> Result<(), Error> {
        let Some(request) = self.listening()? else { return Ok(()) };
        self.end_turn(&request, TurnEnd::Interrupted { why: short(why) })
    }

    fn end_turn(&mut self, request: &Request, end: TurnEnd) -> Result<(), Error> {
        if request.turn_state != sayso::model::relay::TurnState::Open {
            return Ok(());
        }
        self.steps(vec![RelayCommand::EndTurn { request: request.id, end }]).map(|_| ())
    }

    /// Nothing more comes of the session: what it was in the middle of is interrupted, and what was being put in may be in.
    fn gone(&mut self) -> Result<(), Error> {
        let mut steps = Vec::new();
        for r in self.open_requests()? {
            let why = "the session ended".to_owned();
            match r.injection {
                InjectionState::Injecting => {
                    let end = InjectionEnd::Lost { why };
                    steps.push(RelayCommand::EndInjection { request: r.id, fence: r.fence, end });
                }
                _ if r.listening => {
                    let end = TurnEnd::Interrupted { why };
                    steps.push(RelayCommand::EndTurn { request: r.id, end });
                }
                _ => {}
            }
        }
        steps.push(RelayCommand::Started { session: self.session, request: None });
        self.heard = Some(None);
        self.race(steps).map(|_| ())
    }

    /// What a relay itself says to the person.
    pub(crate) fn tell(
        &mut self,
        senders: &Senders,
        request: &Request,
        (kind, key): (DeliveryKind, &str),
        text: &str,
    ) -> Result<(), Error> {
        let turn =
            NewTurn { reply_to: Some(request.turn), ..NewTurn::text(SpeakerKind::System, "relay", text) };
        let said = self.say(senders, turn, Some(request), (kind, key), text);
        // Another relay may have come first; a flawed one is not let off.
        if self.flaws.is(Flaw::DeadlineFromAccept) { said } else { won(said).map(|_| ()) }
    }
}

/// The turn of a message that ended: its words and its calls.
fn said(agent: &str, request: Option<&Request>, ended: &Ended<'_>) -> NewTurn {
    let texts = ended.texts.iter().map(|text| PartBody::Text(text.clone()));
    let calls = ended.calls.iter().map(|call| {
        let Call { id, tool, arguments } = call.clone();
        PartBody::ToolCall(ToolCall { call_id: id, tool, arguments })
    });
    NewTurn {
        speaker: SpeakerRef::new(SpeakerKind::Agent, agent),
        said_at: None,
        reply_to: request.map(|r| r.turn),
        parts: texts.chain(calls).map(|body| (None, body)).collect(),
        key: ended.message.map(|id| format!("message {id}")),
        repairs: 0,
    }
}

/// A mark that says how far a forward got.
pub(crate) fn mark(
    plan: &Plan<'_>,
    session: sayso::model::SessionId,
    kind: MarkKind,
    of: TurnId,
    route: &str,
) -> Command {
    Command::Mark(MarkEntry {
        id: plan.entry_id(),
        session,
        kind,
        of: Some(of),
        route: format!("user, {route}"),
    })
}
