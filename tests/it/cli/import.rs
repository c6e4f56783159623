//! `sayso import --auto` and `--watch`, over a scratch home.

use std::fs::{self, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use super::Home;

const CLAUDE: &str = ".claude/projects/-work-harbour/11111111-2222-4333-8444-555555555555.jsonl";
const CODEX: &str = ".codex/sessions/2026/03/01/rollout-2026-03-01T10-00-00-c1.jsonl";
const ARCHIVED: &str = ".codex/archived_sessions/rollout-2026-02-01T10-00-00-c2.jsonl";
const PI: &str = ".pi/agent/sessions/--work-harbour--/2026-03-01T10-00-00-000Z_p1.jsonl";
const OPENCLAW: &str = ".openclaw/agents/main/sessions/o1.jsonl";

fn claude(uuid: &str, text: &str) -> String {
    let message = json!({"role": "user", "content": text});
    json!({"type": "user", "uuid": uuid, "sessionId": "s", "cwd": "/work/harbour", "message": message})
        .to_string()
}

fn codex(id: &str, text: &str) -> String {
    let content = json!([{"type": "input_text", "text": text}]);
    let item = json!({"type": "message", "role": "user", "content": content});
    let line = |kind: &str, payload: Value| json!({"type": kind, "payload": payload}).to_string();
    [line("session_meta", json!({"id": id, "cwd": "/work/harbour"})), line("response_item", item)].join("\n")
}

fn pi(id: &str, text: &str) -> String {
    let message = json!({"role": "user", "content": text});
    let message = json!({"type": "message", "id": "a", "parentId": null, "message": message});
    [json!({"type": "session", "id": id, "cwd": "/work/harbour"}), message].map(|v| v.to_string()).join("\n")
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text.to_owned() + "\n").unwrap();
}

/// Every program's files below a folder.
fn fill(home: &Home) {
    write(&home.path(CLAUDE), &claude("a", "from claude"));
    write(&home.path(CODEX), &codex("c1", "from codex"));
    write(&home.path(ARCHIVED), &codex("c2", "put aside"));
    write(&home.path(PI), &pi("p1", "from pi"));
    write(&home.path(OPENCLAW), &pi("o1", "from openclaw"));
    write(&home.path(".openclaw/agents/main/sessions/sessions.json"), "{}");
}

#[test]
fn auto_finds_what_every_program_keeps() {
    let home = Home::new();
    let ran = home.run(&["import", "--auto"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("name the folders"), "{}", ran.stderr);
    fill(&home);
    let done = home.run(&["import", "--auto", "--json"]).json();
    assert_eq!((&done["files"], &done["turns_added"], &done["unknown"]), (&json!(5), &json!(5), &json!(0)));
    assert_eq!(done["passed_over"].as_array().unwrap().len(), 1);
    let again = home.run(&["import", "--auto", "--json"]).json();
    assert_eq!((&again["turns_added"], &again["turns_known"]), (&json!(0), &json!(5)));
    let sessions = home.run(&["sessions", "--json"]).lines();
    assert_eq!(sessions.len(), 5);
}

#[test]
fn auto_goes_where_the_environment_points() {
    let home = Home::new();
    write(&home.path("x/sessions/a.jsonl"), &codex("c3", "elsewhere"));
    write(&home.path("y/projects/p/b.jsonl"), &claude("a", "elsewhere"));
    write(&home.path(CODEX), &codex("c1", "not looked for"));
    let mut command = home.command();
    command.args(["import", "--auto", "--json"]);
    command.env("CODEX_HOME", home.path("x")).env("CLAUDE_CONFIG_DIR", home.path("y"));
    assert_eq!(super::run(&mut command, b"").json()["turns_added"], json!(2));
}

#[test]
fn what_only_repeats_other_files_is_named_with_the_reason() {
    let home = Home::new();
    write(&home.path("a.checkpoint.1.jsonl"), &pi("p1", "hello"));
    let ran = home.run(&["import", "a.checkpoint.1.jsonl"]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.text().contains("passed over a.checkpoint.1.jsonl: it is OpenClaw's copy"), "{}", ran.text());
    assert!(ran.stderr.contains("every file was passed over"), "{}", ran.stderr);
}

/// The program, following what grows.
struct Watching {
    child: Child,
    lines: BufReader<ChildStdout>,
}

impl Watching {
    fn start(home: &Home, args: &[&str]) -> Self {
        let mut command = home.command();
        command.args(["import", "--watch", "--json"]).args(args);
        let mut child =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        Self { child, lines }
    }

    /// The next import; waits for it.
    fn next(&mut self) -> Value {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|e| panic!("{e}: {line:?}"))
    }

    /// Asks it to stop; its exit code, and what it said.
    fn stop(self, signal: &str) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let output = self.child.wait_with_output().unwrap();
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

fn append(path: &Path, text: &str) {
    OpenOptions::new().append(true).open(path).unwrap().write_all(text.as_bytes()).unwrap();
}

#[cfg(unix)]
#[test]
fn a_watch_follows_what_grows_and_stops_when_asked() {
    let home = Home::new();
    fill(&home);
    let mut watching = Watching::start(&home, &["--auto"]);
    let mut first: Vec<Value> = (0..5).map(|_| watching.next()).collect();
    first.sort_by_key(|line| line["file"].to_string());
    assert!(first.iter().all(|line| line["turns_added"] == json!(1)), "{first:?}");
    let path = home.path(CLAUDE);
    // Half a record, then the rest of it.
    let more = claude("b", "and more");
    append(&path, &more[..30]);
    let half = watching.next();
    assert_eq!((&half["turns_added"], &half["pending"]), (&json!(0), &json!(30)));
    append(&path, &(more[30..].to_owned() + "\n"));
    let line = watching.next();
    assert_eq!((&line["turns_added"], &line["turns_known"]), (&json!(1), &json!(1)));
    assert_eq!(line["file"], json!(path));
    // An agent that was not there.
    write(&home.path(".openclaw/agents/other/sessions/o2.jsonl"), &pi("o2", "later"));
    assert_eq!(watching.next()["turns_added"], json!(1));
    assert_eq!(watching.stop("-TERM"), (Some(0), String::new()));
    assert_eq!(home.run(&["import", "--auto", "--json"]).json()["turns_added"], json!(0));
}

#[cfg(unix)]
#[test]
fn a_watch_of_a_folder_goes_on_past_what_it_cannot_read() {
    let home = Home::new();
    write(&home.path("sessions/a.jsonl"), "{\"no\": \"session\"}");
    write(&home.path("sessions/b.jsonl"), &pi("p1", "hello"));
    write(&home.path("sessions/empty.jsonl"), "");
    let mut watching = Watching::start(&home, &["sessions"]);
    assert_eq!(watching.next()["turns_added"], json!(1));
    let (code, said) = watching.stop("-INT");
    assert_eq!((code, said.lines().count()), (Some(0), 1), "{said}");
    assert!(said.contains("a.jsonl"), "{said}");
    let ran = home.run(&["import", "--watch", "nowhere"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("nowhere is not there"), "{}", ran.stderr);
}
