//! The JSON that scripts depend on: which names each command prints.

use serde_json::Value;

use super::{Home, address};

fn names(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

fn id(address: &str) -> &str {
    address.rsplit('/').next().unwrap()
}

#[test]
fn append() {
    let home = Home::new();
    let args = ["append", "--project", "Acme", "--session", "Plan", "--speaker", "person:Jun", "--json"];
    let first = home.feed("안녕\n".as_bytes(), &args).json();
    assert_eq!(names(&first), ["turn", "address", "seq"]);
    assert_eq!(first["seq"], 1);
    let reply: Vec<&str> =
        args.iter().copied().chain(["--reply-to", first["turn"].as_str().unwrap()]).collect();
    let second = home.feed(b"hi", &reply).json();
    assert_eq!(second["seq"], 2);
    let shown = home.run(&["show", &address(&first), "--json"]).json();
    assert_eq!(shown["text"], "안녕\n", "kept byte for byte, the line end too");
}

#[test]
fn projects_and_sessions() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "one");
    home.says("Acme/Other", "agent:Rocky", "two");
    for list in ["projects", "sessions"] {
        let rows = home.run(&[list, "--json"]).lines();
        for row in &rows {
            let all = ["address", "name", "kind", "turns", "last_at", "closed", "project"];
            assert_eq!(names(row), if list == "projects" { &all[..5] } else { &all[..] });
        }
        assert_eq!(rows.len(), if list == "projects" { 1 } else { 2 });
    }
}

#[test]
fn forward_and_origin() {
    let home = Home::new();
    let source = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Acme/Plan", "owner:Mira", "Good.");
    let args = ["forward", &source, "--to", "Beta/Build", "--create", "--note", "see", "--json"];
    let forwarded = home.run(&args).json();
    assert_eq!(names(&forwarded), ["turn", "address", "quote"]);
    assert_eq!(names(&forwarded["quote"]), ["kept", "total", "cut", "hops", "nested"]);
    assert_eq!(forwarded["quote"]["cut"], "none");
    let origin = home.run(&["origin", &address(&forwarded), "--json"]).json();
    assert_eq!(names(&origin), ["state", "origin", "neighbours"]);
    assert_eq!(
        (origin["state"].as_str(), origin["origin"]["address"].as_str()),
        (Some("same"), Some(source.as_str()))
    );
    assert_eq!(origin["neighbours"].as_array().unwrap().len(), 2);
    // In a scope that holds only the destination, the surroundings are not there.
    let scoped = home.run(&["origin", &address(&forwarded), "--json", "--scope", "Beta"]).json();
    assert_eq!(
        (scoped["state"].as_str(), scoped["neighbours"].as_array().map(Vec::len)),
        (Some("unavailable"), Some(0))
    );
}

#[test]
fn import() {
    let home = Home::new();
    std::fs::write(home.path("notes.jsonl"), "{\"a\":1}\n").unwrap();
    let pi = concat!(
        r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/work/harbour"}"#,
        "\n",
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"hello"}}"#,
        "\n"
    );
    std::fs::write(home.path("pi.jsonl"), pi).unwrap();
    // Refused in a folder, the others go on; named and refused, that is a failure.
    assert_eq!(home.run(&["import", "pi.jsonl", "notes.jsonl", "--json"]).code, Some(1));
    std::fs::remove_file(home.ledger()).unwrap();
    let done = home.run(&["import", ".", "--json"]).lines().pop().unwrap();
    let expected = [
        "files",
        "records",
        "turns_added",
        "turns_known",
        "skipped",
        "unknown",
        "refused",
        "repairs",
        "passed_over",
    ];
    assert_eq!(names(&done), expected);
    assert_eq!((&done["turns_added"], &done["unknown"]), (&Value::from(1), &Value::from(0)));
    assert_eq!(names(&done["refused"][0]), ["file", "why"]);
    let again = home.run(&["import", "pi.jsonl", "--json"]).lines().pop().unwrap();
    assert_eq!((&again["turns_added"], &again["turns_known"]), (&Value::from(0), &Value::from(1)));
}

#[test]
fn inbox() {
    let home = Home::new();
    let source = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let forwarded = home.run(&["forward", &source, "--to", "Beta/Build", "--create", "--json"]).json();
    let waiting = home.run(&["inbox", "--json"]).json();
    assert_eq!(names(&waiting), ["turn", "address", "session", "from", "state", "recorded_at"]);
    assert_eq!((&waiting["turn"], &waiting["state"]), (&forwarded["turn"], &Value::from("recorded")));
}

#[test]
fn search() {
    let home = Home::new();
    let first = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let second = home.says("Acme/Plan", "owner:Mira", "plan\nB");
    home.says("Beta/Build", "owner:Mira", "another plan");
    let found = |args: &[&str]| {
        let all: Vec<&str> = ["search", "plan", "--json"].iter().chain(args).copied().collect();
        home.run(&all).lines()
    };
    let rows = found(&["--project", "Acme"]);
    assert_eq!(names(&rows[0]), ["address", "speaker", "said_at", "snippet"]);
    assert_eq!(names(&rows[0]["speaker"]), ["kind", "name"]);
    assert_eq!(rows.iter().map(address).collect::<Vec<_>>(), [second.clone(), first.clone()]);
    assert_eq!(rows[0]["snippet"], "plan B");
    assert_eq!(found(&[]).len(), 3);
    assert_eq!(found(&["--scope", "Beta"]).len(), 1);
    assert_eq!(found(&["--speaker", "agent"]).len(), 1);
    assert_eq!(found(&["--session", "Acme/Plan", "--limit", "1"]).len(), 1);
    assert_eq!(found(&["--since", "2001-01-01"]).len(), 3);
    assert_eq!(found(&["--since", "2999-01-01"]).len(), 0);
    assert_eq!(found(&["--before", &second]).iter().map(address).collect::<Vec<_>>(), [first]);
}

#[test]
fn verify_and_heads() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let verified = home.run(&["verify", "--json"]);
    let report = verified.json();
    assert_eq!(names(&report), ["ok", "entries", "heads", "problems"]);
    assert_eq!((&report["ok"], &report["entries"]), (&Value::from(true), &Value::from(1)));
    std::fs::write(home.path("heads.json"), &verified.stdout).unwrap();
    home.says("Acme/Plan", "owner:Mira", "Good.");
    // A session that only grew agrees with its older head.
    assert_eq!(home.run(&["verify", "--against", "heads.json"]).code, Some(0));
    let other = Home::new();
    other.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let foreign = other.run(&["verify", "--against", home.path("heads.json").to_str().unwrap()]);
    assert_eq!(foreign.code, Some(1));
    assert!(foreign.stderr.contains("belongs to ledger"), "{}", foreign.stderr);
}

#[test]
fn a_damaged_ledger_is_reported_against_heads_too() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    std::fs::write(home.path("heads.json"), home.run(&["verify", "--json"]).stdout).unwrap();
    let connection = rusqlite::Connection::open(home.ledger()).unwrap();
    connection.execute_batch("UPDATE session SET turns = turns + 1").unwrap();
    drop(connection);
    let ran = home.run(&["verify", "--against", "heads.json", "--json"]);
    assert_eq!(ran.code, Some(3), "{}", ran.stderr);
    let report: Value = serde_json::from_slice(&ran.stdout).unwrap();
    assert!(!report["problems"].as_array().unwrap().is_empty());
    // A list without heads would compare nothing.
    std::fs::write(home.path("empty.json"), "{\"heads\":{}}").unwrap();
    assert_eq!(home.run(&["verify", "--against", "empty.json"]).code, Some(1));
}

#[test]
fn reading_makes_no_ledger() {
    let home = Home::new();
    for args in [vec!["projects"], vec!["sessions"], vec!["verify"], vec!["inbox"], vec!["show", "x"]] {
        let ran = home.run(&args);
        assert_eq!(ran.code, Some(1), "{args:?}");
        assert!(!home.ledger().exists(), "{args:?}");
    }
    home.check("bad_missing_ledger", &["verify"], &home.run(&["verify"]));
}

#[test]
fn a_suffix_names_a_turn() {
    let home = Home::new();
    let address = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let id = id(&address);
    let shown = home.run(&["show", &id[id.len() - 8..].to_lowercase(), "--json"]).json();
    assert_eq!(shown["address"].as_str(), Some(address.as_str()));
}

#[test]
fn doctor() {
    let home = Home::new();
    for line in home.run(&["doctor", "--json"]).lines() {
        assert_eq!(names(&line), ["check", "ok", "detail"]);
    }
    assert!(!home.ledger().exists(), "the doctor makes nothing");
}

#[test]
fn a_ledger_that_was_cut_off_is_a_problem_not_a_failure() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    rusqlite::Connection::open(home.ledger())
        .unwrap()
        .query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))
        .unwrap();
    let whole = std::fs::read(home.ledger()).unwrap();
    for bytes in [4_096, whole.len() / 2, whole.len() - 4_096] {
        std::fs::write(home.ledger(), &whole[..bytes]).unwrap();
        let ran = home.run(&["verify", "--json"]);
        let report: Value = serde_json::from_slice(&ran.stdout).expect("a report");
        assert_eq!((ran.code, &report["ok"]), (Some(3), &Value::from(false)), "{bytes}: {}", ran.stderr);
        assert!(!report["problems"].as_array().unwrap().is_empty());
        let ran = home.run(&["verify"]);
        assert!(ran.text().contains("PROBLEM") && ran.code == Some(3), "{bytes}: {}", ran.stderr);
        assert!(!ran.text().contains("sayso verify"), "{}", ran.text());
    }
}

/// The index is made of the turns: whatever happens to it, it can be made anew.
#[test]
fn a_damaged_index_is_named_and_made_anew() {
    let edits = [
        "DELETE FROM turn_words_data WHERE id > 10",
        "DELETE FROM turn_words_data",
        "DELETE FROM turn_words_config",
        "DROP TABLE turn_words",
        "DROP TABLE turn_words_data",
        "DROP TABLE output_words",
        "DROP TABLE search_state",
        "DELETE FROM search_state",
    ];
    for edit in edits {
        let home = Home::new();
        home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
        assert_eq!(home.run(&["search", "plan"]).code, Some(0));
        let conn = rusqlite::Connection::open(home.ledger()).unwrap();
        conn.execute_batch(edit).unwrap();
        drop(conn);
        let ran = home.run(&["verify"]);
        assert_eq!(ran.code, Some(3), "{edit}: {}{}", ran.text(), ran.stderr);
        assert!(ran.text().contains("index of the search"), "{edit}: {}", ran.text());
        let ran = home.run(&["search", "plan", "--outputs"]);
        assert!(ran.stderr.contains("sayso doctor --reindex"), "{edit}: {}", ran.stderr);
        let ran = home.run(&["doctor", "--reindex"]);
        assert_eq!(ran.code, Some(0), "{edit}: {}{}", ran.text(), ran.stderr);
        assert_eq!(home.run(&["search", "plan"]).text().matches("The plan stands.").count(), 1, "{edit}");
        assert_eq!(home.run(&["verify"]).code, Some(0), "{edit}");
    }
}
