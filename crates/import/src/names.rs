//! What a file's name tells: programs keep copies, traces and archives beside their transcripts.

use std::path::Path;

/// What a file is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Sort {
    /// A transcript that may still grow.
    Transcript,
    /// A transcript that a program put aside, and why it did.
    Archive(&'static str),
    /// A database with transcripts.
    Database,
    /// Something that stands beside transcripts and adds nothing; why.
    Beside(&'static str),
    /// Anything else.
    Other,
}

/// What stands beside transcripts: how the name ends, or what stands in it.
const BESIDE: &[(Test, &str)] = &[
    (
        Test::Ends(".trajectory.jsonl"),
        "it is OpenClaw's trace of a session, whose words stand in the session itself",
    ),
    (Test::Ends(".trajectory-path.json"), "it tells OpenClaw where the trace of a session is"),
    (Test::Is("sessions.json"), "it is OpenClaw's list of its sessions"),
    (Test::Holds(".checkpoint."), "it is OpenClaw's copy of a session at a checkpoint"),
    (Test::Holds(".jsonl.bak"), "it is a backup copy of a session"),
    (Test::Holds(".bak-"), "it is a backup copy of a session"),
];

/// What stands in the names of archives, and why they were put aside.
const ARCHIVES: &[(&str, &str)] = &[(".jsonl.reset.", "reset"), (".jsonl.deleted.", "deleted")];

/// How the names of databases end.
const DATABASES: &[&str] = &["openclaw-agent.sqlite"];

#[derive(Debug, Clone, Copy)]
enum Test {
    Is(&'static str),
    Ends(&'static str),
    Holds(&'static str),
}

impl Test {
    fn fits(self, name: &str) -> bool {
        match self {
            Self::Is(whole) => name == whole,
            Self::Ends(end) => name.ends_with(end),
            Self::Holds(part) => name.contains(part),
        }
    }
}

/// What a file is; a compressed one is what it was before.
pub(crate) fn sort(path: &Path) -> Sort {
    let name = path.file_name().map(|n| n.to_string_lossy()).unwrap_or_default();
    let name = name.strip_suffix(".zst").unwrap_or(&name);
    let is_json = [".json", ".jsonl"].iter().any(|end| name.ends_with(end)) || name.contains(".jsonl.");
    if let Some((_, why)) = BESIDE.iter().find(|(test, _)| is_json && test.fits(name)) {
        return Sort::Beside(why);
    }
    if let Some((_, why)) = ARCHIVES.iter().find(|(part, _)| name.contains(part)) {
        return Sort::Archive(why);
    }
    match name {
        _ if name.ends_with(".jsonl") => Sort::Transcript,
        _ if DATABASES.iter().any(|end| name.ends_with(end)) => Sort::Database,
        _ => Sort::Other,
    }
}

/// Whether this is where OpenClaw keeps its sessions: they have the form of pi's, so the place tells them apart.
pub(crate) fn is_openclaw(path: &Path) -> bool {
    let folders: Vec<_> =
        path.parent().into_iter().flat_map(Path::components).map(|c| c.as_os_str()).collect();
    let named = [".openclaw", "openclaw", ".clawdbot", ".moltbot"];
    let by_name = folders.iter().any(|folder| named.iter().any(|name| folder == name));
    by_name
        || matches!(folders.as_slice(), [.., agents, _, sessions] if *agents == "agents" && *sessions == "sessions")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_tell_what_files_are() {
        let beside = |name: &str| matches!(sort(Path::new(name)), Sort::Beside(_));
        for name in [
            "a.trajectory.jsonl",
            "a.trajectory-path.json",
            "sessions.json",
            "a.checkpoint.1111.jsonl",
            "a.jsonl.bak-12-1700000000000",
            "a.bak-12-1700000000000.jsonl",
        ] {
            assert!(beside(name), "{name}");
        }
        let cases = [
            ("a.jsonl", Sort::Transcript),
            ("a.jsonl.zst", Sort::Transcript),
            ("a.jsonl.reset.2026-04-13T00-53-49.392Z", Sort::Archive("reset")),
            ("a.jsonl.deleted.123.zst", Sort::Archive("deleted")),
            ("openclaw-agent.sqlite", Sort::Database),
            ("a.checkpoint.md", Sort::Other),
            ("a.jsonl.lock", Sort::Other),
            ("notes.txt", Sort::Other),
        ];
        for (name, wanted) in cases {
            assert_eq!(sort(Path::new(name)), wanted, "{name}");
        }
    }

    #[test]
    fn openclaw_is_told_by_its_place() {
        let cases = [
            ("/home/x/.openclaw/agents/main/sessions/a.jsonl", true),
            ("/backup/agents/main/sessions/a.jsonl", true),
            ("/samples/openclaw/a.jsonl", true),
            ("/home/x/.pi/agent/sessions/--home-x-openclaw--/a.jsonl", false),
            ("/home/x/openclaw.jsonl", false),
        ];
        for (path, wanted) in cases {
            assert_eq!(is_openclaw(Path::new(path)), wanted, "{path}");
        }
    }
}
