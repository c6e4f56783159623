//! Bad input: each a snapshot of standard output, standard error and the exit code, and nothing written.

use std::io::Read;
use std::process::Stdio;

use super::Home;

const APPEND: [&str; 7] = ["append", "--project", "Acme", "--session", "Plan", "--speaker", "agent:Rocky"];

/// A home with one turn in Acme/Plan; its address.
fn one_turn() -> (Home, String) {
    let home = Home::new();
    let address = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    (home, address)
}

#[track_caller]
fn refused(home: &Home, name: &str, args: &[&str], shown: &[&str]) {
    let before = std::fs::read(home.ledger()).ok();
    let ran = home.run(args);
    assert_ne!(ran.code, Some(0), "{}", ran.text());
    home.check(name, shown, &ran);
    let turns = |home: &Home| home.run(&["sessions", "--json"]).text();
    if before.is_some() {
        assert_eq!(turns(home), turns(home));
    }
}

#[test]
fn unknown_address() {
    let (home, address) = one_turn();
    let (session, _) = address.rsplit_once('/').unwrap();
    let unknown = format!("{session}/01ARZ3NDEKTSV4RRFFQ69G5FAV");
    refused(&home, "bad_unknown_address", &["show", &unknown], &["show", "ADDRESS"]);
    refused(&home, "bad_unknown_session", &["show", "Plna"], &["show", "Plna"]);
}

#[test]
fn ambiguous_name() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "one");
    home.says("Beta/Plan", "agent:Rocky", "two");
    refused(
        &home,
        "bad_ambiguous_name",
        &["context", "Plan", "--for", "openai-responses"],
        &["context", "Plan"],
    );
}

#[test]
fn malformed_address() {
    let (home, address) = one_turn();
    let short = &address[..address.len() - 1];
    refused(
        &home,
        "bad_malformed_address",
        &["show", short],
        &["show", "ADDRESS without its last character"],
    );
    let lower = address.to_lowercase();
    refused(&home, "bad_lower_case_address", &["show", &lower], &["show", "address in lower case"]);
    let (session, _) = address.rsplit_once('/').unwrap();
    let overflow = format!("{session}/81ARZ3NDEKTSV4RRFFQ69G5FAV");
    refused(
        &home,
        "bad_overflowing_id",
        &["show", &overflow],
        &["show", "SESSION/81ARZ3NDEKTSV4RRFFQ69G5FAV"],
    );
    let fragment = format!("{address}#chars=4");
    refused(&home, "bad_fragment", &["forward", &fragment, "--to", "Plan"], &["forward", "ADDRESS#chars=4"]);
}

#[test]
fn lower_case_id() {
    let (home, address) = one_turn();
    let id = address.rsplit('/').next().unwrap().to_lowercase();
    refused(&home, "bad_lower_case_id", &["origin", &id], &["origin", "id in lower case"]);
}

#[test]
fn foreign_address() {
    let (home, _) = one_turn();
    let (_, foreign) = one_turn();
    refused(&home, "bad_foreign_address", &["show", &foreign], &["show", "address of another ledger"]);
}

#[test]
fn unknown_destination() {
    let (home, address) = one_turn();
    home.says("Beta/Build the page", "owner:Mira", "hello");
    let args = ["forward", &address, "--to", "Beta/Biuld the page"];
    refused(&home, "bad_unknown_destination", &args, &["forward", "ADDRESS", "--to", "Beta/Biuld the page"]);
    let args = ["forward", &address, "--to", "Nowhere", "--create"];
    refused(
        &home,
        "bad_destination_without_project",
        &args,
        &["forward", "ADDRESS", "--to", "Nowhere", "--create"],
    );
}

#[test]
fn binary_output() {
    let home = Home::new();
    let png: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\0";
    let args = ["append", "--project", "Acme", "--session", "Plan", "--speaker", "tool:cat", "--json"];
    let address = super::address(&home.feed(png, &args).json());
    home.says("Beta/Build", "owner:Mira", "hello");
    let args = ["forward", &address, "--to", "Build"];
    refused(&home, "bad_binary", &args, &["forward", "ADDRESS", "--to", "Build"]);
}

#[test]
fn key_conflict() {
    let home = Home::new();
    let args: Vec<&str> = APPEND.iter().copied().chain(["--key", "k1"]).collect();
    assert_eq!(home.feed(b"one", &args).code, Some(0));
    let conflict = home.feed(b"two", &args);
    home.check("bad_key_conflict", &args, &conflict);
    // The same words again are no conflict, and written once.
    assert_eq!(home.feed(b"one", &args).code, Some(0));
    assert_eq!(home.run(&["sessions", "--json"]).json()["turns"], 1);
}

#[test]
fn ledger_from_the_future() {
    let (home, _) = one_turn();
    let connection = rusqlite::Connection::open(home.ledger()).unwrap();
    connection.pragma_update(None, "user_version", 4_000).unwrap();
    drop(connection);
    refused(&home, "bad_future_ledger", &["sessions"], &["sessions"]);
}

#[test]
fn no_ledger_at_all() {
    let home = Home::new();
    let words = "These are my notes, not a ledger.\n".repeat(40);
    std::fs::write(home.ledger(), &words).unwrap();
    refused(&home, "bad_not_a_ledger", &["sessions"], &["sessions"]);
    assert_eq!(std::fs::read_to_string(home.ledger()).unwrap(), words);
    // A database of another program is none either.
    let other = home.path("other.db");
    let connection = rusqlite::Connection::open(&other).unwrap();
    connection.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    drop(connection);
    let args = ["sessions", "--ledger", other.to_str().unwrap()];
    refused(&home, "bad_other_database", &args, &["sessions", "--ledger", "other.db"]);
}

#[test]
fn folder_that_cannot_be_written() {
    let home = Home::new();
    // A file where the folder should be: that stops a superuser too, unlike permissions.
    std::fs::write(home.path("file"), "").unwrap();
    let path = home.path("file").join("ledger.db");
    let args = ["sessions", "--ledger", path.to_str().unwrap()];
    refused(&home, "bad_folder", &args, &["sessions", "--ledger", "file/ledger.db"]);
}

#[test]
fn stdin_that_is_not_utf8() {
    let home = Home::new();
    let ran = home.feed(b"caf\xE9 \xFF ok", &APPEND);
    home.check("bad_utf8", &APPEND, &ran);
    let turn = home.run(&["show", ran.text().trim(), "--json"]).json();
    assert_eq!(turn["text"], "caf\u{FFFD} \u{FFFD} ok");
    let empty = home.feed(b"", &APPEND);
    home.check("bad_empty_stdin", &APPEND, &empty);
}

#[test]
fn broken_pipe() {
    let home = Home::new();
    let long = "한글과 English. ".repeat(40_000);
    let address = home.says("Acme/Plan", "agent:Rocky", &long);
    let mut child = home
        .command()
        .args(["show", &address])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The reader takes a little and goes away, as `head` does.
    let mut some = [0; 100];
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut some).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr).as_ref()), (Some(0), ""));
}

#[test]
fn wrong_arguments() {
    let (home, address) = one_turn();
    for (name, args) in [
        ("bad_speaker_kind", vec!["append", "--project", "A", "--session", "S", "--speaker", "robot:R"]),
        ("bad_selection", vec!["forward", &address, "--to", "Plan", "--select", "3,0"]),
        ("bad_provider", vec!["context", "Plan", "--for", "acme"]),
    ] {
        let ran = home.run(&args);
        assert_ne!(ran.code, Some(0));
        let shown: Vec<&str> = args.iter().map(|a| if *a == address { "ADDRESS" } else { a }).collect();
        home.check(name, &shown, &ran);
    }
}

#[test]
fn unknown_output() {
    let (home, _) = one_turn();
    let refused_id = home.run(&["output", "01ARZ3NDEKTSV4RRFFQ69G5FAV"]);
    home.check("bad_unknown_output", &["output", "01ARZ3NDEKTSV4RRFFQ69G5FAV"], &refused_id);
}

#[test]
fn a_budget_that_is_too_small() {
    let (home, _) = one_turn();
    let args = ["context", "Plan", "--for", "openai-responses", "--budget", "2"];
    refused(&home, "bad_budget", &args, &args);
}

/// A pi session with so many turns.
fn pi_session(turns: usize) -> String {
    let head = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/work/harbour"}"#;
    let turn = |n: usize| {
        let parent = if n == 0 { "null".to_owned() } else { format!("\"m{}\"", n - 1) };
        let text = format!("turn {n} {}", "words ".repeat(60));
        format!(
            r#"{{"type":"message","id":"m{n}","parentId":{parent},"timestamp":"2026-01-01T00:00:01Z","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    std::iter::once(head.to_owned()).chain((0..turns).map(turn)).map(|line| line + "\n").collect()
}

/// A limit on the size of files fails writes as a full disk does, for a superuser as well.
#[cfg(unix)]
#[test]
fn disk_that_is_full_in_the_middle_of_an_import() {
    const TURNS: usize = 3_000;
    let home = Home::new();
    std::fs::write(home.path("pi.jsonl"), pi_session(TURNS)).unwrap();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let plain = home.command();
    let mut command = std::process::Command::new("sh");
    command.args(["-c", "ulimit -f 2000; trap '' XFSZ; exec \"$0\" \"$@\""]).arg(plain.get_program());
    command.args(["import", "pi.jsonl"]).env_clear().current_dir(home.path(""));
    command.envs(plain.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let ran = super::run(&mut command, b"");
    home.check("bad_import_full_disk", &["import", "pi.jsonl"], &ran);
    let turns = || {
        home.run(&["projects", "--json"]).lines().iter().map(|p| p["turns"].as_u64().unwrap()).sum::<u64>()
    };
    let written = turns();
    assert!((2..TURNS as u64).contains(&written), "some of it is there, not all: {written}");
    let (added, said) = (written - 1, ran.text());
    assert!(said.contains(&format!("{added} turns added")), "{said}");
    assert_eq!(home.run(&["verify"]).code, Some(0));
    // The same import again, with room: all of it, once.
    let again = home.run(&["import", "pi.jsonl", "--json"]).json();
    let sum = again["turns_added"].as_u64().unwrap() + again["turns_known"].as_u64().unwrap();
    assert_eq!((sum, turns()), (TURNS as u64, TURNS as u64 + 1));
    assert_eq!(home.run(&["verify"]).code, Some(0));
}

#[test]
fn folder_to_import_that_cannot_be_read() {
    let (home, _) = one_turn();
    std::fs::write(home.path("file"), "").unwrap();
    // A file in the middle of the path: that stops a superuser too, unlike permissions.
    refused(&home, "bad_import_folder", &["import", "file/sessions"], &["import", "file/sessions"]);
    refused(&home, "bad_import_missing", &["import", "missing"], &["import", "missing"]);
    std::fs::create_dir(home.path("empty")).unwrap();
    refused(&home, "bad_import_empty", &["import", "empty"], &["import", "empty"]);
}

/// Whatever needs the words of a turn that was erased says that it was.
#[test]
fn erased_turn() {
    let (home, address) = one_turn();
    home.says("Acme/Plan", "owner:Mira", "Good.");
    assert_eq!(home.run(&["erase", &address]).code, Some(0));
    home.check("erased_turn", &["show", "ADDRESS"], &home.run(&["show", &address]));
    refused(
        &home,
        "bad_forward_erased",
        &["forward", &address, "--to", "Plan"],
        &["forward", "ADDRESS", "--to", "Plan"],
    );
    let edited = home.feed(b"Other words.", &["edit", &address]);
    home.check("bad_edit_erased", &["edit", "ADDRESS"], &edited);
    assert_eq!(home.run(&["erase", address.rsplit_once('/').unwrap().0]).code, Some(0));
    for args in [
        &["show", &address][..],
        &["show", &address, "--json"],
        &["origin", &address],
        &["forward", &address, "--to", "Plan"],
        &["pin", &address],
        &["redact", &address],
        &["edit", &address],
    ] {
        let ran = home.feed(b"words", args);
        assert_eq!((ran.code, ran.text().as_str()), (Some(1), ""), "{args:?}");
        assert!(ran.stderr.contains("was erased from this ledger"), "{args:?}: {}", ran.stderr);
    }
}
