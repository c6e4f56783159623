//! Results of tools, for two recipients.

use sayso::model::canon::Form;
use sayso::model::{Attachment, DeliveryKind, Outcome, OutputId, PartBody, SpeakerKind, ToolResult};
use sayso::store::{Blob, Command, OutputState, OutputStream, Run, StoreOutput, StreamKind};
use sayso::{NewTurn, SpeakerRef};
use sayso_output::envelope::{Delivery as Word, Purpose, Received, decide};

use crate::error::Error;
use crate::event::To;
use crate::flaw::Point;
use crate::relay::{Relay, Senders, step};
use crate::whose::Whose;

impl Relay {
    /// A tool answered. What it has for the person is a direct delivery, in the same batch as the turn with its result.
    pub(crate) fn tool_result(
        &mut self,
        senders: &Senders,
        whose: Whose,
        (call, tool, outcome): (&str, &str, Outcome),
        received: &Received,
        output: Option<OutputId>,
    ) -> Result<(), Error> {
        let (session, at) = (self.session, self.now());
        let (request, doubt) = match whose {
            Whose::Nobody => (None, None),
            Whose::Of(request) => (Some(request), None),
            Whose::Doubt { by, why } => (by, Some(why)),
        };
        let decision = decide(received, Word::Pending);
        let display = decision.person.zip(purpose(received));
        let key = format!("result {call}");
        let known = self.reader.known(session, &key)?;
        // What is told again was taken in whole the first time.
        let again = doubt.is_some() && known.is_some();
        let request = request.filter(|r| r.inlet.is_some() && !again);
        let result = ToolResult {
            call_id: call.to_owned(),
            tool: tool.to_owned(),
            outcome,
            text: decision.model,
            output,
        };
        let blob = display.as_ref().map(|(text, _)| self.keep(text)).transpose()?;
        let direct = display.as_ref().zip(request.as_ref()).map(|((text, purpose), request)| {
            let key = direct_key(tool, text, *purpose);
            let to = To { request, kind: DeliveryKind::Direct, key, doubt: doubt.as_deref() };
            (to, self.split(senders, request, text))
        });
        let fresh = self.reader.ledger().fresh_output();
        let attachment = display.as_ref().map(|(_, purpose)| {
            PartBody::Attachment(Attachment {
                media_type: "text/plain".to_owned(),
                name: format!("{purpose}, for the person"),
                output: Some(fresh),
            })
        });
        let parts = std::iter::once(PartBody::ToolResult(result)).chain(attachment);
        let turn = NewTurn {
            speaker: SpeakerRef::new(SpeakerKind::Tool, tool),
            said_at: None,
            reply_to: None,
            parts: parts.map(|body| (None, body)).collect(),
            key: Some(key),
            repairs: 0,
        };
        self.write(|plan| {
            let id = match &known {
                Some(known) => known.id,
                None => {
                    if let Some(blob) = blob {
                        plan.push(stored(fresh, session, tool, blob));
                    }
                    plan.append(session, turn.clone())?
                }
            };
            if let Some((to, parts)) = &direct {
                plan.push(step(at, to.intend(id, parts.clone())));
            }
            Ok(())
        })?;
        Ok(())
    }

    fn keep(&mut self, text: &str) -> Result<Blob, Error> {
        self.flaws.at(Point::BeforeKeep);
        let blob = self.reader.ledger().put_blob(&mut text.as_bytes())?;
        self.flaws.at(Point::AfterKeep);
        Ok(blob)
    }
}

fn purpose(received: &Received) -> Option<Purpose> {
    match received {
        Received::Whole(envelope) => envelope.purpose(),
        Received::Truncated(_) => None,
    }
}

/// The same words of the same tool are the same message, also where the agent calls the tool again.
fn direct_key(tool: &str, text: &str, purpose: Purpose) -> String {
    let form = Form::new("sayso.direct.v1").field(1, tool.as_bytes()).field(2, text.as_bytes());
    format!("{purpose} {}", form.hash())
}

/// What the model is told once a direct delivery of this key was confirmed.
pub(crate) fn directive(key: &str) -> Option<&'static str> {
    let (purpose, _) = key.split_once(' ')?;
    Purpose::parse(purpose).map(Purpose::directive)
}

fn stored(id: OutputId, session: sayso::model::SessionId, tool: &str, blob: Blob) -> Command {
    Command::StoreOutput(StoreOutput {
        id,
        session,
        tool: tool.to_owned(),
        state: OutputState::Complete,
        exit: None,
        streams: vec![OutputStream::new(StreamKind::Stdout, blob)],
        run: Run::default(),
    })
}
