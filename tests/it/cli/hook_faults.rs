//! Hooks while something is wrong: the agent always gets its answer, and the doctor knows.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Home, Ran};

const EVENTS: [&str; 5] = ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"];
const PROGRAMS: [&str; 3] = ["codex", "claude-code", "pi"];

fn input(home: &Home, event: &str) -> String {
    json!({
        "session_id": "01a22eaa-6f1c-7690-a0d1-000000abcdef", "cwd": "/home/mira/lantern", "hook_event_name": event,
        "transcript_path": home.path("rollout.jsonl"), "prompt": "What now?", "source": "compact", "trigger": "auto",
        "tool_name": "Bash", "tool_input": {}, "tool_response": "x",
    })
    .to_string()
}

/// The failures that the doctor names, and takes off the record.
fn failures(home: &Home) -> Vec<Value> {
    let records = home.path(".local/state/sayso/hook-failures.jsonl");
    let doctor = home.run(&["doctor", "--json"]);
    let lines = doctor.text().lines().map(|l| serde_json::from_str(l).unwrap()).collect::<Vec<Value>>();
    let _ = std::fs::remove_file(records);
    lines.into_iter().filter(|line| line.get("event").is_some()).collect()
}

/// A transcript with something to import, and a session with a forward that waits for it.
fn home(program: &str) -> Home {
    let home = Home::new();
    let ran = home.feed(
        input(&home, "SessionStart").replace("compact", "startup").as_bytes(),
        &["hook", program, "SessionStart"],
    );
    assert_eq!(ran.code, Some(0));
    let session = home.run(&["sessions", "--json"]).json();
    let source = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.run(&["forward", &source, "--to", &super::address(&session), "--json"]).json();
    let lines = [
        json!({"type": "session_meta", "payload": {"id": "01a22eaa-6f1c-7690-a0d1-000000abcdef", "cwd": "/home/mira/lantern"}}),
        json!({"type": "response_item", "payload": {"type": "message", "role": "assistant",
               "content": [{"type": "output_text", "text": "words ".repeat(40_000)}]}}),
    ];
    std::fs::write(home.path("rollout.jsonl"), lines.map(|line| line.to_string() + "\n").concat()).unwrap();
    assert_eq!(failures(&home), Vec::<Value>::new());
    home
}

/// Whatever is wrong, this is an answer.
#[track_caller]
fn answered(ran: &Ran, what: &str) {
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{what}");
    assert!(
        ran.stdout.is_empty() || serde_json::from_slice::<Value>(&ran.stdout).is_ok(),
        "{what}: {}",
        ran.text()
    );
}

/// What keeps a ledger from being used, until it is dropped.
fn break_ledger(fault: &str, home: &Home) -> Option<rusqlite::Connection> {
    let connection = rusqlite::Connection::open(home.ledger()).unwrap();
    match fault {
        "locked" => {
            connection.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
            connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
            return Some(connection);
        }
        "future" => connection.pragma_update(None, "user_version", 4_000).unwrap(),
        _ => {}
    }
    drop(connection);
    for end in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", home.ledger().display()));
    }
    match fault {
        "corrupt" => std::fs::write(home.ledger(), "rubbish".repeat(1000)).unwrap(),
        "missing" => {
            std::fs::remove_file(home.ledger()).unwrap();
            std::fs::create_dir(home.ledger()).unwrap();
        }
        _ => {}
    }
    None
}

#[test]
fn a_ledger_that_cannot_be_used_stops_no_event_of_any_program() {
    for fault in ["locked", "future", "corrupt", "missing"] {
        for program in PROGRAMS {
            let home = home(program);
            let held = break_ledger(fault, &home);
            for event in EVENTS {
                let mut command = home.command();
                command.env("SAYSO_HOOK_MS", "600").args(["hook", program, event]);
                let ran = super::run(&mut command, input(&home, event).as_bytes());
                answered(&ran, &format!("{fault} {program} {event}"));
                assert_eq!(ran.text(), "");
            }
            drop(held);
            let failures = failures(&home);
            let events: Vec<&str> = failures.iter().filter_map(|f| f["event"].as_str()).collect();
            assert_eq!(events, EVENTS, "{fault} {program}");
            assert!(
                failures.iter().all(|f| f["program"] == program && !f["reason"].as_str().unwrap().is_empty())
            );
        }
    }
}

/// A hook that may make files of so many blocks of 512 bytes, begun by a shell.
#[cfg(unix)]
fn limited(home: &Home, shell: &str, event: &str) -> Ran {
    let plain = home.command();
    let mut command = Command::new("sh");
    command.args(["-c", &format!("{shell}; exec \"$0\" \"$@\"")]).arg(plain.get_program());
    command.env_clear().envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.args(["hook", "codex", event]);
    super::run(&mut command, input(home, event).as_bytes())
}

#[cfg(unix)]
#[test]
fn a_full_disk_stops_nothing_and_loses_nothing() {
    // So many blocks hold a record of the failure, and no page of the ledger behind them. The signal of the limit ends a
    // process that does not heed it.
    for shell in ["ulimit -f 16; trap '' XFSZ", "ulimit -f 16", "ulimit -f 64"] {
        for event in ["UserPromptSubmit", "PreCompact", "Stop"] {
            let home = home("codex");
            answered(&limited(&home, shell, event), &format!("{shell} {event}"));
            let failures = failures(&home);
            assert!(failures.iter().any(|f| f["event"] == event), "{shell} {event}: {failures:?}");
            for failure in failures {
                let reason = failure["reason"].as_str().unwrap();
                assert!(reason.contains("limit on the size of files"), "{reason}");
                assert!(!reason.contains("no transaction is active"), "{reason}");
            }
            // With room again all of it is done.
            let ran = home.feed(input(&home, event).as_bytes(), &["hook", "codex", event]);
            answered(&ran, event);
            assert_eq!(
                ran.text().contains("The plan stands."),
                event == "UserPromptSubmit",
                "{}",
                ran.text()
            );
            assert_eq!(home.run(&["verify"]).code, Some(0));
        }
    }
}

#[test]
fn an_answer_that_takes_too_long_is_given_up() {
    let home = home("codex");
    for event in EVENTS {
        // Whatever the disk does: there is no time at all.
        let mut command = home.command();
        command.env("SAYSO_HOOK_MS", "0").args(["hook", "codex", event]);
        let ran = super::run(&mut command, input(&home, event).as_bytes());
        answered(&ran, event);
        assert_eq!(ran.text(), "");
    }
    let failures = failures(&home);
    assert_eq!(failures.len(), EVENTS.len());
    assert!(failures.iter().all(|f| f["reason"].as_str().unwrap().contains("took longer than 0 ms")));
}

#[test]
fn an_agent_that_never_ends_its_input_is_answered_all_the_same() {
    let home = home("codex");
    let mut command = home.command();
    command.env("SAYSO_HOOK_MS", "50").args(["hook", "codex", "UserPromptSubmit"]);
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().unwrap();
    let open = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stdout.is_empty() && output.stderr.is_empty());
    drop(open);
    assert_eq!(failures(&home).len(), 1);
}

#[test]
fn a_transcript_that_cannot_be_read_keeps_no_forward_back() {
    let home = home("codex");
    std::fs::write(home.path("rollout.jsonl"), "{\"neither\": \"nor\"}\n").unwrap();
    let ran = home.feed(input(&home, "UserPromptSubmit").as_bytes(), &["hook", "codex", "UserPromptSubmit"]);
    answered(&ran, "unreadable");
    assert!(ran.text().contains("The plan stands."), "{}", ran.text());
    assert_eq!(failures(&home)[0]["event"], "UserPromptSubmit");
}
