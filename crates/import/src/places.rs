//! Where agent programs keep their transcripts.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

/// A folder in which a program keeps transcripts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The program.
    pub program: &'static str,
    /// The folder.
    pub path: PathBuf,
}

/// The folders below a home folder in which Claude Code, Codex, OpenClaw and pi keep transcripts, as far as they are there.
/// `variable` gives the environment's variables: `CODEX_HOME` and `CLAUDE_CONFIG_DIR` name other places.
///
/// ```
/// let home = tempfile::tempdir()?;
/// std::fs::create_dir_all(home.path().join(".codex/sessions"))?;
/// let places = sayso_import::places(home.path(), &|_| None);
/// assert_eq!(places[0].path, home.path().join(".codex/sessions"));
/// # Ok::<(), std::io::Error>(())
/// ```
#[must_use]
pub fn places(home: &Path, variable: &dyn Fn(&str) -> Option<OsString>) -> Vec<Place> {
    let named = |name: &str, below: &str| match variable(name).filter(|value| !value.is_empty()) {
        Some(value) => PathBuf::from(value),
        None => home.join(below),
    };
    let codex = named("CODEX_HOME", ".codex");
    let mut found = vec![
        Place { program: "Claude Code", path: named("CLAUDE_CONFIG_DIR", ".claude").join("projects") },
        Place { program: "Codex", path: codex.join("sessions") },
        Place { program: "Codex", path: codex.join("archived_sessions") },
        Place { program: "pi", path: home.join(".pi/agent/sessions") },
    ];
    for agent in folders(&home.join(".openclaw/agents")) {
        // Sessions as files, and the database that newer versions keep them in.
        for folder in ["agent", "sessions"] {
            found.push(Place { program: "OpenClaw", path: agent.join(folder) });
        }
    }
    found.retain(|place| place.path.is_dir());
    found
}

/// The folders in a folder, sorted; none where it is not there.
fn folders(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let mut folders: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect();
    folders.sort();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_there_is_named() {
        let home = tempfile::tempdir().unwrap();
        let at = |name: &str| home.path().join(name);
        let folders = [
            ".claude/projects",
            ".codex/archived_sessions",
            ".openclaw/agents/main/sessions",
            ".openclaw/agents/work/agent",
            ".pi/agent/sessions",
            "elsewhere/projects",
        ];
        for folder in folders {
            fs::create_dir_all(at(folder)).unwrap();
        }
        let found = |variable: &dyn Fn(&str) -> Option<OsString>| {
            places(home.path(), variable).into_iter().map(|place| place.path).collect::<Vec<_>>()
        };
        let wanted = [
            ".claude/projects",
            ".codex/archived_sessions",
            ".pi/agent/sessions",
            ".openclaw/agents/main/sessions",
            ".openclaw/agents/work/agent",
        ];
        assert_eq!(found(&|_| None), wanted.map(at));
        let moved = |name: &str| match name {
            "CLAUDE_CONFIG_DIR" => Some(at("elsewhere").into_os_string()),
            "CODEX_HOME" => Some(at("gone").into_os_string()),
            _ => None,
        };
        assert_eq!(found(&moved)[..2], ["elsewhere/projects", ".pi/agent/sessions"].map(at));
        assert_eq!(places(&at("nowhere"), &|_| Some(OsString::new())), []);
    }
}
