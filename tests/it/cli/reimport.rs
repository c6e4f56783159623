//! Transcripts that are imported again after something of them was erased, and paths that cannot be imported.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::{Home, address};
use crate::files::bytes;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// Words that stand nowhere else, by number.
fn words(n: usize) -> String {
    format!("halfmoon{n:04}lantern")
}

/// The transcripts of one session in three formats, with so many turns each.
fn transcripts(turns: usize) -> Vec<(&'static str, Vec<String>)> {
    let claude = |n: usize| {
        let message = json!({"role": "user", "content": words(n)});
        json!({"type": "user", "uuid": format!("c{n}"), "sessionId": "s", "cwd": "/work/a", "message": message})
    };
    let codex = |n: usize| {
        let content = json!([{"type": "output_text", "text": words(n)}]);
        json!({"type": "response_item", "payload": {"type": "message", "role": "assistant", "content": content}})
    };
    let pi = |n: usize| {
        let message = json!({"role": "user", "content": words(n)});
        json!({"type": "message", "id": format!("p{n}"), "message": message})
    };
    let title = json!({"type": "custom-title", "customTitle": "Untouched", "sessionId": "s"});
    let header = json!({"type": "session_meta", "payload": {"id": "x1", "cwd": "/work/b"}});
    let session = json!({"type": "session", "id": "p1", "cwd": "/work/c"});
    let name = json!({"type": "session_info", "id": "n", "name": "Untouched"});
    let all = |starts: &[Value], turn: &dyn Fn(usize) -> Value| {
        starts.iter().cloned().chain((0..turns).map(turn)).map(|line| line.to_string()).collect()
    };
    vec![
        (SESSION, all(&[title], &claude)),
        ("rollout", all(&[header], &codex)),
        ("pi", all(&[session, name], &pi)),
    ]
}

fn write(home: &Home, name: &str, lines: &[String]) -> String {
    let path = home.path(&format!("sessions/{name}.jsonl"));
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, lines.join("\n") + "\n").unwrap();
    path.to_string_lossy().into_owned()
}

/// Which of these words stand in any file of the ledger.
fn left(home: &Home, wanted: impl Iterator<Item = usize>) -> Vec<usize> {
    let folder = home.ledger();
    let folder = folder.parent().unwrap();
    let transcripts = home.path("sessions");
    let aside = home.path("aside");
    fs::rename(&transcripts, &aside).unwrap();
    let all = ledger_bytes(folder);
    fs::rename(&aside, &transcripts).unwrap();
    wanted.filter(|n| all.windows(words(*n).len()).any(|at| at == words(*n).as_bytes())).collect()
}

fn ledger_bytes(folder: &Path) -> Vec<u8> {
    let files = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let of_ledger = |path: &std::path::PathBuf| {
        path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("ledger"))
    };
    files
        .filter(of_ledger)
        .flat_map(|path| if path.is_dir() { bytes(&path) } else { fs::read(path).unwrap() })
        .collect()
}

#[test]
fn an_erased_turn_does_not_come_back_and_new_turns_do() {
    for (name, lines) in transcripts(8) {
        let home = Home::new();
        let short = write(&home, name, &lines[..lines.len() - 2]);
        assert_eq!(home.run(&["import", &short, "--json"]).json()["turns_added"], json!(6), "{name}");
        let found = home.run(&["search", &words(2), "--json"]).json();
        assert_eq!(left(&home, 0..8), [0, 1, 2, 3, 4, 5], "{name}");
        assert_eq!(home.run(&["erase", &address(&found)]).code, Some(0), "{name}");
        assert_eq!(left(&home, 0..8), [0, 1, 3, 4, 5], "{name}");
        let again = home.run(&["import", &short, "--json"]).json();
        assert_eq!((&again["turns_added"], &again["turns_known"]), (&json!(0), &json!(6)), "{name}");
        write(&home, name, &lines);
        let grown = home.run(&["import", &short, "--json"]).json();
        assert_eq!((&grown["turns_added"], grown.get("rewritten")), (&json!(2), None), "{name}");
        assert_eq!(left(&home, 0..8), [0, 1, 3, 4, 5, 6, 7], "{name}");
        assert_eq!(home.run(&["verify"]).code, Some(0), "{name}");
    }
}

#[test]
fn an_erased_session_or_project_does_not_come_back() {
    for (name, lines) in transcripts(4) {
        for what in ["sessions", "projects"] {
            let home = Home::new();
            let path = write(&home, name, &lines[..lines.len() - 1]);
            home.run(&["import", &path]);
            let target = address(&home.run(&[what, "--json"]).json());
            assert_eq!(home.run(&["erase", &target]).code, Some(0), "{name} {what}");
            for lines in [&lines[..lines.len() - 1], &lines[..]] {
                write(&home, name, lines);
                let ran = home.run(&["import", &path]);
                assert_eq!(
                    (ran.code, ran.text().matches("erased here").count()),
                    (Some(0), 1),
                    "{name} {what}"
                );
                let told = home.run(&["import", &path, "--json"]).json();
                assert_eq!((&told["files"], &told["refused"]), (&json!(0), &json!([])), "{name} {what}");
                assert_eq!(told["erased"][0]["file"], json!(path), "{name} {what}");
                assert_eq!(left(&home, 0..4), [0; 0], "{name} {what}");
            }
            // Others are not held up by it.
            let other = json!({"type": "session", "id": "other", "cwd": "/work/d"}).to_string();
            let said =
                json!({"type": "message", "id": "a", "message": {"role": "user", "content": words(9)}});
            write(&home, "other", &[other, said.to_string()]);
            let both = home.run(&["import", "sessions", "--json"]).json();
            assert_eq!((&both["turns_added"], both["erased"].as_array().map(Vec::len)), (&json!(1), Some(1)));
            assert_eq!(left(&home, 0..4), [0; 0], "{name} {what}");
        }
    }
}

#[test]
fn a_title_is_not_taken_from_words_that_were_erased() {
    let home = Home::new();
    let header = json!({"type": "session_meta", "payload": {"id": "x1", "cwd": "/work/b"}}).to_string();
    let content = json!([{"type": "input_text", "text": words(1)}]);
    let item =
        json!({"type": "response_item", "payload": {"type": "message", "role": "user", "content": content}});
    let path = write(&home, "rollout", &[header, item.to_string()]);
    home.run(&["import", &path]);
    let session = home.run(&["sessions", "--json"]).json();
    assert_eq!(session["name"], json!(words(1)));
    assert_eq!(
        home.run(&["erase", &address(&home.run(&["search", &words(1), "--json"]).json())]).code,
        Some(0)
    );
    assert_eq!(home.run(&["session", "rename", &address(&session), "x1"]).code, Some(0));
    assert_eq!(home.run(&["import", &path]).code, Some(0));
    assert_eq!(home.run(&["sessions", "--json"]).json()["name"], json!("x1"));
}

#[test]
fn paths_that_cannot_be_imported_are_named() {
    let home = Home::new();
    let said = |text: &str| {
        let message = json!({"type": "message", "id": "a", "message": {"role": "user", "content": text}});
        [json!({"type": "session", "id": text, "cwd": "/work/d"}).to_string(), message.to_string()].join("\n")
    };
    fs::create_dir_all(home.path("in/folder.jsonl")).unwrap();
    fs::write(home.path("in/folder.jsonl/inner.jsonl"), said("inner")).unwrap();
    fs::write(home.path("in/empty.jsonl"), "").unwrap();
    let long = said(&"x".repeat(25_000_000))
        .replace(&format!("\"id\":\"{}\"", "x".repeat(25_000_000)), "\"id\":\"long\"");
    fs::write(home.path("in/long.jsonl"), long).unwrap();
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink(home.path("in"), home.path("in/loop")).unwrap();
        std::os::unix::fs::symlink(home.path("in/gone"), home.path("in/dangling.jsonl")).unwrap();
    }
    let done = home.run(&["import", "in", "--json"]);
    assert_eq!(done.code, Some(0), "{}", done.stderr);
    let done = done.json();
    assert_eq!((&done["files"], &done["turns_added"]), (&json!(2), &json!(2)));
    let refused = done["refused"].to_string();
    assert!(refused.contains("empty.jsonl") && refused.contains("it is empty"), "{refused}");
    for (path, wanted) in [
        ("in/empty.jsonl", "it is empty"),
        ("in/never-there.jsonl", "cannot be read"),
        ("in/dangling.jsonl", "cannot be read"),
    ] {
        let ran = home.run(&["import", path]);
        assert_eq!(ran.code, Some(1), "{path}");
        assert!(ran.text().contains(path) && ran.text().contains(wanted), "{path}: {}", ran.text());
        assert!(ran.stderr.starts_with("error: "), "{path}: {}", ran.stderr);
    }
    // Root may read whatever there is.
    #[cfg(unix)]
    if fs::read_dir("/root").is_err() {
        use std::os::unix::fs::PermissionsExt;
        fs::create_dir(home.path("shut")).unwrap();
        fs::set_permissions(home.path("shut"), fs::Permissions::from_mode(0o000)).unwrap();
        let ran = home.run(&["import", "shut"]);
        assert!(ran.code == Some(1) && ran.text().contains("cannot be read"), "{ran:?}");
        fs::set_permissions(home.path("shut"), fs::Permissions::from_mode(0o700)).unwrap();
    }
}

#[test]
fn damaged_lines_are_named_with_what_was_read_around_them() {
    let home = Home::new();
    let message = |id: &str| {
        json!({"type": "message", "id": id, "message": {"role": "user", "content": id}}).to_string()
    };
    let lines = [
        json!({"type": "session", "id": "d", "cwd": "/work/d"}).to_string(),
        message("one").replace("one\"}", "o\u{1}ne\"}"),
        "{\"type\":\"message\",\"id\":\"cut\",".to_owned() + &message("two"),
        "no json at all".to_owned(),
        message("three").replace("\"message\":{", "\"size\":1e999,\"message\":{"),
    ];
    fs::write(home.path("d.jsonl"), lines.join("\n") + "\n").unwrap();
    let done = home.run(&["import", "d.jsonl", "--json"]).json();
    assert_eq!(
        (&done["turns_added"], &done["repairs"], &done["skipped"]["broken_line"]),
        (&json!(3), &json!(2), &json!(2))
    );
    let damaged: Vec<_> =
        done["damaged"].as_array().unwrap().iter().map(|d| (&d["line"], &d["kind"])).collect();
    assert_eq!(damaged, [(&json!(3), &json!("broken_line")), (&json!(4), &json!("broken_line"))]);
    let again = home.run(&["import", "d.jsonl"]);
    assert!(again.text().contains("d.jsonl: line 3 breaks off"), "{}", again.text());
    fs::write(home.path("d.jsonl"), lines.join("\n").replace("\"two\"}", "\"other\"}") + "\n").unwrap();
    let again = home.run(&["import", "d.jsonl"]);
    assert!(again.text().contains("d.jsonl was rewritten: 1 turn differs"), "{}", again.text());
}
