//! Answers as replies.

use std::time::Duration;

use sayso_relay::port::{Ability, Blind, Outgoing, Probed, Receipt, Sender, Sent};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::api::{Refusal, Said};
use super::{Bot, MESSAGE_UNITS};
use crate::http::Lost;
use crate::mark::REPEAT;
use crate::split::{Unit, split};

/// Sends to one bot's chats.
#[derive(Debug)]
pub struct TelegramSender {
    bot: Bot,
    blind: Blind,
}

#[derive(Deserialize)]
struct Message {
    message_id: i64,
}

impl TelegramSender {
    /// A sender that does so with what may have arrived: the Bot API takes no idempotency key, and cannot be asked.
    #[must_use]
    pub fn new(bot: Bot, blind: Blind) -> Self {
        Self { bot, blind }
    }
}

impl Sender for TelegramSender {
    fn ability(&self) -> Ability {
        Ability::Opaque(self.blind)
    }

    fn split(&self, text: &str) -> Vec<String> {
        // Each part may have to say that it is a repeat.
        split(text, MESSAGE_UNITS - Unit::Utf16.of(REPEAT), Unit::Utf16)
    }

    fn send(&mut self, what: &Outgoing) -> Sent {
        let arguments = match arguments(what) {
            Ok(arguments) => arguments,
            Err(why) => return Sent::Permanent { why },
        };
        match self.bot.0.call("sendMessage", &arguments, Duration::ZERO) {
            Ok(Said::Done(result)) => delivered(result.get()),
            Ok(Said::Refused(refusal)) => refused(refusal),
            Ok(Said::Unclear(why)) => Sent::Unknown { why },
            Err(Lost::Unsent(why)) => Sent::Temporary { why: why.to_owned(), retry_after_ms: None },
            Err(Lost::Unanswered(why)) => Sent::Unknown { why: why.to_owned() },
        }
    }

    fn probe(&mut self, _: &Outgoing) -> Probed {
        Probed::CannotTell { why: "the Bot API cannot be asked for a message that it sent".to_owned() }
    }
}

/// The chat as the source gave it, the text, and the message that it answers, should that still be there.
fn arguments(what: &Outgoing) -> Result<Value, String> {
    let destination: Map<String, Value> = serde_json::from_str(&what.destination)
        .map_err(|_| "the destination is none of Telegram's".to_owned())?;
    let mark = if what.repeat_mark { REPEAT } else { "" };
    let mut arguments = Value::Object(destination);
    let fields = arguments.as_object_mut().ok_or_else(String::new)?;
    fields.insert("text".to_owned(), format!("{mark}{}", what.text).into());
    let original = what.reply_to.as_ref().and_then(|id| id.parse::<i64>().ok());
    if let Some(message_id) = original {
        let reply = json!({"message_id": message_id, "allow_sending_without_reply": true});
        fields.insert("reply_parameters".to_owned(), reply);
    }
    Ok(arguments)
}

fn delivered(result: &str) -> Sent {
    match serde_json::from_str::<Message>(result) {
        Ok(message) => Sent::Delivered(Receipt(json!({"message_id": message.message_id}).to_string())),
        Err(_) => Sent::Unknown { why: "the server says that it sent it, and names no message".to_owned() },
    }
}

fn refused(Refusal { code, why, retry_after }: Refusal) -> Sent {
    let retry_after_ms = retry_after.map(|seconds| seconds.saturating_mul(1_000));
    match code {
        401 | 404 => Sent::Temporary {
            why: format!("the server does not accept the bot's token ({code} {why}): check the token"),
            retry_after_ms,
        },
        400 | 402 | 403 | 405..=428 | 430..=499 => Sent::Permanent { why: format!("{code} {why}") },
        _ => Sent::Temporary { why: format!("{code} {why}"), retry_after_ms },
    }
}
