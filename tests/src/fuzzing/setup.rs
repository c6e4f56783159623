//! The set-up's editing of settings, compiled here once more: it belongs to the program.
#![allow(dead_code)]

#[path = "../../../crates/cli/src/setup/json.rs"]
mod json;
#[path = "../../../crates/cli/src/setup/toml.rs"]
mod toml;

mod part {
    #[derive(Debug)]
    pub(super) struct Why(pub(super) String);
}

pub(super) struct Hooks(json::Hooks);
pub(super) struct Server(toml::Server);

pub(super) fn hooks() -> Hooks {
    let entry = |event| {
        let command = format!("sayso hook claude-code {event}");
        let hook = serde_json::json!({"type": "command", "command": command, "timeout": 10});
        json::Entry { event, matcher: None, hook }
    };
    Hooks(json::Hooks {
        program: "claude-code",
        start: "sayso ".to_owned(),
        entries: vec![entry("Stop"), entry("SessionStart")],
    })
}

pub(super) fn server() -> Server {
    Server(toml::Server { command: "sayso".to_owned(), args: vec!["mcp".to_owned()] })
}

impl Hooks {
    pub(super) fn add(&self, text: &str) -> Result<String, String> {
        self.0.add(text).map_err(|why| why.0)
    }

    pub(super) fn remove(&self, text: &str, before: Option<&str>) -> Result<String, String> {
        self.0.remove(text, before).map_err(|why| why.0)
    }
}

impl Server {
    pub(super) fn add(&self, text: &str) -> Result<String, String> {
        self.0.add(text).map_err(|why| why.0)
    }

    pub(super) fn remove(&self, text: &str) -> Result<String, String> {
        self.0.remove(text).map_err(|why| why.0)
    }
}
