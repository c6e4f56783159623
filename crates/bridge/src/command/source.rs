//! Messages through a program.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

use sayso_relay::port::{Incoming, SaidAt, Source, SourceFail, SpeakerKind};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Program;

/// Lines that were told of, and are remembered, at most.
const TOLD: usize = 256;

/// Is told of a line that is no message, and says nothing about where reading goes on: which line, and why.
pub type Note = Box<dyn FnMut(&str) + Send>;

/// Receives through a program, see [the module](super).
pub struct CommandSource {
    program: Program,
    channel: String,
    account: String,
    note: Note,
    /// Length and hash of the lines that were told of, so that each is told of once.
    told: VecDeque<(usize, u64)>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Failed(Failed),
    Message(Message),
}

/// As much of a line that is no message as says where reading goes on behind it.
#[derive(Deserialize)]
struct Place {
    #[serde(default)]
    cursor: Option<String>,
    #[serde(default)]
    update: Option<String>,
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
    /// The messages of an account on a channel; answers to them leave by the sink of that name. `note` is told of every line that
    /// is passed over.
    #[must_use]
    pub fn new(program: Program, channel: &str, account: &str, note: Note) -> Self {
        Self {
            program,
            channel: channel.to_owned(),
            account: account.to_owned(),
            note,
            told: VecDeque::new(),
        }
    }

    /// The messages up to the first that cannot be taken; that one is reported when it comes first. A line that does not even say
    /// where reading goes on is passed over, so that those behind it do not wait for it.
    fn sort(&mut self, lines: &[String], whole: bool) -> Result<Vec<Incoming>, SourceFail> {
        let (mut messages, mut passed) = (Vec::new(), None);
        for (at, line) in lines.iter().enumerate() {
            let why = match read(line) {
                Ok(Line::Message(message)) => match fault(&message) {
                    None => {
                        messages.push(incoming(message));
                        continue;
                    }
                    Some(why) => why.to_owned(),
                },
                // What stands before it is whole.
                Ok(Line::Failed(_)) if !messages.is_empty() => break,
                Ok(Line::Failed(failed)) => return Err(failed.into()),
                // Where the program broke off, its last line may have broken off too.
                Err(_) if !whole && at + 1 == lines.len() => break,
                Err(_) => format!("line {} of what the program said is no message", at + 1),
            };
            match cursor(line) {
                None => {
                    self.tell(line, &why);
                    passed = passed.or(Some(why));
                }
                Some(_) if !messages.is_empty() => break,
                cursor => return Err(SourceFail::Malformed { why, cursor }),
            }
        }
        passed.filter(|_| messages.is_empty()).map_or(Ok(messages), |why| Err(temporary(why)))
    }

    fn tell(&mut self, line: &str, why: &str) {
        let mut hasher = DefaultHasher::new();
        line.hash(&mut hasher);
        let mark = (line.len(), hasher.finish());
        if self.told.contains(&mark) {
            return;
        }
        (self.note)(why);
        self.told.push_back(mark);
        if self.told.len() > TOLD {
            self.told.pop_front();
        }
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
        let messages = self.sort(&ran.lines, ran.trouble.is_none())?;
        match ran.trouble {
            Some(trouble) if messages.is_empty() => Err(temporary(trouble)),
            _ => Ok(messages),
        }
    }
}

/// Where reading goes on behind a line, as far as it says so.
fn cursor(line: &str) -> Option<String> {
    let place: Place = serde_json::from_str(line).ok()?;
    place.cursor.or(place.update).filter(|cursor| short(cursor))
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

/// Reads anything as a line of a source, for tests; whether it is a message that a ledger would take.
#[cfg(feature = "rehearsal")]
#[doc(hidden)]
#[must_use]
pub fn any_line(line: &str) -> bool {
    match read(line) {
        Ok(Line::Message(message)) => fault(&message).is_none() && !incoming(message).text.is_empty(),
        Ok(Line::Failed(failed)) => matches!(failed.into(), SourceFail::Malformed { .. }),
        Err(_) => false,
    }
}
