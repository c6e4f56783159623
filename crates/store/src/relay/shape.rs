//! The shape of the values of a step.

use sayso_model::limits::{DELIVERY_PARTS, KEY_BYTES, RELAY_BYTES, TURN_BYTES};
use sayso_model::relay::{Attempt, DeliveryKind, InjectionEnd, TurnEnd};

use super::{Accept, Intend, RelayCommand};
use crate::check::{bytes, size, turn};
use crate::error::Refusal;

pub(crate) fn check(command: &RelayCommand) -> Result<(), Refusal> {
    match command {
        RelayCommand::Accept(c) => accept(c),
        RelayCommand::MoveCursor { account, cursor, .. } => {
            given("an account", account)?;
            given("a cursor", cursor)
        }
        RelayCommand::EndInjection { end, .. } => match end {
            InjectionEnd::Busy => Ok(()),
            InjectionEnd::Failed { why, .. } | InjectionEnd::Lost { why } | InjectionEnd::Dead { why } => {
                reason(why)
            }
        },
        RelayCommand::EndTurn { end: TurnEnd::Interrupted { why }, .. }
        | RelayCommand::SessionGone { why, .. }
        | RelayCommand::Park { why, .. }
        | RelayCommand::Cancel { why, .. } => reason(why),
        RelayCommand::Intend(c) => intend(c),
        RelayCommand::Attempted { attempt, .. } => match attempt {
            Attempt::Delivered { receipt } => bytes("a receipt", receipt, RELAY_BYTES),
            Attempt::Failed { why } | Attempt::Retry { why, .. } | Attempt::Unknown { why } => reason(why),
        },
        RelayCommand::Resolve { receipt, .. } => bytes("a receipt", receipt, RELAY_BYTES),
        RelayCommand::Suppress { by, .. } => bytes("a delivery's key", by, KEY_BYTES),
        RelayCommand::TakeLease { name, holder, about, .. } => {
            given("a lease's name", name)?;
            given("a lease's holder", holder)?;
            bytes("what a holder says", about, RELAY_BYTES)
        }
        RelayCommand::Enroll { .. }
        | RelayCommand::ClaimInjection { .. }
        | RelayCommand::ExpireInjection { .. }
        | RelayCommand::Started { .. }
        | RelayCommand::EndTurn { end: TurnEnd::Settled, .. }
        | RelayCommand::ClaimDelivery { .. }
        | RelayCommand::ExpireDelivery { .. }
        | RelayCommand::Retry { .. }
        | RelayCommand::Release { .. }
        | RelayCommand::DropLease { .. } => Ok(()),
    }
}

fn given(what: &'static str, value: &str) -> Result<(), Refusal> {
    if value.is_empty() {
        return Err(Refusal::Missing { what });
    }
    bytes(what, value, RELAY_BYTES)
}

fn reason(why: &str) -> Result<(), Refusal> {
    bytes("a reason", why, RELAY_BYTES)
}

fn accept(c: &Accept) -> Result<(), Refusal> {
    turn(&c.turn)?;
    given("an account", &c.inlet.account)?;
    given("an update's id", &c.inlet.update)?;
    given("a channel", &c.inlet.channel)?;
    bytes("a message's id", &c.inlet.message, RELAY_BYTES)?;
    bytes("a destination", &c.inlet.destination, RELAY_BYTES)?;
    c.cursor.as_deref().map_or(Ok(()), |cursor| given("a cursor", cursor))
}

fn intend(c: &Intend) -> Result<(), Refusal> {
    if c.key.is_empty() {
        return Err(Refusal::Missing { what: "a delivery's key" });
    }
    bytes("a delivery's key", &c.key, KEY_BYTES)?;
    size("a message", "parts", c.parts.len(), DELIVERY_PARTS)?;
    if c.parts.is_empty() && c.kind != DeliveryKind::Reply {
        return Err(Refusal::Missing { what: "the message's list of parts" });
    }
    if c.parts.iter().any(|(_, text)| text.is_empty()) {
        return Err(Refusal::Missing { what: "the text of a part" });
    }
    c.doubt.as_deref().map_or(Ok(()), reason)?;
    if c.doubt.is_some() && c.parts.is_empty() {
        return Err(Refusal::Missing { what: "the message's list of parts" });
    }
    size("a message", "bytes", c.parts.iter().map(|(_, text)| text.len()).sum(), TURN_BYTES)
}
