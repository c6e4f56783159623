//! `sayso reinject`: what comes back, why, and at what cost.

use super::{Home, address};

/// A session that pi wrote: a long file that was read, and a command that failed.
fn session() -> String {
    let lines: String = (1..=400)
        .map(|n| {
            if n == 230 {
                "야간 배편은 24:40에 떠납니다.\\n".to_owned()
            } else {
                format!("{n} 날씨는 맑음\\n")
            }
        })
        .collect();
    let call = |id: &str, parent: &str, name: &str, arguments: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:02Z","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"call_{id}","name":"{name}","arguments":{arguments}}}]}}}}"#
        )
    };
    let result = |id: &str, parent: &str, name: &str, text: &str, failed: bool| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:03Z","message":{{"role":"toolResult","toolCallId":"call_{parent}","toolName":"{name}","content":[{{"type":"text","text":"{text}"}}],"isError":{failed}}}}}"#
        )
    };
    [
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/home/mira/harbour"}"#.to_owned(),
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"시간표를 읽어줘"}}"#.to_owned(),
        call("a2", "a1", "read", r#"{"path":"ferries.md"}"#),
        result("a3", "a2", "read", &lines, false),
        call("a4", "a3", "bash", r#"{"command":"make page"}"#),
        result("a5", "a4", "bash", "make: *** No rule to make target 'page'. Stop.", true),
        r#"{"type":"message","id":"a6","parentId":"a5","timestamp":"2026-01-01T00:00:06Z","message":{"role":"assistant","content":[{"type":"text","text":"There is no such rule."}]}}"#.to_owned(),
    ]
    .join("\n")
}

const SESSION: &str = "harbour/s1";

fn imported() -> Home {
    let home = Home::new();
    std::fs::write(home.path("pi.jsonl"), session()).unwrap();
    let ran = home.run(&["import", "pi.jsonl"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    home
}

fn compacted() -> Home {
    let home = imported();
    let ran = home.feed(
        "They read ferries.md and tried to make the page.".as_bytes(),
        &["compact", SESSION, "--summary", "-"],
    );
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    home
}

#[test]
fn it_says_what_comes_back_and_why() {
    let home = compacted();
    let args = ["reinject", SESSION, "--explain", "--dry-run"];
    home.check("reinject_explain", &args, &home.run(&args));
    let args = ["reinject", SESSION, "--for", "배편", "--explain", "--dry-run"];
    home.check("reinject_explain_words", &args, &home.run(&args));
    let args = ["reinject", SESSION, "--for", "배편", "--budget", "400", "--explain", "--dry-run"];
    home.check("reinject_explain_budget", &args, &home.run(&args));
    let args = ["reinject", SESSION];
    let ran = home.run(&args);
    home.check("reinject", &args, &ran);
    assert_eq!(home.run(&args), ran, "the same again changes nothing");
    let args = ["reinject", SESSION, "--explain", "--dry-run"];
    // Ids are random, and so is what they count.
    let mut ran = home.run(&args);
    let counted = regex::Regex::new(r"(takes|budget +) ?\d+").unwrap();
    ran.stdout = counted.replace_all(&ran.text(), "$1 <N>").into_owned().into_bytes();
    home.check("reinject_explain_again", &args, &ran);
    let args = ["context", SESSION, "--for", "openai-chat"];
    let first = home.run(&args);
    assert!(first.text().contains("No rule to make target"), "{}", first.text());
    assert!(first.text().contains("because it failed and did not work later: line 1"), "{}", first.text());
    let shown = home.run(&["show", SESSION, "--json"]).lines();
    let entry = address(shown.last().unwrap());
    let args = ["show", entry.as_str()];
    home.check("reinject_show", &["show", "ADDRESS"], &home.run(&args));
}

#[test]
fn words_come_from_an_argument_or_from_standard_input() {
    let home = compacted();
    let ran = home.feed("배편은 언제?".as_bytes(), &["reinject", SESSION, "--for", "-", "--json"]).json();
    assert_eq!(ran["ranges"][0]["why"][0], "match");
    assert_eq!(ran["known"], false);
    let again = home.run(&["reinject", SESSION, "--for", "배편은 언제?", "--json", "--explain"]).json();
    assert_eq!((&again["entry"], &again["known"]), (&ran["entry"], &serde_json::json!(true)));
    assert_eq!(again["plan"]["considered"][0]["fate"], "shown");
    let shown = home.run(&["context", SESSION, "--for", "anthropic"]).text();
    assert!(shown.contains("24:40에 떠납니다"), "{shown}");
}

/// A compaction that the real Codex made, in the demo's recording: what comes back, the same each time, and what is gone.
#[test]
fn a_session_that_codex_compacted() {
    let home = Home::new();
    let recording = include_bytes!("../../../crates/cli/demo/codex.jsonl");
    std::fs::write(home.path("codex.jsonl"), recording).unwrap();
    assert_eq!(home.run(&["import", "codex.jsonl"]).code, Some(0));
    let session = home.run(&["sessions", "--json"]).json();
    let session = address(&session);
    let explained = home.run(&["reinject", &session, "--explain", "--json"]).json();
    assert!(!explained["ranges"].as_array().unwrap().is_empty(), "{explained}");
    let contexts = || {
        ["openai-responses", "openai-chat", "anthropic"].map(|provider| {
            let ran = home.run(&["context", &session, "--for", provider]);
            assert_eq!(ran.code, Some(0), "{}", ran.stderr);
            ran.text()
        })
    };
    let once = contexts();
    let again = home.run(&["reinject", &session, "--json"]).json();
    assert_eq!((&again["entry"], &again["known"]), (&explained["entry"], &serde_json::json!(true)));
    assert_eq!(contexts(), once, "the same bytes");
    for context in &once {
        assert!(context.contains("shown again because"), "{context}");
    }
    let range = &explained["ranges"][0];
    let turn = range["turn"].as_str().unwrap();
    let redacted = home.run(&["redact", turn]);
    assert_eq!(redacted.code, Some(0), "{}", redacted.stderr);
    for context in contexts() {
        assert!(context.contains("is no longer there"), "{context}");
    }
}

#[test]
fn bad_input() {
    let home = imported();
    let cases: [(&str, &[&str]); 5] = [
        ("no_summary", &["reinject", SESSION]),
        ("session", &["reinject", "harbour/s2"]),
        ("empty", &["reinject", SESSION, "--for", " "]),
        ("budget", &["reinject", SESSION, "--budget", "many"]),
        ("nothing", &["reinject", SESSION, "--for", "날씨"]),
    ];
    for (name, args) in cases {
        home.check(&format!("bad_reinject_{name}"), args, &home.run(args));
    }
    let home = compacted();
    let session = home.run(&["session", "close", SESSION]);
    assert_eq!(session.code, Some(0), "{}", session.stderr);
    let args = ["reinject", SESSION];
    home.check("bad_reinject_closed", &args, &home.run(&args));
}
