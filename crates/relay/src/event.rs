//! What a session says.

use sayso::model::relay::{AnswerState, TurnEnd};
use sayso::model::{
    DeliveryId, DeliveryKind, MarkKind, PartBody, Request, RequestId, SpeakerKind, ToolCall, TurnId,
};
use sayso::store::{Command, Intend, MarkEntry, RelayCommand};
use sayso::{NewTurn, Plan, SpeakerRef};

use crate::error::Error;
use crate::flaw::Flaw;
use crate::port::{Call, SessionEvent, Stop};
use crate::relay::{Ports, Relay, Senders, step, won};
use crate::whose::Whose;
use crate::words::short;

/// To whom words go, as which message.
pub(crate) struct To<'r> {
    pub(crate) request: &'r Request,
    pub(crate) kind: DeliveryKind,
    pub(crate) key: String,
    /// Why nobody knows whether they are for this request.
    pub(crate) doubt: Option<&'r str>,
}

impl<'r> To<'r> {
    pub(crate) fn new(request: &'r Request, kind: DeliveryKind, key: &str) -> Self {
        Self { request, kind, key: key.to_owned(), doubt: None }
    }

    pub(crate) fn intend(&self, turn: TurnId, parts: Vec<(DeliveryId, String)>) -> RelayCommand {
        let (request, kind, key) = (self.request.id, self.kind, self.key.clone());
        let doubt = self.doubt.map(str::to_owned);
        RelayCommand::Intend(Intend { request, kind, key, turn, parts, doubt })
    }
}

/// A message of the agent that ended.
struct Ended<'e> {
    message: Option<&'e str>,
    texts: Vec<String>,
    calls: &'e [Call],
    stop: Stop,
}

impl Ended<'_> {
    /// The key of its turn: the same again is the same message.
    fn key(&self) -> Option<String> {
        self.message.map(|id| format!("message {id}"))
    }
}

impl Relay {
    /// Takes in what the session said: for the request that it names, else for the one that was started last. Where it may as well be the
    /// answer to an earlier one, it goes to nobody by itself.
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
            SessionEvent::Ended { request, message, text_parts, calls, stop } => {
                let texts = text_parts.iter().filter(|t| !t.trim().is_empty()).cloned().collect();
                let ended = Ended { message: message.as_deref(), texts, calls, stop: *stop };
                let whose = self.whose(*request, &route)?;
                self.ended(ports.senders, &agent, &whose, &ended)
            }
            SessionEvent::Progress { request, message, text } => {
                let whose = self.whose(*request, &route)?;
                self.progress(ports.senders, &agent, &whose, (message.as_deref(), text))
            }
            SessionEvent::ToolResult { request, call, tool, outcome, result, output } => {
                let whose = self.whose(*request, &route)?;
                self.tool_result(ports.senders, whose, (call, tool, *outcome), result, *output)
            }
            SessionEvent::Settled { request } => {
                let whose = self.whose(*request, &route)?;
                self.settled(ports.senders, &agent, &whose)
            }
            SessionEvent::Idle => Ok(()),
            SessionEvent::Failed { request, why } => {
                let whose = self.whose(*request, &route)?;
                self.interrupted(whose.request(), why)
            }
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

    fn ended(
        &mut self,
        senders: &Senders,
        agent: &str,
        whose: &Whose,
        ended: &Ended<'_>,
    ) -> Result<(), Error> {
        let request = whose.request();
        if !ended.texts.is_empty() || !ended.calls.is_empty() {
            let to = self.answers(whose, ended)?;
            self.say(senders, said(agent, request, ended), to, &ended.texts.join("\n"))?;
        }
        match ended.stop {
            Stop::Aborted => self.interrupted(request, "somebody stopped the agent"),
            _ => Ok(()),
        }
    }

    /// Whom the words of a message answer, where they answer.
    fn answers<'w>(&self, whose: &'w Whose, ended: &Ended<'_>) -> Result<Option<To<'w>>, Error> {
        let last = ended.stop == Stop::Stop && ended.calls.is_empty();
        if ended.texts.is_empty() || !(last || self.flaws.is(Flaw::AnyTextIsFinal)) {
            return Ok(None);
        }
        Ok(match whose {
            Whose::Of(request) if request.answer != AnswerState::Final => {
                Some(To::new(request, DeliveryKind::Reply, "reply"))
            }
            Whose::Doubt { by: Some(by), why } => self.doubted(ended)?.map(|key| {
                let (request, kind, doubt) = (&**by, DeliveryKind::Reply, Some(why.as_str()));
                To { request, kind, key, doubt }
            }),
            Whose::Of(_) | Whose::Nobody | Whose::Doubt { by: None, .. } => None,
        })
    }

    /// The key of words in doubt; none where they are told again: they were taken in whole the first time.
    fn doubted(&self, ended: &Ended<'_>) -> Result<Option<String>, Error> {
        let Some(key) = ended.key() else {
            return Ok(Some(self.reader.ledger().fresh_delivery().to_string()));
        };
        let known = self.reader.known(self.session, &key)?;
        Ok(known.is_none().then_some(key))
    }

    /// Appends a turn, and sends its words to the person who sent a request.
    pub(crate) fn say(
        &mut self,
        senders: &Senders,
        turn: NewTurn,
        to: Option<To<'_>>,
        text: &str,
    ) -> Result<(), Error> {
        let (session, at) = (self.session, self.now());
        let known = turn.key.as_deref().map(|key| self.reader.known(session, key)).transpose()?.flatten();
        let parts = to.as_ref().map(|to| self.split(senders, to.request, text));
        self.write(|plan| {
            let id = match &known {
                Some(known) => known.id,
                None => plan.append(session, turn.clone())?,
            };
            if let (Some(to), Some(parts)) = (&to, &parts) {
                plan.push(step(at, to.intend(id, parts.clone())));
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

    /// Words in doubt are kept in the session: what comes at the end is what a person decides about.
    fn progress(
        &mut self,
        senders: &Senders,
        agent: &str,
        whose: &Whose,
        (message, text): (Option<&str>, &str),
    ) -> Result<(), Error> {
        let doubt = matches!(whose, Whose::Doubt { .. });
        let request = whose.request().filter(|r| r.inlet.is_some());
        if text.trim().is_empty() || (request.is_none() && !doubt) {
            return Ok(());
        }
        let key = match message {
            Some(message) => format!("message {message}"),
            // Each is a message of its own.
            None => self.reader.ledger().fresh_delivery().to_string(),
        };
        let turn = NewTurn::text(SpeakerKind::Agent, agent, text).with_key(key.clone());
        let turn = NewTurn { reply_to: request.map(|r| r.turn), ..turn };
        let to = request.map(|r| To::new(r, DeliveryKind::Progress, &key));
        self.say(senders, turn, to, text)
    }

    fn settled(&mut self, senders: &Senders, agent: &str, whose: &Whose) -> Result<(), Error> {
        let Some(request) = whose.request() else { return Ok(()) };
        if self.flaws.is(Flaw::AnswerOnSettle) && request.answer != AnswerState::Final {
            let turn = NewTurn::text(SpeakerKind::Agent, agent, "Done.");
            self.say(senders, turn, Some(To::new(request, DeliveryKind::Reply, "reply")), "Done.")?;
        }
        self.end_turn(request, TurnEnd::Settled)
    }

    fn interrupted(&mut self, request: Option<&Request>, why: &str) -> Result<(), Error> {
        let Some(request) = request else { return Ok(()) };
        self.end_turn(request, TurnEnd::Interrupted { why: short(why) })
    }

    fn end_turn(&mut self, request: &Request, end: TurnEnd) -> Result<(), Error> {
        if request.turn_state != sayso::model::relay::TurnState::Open {
            return Ok(());
        }
        self.steps(vec![RelayCommand::EndTurn { request: request.id, end }]).map(|_| ())
    }

    /// Nothing more comes of the session.
    fn gone(&mut self) -> Result<(), Error> {
        let (session, why) = (self.session, "the session ended".to_owned());
        self.heard = Some(None);
        self.race(vec![RelayCommand::SessionGone { session, why }]).map(|_| ())
    }

    /// What a relay itself says to the person.
    pub(crate) fn tell(
        &mut self,
        senders: &Senders,
        request: &Request,
        (kind, key): (DeliveryKind, &str),
        text: &str,
    ) -> Result<(), Error> {
        let to = To::new(request, kind, key);
        let turn =
            NewTurn { reply_to: Some(request.turn), ..NewTurn::text(SpeakerKind::System, "relay", text) };
        // Another relay may have come first.
        won(self.say(senders, turn, Some(to), text)).map(|_| ())
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
        key: ended.key(),
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
