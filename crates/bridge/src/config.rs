//! The config of a bridge: a TOML file.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sayso_relay::port::{Ability, Blind};
use serde::Deserialize;

use crate::telegram::{BASE_URL, NoToken, Token};

/// A bridge: where messages come from, which session they go into, which agent answers, and how answers leave.
#[derive(Debug, Clone, Deserialize)]
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
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
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
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
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
#[derive(Debug, Clone, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
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

/// A config that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file cannot be read.
    #[error("the config {} cannot be read: name a file that is there (an example: crates/bridge/docs/bridge.toml)", .path.display())]
    NotRead {
        /// The file.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
    /// It is no TOML, or a value has another form than it should.
    #[error("the config {} is not as it should be: mend the place that is named\n{what}", .path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What and where.
        what: String,
    },
    /// A key that does not exist.
    #[error("there is no key `{key}` in {table} of the config {}: {near}", .path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The table.
        table: String,
        /// The key.
        key: String,
        /// What it may have been meant to be.
        near: Near,
    },
    /// Two values do not go together, or one is missing.
    #[error("the config {}: {what}", .path.display())]
    Wrong {
        /// The file.
        path: PathBuf,
        /// What, and what to do.
        what: String,
    },
    /// There is no token.
    #[error("the bot's token is not in {place}: put it there, and not into the config")]
    NoToken {
        /// Where it should be.
        place: String,
        /// What is there.
        #[source]
        source: TokenFault,
    },
}

/// Why there is no token.
#[derive(Debug, thiserror::Error)]
pub enum TokenFault {
    /// Nothing is there.
    #[error("there is no such variable")]
    Missing,
    /// The file cannot be read.
    #[error(transparent)]
    File(#[from] io::Error),
    /// It is something else.
    #[error(transparent)]
    Form(#[from] NoToken),
}

/// Keys that a mistyped one may have been meant to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Near {
    near: Vec<&'static str>,
    all: &'static [&'static str],
}

impl std::fmt::Display for Near {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let quoted = |keys: &[&str]| keys.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ");
        match self.near.as_slice() {
            [] => write!(f, "there are {}", quoted(self.all)),
            near => write!(f, "did you mean {}?", quoted(near)),
        }
    }
}

impl Near {
    fn of(key: &str, all: &'static [&'static str]) -> Self {
        let near = all.iter().filter(|known| strsim::damerau_levenshtein(key, known) <= 2).copied().collect();
        Self { near, all }
    }
}

/// The keys of each table; of some, by their kind.
fn keys(table: &str, kind: Option<&str>) -> Option<&'static [&'static str]> {
    Some(match (table, kind) {
        ("", _) => &["session", "source", "sink", "agent"],
        ("session", _) => &["project", "title"],
        ("source", Some("telegram")) => &[
            "kind",
            "token_env",
            "token_file",
            "base_url",
            "owners",
            "people",
            "chats",
            "unknown",
            "connect_seconds",
            "answer_seconds",
        ],
        ("source", Some("command")) => {
            &["kind", "channel", "account", "command", "folder", "timeout_seconds"]
        }
        ("sink", Some("command")) => &[
            "kind",
            "command",
            "folder",
            "timeout_seconds",
            "ability",
            "key_seconds",
            "unknown",
            "most_characters",
        ],
        ("agent", Some("pi")) => &["kind", "command", "folder", "session_folder"],
        ("agent", Some("lines")) => &["kind", "name", "command", "folder"],
        // What is wrong with the kind is said when it is read.
        _ => return None,
    })
}

impl Config {
    /// Reads a config.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        let not_read = |source| ConfigError::NotRead { path: path.to_owned(), source };
        Self::parse(path, &std::fs::read_to_string(path).map_err(not_read)?)
    }

    /// The config that a file holds.
    ///
    /// # Errors
    ///
    /// [`ConfigError`].
    pub fn parse(path: &Path, text: &str) -> Result<Self, ConfigError> {
        let form = |error: toml::de::Error| ConfigError::Form {
            path: path.to_owned(),
            what: error.to_string().trim_end().to_owned(),
        };
        let tables: toml::Table = toml::from_str(text).map_err(form)?;
        known(path, "", &tables)?;
        for (name, table) in &tables {
            if let toml::Value::Table(table) = table {
                known(path, name, table)?;
            }
        }
        let config: Self = toml::from_str(text).map_err(form)?;
        config.checked(path)
    }

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

fn known(path: &Path, name: &str, table: &toml::Table) -> Result<(), ConfigError> {
    let Some(all) = keys(name, table.get("kind").and_then(toml::Value::as_str)) else { return Ok(()) };
    match table.keys().find(|key| !all.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(ConfigError::UnknownKey {
            path: path.to_owned(),
            table: if name.is_empty() { "the top level".to_owned() } else { format!("[{name}]") },
            key: key.clone(),
            near: Near::of(key, all),
        }),
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
            (Some(name), _) => (format!("the variable {name}"), variable(name).ok_or(TokenFault::Missing)),
            (None, file) => {
                let file = file.clone().unwrap_or_default();
                let text = std::fs::read_to_string(&file).map_err(TokenFault::from);
                (format!("the file {}", file.display()), text)
            }
        };
        let token = text.and_then(|text| Ok(Token::parse(&text)?));
        token.map_err(|source| ConfigError::NoToken { place, source })
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

/// So many seconds.
pub(crate) fn seconds(count: u32) -> Duration {
    Duration::from_secs(count.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TELEGRAM: &str = "[session]\nproject = \"harbour\"\ntitle = \"ferries\"\n[source]\nkind = \"telegram\"\n\
                            token_env = \"BOT\"\nowners = [7]\n[agent]\nkind = \"pi\"\n";

    fn said(text: &str) -> String {
        match Config::parse(Path::new("bridge.toml"), text) {
            Ok(config) => format!("{config:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn the_example_in_the_docs_is_one() {
        let example = include_str!("../docs/bridge.toml");
        let config = Config::parse(Path::new("bridge.toml"), example).unwrap();
        assert!(matches!(config.source, SourceConfig::Telegram(_)));
        // What is commented out is one as well.
        let (_, other) = example.split_once("# Another channel:").unwrap();
        let other: String =
            other.lines().skip(1).map(|l| format!("{}\n", l.trim_start_matches(['#', ' ']))).collect();
        let config = Config::parse(Path::new("bridge.toml"), &other).unwrap();
        let Some(SinkConfig::Command(sink)) = config.sink else { panic!("no sink") };
        assert_eq!(sink.ability(), Ability::Key { ttl_ms: 86_400_000 });
    }

    #[test]
    fn unknown_keys_are_refused_with_near_ones() {
        for (mistake, message) in [
            (
                "owner = [7]\n",
                "there is no key `owner` in [source] of the config bridge.toml: did you mean `owners`?",
            ),
            (
                "token = \"4711:secret\"\n",
                "there is no key `token` in [source] of the config bridge.toml: there are `kind`, `token_env`, `token_file`, \
                 `base_url`, `owners`, `people`, `chats`, `unknown`, `connect_seconds`, `answer_seconds`",
            ),
        ] {
            let text = TELEGRAM.replace("owners = [7]\n", &format!("owners = [7]\n{mistake}"));
            assert_eq!(said(&text), message);
        }
        let text = format!("{TELEGRAM}[sauce]\n");
        assert_eq!(
            said(&text),
            "there is no key `sauce` in the top level of the config bridge.toml: did you mean `source`?"
        );
    }

    #[test]
    fn what_is_missing_or_does_not_go_together_is_named() {
        for (from, to, message) in [
            ("owners = [7]\n", "", "nobody may speak to the agent"),
            ("token_env = \"BOT\"\n", "", "token_env or token_file"),
            ("token_env = \"BOT\"\n", "token_env = \"B\"\ntoken_file = \"b\"\n", "token_env or token_file"),
            ("owners = [7]\n", "owners = [7]\nbase_url = \"api.telegram.org\"\n", "base_url is not"),
            ("[agent]\n", "[sink]\nkind = \"command\"\ncommand = [\"a\"]\n[agent]\n", "take [sink] out"),
            ("kind = \"pi\"\n", "kind = \"pi\"\ncommand = []\n", "a command is empty"),
            ("owners = [7]", "owners = [\"7\"]", "invalid type: string \"7\", expected i64"),
            ("kind = \"pi\"", "kind = \"pie\"", "unknown variant `pie`, expected `pi` or `lines`"),
            ("kind = \"telegram\"\n", "", "missing field `kind`"),
            ("[session]\nproject = \"harbour\"\n", "[session]\n", "missing field `project`"),
            ("[session]", "[session", "unclosed table"),
        ] {
            let text = TELEGRAM.replacen(from, to, 1);
            assert!(said(&text).contains(message), "{text}\n{}", said(&text));
        }
    }

    #[test]
    fn a_token_is_taken_from_where_the_config_says() {
        let Config { source: SourceConfig::Telegram(bot), .. } =
            Config::parse(Path::new("bridge.toml"), TELEGRAM).unwrap()
        else {
            panic!("no bot")
        };
        assert_eq!(bot.token(|_| Some("4711:a\n".to_owned())).unwrap().bot(), "4711");
        let missing = bot.token(|_| None).unwrap_err();
        assert_eq!(
            missing.to_string(),
            "the bot's token is not in the variable BOT: put it there, and not into the config"
        );
        let wrong = bot.token(|_| Some("my secret".to_owned())).unwrap_err();
        assert!(!format!("{wrong:?}").contains("my secret"));
    }
}
