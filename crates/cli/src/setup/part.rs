//! What is set up for each program: which files, and which entries in them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::command;
use super::json::{Entry, Hooks};
use super::kept::Was;
use super::toml::Server;
use crate::args::{Global, Setup};
use crate::fail::Failure;
use crate::hook::program::Program;

/// Seconds after which a program gives a hook up; the hooks give up earlier themselves.
const TIMEOUT: u64 = 10;
/// Tokens of 4 bytes that a hook of Codex may add; without it Codex cuts the middle out of what has more than 10,000 bytes.
const CODEX_TOKENS: u64 = 20_000;
/// The extension of pi.
const EXTENSION: &str = include_str!("../../pi/sayso.ts");
/// What stands in the extension for the command.
const PLACE: &str = "/* the program and what comes before the event */ []";
/// How every version of the extension starts.
const EXTENSION_START: &str = "// Sayso for pi:";

/// The events, each with whether it is told apart by a matcher.
const EVENTS: [(&str, bool); 5] = [
    ("SessionStart", true),
    ("UserPromptSubmit", false),
    ("PostToolUse", true),
    ("PreCompact", true),
    ("Stop", false),
];

/// One file to edit.
pub(super) struct Part {
    /// The folder in which the program keeps its settings.
    pub(super) home: PathBuf,
    pub(super) file: PathBuf,
    pub(super) edit: Edit,
}

/// How a file is edited.
pub(super) enum Edit {
    Hooks(Hooks),
    Server(Server),
    /// The file is Sayso's alone.
    Whole(String),
}

/// Why a file is left as it is, and what to do about it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Why(pub(super) String);

impl Why {
    pub(super) fn at(self, file: &str) -> Failure {
        Failure::request(format!("{file} was left as it is: {}", self.0))
    }
}

impl Edit {
    /// The text with Sayso's entries in it.
    pub(super) fn add(&self, text: Option<&str>, was: Option<&Was>) -> Result<String, Why> {
        match self {
            Self::Hooks(hooks) => hooks.add(text.unwrap_or_default()),
            Self::Server(server) => server.add(text.unwrap_or_default()),
            Self::Whole(whole) => match text {
                Some(text) if !is_ours(text, was) && text != whole => Err(foreign()),
                Some(text) if text.contains("\r\n") => Ok(whole.replace('\n', "\r\n")),
                _ => Ok(whole.clone()),
            },
        }
    }

    /// The text without Sayso's entries; `None` where nothing is left of a file that Sayso made.
    pub(super) fn remove(&self, text: &str, was: Option<&Was>) -> Result<Option<String>, Why> {
        let before = was.and_then(|was| was.before.as_deref());
        let left = match self {
            Self::Hooks(hooks) => hooks.remove(text, before)?,
            Self::Server(server) => server.remove(text)?,
            Self::Whole(whole) if is_ours(text, was) || text == whole => return Ok(None),
            Self::Whole(_) => return Err(foreign()),
        };
        let made_here = was.is_some_and(|was| was.before.is_none());
        let empty = matches!(left.trim(), "" | "{}");
        Ok((!made_here || !empty).then_some(left))
    }
}

fn is_ours(text: &str, was: Option<&Was>) -> bool {
    was.is_some_and(|was| was.after == text)
        || text.starts_with(EXTENSION_START) && text.lines().count() == EXTENSION.lines().count()
}

fn foreign() -> Why {
    Why("it is not the extension that Sayso installs, or was changed since: move it elsewhere, and run this again".to_owned())
}

pub(super) fn parts(args: &Setup, global: &Global) -> Result<Vec<Part>, Failure> {
    let words = command::words(global)?;
    let program = args.program;
    if args.mcp && program != Program::Codex {
        return Err(Failure::request(
            "--mcp is for codex: elsewhere add the command `sayso mcp` as the program's own documentation says",
        ));
    }
    if !global.scope.is_empty() && !args.mcp {
        return Err(Failure::request(
            "--scope is what the server shows, and hooks keep the session that they are called in: add --mcp, or leave --scope out",
        ));
    }
    match program {
        Program::Codex => codex(args, global, &words),
        Program::ClaudeCode => {
            let home = folder("CLAUDE_CONFIG_DIR", ".claude")?;
            Ok(vec![Part {
                file: home.join("settings.json"),
                home,
                edit: Edit::Hooks(hooks(program, &words)),
            }])
        }
        Program::Pi => {
            let home = folder("PI_CODING_AGENT_DIR", ".pi/agent")?;
            let edit = Edit::Whole(extension(&words));
            Ok(vec![Part { file: home.join("extensions/sayso.ts"), home, edit }])
        }
    }
}

fn codex(args: &Setup, global: &Global, words: &[String]) -> Result<Vec<Part>, Failure> {
    let home = folder("CODEX_HOME", ".codex")?;
    let config = home.join("config.toml");
    let hooks = Edit::Hooks(hooks(args.program, words));
    let mut parts = vec![Part { home: home.clone(), file: home.join("hooks.json"), edit: hooks }];
    if args.mcp || args.remove {
        parts.push(Part { home, file: config, edit: Edit::Server(server(global, words)) });
    }
    Ok(parts)
}

fn server(global: &Global, words: &[String]) -> Server {
    let (program, before) =
        words.split_first().map_or_else(Default::default, |(first, rest)| (first.clone(), rest.to_vec()));
    let scope = global.scope.iter().flat_map(|project| ["--scope".to_owned(), project.clone()]);
    Server { command: program, args: before.into_iter().chain(["mcp".to_owned()]).chain(scope).collect() }
}

fn hooks(program: Program, words: &[String]) -> Hooks {
    let entry = |(event, matched): (&'static str, bool)| {
        let mut hook = json!({
            "type": "command",
            "command": command::line(words, &["hook", program.word(), event]),
            "timeout": TIMEOUT,
        });
        let adds = matches!(event, "SessionStart" | "UserPromptSubmit");
        if let (Program::Codex, true, Some(hook)) = (program, adds, hook.as_object_mut()) {
            hook.insert("additionalContextLimit".to_owned(), CODEX_TOKENS.into());
        }
        let matcher = (matched || program == Program::Codex).then_some("");
        Entry { event, matcher, hook }
    };
    let start =
        words.first().map_or_else(String::new, |sayso| command::line(std::slice::from_ref(sayso), &[]) + " ");
    Hooks { program: program.word(), start, entries: EVENTS.into_iter().map(entry).collect() }
}

fn extension(words: &[String]) -> String {
    let all: Vec<&str> = words.iter().map(String::as_str).chain(["hook", Program::Pi.word()]).collect();
    EXTENSION.replace(PLACE, &Value::from(all).to_string())
}

/// The folder that a variable names, else one in the home folder.
fn folder(variable: &str, below: &str) -> Result<PathBuf, Failure> {
    let told: Option<OsString> = std::env::var_os(variable).filter(|told| !told.is_empty());
    if let Some(told) = told {
        return Ok(PathBuf::from(told));
    }
    let folders = directories::BaseDirs::new();
    let home = folders.as_ref().map(directories::BaseDirs::home_dir);
    let home: &Path =
        home.ok_or_else(|| Failure::request(format!("there is no home folder: set {variable}")))?;
    Ok(home.join(below))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_has_a_place_for_the_command() {
        let text = extension(&["/opt/my \"tools\"/sayso".to_owned()]);
        assert!(EXTENSION.starts_with(EXTENSION_START) && EXTENSION.matches(PLACE).count() == 1);
        assert!(text.contains(r#"= ["/opt/my \"tools\"/sayso","hook","pi"];"#), "{text}");
    }
}
