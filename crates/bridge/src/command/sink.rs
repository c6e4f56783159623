//! Answers through a program.

use std::time::Duration;

use sayso_relay::port::{Ability, Outgoing, Probed, Receipt, Sender, Sent};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Program;
use super::program::Ran;
use crate::split::{Unit, split};

/// Sends through a program, see [the module](super).
#[derive(Debug, Clone)]
pub struct CommandSender {
    program: Program,
    ability: Ability,
    /// Unicode scalar values of a part at most; `None` is without a bound.
    most: Option<usize>,
}

#[derive(Deserialize)]
#[serde(tag = "status", rename_all = "snake_case")]
enum Status {
    Delivered {
        receipt: Value,
    },
    Permanent {
        #[serde(default)]
        why: String,
    },
    Temporary {
        #[serde(default)]
        why: String,
        retry_after_ms: Option<u64>,
    },
    NotSent,
    Unknown {
        #[serde(default)]
        why: String,
    },
}

impl CommandSender {
    /// A sender through `program`, which can do so with what may have arrived; a part has at most so many characters.
    #[must_use]
    pub fn new(program: Program, ability: Ability, most: Option<usize>) -> Self {
        Self { program, ability, most }
    }

    fn ask(&self, action: &str, what: &Outgoing) -> Result<Status, Failed> {
        let ran = self.program.run(&question(action, what), Duration::ZERO);
        answer(ran.map_err(|error| Failed::NotRun(error.to_string()))?)
    }
}

/// There is no answer.
enum Failed {
    /// The program was not started.
    NotRun(String),
    /// It was, and nobody knows what it did.
    NoAnswer(String),
}

impl Sender for CommandSender {
    fn ability(&self) -> Ability {
        self.ability
    }

    fn split(&self, text: &str) -> Vec<String> {
        self.most.map_or_else(|| vec![text.to_owned()], |most| split(text, most, Unit::Scalar))
    }

    fn send(&mut self, what: &Outgoing) -> Sent {
        match self.ask("send", what) {
            Ok(Status::Delivered { receipt }) => Sent::Delivered(receipt_of(&receipt)),
            Ok(Status::Permanent { why }) => Sent::Permanent { why },
            Ok(Status::Temporary { why, retry_after_ms }) => Sent::Temporary { why, retry_after_ms },
            Ok(Status::NotSent) => {
                Sent::Temporary { why: "it was not sent".to_owned(), retry_after_ms: None }
            }
            Ok(Status::Unknown { why }) | Err(Failed::NoAnswer(why)) => Sent::Unknown { why },
            Err(Failed::NotRun(why)) => Sent::Temporary { why, retry_after_ms: None },
        }
    }

    fn probe(&mut self, what: &Outgoing) -> Probed {
        match self.ask("probe", what) {
            Ok(Status::Delivered { receipt }) => Probed::Delivered(receipt_of(&receipt)),
            Ok(Status::NotSent) => Probed::NotSent,
            Ok(Status::Permanent { why } | Status::Temporary { why, .. } | Status::Unknown { why }) => {
                Probed::CannotTell { why }
            }
            Err(Failed::NotRun(why) | Failed::NoAnswer(why)) => Probed::CannotTell { why },
        }
    }
}

/// A receipt says something; one that is empty says at least that there is none.
fn receipt_of(receipt: &Value) -> Receipt {
    match receipt.as_str() {
        Some("") => Receipt("\"\"".to_owned()),
        Some(text) => Receipt(text.to_owned()),
        None => Receipt(receipt.to_string()),
    }
}

fn question(action: &str, what: &Outgoing) -> Value {
    let destination = serde_json::from_str(&what.destination);
    let destination = destination.unwrap_or_else(|_| Value::String(what.destination.clone()));
    json!({
        "version": 1, "action": action, "delivery": what.delivery.to_string(), "key": what.key,
        "part": what.part, "parts": what.parts, "channel": what.channel, "destination": destination,
        "reply_to": what.reply_to, "text": what.text, "repeat_mark": what.repeat_mark,
    })
}

/// The answer is what counts: a program that gave one and then failed has said what became of the message.
fn answer(ran: Ran) -> Result<Status, Failed> {
    let none = || ran.trouble.clone().unwrap_or_else(|| "the program gave no answer".to_owned());
    let [line] = ran.lines.as_slice() else {
        let several = format!("the program said {} lines instead of one", ran.lines.len());
        return Err(Failed::NoAnswer(if ran.lines.is_empty() { none() } else { several }));
    };
    serde_json::from_str(line).map_err(|_| {
        Failed::NoAnswer("what the program said is no answer: see the form it has to have".to_owned())
    })
}
