//! The config of a bridge: a TOML file.

mod error;
mod read;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sayso_relay::port::{Ability, Blind};
use serde::Deserialize;

pub use error::{ConfigError, Near, TokenFault};

use crate::telegram::{BASE_URL, Token};

/// A config, explained.
pub const EXAMPLE: &str = include_str!("../../docs/bridge.toml");

/// A bridge: where messages come from, which session they go into, which agent answers, and how answers leave.
#[derive(Debug, Clone)]
pub struct Config {
    /// The session that holds the conversation.
    pub session: SessionConfig,
    /// Where messages come from.
    pub source: SourceConfig,
    /// How answers leave; of a Telegram source: by the same bot.
    pub sink: Option<SinkConfig>,
    /// The agent.
    pub agent: AgentConfig,
}

/// A session, made on first use.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct SessionConfig {
    /// The project's name.
    pub project: String,
    /// The session's title.
    pub title: String,
}

/// Where messages come from.
#[derive(Debug, Clone)]
pub enum SourceConfig {
    /// A bot of Telegram.
    Telegram(TelegramConfig),
    /// A program, see [`crate::command`].
    Command(CommandSourceConfig),
}

/// A bot of Telegram.
#[derive(Debug, Clone, Deserialize)]
pub struct TelegramConfig {
    /// The variable that holds the token.
    pub token_env: Option<String>,
    /// The file that holds the token.
    pub token_file: Option<PathBuf>,
    /// The server.
    #[serde(default = "base_url")]
    pub base_url: String,
    /// Users whose words are instructions.
    #[serde(default)]
    pub owners: BTreeSet<i64>,
    /// Other users who may speak.
    #[serde(default)]
    pub people: BTreeSet<i64>,
    /// Chats in which everybody may speak.
    #[serde(default)]
    pub chats: BTreeSet<i64>,
    /// What becomes of an answer that may have arrived.
    #[serde(default)]
    pub unknown: Unknown,
    /// Seconds to wait for a connection.
    #[serde(default = "connect_seconds")]
    pub connect_seconds: u32,
    /// Seconds to wait for an answer of the server, beside what it was asked to wait.
    #[serde(default = "answer_seconds")]
    pub answer_seconds: u32,
}

/// A program that receives.
#[derive(Debug, Clone, Deserialize)]
pub struct CommandSourceConfig {
    /// The channel's name.
    pub channel: String,
    /// Whose messages they are: two bridges with the same account are one too many.
    pub account: String,
    /// The program and its arguments.
    pub command: Vec<OsStr>,
    /// Where it runs.
    pub folder: Option<PathBuf>,
    /// Seconds that a step may take, beside what it was asked to wait.
    #[serde(default = "answer_seconds")]
    pub timeout_seconds: u32,
}

/// How answers leave.
#[derive(Debug, Clone)]
pub enum SinkConfig {
    /// A program, see [`crate::command`].
    Command(CommandSinkConfig),
}

/// A program that sends.
#[derive(Debug, Clone, Deserialize)]
pub struct CommandSinkConfig {
    /// The program and its arguments.
    pub command: Vec<OsStr>,
    /// Where it runs.
    pub folder: Option<PathBuf>,
    /// Seconds that a step may take.
    #[serde(default = "answer_seconds")]
    pub timeout_seconds: u32,
    /// What can be done about an answer that may have arrived.
    #[serde(default)]
    pub ability: AbilityConfig,
    /// Seconds for which a key is known again; with `ability = "key"`.
    pub key_seconds: Option<u32>,
    /// What becomes of an answer that may have arrived; without a key and a probe.
    #[serde(default)]
    pub unknown: Unknown,
    /// Characters of one part at most; without a bound if absent.
    pub most_characters: Option<usize>,
}

/// What a sink can do about an answer that may have arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AbilityConfig {
    /// Nothing.
    #[default]
    None,
    /// It knows a key again.
    Key,
    /// It can be asked.
    Probe,
}

/// What becomes of an answer that may have arrived, where nobody can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unknown {
    /// It waits for a person's decision.
    #[default]
    Park,
    /// It is sent again, marked as a possible repeat.
    Resend,
}

/// The agent.
#[derive(Debug, Clone)]
pub enum AgentConfig {
    /// pi in RPC mode, see [`crate::session::pi`].
    Pi(PiConfig),
    /// A program that speaks lines, see [`crate::session::lines`].
    Lines(LinesConfig),
}

/// pi.
#[derive(Debug, Clone, Deserialize)]
pub struct PiConfig {
    /// The program and its options, without `--mode`.
    #[serde(default = "pi")]
    pub command: Vec<OsStr>,
    /// Where it runs.
    pub folder: Option<PathBuf>,
    /// The folder of the session's file, for this bridge alone: it goes on there when it is started again.
    pub session_folder: Option<PathBuf>,
}

/// A program that speaks lines.
#[derive(Debug, Clone, Deserialize)]
pub struct LinesConfig {
    /// The agent's name.
    pub name: String,
    /// The program and its arguments.
    pub command: Vec<OsStr>,
    /// Where it runs.
    pub folder: Option<PathBuf>,
}

/// A word of a command line.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(from = "String")]
pub struct OsStr(pub OsString);

impl From<String> for OsStr {
    fn from(word: String) -> Self {
        Self(word.into())
    }
}

fn base_url() -> String {
    BASE_URL.to_owned()
}

const fn connect_seconds() -> u32 {
    10
}

const fn answer_seconds() -> u32 {
    30
}

fn pi() -> Vec<OsStr> {
    vec![OsStr("pi".into())]
}

impl Config {
    fn checked(self, path: &Path) -> Result<Self, ConfigError> {
        match self.fault() {
            None => Ok(self),
            Some(what) => Err(ConfigError::Wrong { path: path.to_owned(), what: what.to_owned() }),
        }
    }

    fn fault(&self) -> Option<&'static str> {
        if self.commands().into_iter().any(<[_]>::is_empty) {
            return Some(
                "a command is empty: give it a program, as in command = [\"program\", \"--option\"]",
            );
        }
        match (&self.source, &self.sink) {
            (SourceConfig::Telegram(bot), None) => bot.fault(),
            (SourceConfig::Telegram(_), Some(_)) => {
                Some("answers to Telegram leave by the bot that received the message: take [sink] out")
            }
            (SourceConfig::Command(_), None) => {
                Some("answers have no way out: add [sink] with kind = \"command\" and a command")
            }
            (SourceConfig::Command(source), Some(SinkConfig::Command(sink))) => match source.channel.as_str()
            {
                "" => Some("the channel has no name: give [source] one, as in channel = \"mail\""),
                _ => sink.fault(),
            },
        }
    }

    fn commands(&self) -> Vec<&[OsStr]> {
        let source = match &self.source {
            SourceConfig::Command(source) => Some(source.command.as_slice()),
            SourceConfig::Telegram(_) => None,
        };
        let sink = self.sink.as_ref().map(|SinkConfig::Command(sink)| sink.command.as_slice());
        let agent = match &self.agent {
            AgentConfig::Pi(pi) => &pi.command,
            AgentConfig::Lines(lines) => &lines.command,
        };
        source.into_iter().chain(sink).chain([agent.as_slice()]).collect()
    }
}

impl TelegramConfig {
    fn fault(&self) -> Option<&'static str> {
        let nobody = self.owners.is_empty() && self.people.is_empty() && self.chats.is_empty();
        let address = self.base_url.starts_with("https://") || self.base_url.starts_with("http://");
        match () {
            () if self.token_env.is_some() == self.token_file.is_some() => {
                Some("name the place of the bot's token in [source]: token_env or token_file, one of them")
            }
            () if nobody => Some(
                "nobody may speak to the agent: name users in owners = [7] (or people, or chats) of [source]; the bridge \
                 says the numbers of those who try",
            ),
            () if !within([self.connect_seconds, self.answer_seconds]) => Some(
                "connect_seconds and answer_seconds are from 1 second up, and 100 together at most: after 120 an answer is taken \
                 to have no one who sends it",
            ),
            () if !address => {
                Some("base_url is not the address of a server: https://api.telegram.org is Telegram's")
            }
            () => None,
        }
    }

    /// The token, from where the config says; `variable` looks one up, as `std::env::var` does.
    ///
    /// # Errors
    ///
    /// [`ConfigError::NoToken`].
    pub fn token(&self, variable: impl Fn(&str) -> Option<String>) -> Result<Token, ConfigError> {
        let (place, text) = match (&self.token_env, &self.token_file) {
            (Some(name), _) => {
                (format!("the variable {}", place(name)), variable(name).ok_or(TokenFault::Missing))
            }
            (None, file) => {
                let file = file.clone().unwrap_or_default();
                let text = std::fs::read_to_string(&file).map_err(TokenFault::from);
                (format!("the file {}", place(&file.to_string_lossy())), text)
            }
        };
        let token = text.and_then(|text| Ok(Token::parse(&text)?));
        token.map_err(|source| ConfigError::NoToken { place, source })
    }
}

/// The place of a token, as it may be shown: somebody may have put the token itself there.
fn place(named: &str) -> &str {
    if Token::parse(named).is_ok() {
        "whose name is itself a token (it is not shown; name a place instead)"
    } else {
        named
    }
}

impl CommandSinkConfig {
    fn fault(&self) -> Option<&'static str> {
        match (self.ability, self.key_seconds) {
            (AbilityConfig::Key, None) => {
                Some("say for how long the sink knows a key again: key_seconds = 86400 in [sink]")
            }
            (AbilityConfig::None | AbilityConfig::Probe, Some(_)) => {
                Some("key_seconds goes with ability = \"key\": set that, or take key_seconds out of [sink]")
            }
            _ if !within([self.timeout_seconds]) => Some(
                "timeout_seconds of [sink] is from 1 to 100: after 120 an answer is taken to have no one who sends it",
            ),
            _ if self.most_characters.is_some_and(|most| most < 2) => {
                Some("most_characters is too small for a text: give [sink] 2 or more")
            }
            _ => None,
        }
    }

    /// The sink's ability.
    #[must_use]
    pub fn ability(&self) -> Ability {
        match self.ability {
            AbilityConfig::None => Ability::Opaque(self.unknown.into()),
            AbilityConfig::Probe => Ability::Probe,
            AbilityConfig::Key => {
                Ability::Key { ttl_ms: u64::from(self.key_seconds.unwrap_or_default()) * 1_000 }
            }
        }
    }
}

impl From<Unknown> for Blind {
    fn from(unknown: Unknown) -> Self {
        match unknown {
            Unknown::Park => Self::Park,
            Unknown::Resend => Self::ResendMarked,
        }
    }
}

/// Whether these waits are some, and together shorter than a delivery is anyone's ([`sayso::model::limits::SENDING_MS`]).
fn within<const N: usize>(seconds: [u32; N]) -> bool {
    seconds.iter().all(|wait| *wait > 0) && seconds.iter().map(|wait| u64::from(*wait)).sum::<u64>() <= 100
}

/// So many seconds.
pub(crate) fn seconds(count: u32) -> Duration {
    Duration::from_secs(count.into())
}
