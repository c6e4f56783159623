//! What comes from Telegram, as messages.

use std::collections::BTreeSet;

use sayso_relay::port::{Incoming, SaidAt, SpeakerKind};
use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

use crate::json;

/// Who may speak to the agent. Everybody can write to a bot, so nobody may unless they are named.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct People {
    /// Users whose words are instructions.
    pub owners: BTreeSet<i64>,
    /// Other users who may speak.
    pub people: BTreeSet<i64>,
    /// Chats in which everybody may speak.
    pub chats: BTreeSet<i64>,
}

impl People {
    fn kind(&self, user: i64, chat: i64) -> Option<SpeakerKind> {
        match () {
            () if self.owners.contains(&user) => Some(SpeakerKind::Owner),
            () if self.people.contains(&user) || self.chats.contains(&chat) => Some(SpeakerKind::Person),
            () => None,
        }
    }
}

/// One update.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Update {
    /// A message for the agent.
    Message(Box<Incoming>),
    /// Nothing for the agent, and why.
    Passed { id: i64, why: String },
    /// It cannot be understood.
    Broken { id: i64, why: String },
}

#[derive(Deserialize)]
struct Number {
    update_id: i64,
}

#[derive(Deserialize)]
struct Whole {
    message: Option<Message>,
}

#[derive(Deserialize)]
struct Message {
    message_id: i64,
    message_thread_id: Option<i64>,
    #[serde(default)]
    is_topic_message: bool,
    date: i64,
    from: Option<User>,
    chat: Chat,
    text: Option<String>,
    caption: Option<String>,
}

#[derive(Deserialize)]
struct User {
    id: i64,
    #[serde(default)]
    is_bot: bool,
    #[serde(default)]
    first_name: String,
    last_name: Option<String>,
}

#[derive(Deserialize)]
struct Chat {
    id: i64,
}

/// The number of an update.
pub(super) fn number(raw: &RawValue) -> Option<i64> {
    serde_json::from_str::<Number>(raw.get()).ok().map(|number| number.update_id)
}

/// Reads one update.
pub(super) fn read(raw: &RawValue, people: &People) -> Update {
    let Some(id) = number(raw) else {
        return Update::Passed { id: 0, why: "it has no number".to_owned() };
    };
    match json::read::<Whole>(raw.get()) {
        Ok((Whole { message: Some(message) }, repairs)) => message.read(id, repairs, people),
        Ok((Whole { message: None }, _)) => Update::Passed { id, why: "it is no new message".to_owned() },
        // The position of the fault, and none of the words.
        Err(error) => {
            let (line, column) = (error.line(), error.column());
            let why = format!("update {id} has not the form of a message (line {line}, column {column})");
            Update::Broken { id, why }
        }
    }
}

impl Message {
    fn read(self, id: i64, repairs: u32, people: &People) -> Update {
        let passed = |why: String| Update::Passed { id, why };
        let Some(user) = &self.from else { return passed("it has no sender".to_owned()) };
        if user.is_bot {
            return passed(format!("user {} is a bot", user.id));
        }
        let Some(kind) = people.kind(user.id, self.chat.id) else {
            return passed(format!(
                "user {} in chat {} may not speak here: name one of them in the config (owners, people, chats)",
                user.id, self.chat.id
            ));
        };
        let Some(text) = self.text.as_ref().or(self.caption.as_ref()).filter(|text| !text.is_empty()) else {
            return passed(format!("message {} has no text, and nothing else is carried", self.message_id));
        };
        Update::Message(Box::new(Incoming {
            update: id.to_string(),
            message: self.message_id.to_string(),
            destination: self.destination(),
            speaker_kind: kind,
            speaker_id: user.id.to_string(),
            speaker_name: user.name(),
            said_at: self.date.checked_mul(1_000).and_then(|ms| SaidAt::new(ms, 0)),
            text: text.clone(),
            repairs,
            cursor: Some(id.to_string()),
        }))
    }

    /// The chat, and the topic within it.
    fn destination(&self) -> String {
        match self.message_thread_id.filter(|_| self.is_topic_message) {
            Some(topic) => json!({"chat_id": self.chat.id, "message_thread_id": topic}).to_string(),
            None => json!({"chat_id": self.chat.id}).to_string(),
        }
    }
}

impl User {
    fn name(&self) -> String {
        match &self.last_name {
            Some(last) => format!("{} {last}", self.first_name).trim().to_owned(),
            None => self.first_name.clone(),
        }
    }
}

/// Reads anything as an update, for tests; whether it is a message.
#[cfg(feature = "rehearsal")]
#[doc(hidden)]
#[must_use]
pub fn any_update(json: &str, people: &People) -> bool {
    let raw = RawValue::from_string(json.to_owned());
    raw.is_ok_and(|raw| matches!(read(&raw, people), Update::Message(_)))
}
