//! Messages by long polling.

use std::time::Duration;

use sayso_relay::port::{Incoming, Source, SourceFail};
use serde_json::json;
use serde_json::value::RawValue;

use super::api::{Refusal, Said};
use super::update::{self, Update};
use super::{Bot, CHANNEL, People};
use crate::http::Lost;

/// Seconds that the server is asked to wait for a message, at most: what is longer is cut off on the way there.
const LONGEST: Duration = Duration::from_secs(50);

/// Is told of an update that is not for the agent: its number, and why.
pub type Note = Box<dyn FnMut(i64, &str) + Send>;

/// The messages of one bot.
pub struct TelegramSource {
    bot: Bot,
    people: People,
    /// The last update of which, and of all before it, nothing is for the agent.
    passed: Option<i64>,
    /// The last update that was told of.
    told: Option<i64>,
    /// The last update beside which updates without a number were told of.
    beside: Option<i64>,
    note: Note,
}

impl TelegramSource {
    /// Messages of those who may speak. `note` is told of every update that is passed over.
    #[must_use]
    pub fn new(bot: Bot, people: People, note: Note) -> Self {
        Self { bot, people, passed: None, told: None, beside: None, note }
    }

    fn ask(&self, after: Option<i64>, wait: Duration) -> Result<Vec<Box<RawValue>>, SourceFail> {
        let wait = wait.min(LONGEST);
        let mut arguments = json!({"timeout": wait.as_secs(), "allowed_updates": ["message"]});
        let offset = after.max(self.passed).and_then(|last| last.checked_add(1));
        if let (Some(offset), Some(fields)) = (offset, arguments.as_object_mut()) {
            fields.insert("offset".to_owned(), offset.into());
        }
        match self.bot.0.call("getUpdates", &arguments, wait) {
            Ok(Said::Done(result)) => serde_json::from_str(result.get())
                .map_err(|_| temporary("the server's answer holds no list of updates".to_owned())),
            Ok(Said::Refused(refusal)) => Err(refused(refusal)),
            Ok(Said::Unclear(why)) => Err(temporary(why)),
            Err(Lost::Unsent(why) | Lost::Unanswered(why)) => Err(temporary(why.to_owned())),
        }
    }

    /// The messages up to the first update that cannot be read; that one is reported when it comes first. One without a number
    /// is confirmed by those after it.
    fn sort(&mut self, updates: &[Box<RawValue>]) -> Result<Vec<Incoming>, SourceFail> {
        let mut messages = Vec::new();
        let numbered: Vec<_> = updates.iter().filter(|update| update::number(update).is_some()).collect();
        if numbered.is_empty() && !updates.is_empty() {
            return Err(temporary("the server's updates have no numbers".to_owned()));
        }
        if let Some(last) = numbered.last().and_then(|update| update::number(update)) {
            self.tell_of_nameless(last, updates.len() - numbered.len());
        }
        for update in numbered {
            match update::read(update, &self.people) {
                Update::Message(message) => messages.push(*message),
                Update::Passed { id, why } => {
                    if self.told.replace(self.told.max(Some(id)).unwrap_or(id)) < Some(id) {
                        (self.note)(id, &why);
                    }
                    if messages.is_empty() {
                        self.passed = self.passed.max(Some(id));
                    }
                }
                Update::Broken { .. } if !messages.is_empty() => break,
                Update::Broken { id, why } => {
                    return Err(SourceFail::Malformed { why, cursor: Some(id.to_string()) });
                }
            }
        }
        Ok(messages)
    }

    /// Nobody can tell such an update from its like, so it is told of by the last one that came with it.
    fn tell_of_nameless(&mut self, last: i64, count: usize) {
        if count > 0 && self.beside < Some(last) {
            self.beside = Some(last);
            (self.note)(last, &format!("{count} that came with it have no number and cannot be read"));
        }
    }
}

impl Source for TelegramSource {
    fn account(&self) -> String {
        format!("{CHANNEL}:{}", self.bot.0.token().bot())
    }

    fn channel(&self) -> String {
        CHANNEL.to_owned()
    }

    fn poll(&mut self, after: Option<&str>, wait: Duration) -> Result<Vec<Incoming>, SourceFail> {
        let after = after.and_then(|cursor| cursor.parse().ok());
        let updates = self.ask(after, wait)?;
        self.sort(&updates)
    }
}

fn temporary(why: String) -> SourceFail {
    SourceFail::Temporary { why, retry_after_ms: None }
}

fn refused(Refusal { code, why, retry_after }: Refusal) -> SourceFail {
    match code {
        401 | 404 => SourceFail::Refused {
            why: format!("the server does not accept the bot's token ({code} {why}): check the token"),
        },
        // Also said while a webhook is set, and then in these words.
        409 => SourceFail::Conflict { why },
        400..=428 | 430..=499 => SourceFail::Refused { why: format!("{code} {why}") },
        _ => SourceFail::Temporary {
            why: format!("{code} {why}"),
            retry_after_ms: retry_after.map(|seconds| seconds.saturating_mul(1_000)),
        },
    }
}
