//! Messages through a program.

use std::time::Duration;

use sayso_relay::port::{Incoming, SaidAt, Source, SourceFail, SpeakerKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Program;

/// Receives through a program, see [the module](super).
#[derive(Debug, Clone)]
pub struct CommandSource {
    program: Program,
    channel: String,
    account: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Failed(Failed),
    Message(Message),
}

#[derive(Deserialize)]
struct Failed {
    error: Error,
    #[serde(default)]
    why: String,
    retry_after_ms: Option<u64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Error {
    Temporary,
    Conflict,
    Refused,
}

#[derive(Deserialize)]
struct Message {
    update: String,
    message: Option<String>,
    destination: Value,
    speaker: Speaker,
    said_at: Option<String>,
    text: String,
    cursor: Option<String>,
}

#[derive(Deserialize)]
struct Speaker {
    kind: Kind,
    id: String,
    #[serde(default)]
    name: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Owner,
    Person,
}

impl CommandSource {
    /// The messages of an account on a channel; answers to them leave by the sink of that name.
    #[must_use]
    pub fn new(program: Program, channel: &str, account: &str) -> Self {
        Self { program, channel: channel.to_owned(), account: account.to_owned() }
    }
}

impl Source for CommandSource {
    fn account(&self) -> String {
        format!("{}:{}", self.channel, self.account)
    }

    fn channel(&self) -> String {
        self.channel.clone()
    }

    fn poll(&mut self, after: Option<&str>, wait: Duration) -> Result<Vec<Incoming>, SourceFail> {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        let input = json!({
            "version": 1, "action": "poll", "account": self.account(), "after": after, "wait_ms": wait_ms,
        });
        let ran = self.program.run(&input, wait).map_err(|error| temporary(error.to_string()))?;
        let mut messages = Vec::new();
        for (at, line) in ran.lines.iter().enumerate() {
            match read(line) {
                Ok(Line::Message(message)) => match fault(&message) {
                    None => messages.push(incoming(message)),
                    Some(why) if messages.is_empty() => {
                        let cursor = Some(message.cursor.unwrap_or(message.update)).filter(|c| short(c));
                        return Err(SourceFail::Malformed { why: why.to_owned(), cursor });
                    }
                    Some(_) => break,
                },
                // What stands before it is whole.
                Ok(Line::Failed(failed)) if messages.is_empty() => return Err(failed.into()),
                Err(_) if ran.trouble.is_none() && messages.is_empty() => {
                    return Err(temporary(format!("line {} of what the program said is no message", at + 1)));
                }
                Ok(Line::Failed(_)) | Err(_) => break,
            }
        }
        match ran.trouble {
            Some(trouble) if messages.is_empty() => Err(temporary(trouble)),
            _ => Ok(messages),
        }
    }
}

fn read(line: &str) -> Result<Line, serde_json::Error> {
    serde_json::from_str(line)
}

/// Why the ledger would not take a message.
fn fault(message: &Message) -> Option<&'static str> {
    let ids =
        [&message.update, &message.speaker.id].into_iter().chain(&message.message).chain(&message.cursor);
    match () {
        () if message.text.is_empty() => Some("a message has no text"),
        () if !ids.chain([&message.destination.to_string()]).all(|id| short(id)) => {
            Some("an id, a cursor or a destination of a message is empty or has more than 4,096 bytes")
        }
        () => None,
    }
}

fn short(id: &str) -> bool {
    (1..=sayso::model::limits::RELAY_BYTES).contains(&id.len())
}

fn incoming(message: Message) -> Incoming {
    let Message { update, message, destination, speaker, said_at, text, cursor } = message;
    Incoming {
        message: message.unwrap_or_else(|| update.clone()),
        destination: destination.to_string(),
        speaker_kind: match speaker.kind {
            Kind::Owner => SpeakerKind::Owner,
            Kind::Person => SpeakerKind::Person,
        },
        speaker_id: speaker.id,
        speaker_name: speaker.name,
        said_at: said_at.as_deref().and_then(SaidAt::parse),
        text,
        repairs: 0,
        cursor: Some(cursor.unwrap_or_else(|| update.clone())),
        update,
    }
}

impl From<Failed> for SourceFail {
    fn from(Failed { error, why, retry_after_ms }: Failed) -> Self {
        match error {
            Error::Temporary => Self::Temporary { why, retry_after_ms },
            Error::Conflict => Self::Conflict { why },
            Error::Refused => Self::Refused { why },
        }
    }
}

fn temporary(why: String) -> SourceFail {
    SourceFail::Temporary { why, retry_after_ms: None }
}
