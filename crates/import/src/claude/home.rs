//! Which session a file belongs to: its name tells it, since records of several sessions may stand in one file.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::formats::Format;
use crate::records::{Record, Records};
use crate::session::Home;
use crate::source;
use crate::values::named;

/// Records at most in which a session's id and folder are looked for.
const LOOKED_AT: usize = 10_000;
/// Bytes of a file about a sub-agent at most.
const ABOUT_BYTES: u64 = 64 << 10;

/// Where a transcript stands.
#[derive(Debug, Clone)]
pub(crate) struct Place {
    folder: PathBuf,
    /// The file's name without its ending.
    stem: String,
}

impl Place {
    pub(crate) fn of(path: &Path) -> Self {
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        let stem = name.strip_suffix(".zst").unwrap_or(&name);
        let stem = stem.strip_suffix(".jsonl").unwrap_or(stem).to_owned();
        Self { folder: path.parent().unwrap_or(path).to_owned(), stem }
    }

    /// Whether the file is a sub-agent's own.
    pub(super) fn is_agent(&self) -> bool {
        self.stem.starts_with("agent-")
    }

    /// What the file beside a sub-agent's says that it is for.
    pub(super) fn title(&self) -> Option<String> {
        let path = self.folder.join(format!("{}.meta.json", self.stem));
        if !self.is_agent() || !fs::symlink_metadata(&path).is_ok_and(|m| m.is_file()) {
            return None;
        }
        let mut bytes = Vec::new();
        File::open(path).ok()?.take(ABOUT_BYTES).read_to_end(&mut bytes).ok()?;
        let about: Value = serde_json::from_slice(&bytes).ok()?;
        let title = named(&about, "description").or_else(|| named(&about, "agentType"));
        title.map(str::to_owned)
    }

    /// The session that called a sub-agent: by the folder, else by what a record tells.
    pub(super) fn caller(&self, record: &Value) -> Option<String> {
        let told = || named(record, "sessionId").map(str::to_owned);
        self.folder_of_session().or_else(told)
    }

    /// The name of the folder around that of sub-agents.
    fn folder_of_session(&self) -> Option<String> {
        let folder = self.folder.ends_with("subagents").then(|| self.folder.parent()?.file_name()).flatten();
        folder.map(|name| name.to_string_lossy().into_owned())
    }

    /// The file beside the transcript that holds the whole of an output, by the name that the transcript tells.
    pub(super) fn output(&self, named: &str) -> Option<PathBuf> {
        let name = named.rsplit(['/', '\\']).next().filter(|n| !n.is_empty() && *n != "..")?;
        // Beside a session stands a folder of its name; a sub-agent's file stands inside of that.
        let session =
            if self.is_agent() { self.folder.parent()?.to_owned() } else { self.folder.join(&self.stem) };
        let path = session.join("tool-results").join(name);
        fs::symlink_metadata(&path).is_ok_and(|m| m.is_file()).then_some(path)
    }

    /// The transcript of the session that called a sub-agent, in which it may have had another folder.
    fn parent(&self, told: Option<&str>) -> Option<PathBuf> {
        if !self.is_agent() {
            return None;
        }
        let path = match told.filter(|id| is_uuid(id)) {
            _ if self.folder.ends_with("subagents") => self.folder.parent()?.with_extension("jsonl"),
            told => self.folder.join(format!("{}.jsonl", told?)),
        };
        path.is_file().then_some(path)
    }

    /// The session's id: the file's name where the program gave it, else with the id that the first records tell, since
    /// people call many files by one name.
    fn id(&self, told: Option<&str>) -> String {
        match told.map(str::to_owned).or_else(|| self.folder_of_session()) {
            Some(told) if !is_uuid(&self.stem) => format!("{told}/{}", self.stem),
            _ => self.stem.clone(),
        }
    }
}

fn is_uuid(name: &str) -> bool {
    let hex = |part: &str, length| part.len() == length && part.bytes().all(|b| b.is_ascii_hexdigit());
    let parts: Vec<&str> = name.split('-').collect();
    parts.len() == 5 && parts.iter().zip([8, 4, 4, 4, 12]).all(|(part, length)| hex(part, length))
}

/// The home of a file, which is read as far as it takes to know session and folder. A sub-agent may work in a folder of
/// its own; its session belongs to the project of the one that called it.
pub(crate) fn home(path: &Path, first: &Record) -> Option<Home> {
    let mut told = Told::default();
    told.hear(&first.value);
    told.listen(path);
    let place = Place::of(path);
    if let Some(parent) = place.parent(told.session.as_deref()) {
        let mut parents = Told { session: Some(String::new()), folder: None };
        parents.listen(&parent);
        told.folder = parents.folder.or(told.folder);
    }
    let id = place.id(told.session.as_deref());
    (!id.is_empty()).then(|| Home::new(Format::ClaudeCode, &id, told.folder.as_deref()))
}

#[derive(Debug, Default)]
struct Told {
    session: Option<String>,
    folder: Option<String>,
}

impl Told {
    fn hear(&mut self, value: &Value) {
        let keep = |held: &mut Option<String>, key| {
            if held.is_none() {
                *held = named(value, key).map(str::to_owned);
            }
        };
        keep(&mut self.session, "sessionId");
        keep(&mut self.folder, "cwd");
    }

    /// Reads on until all is known.
    fn listen(&mut self, path: &Path) {
        // A pipe cannot be read twice.
        if self.is_all() || !path.is_file() {
            return;
        }
        let Ok(file) = source::buffered(path) else { return };
        for record in Records::new(file).map_while(Result::ok).take(LOOKED_AT) {
            self.hear(&record.value);
            if self.is_all() {
                return;
            }
        }
    }

    const fn is_all(&self) -> bool {
        self.session.is_some() && self.folder.is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_called_by_its_file() {
        let uuid = "11111111-2222-4333-8444-555555555555";
        let cases = [
            (format!("/p/{uuid}.jsonl"), Some("other"), uuid.to_owned()),
            ("/p/full.jsonl".to_owned(), Some("s"), "s/full".to_owned()),
            ("/p/full.jsonl".to_owned(), None, "full".to_owned()),
            ("/p/agent-12ab.jsonl".to_owned(), Some("s"), "s/agent-12ab".to_owned()),
            (format!("/p/{uuid}/subagents/agent-12ab.jsonl"), None, format!("{uuid}/agent-12ab")),
        ];
        for (path, told, wanted) in cases {
            assert_eq!(Place::of(Path::new(&path)).id(told), wanted, "{path}");
        }
    }

    #[test]
    fn an_output_is_looked_for_beside_the_transcript_only() {
        let root = tempfile::tempdir().unwrap();
        let results = root.path().join("s/tool-results");
        fs::create_dir_all(&results).unwrap();
        fs::write(results.join("a.txt"), "whole").unwrap();
        let place = Place::of(&root.path().join("s.jsonl"));
        for named in ["/elsewhere/tool-results/a.txt", "C:\\x\\a.txt", "a.txt"] {
            assert_eq!(place.output(named), Some(results.join("a.txt")), "{named}");
        }
        for named in ["/etc/passwd", "..", "", "a.txt/"] {
            assert_eq!(place.output(named), None, "{named}");
        }
        let agent = Place::of(&root.path().join("s/subagents/agent-1.jsonl"));
        assert_eq!(agent.output("a.txt"), Some(results.join("a.txt")));
    }
}
