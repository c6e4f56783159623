//! Taking messages in.

use sayso::model::{PartBody, RequestId, SpeakerKind};
use sayso::store::{Accept, AppendTurn, Done, NewPart, RelayCommand, Relayed};
use sayso::{Fate, SpeakerRef};

use sayso::model::relay::Inlet;

use crate::error::Error;
use crate::flaw::Flaw;
use crate::port::Incoming;
use crate::relay::{Relay, step};

/// What became of a message that came in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accepted {
    /// It is a request now.
    New(RequestId),
    /// It had been taken in before.
    Duplicate(RequestId),
}

impl Relay {
    /// Where reading of an account goes on.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn cursor(&self, account: &str) -> Result<Option<String>, Error> {
        Ok(self.reader.cursor(self.session, account)?)
    }

    /// Reading goes on past what cannot be taken in.
    ///
    /// # Errors
    ///
    /// Storage errors.
    pub fn skip(&mut self, account: &str, cursor: String) -> Result<(), Error> {
        let (session, account) = (self.session, account.to_owned());
        self.steps(vec![RelayCommand::MoveCursor { session, account, cursor }]).map(|_| ())
    }

    /// Takes a message in: its turn, its request and the source's cursor in one batch. Its destination is frozen.
    ///
    /// # Errors
    ///
    /// The session is closed or gone, an id or the destination is too long, or storage errors; the cursor has not moved then.
    pub fn accept(&mut self, account: &str, channel: &str, message: &Incoming) -> Result<Accepted, Error> {
        let at = self.now();
        let (session, id) = (self.session, self.reader.ledger().fresh_request());
        let inlet = Inlet {
            account: account.to_owned(),
            update: message.update.clone(),
            message: message.message.clone(),
            channel: channel.to_owned(),
            destination: message.destination.clone(),
        };
        let speaker = speaker(channel, message);
        let (_, done) = self.write(|plan| {
            let turn = AppendTurn {
                id: plan.entry_id(),
                session,
                speaker: plan.speaker(&speaker)?,
                said_at: message.said_at,
                reply_to: None,
                repairs: message.repairs,
                parts: vec![NewPart { by: None, body: PartBody::Text(message.text.clone()) }],
                key: None,
                expected_head: None,
            };
            let (inlet, cursor) = (inlet.clone(), message.cursor.clone());
            plan.push(step(at, RelayCommand::Accept(Box::new(Accept { id, turn, inlet, cursor }))));
            Ok(())
        })?;
        if self.flaws.is(Flaw::GlobalDestination) {
            self.last = Some(message.destination.clone());
        }
        match done.last() {
            Some(Done::Relay(Relayed::Request(Fate::Known, id))) => Ok(Accepted::Duplicate(*id)),
            _ => Ok(Accepted::New(id)),
        }
    }
}

/// Who said it. Names of people are not unique, so the source's own id stands beside one; the owner is the owner.
fn speaker(channel: &str, message: &Incoming) -> SpeakerRef {
    let name = match message.speaker_kind {
        SpeakerKind::Owner => message.speaker_name.clone(),
        _ => format!("{} ({channel} {})", message.speaker_name, message.speaker_id).trim_start().to_owned(),
    };
    SpeakerRef::new(message.speaker_kind, name)
}
