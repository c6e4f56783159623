//! Titles that importers take from a session's first words go with those words.

use std::fs;

use serde_json::{Value, json};

use super::{Home, address};

const FIRST: &str =
    "Where does the lighthouse4711 keep its spare lamp and who may light it tonight in the storm";
const LATER: &str = "unrelated harbour talk";

/// A transcript of each format whose first message gives the title: the name of the file and its lines.
fn transcripts() -> Vec<(&'static str, Vec<Value>)> {
    let claude = |n: usize, text: &str| {
        let message = json!({"role": "user", "content": text});
        json!({"type": "user", "uuid": format!("c{n}"), "sessionId": "s", "cwd": "/a/a", "message": message})
    };
    let codex = |text: &str| {
        let content = json!([{"type": "input_text", "text": text}]);
        json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}})
    };
    let pi = |n: usize, text: &str| json!({"type": "message", "id": format!("p{n}"), "message": {"role": "user", "content": text}});
    let meta = json!({"type": "session_meta", "payload": {"id": "x1", "cwd": "/a/b"}});
    let session = json!({"type": "session", "id": "p1", "cwd": "/a/c"});
    vec![
        ("sessions/11111111-2222-4333-8444-555555555555.jsonl", vec![claude(0, FIRST), claude(1, LATER)]),
        ("sessions/rollout.jsonl", vec![meta, codex(FIRST), codex(LATER)]),
        ("sessions/pi.jsonl", vec![session.clone(), pi(0, FIRST), pi(1, LATER)]),
        ("agents/main/sessions/p1.jsonl", vec![session, pi(0, FIRST), pi(1, LATER)]),
    ]
}

/// Whether the words stand in any file of the ledger.
fn stand(home: &Home) -> bool {
    let folder = home.ledger();
    let files = fs::read_dir(folder.parent().unwrap()).unwrap().map(|entry| entry.unwrap().path());
    let of_ledger = files.filter(|path| {
        path.is_file() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ledger"))
    });
    of_ledger
        .map(|path| fs::read(path).unwrap())
        .any(|bytes| bytes.windows(14).any(|at| at == b"lighthouse4711"))
}

fn quiet(home: &Home, args: &[&str]) -> String {
    let ran = home.run(args);
    assert_eq!(ran.code, Some(0), "{args:?}: {ran:?}");
    assert!(!ran.text().contains("lighthouse"), "{args:?}: {}", ran.text());
    ran.text().to_owned()
}

/// Imports a transcript, forwards from it, and gives the addresses of session, first turn and forward.
fn imported(home: &Home, name: &str, lines: &[Value]) -> (String, String, String) {
    let path = home.path(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    assert_eq!(home.run(&["import", name]).code, Some(0), "{name}");
    let session = home.run(&["sessions", "--json"]).json();
    assert!(session["name"].as_str().unwrap().contains("lighthouse4711"), "{name}: {session}");
    let first = address(&home.run(&["search", "lighthouse4711", "--json"]).json());
    let later = address(&home.run(&["search", "unrelated", "--json"]).json());
    let forward = home.run(&["forward", &later, "--to", "Beta/Build", "--create", "--json"]);
    assert_eq!(forward.code, Some(0), "{forward:?}");
    (address(&session), first, address(&forward.json()))
}

#[test]
fn s17_no_title_keeps_words_that_were_erased_or_redacted() {
    for (name, lines) in transcripts() {
        for how in ["erase", "redact"] {
            let home = Home::new();
            let (session, first, forward) = imported(&home, name, &lines);
            assert!(home.run(&["show", &forward]).text().contains("lighthouse4711"), "{name}");
            assert_eq!(home.run(&["fork", &session, "--json"]).code, Some(0), "{name}");
            let ran = home.run(&[how, &first, "--json"]);
            assert_eq!(
                (ran.code, &ran.json()["title_taken"]),
                (Some(0), &json!(true)),
                "{name} {how}: {ran:?}"
            );
            assert!(!stand(&home), "{name} {how}");
            assert!(quiet(&home, &["sessions"]).contains("(no title)"), "{name} {how}");
            for args in [
                &["show", &session] as &[&str],
                &["show", &forward],
                &["origin", &forward],
                &["context", "Beta/Build", "--for", "anthropic"],
                &["search", "harbour"],
                &["verify"],
                &["export", "--as", "markdown", "--to", "out.md"],
                &["export", "--as", "jsonl", "--to", "out.jsonl"],
                &["import", name],
            ] {
                quiet(&home, args);
            }
            for file in ["out.md", "out.jsonl"] {
                assert!(!fs::read_to_string(home.path(file)).unwrap().contains("lighthouse"), "{name} {how}");
            }
            assert!(!stand(&home), "{name} {how}: imported again");
            let elsewhere = Home::new();
            fs::copy(home.path("out.jsonl"), elsewhere.path("out.jsonl")).unwrap();
            quiet(&elsewhere, &["import", "out.jsonl"]);
            quiet(&elsewhere, &["verify"]);
            quiet(&elsewhere, &["sessions"]);
            quiet(&home, &["session", "rename", &session, "Lamps"]);
            quiet(&home, &["verify"]);
            assert!(quiet(&home, &["sessions"]).contains("Lamps"), "{name} {how}");
        }
    }
}

/// A copy that was made before learns of it, and loses its titles as well.
#[test]
fn a_copy_made_before_loses_its_titles_when_it_is_brought_up_to_date() {
    let (name, lines) = transcripts().remove(2);
    let (home, copy) = (Home::new(), Home::new());
    let (_, first, forward) = imported(&home, name, &lines);
    for file in ["before.jsonl", "after.jsonl"] {
        assert_eq!(home.run(&["export", "--as", "jsonl", "--to", file]).code, Some(0));
        fs::copy(home.path(file), copy.path(file)).unwrap();
        assert_eq!(copy.run(&["import", file]).code, Some(0));
        assert_eq!(stand(&copy), file == "before.jsonl");
        home.run(&["redact", &first]);
    }
    quiet(&copy, &["verify"]);
    quiet(&copy, &["sessions"]);
    quiet(&copy, &["show", forward.rsplit('/').next().unwrap()]);
}
