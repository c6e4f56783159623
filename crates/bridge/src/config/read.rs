//! Reading a config.

use std::path::Path;

use serde::de::DeserializeOwned;

use super::error::Near;
use super::{AgentConfig, Config, ConfigError, SinkConfig, SourceConfig};

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
        let tables: toml::Table = toml::from_str(text).map_err(|error| form(path, error.to_string()))?;
        known(path, "", &tables)?;
        let tables = Tables { path, tables: &tables };
        let (source, kind) = tables.kind("source")?;
        let source = match kind {
            "telegram" => SourceConfig::Telegram(tables.part("source", source)?),
            "command" => SourceConfig::Command(tables.part("source", source)?),
            other => return Err(tables.no_kind("source", other, &["telegram", "command"])),
        };
        let sink = tables.tables.contains_key("sink").then(|| tables.sink()).transpose()?;
        let (agent, kind) = tables.kind("agent")?;
        let agent = match kind {
            "pi" => AgentConfig::Pi(tables.part("agent", agent)?),
            "lines" => AgentConfig::Lines(tables.part("agent", agent)?),
            other => return Err(tables.no_kind("agent", other, &["pi", "lines"])),
        };
        let session = tables.part("session", tables.table("session")?)?;
        Self { session, source, sink, agent }.checked(path)
    }
}

struct Tables<'a> {
    path: &'a Path,
    tables: &'a toml::Table,
}

impl<'a> Tables<'a> {
    fn table(&self, name: &str) -> Result<&'a toml::Table, ConfigError> {
        let table = self.tables.get(name);
        table
            .and_then(toml::Value::as_table)
            .ok_or_else(|| form(self.path, format!("there is no table [{name}]")))
    }

    /// A table with its kind.
    fn kind(&self, name: &str) -> Result<(&'a toml::Table, &'a str), ConfigError> {
        let table = self.table(name)?;
        let kind = table.get("kind").and_then(toml::Value::as_str);
        let missing = || form(self.path, format!("[{name}] has no kind, as in kind = \"…\""));
        Ok((table, kind.ok_or_else(missing)?))
    }

    fn no_kind(&self, name: &str, kind: &str, all: &'static [&'static str]) -> ConfigError {
        form(self.path, format!("there is no kind {kind:?} of [{name}]: {}", Near::of(kind, all)))
    }

    fn part<T: DeserializeOwned>(&self, name: &str, table: &toml::Table) -> Result<T, ConfigError> {
        known(self.path, name, table)?;
        table.clone().try_into().map_err(|error| form(self.path, format!("[{name}]: {error}")))
    }

    fn sink(&self) -> Result<SinkConfig, ConfigError> {
        match self.kind("sink")? {
            (sink, "command") => Ok(SinkConfig::Command(self.part("sink", sink)?)),
            (_, other) => Err(self.no_kind("sink", other, &["command"])),
        }
    }
}

fn form(path: &Path, what: String) -> ConfigError {
    ConfigError::Form { path: path.to_owned(), what: what.trim_end().to_owned() }
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
