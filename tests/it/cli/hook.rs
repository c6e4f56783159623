//! Hooks of Codex: what they answer, and that nothing ever stops the agent.

use serde_json::{Value, json};

use super::{Home, Ran, address};

const SESSION: &str = "01a22eaa-6f1c-7690-a0d1-000000abcdef";

fn input(home: &Home, event: &str, transcript: Option<&str>) -> Vec<u8> {
    let mut input = json!({
        "session_id": SESSION, "cwd": "/home/mira/lantern", "hook_event_name": event, "model": "m",
        "permission_mode": "default",
    });
    input["transcript_path"] = transcript.map_or(Value::Null, |t| home.path(t).to_string_lossy().into());
    input.to_string().into_bytes()
}

fn hook(home: &Home, event: &str, transcript: Option<&str>) -> Ran {
    let ran = home.feed(&input(home, event, transcript), &["hook", "codex", event]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{event}");
    ran
}

fn context_of(ran: &Ran) -> Option<String> {
    let answer: Value = serde_json::from_slice(&ran.stdout).ok()?;
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "UserPromptSubmit");
    answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
}

fn failures(home: &Home) -> Vec<Value> {
    let doctor = home.run(&["doctor", "--json"]);
    let lines = doctor.text().lines().map(|l| serde_json::from_str(l).unwrap()).collect::<Vec<Value>>();
    let failures: Vec<Value> = lines.into_iter().filter(|l| l.get("event").is_some()).collect();
    assert!(failures.is_empty() || doctor.code == Some(3), "trouble is an exit code too");
    failures
}

/// A live session with one forward that waits for it; the forward's address.
fn waiting() -> (Home, String) {
    let home = Home::new();
    assert_eq!(hook(&home, "SessionStart", None).text(), "");
    let source = home.says("Acme/Plan", "agent:Rocky", "The plan\r\nstands.");
    let forwarded = home.run(&["forward", &source, "--to", "lantern/codex abcdef", "--json"]).json();
    (home, address(&forwarded))
}

#[test]
fn a_live_session_is_registered_once() {
    let (home, _) = waiting();
    hook(&home, "SessionStart", None);
    let sessions = home.run(&["sessions", "--project", "lantern", "--json"]).json();
    assert_eq!((&sessions["kind"], &sessions["name"]), (&json!("live"), &json!("codex abcdef")));
}

#[test]
fn a_waiting_forward_is_offered_as_its_marker_and_once() {
    let (home, forwarded) = waiting();
    let marker = home.run(&["show", &forwarded, "--as", "marker"]).text();
    let offered = context_of(&hook(&home, "UserPromptSubmit", None)).unwrap();
    assert_eq!(offered, marker.trim_end_matches('\n'));
    assert_eq!(home.run(&["inbox", "--json"]).json()["state"], "offered");
    assert_eq!(hook(&home, "UserPromptSubmit", None).text(), "", "nothing is repeated");
}

#[test]
fn the_transcript_shows_what_came_into_context() {
    let (home, forwarded) = waiting();
    let offered = context_of(&hook(&home, "UserPromptSubmit", None)).unwrap();
    let lines = [
        line(
            "session_meta",
            json!({"id": SESSION, "cwd": "/home/mira/lantern", "timestamp": "2026-11-30T22:54:11Z"}),
        ),
        message("user", "What now?"),
        message("developer", &offered),
        message("assistant", "Done. 끝."),
    ];
    std::fs::write(home.path("rollout.jsonl"), lines.concat()).unwrap();
    assert_eq!(hook(&home, "Stop", Some("rollout.jsonl")).text(), "");
    assert_eq!(failures(&home), Vec::<Value>::new());
    assert_eq!(home.run(&["inbox", "--json"]).text(), "", "it is in context now");
    let turns = home.run(&["show", "lantern/What now?", "--json"]).lines();
    let texts: Vec<&str> =
        turns.iter().filter(|t| t["kind"] == "turn").filter_map(|t| t["text"].as_str()).collect();
    assert_eq!(texts, ["", "What now?", "Done. 끝."], "the marker is the forwarded turn, not a new one");
    assert_eq!(turns[0]["address"].as_str(), Some(forwarded.as_str()));
}

fn line(kind: &str, payload: Value) -> String {
    json!({"timestamp": "2026-11-30T22:54:11.291Z", "type": kind, "payload": payload}).to_string() + "\n"
}

fn message(role: &str, text: &str) -> String {
    let kind = if role == "assistant" { "output_text" } else { "input_text" };
    line("response_item", json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}))
}

/// The entries of the live session that a hook registered.
fn entries(home: &Home) -> Vec<Value> {
    let session = home.run(&["sessions", "--project", "lantern", "--json"]).json();
    home.run(&["show", &address(&session), "--json"]).lines()
}

/// The marks that turns settled, as the place of the turn and the route.
fn settled(home: &Home) -> Vec<(Value, Value)> {
    let entries = entries(home);
    let id = |entry: &Value| entry["address"].as_str().unwrap().rsplit('/').next().unwrap().to_owned();
    let turn =
        |of: &Value| entries.iter().find(|e| Some(id(e).as_str()) == of.as_str()).unwrap()["text"].clone();
    let marks = entries.iter().filter(|entry| entry["mark"] == "settled");
    marks.map(|mark| (turn(&mark["of"]), mark["route"].clone())).collect()
}

#[test]
fn at_stop_the_last_turn_is_marked_as_settled_once() {
    let home = Home::new();
    let meta = json!({"id": SESSION, "cwd": "/home/mira/lantern", "timestamp": "2026-11-30T22:54:11Z"});
    let mut transcript = line("session_meta", meta);
    let said = |transcript: &mut String, role, text| {
        transcript.push_str(&message(role, text));
        std::fs::write(home.path("rollout.jsonl"), transcript.as_str()).unwrap();
    };
    said(&mut transcript, "user", "What now?");
    said(&mut transcript, "assistant", "Done. 끝.");
    hook(&home, "PreCompact", Some("rollout.jsonl"));
    assert_eq!(settled(&home), [], "the agent is still at work");
    hook(&home, "Stop", Some("rollout.jsonl"));
    let first = (json!("Done. 끝."), json!("codex Stop"));
    assert_eq!(settled(&home), std::slice::from_ref(&first));
    let before = entries(&home);
    hook(&home, "Stop", Some("rollout.jsonl"));
    assert_eq!(entries(&home), before, "nothing is added without a new turn");
    // So many marks stand behind the last turn that it is not among the newest entries.
    let turn = before.iter().rfind(|entry| entry["kind"] == "turn").map(address).unwrap();
    for _ in 0..20 {
        assert_eq!(home.run(&["pin", &turn]).code, Some(0));
        assert_eq!(home.run(&["pin", &turn, "--off"]).code, Some(0));
    }
    hook(&home, "Stop", Some("rollout.jsonl"));
    assert_eq!(entries(&home).len(), before.len() + 40);
    said(&mut transcript, "user", "And then?");
    said(&mut transcript, "assistant", "Rest.");
    hook(&home, "Stop", Some("rollout.jsonl"));
    assert_eq!(settled(&home), [first, (json!("Rest."), json!("codex Stop"))]);
    assert_eq!(failures(&home), Vec::<Value>::new());
    let mark = entries(&home).pop().unwrap();
    let shown = home.run(&["show", mark["address"].as_str().unwrap()]).text();
    assert!(shown.starts_with("mark · settled") && shown.contains("codex Stop"), "{shown}");
}

#[test]
fn a_session_without_a_turn_does_not_settle() {
    let home = Home::new();
    hook(&home, "SessionStart", None);
    hook(&home, "Stop", None);
    assert_eq!(entries(&home), Vec::<Value>::new());
    assert_eq!(failures(&home), Vec::<Value>::new());
}

#[test]
fn what_stood_there_settles_though_the_transcript_is_gone() {
    let (home, _) = waiting();
    hook(&home, "Stop", Some("gone.jsonl"));
    assert_eq!(settled(&home).len(), 1);
    assert_eq!(failures(&home).len(), 1, "that it is gone is told");
    assert_eq!(home.run(&["inbox", "--json"]).json()["state"], "recorded", "it still waits");
}

#[test]
fn a_mark_that_cannot_be_written_is_told_and_stops_nothing() {
    let (home, _) = waiting();
    let connection = rusqlite::Connection::open(home.ledger()).unwrap();
    let refuse =
        "CREATE TRIGGER refuse BEFORE INSERT ON mark BEGIN SELECT RAISE(ABORT, 'no marks today'); END";
    connection.execute_batch(refuse).unwrap();
    drop(connection);
    assert_eq!(hook(&home, "Stop", None).text(), "");
    let failure = failures(&home).pop().expect("a record");
    assert_eq!(failure["event"], "Stop");
    assert!(failure["reason"].as_str().unwrap().contains("no marks today"), "{failure}");
}

#[test]
fn whatever_is_wrong_the_agent_goes_on_and_the_doctor_knows() {
    let (home, _) = waiting();
    // Not what Codex sends, an unknown event, an unknown program, wrong arguments.
    let cases: [(&[u8], &[&str]); 5] = [
        (b"not json", &["hook", "codex", "SessionStart"]),
        (b"{}", &["hook", "codex", "UserPromptSubmit"]),
        (&input(&home, "Nap", None), &["hook", "codex", "Nap"]),
        (&input(&home, "Stop", None), &["hook", "other", "Stop"]),
        (b"", &["hook", "codex", "Stop", "--no-such-option"]),
    ];
    for (stdin, args) in cases {
        let ran = home.feed(stdin, args);
        assert_eq!((ran.code, ran.text().as_str(), ran.stderr.as_str()), (Some(0), "", ""), "{args:?}");
    }
    assert_eq!(failures(&home).len(), 5);
    hook(&home, "Stop", Some("gone.jsonl"));
    let last = failures(&home).pop().unwrap();
    assert_eq!((&last["program"], &last["event"]), (&json!("codex"), &json!("Stop")));
    assert!(last["at"].as_str().unwrap().ends_with('Z') && !last["reason"].as_str().unwrap().is_empty());
}

#[test]
fn a_ledger_that_cannot_be_used_stops_nothing() {
    for broken in ["corrupt", "missing", "locked", "future"] {
        let (home, _) = waiting();
        let connection = rusqlite::Connection::open(home.ledger()).unwrap();
        match broken {
            "locked" => {
                connection.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
                connection.execute_batch("BEGIN EXCLUSIVE").unwrap();
            }
            "future" => connection.pragma_update(None, "user_version", 4_000).unwrap(),
            _ => {}
        }
        let held = (broken == "locked").then_some(connection);
        if held.is_none() {
            let wal = |end: &str| format!("{}{end}", home.ledger().display());
            for file in [wal("-wal"), wal("-shm")] {
                let _ = std::fs::remove_file(file);
            }
        }
        match broken {
            "corrupt" => std::fs::write(home.ledger(), "rubbish".repeat(1000)).unwrap(),
            "missing" => {
                std::fs::remove_file(home.ledger()).unwrap();
                std::fs::create_dir(home.ledger()).unwrap();
            }
            _ => {}
        }
        assert_eq!(hook(&home, "UserPromptSubmit", None).text(), "", "{broken}");
        drop(held);
        let failure = failures(&home).pop().unwrap_or_else(|| panic!("{broken} left no record"));
        assert_eq!(failure["event"], "UserPromptSubmit", "{broken}");
        assert!(!failure["reason"].as_str().unwrap().is_empty());
    }
}

#[test]
fn of_hooks_that_run_at_once_one_offers() {
    let (home, _) = waiting();
    let home = &home;
    let answers = std::thread::scope(|scope| {
        let hooks: Vec<_> = (0..6).map(|_| scope.spawn(|| hook(home, "UserPromptSubmit", None))).collect();
        hooks.into_iter().map(|h| h.join().unwrap()).collect::<Vec<Ran>>()
    });
    assert_eq!(answers.iter().filter(|a| context_of(a).is_some()).count(), 1);
    assert_eq!(failures(home), Vec::<Value>::new());
}

#[test]
fn an_answer_is_bounded_and_the_rest_waits_for_the_next_prompt() {
    let (home, _) = waiting();
    let long = "가".repeat(4_000);
    let note = "나".repeat(12_000);
    for _ in 0..3 {
        let source = home.says("Acme/Plan", "agent:Rocky", &long);
        let args = ["forward", &source, "--to", "lantern/codex abcdef", "--note", &note];
        assert_eq!(home.run(&args).code, Some(0));
    }
    let mut markers = 0;
    for prompt in 0.. {
        let Some(context) = context_of(&hook(&home, "UserPromptSubmit", None)) else { break };
        assert!(context.len() <= 80_000, "prompt {prompt}: {}", context.len());
        markers += context.matches("</quote id=").count();
    }
    assert_eq!(markers, 4);
    let source = home.says("Acme/Plan", "agent:Rocky", "x");
    let too_long = "나".repeat(12_001);
    let ran = home.run(&["forward", &source, "--to", "lantern/codex abcdef", "--note", &too_long]);
    assert_eq!(ran.code, Some(1));
    assert!(ran.stderr.contains("the note has 12001 characters, at most 12000"), "{}", ran.stderr);
}

#[test]
fn a_doctor_that_could_not_know_says_so() {
    let home = Home::new();
    std::fs::write(home.path("state"), "a file where the folder should be").unwrap();
    let mut command = home.command();
    let ran = super::run(command.env("SAYSO_STATE", home.path("state")).args(["doctor"]), b"");
    assert_eq!(ran.code, Some(3));
    assert!(ran.text().contains("TROUBLE hook records"), "{}", ran.text());
}
