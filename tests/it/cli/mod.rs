//! The program as a person or a script uses it: standard output, standard error and the exit code.

mod bad_input;
mod compact;
mod contract;
mod deliveries;
mod everyday;
mod export;
#[cfg(unix)]
mod hand_over;
mod hook;
mod hook_faults;
mod hook_offers;
mod hook_records;
mod hook_returns;
#[cfg(target_os = "linux")]
mod hostile;
mod import;
mod life;
mod next_action;
mod output;
mod reimport;
mod reinject;
#[cfg(unix)]
mod run;
mod salvage;
mod scope;
mod setup;
mod setup_care;
#[cfg(unix)]
mod thresholds;
mod titles;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use regex::Regex;
use serde_json::Value;
use tempfile::TempDir;

/// The program that `cargo test --workspace` built beside this test.
pub(crate) fn program() -> PathBuf {
    let test = std::env::current_exe().expect("a test has a path");
    let folder = test.parent().and_then(Path::parent).expect("target/debug/deps");
    let program = folder.join(format!("sayso{}", std::env::consts::EXE_SUFFIX));
    assert!(program.is_file(), "the program is not built: run `cargo test --workspace`");
    program
}

/// A scratch home with a ledger of its own.
pub(crate) struct Home(TempDir);

/// What a run of the program left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.stdout).into_owned()
    }

    /// Every line as JSON.
    #[track_caller]
    pub(crate) fn lines(&self) -> Vec<Value> {
        assert_eq!(self.code, Some(0), "{}", self.stderr);
        self.text().lines().map(|l| serde_json::from_str(l).expect("a line of JSON")).collect()
    }

    /// The only line as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        let mut lines = self.lines();
        assert_eq!(lines.len(), 1, "{}", self.text());
        lines.remove(0)
    }
}

impl Home {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a scratch folder"))
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn ledger(&self) -> PathBuf {
        self.path("ledger.db")
    }

    /// The program with nothing of the outside in its environment.
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(program());
        command
            .env_clear()
            .env("HOME", self.0.path())
            .env("TMPDIR", self.0.path())
            .env("SAYSO_LEDGER", self.ledger())
            .env("SAYSO_OWNER", "Mira")
            .env("COLUMNS", "80")
            .current_dir(self.0.path());
        command
    }

    pub(crate) fn feed(&self, stdin: &[u8], args: &[&str]) -> Ran {
        run(self.command().args(args), stdin)
    }

    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.feed(b"", args)
    }

    /// Appends a turn and gives its address.
    #[track_caller]
    pub(crate) fn says(&self, at: &str, speaker: &str, text: &str) -> String {
        let (project, session) = at.split_once('/').expect("PROJECT/SESSION");
        let args = ["append", "--project", project, "--session", session, "--speaker", speaker, "--json"];
        address(&self.feed(text.as_bytes(), &args).json())
    }

    /// A snapshot of what a run printed and how it ended, without what changes from run to run.
    #[track_caller]
    pub(crate) fn check(&self, name: &str, args: &[&str], ran: &Ran) {
        let mut page = format!("$ sayso {}\n", args.join(" "));
        writeln!(page, "exit code: {}", ran.code.map_or("none".to_owned(), |c| c.to_string())).unwrap();
        writeln!(page, "── stdout\n{}── stderr\n{}", ran.text(), ran.stderr).unwrap();
        sayso_snapshots::check(name, &self.steady(&page));
    }

    /// Ids by their order of appearance, times, hashes and the scratch folder taken out.
    pub(crate) fn steady(&self, text: &str) -> String {
        let folder = self.0.path().to_string_lossy().into_owned();
        let text = text.replace(&folder, "<HOME>");
        let time =
            Regex::new(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+)?(Z| ?[+-]\d\d:\d\d)?( UTC)?").unwrap();
        let text = time.replace_all(&text, "<TIME>");
        let hash = Regex::new(r"\b[0-9a-f]{64}\b").unwrap();
        let text = hash.replace_all(&text, "<HASH>");
        // Also cut by a character, or in lower case: that is what some tests are about.
        let id = Regex::new(r"(?i)\b0[0-9A-HJKMNP-TV-Z]{24,25}\b").unwrap();
        let mut seen: HashMap<String, usize> = HashMap::new();
        let named = id.replace_all(&text, |found: &regex::Captures<'_>| {
            let next = seen.len() + 1;
            format!("<ID{}>", seen.entry(found[0].to_owned()).or_insert(next))
        });
        named.into_owned()
    }
}

pub(crate) fn address(value: &Value) -> String {
    value["address"].as_str().expect("an address").to_owned()
}

/// Runs a command to its end.
pub(crate) fn run(command: &mut Command, stdin: &[u8]) -> Ran {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    // A program that does not read its input closes it early.
    let _ = child.stdin.take().expect("stdin is piped").write_all(stdin);
    let output = child.wait_with_output().expect("the program ends");
    Ran {
        code: output.status.code(),
        stdout: output.stdout,
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}
