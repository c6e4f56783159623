//! Names and homes of sessions and projects, as typed.

use super::Home;

#[track_caller]
fn done(home: &Home, name: &str, args: &[&str]) {
    let ran = home.run(args);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    home.check(name, args, &ran);
}

#[test]
fn sessions_and_projects_change() {
    let home = Home::new();
    let address = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Beta/Build", "owner:Mira", "hello");
    done(&home, "life_session_rename", &["session", "rename", "Plan", "Roadmap"]);
    done(&home, "life_session_close", &["session", "close", "Roadmap"]);
    done(&home, "life_session_reopen", &["session", "reopen", "Roadmap", "--json"]);
    done(&home, "life_session_move", &["session", "move", "Roadmap", "Beta"]);
    done(&home, "life_project_rename", &["project", "rename", "Beta", "Gamma"]);
    done(&home, "life_project_alias", &["project", "alias", "Gamma", "/work/gamma", "--json"]);
    done(&home, "life_project_merge", &["project", "merge", "Acme", "/work/gamma"]);
    done(&home, "life_show_renamed", &["show", "Gamma/Roadmap"]);
    assert!(home.run(&["show", &address]).text().contains("The plan stands."));
    assert_eq!(home.run(&["projects", "--json"]).lines().len(), 1);
    assert_eq!(home.run(&["verify"]).code, Some(0));
}

#[test]
fn what_cannot_be_done_says_what_to_do() {
    let home = Home::new();
    let source = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Beta/Build", "owner:Mira", "hello");
    assert_eq!(home.run(&["session", "close", "Build"]).code, Some(0));
    for (name, args) in [
        ("bad_merge_into_itself", ["project", "merge", "Acme", "Acme"].as_slice()),
        ("bad_move_to_the_same", &["session", "move", "Plan", "Acme"]),
        ("bad_reopen_open", &["session", "reopen", "Plan"]),
        ("bad_empty_name", &["project", "rename", "Acme", ""]),
        ("bad_forward_into_closed", &["forward", &source, "--to", "Build"]),
    ] {
        let ran = home.run(args);
        assert_eq!(ran.code, Some(1), "{}", ran.text());
        let shown: Vec<&str> = args.iter().map(|a| if *a == source { "ADDRESS" } else { a }).collect();
        home.check(name, &shown, &ran);
    }
}

#[test]
fn a_turn_is_edited() {
    let home = Home::new();
    let source = home.says("Acme/Plan", "owner:Mira", "The plan stends.");
    let other = home.says("Acme/Plan", "agent:Rocky", "Good.");
    let edited = home.feed(b"The plan stands.", &["edit", &source, "--json"]);
    home.check("edit", &["edit", "ADDRESS", "--json"], &edited);
    home.check("edit_show", &["show", "Plan"], &home.run(&["show", "Plan"]));
    let refused = home.feed(b"Bad.", &["edit", &other]);
    home.check("bad_edit_of_another", &["edit", "ADDRESS"], &refused);
    let shown = home.run(&["show", &source, "--json"]).json();
    assert_eq!(shown["superseded_by"], edited.json()["address"]);
    let again = home.feed(b"Once more.", &["edit", &source]);
    home.check("bad_edit_twice", &["edit", "ADDRESS"], &again);
}

#[test]
fn words_are_taken_away() {
    let home = Home::new();
    let source = home.says("Acme/Plan", "agent:Rocky", "The pin is 4711.");
    let args = ["forward", &source, "--to", "Beta/Build", "--create", "--json"];
    let quote = super::address(&home.run(&args).json());
    home.check("redact", &["redact", "ADDRESS"], &home.run(&["redact", &source]));
    let args = ["redact", &source, "--quotes", "--json"];
    home.check("redact_quotes", &["redact", "ADDRESS", "--quotes", "--json"], &home.run(&args));
    home.check("redact_show", &["show", "ADDRESS"], &home.run(&["show", &source]));
    home.check("redact_show_quote", &["show", "QUOTE"], &home.run(&["show", &quote]));
    let refused = home.run(&["forward", &source, "--to", "Build"]);
    home.check("bad_forward_redacted", &["forward", "ADDRESS", "--to", "Build"], &refused);
    assert_eq!(home.run(&["verify"]).code, Some(0));
}

#[test]
fn a_turn_is_pinned() {
    let home = Home::new();
    let source = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.check("pin", &["pin", "ADDRESS"], &home.run(&["pin", &source]));
    home.check(
        "pin_off",
        &["pin", "ADDRESS", "--off", "--json"],
        &home.run(&["pin", &source, "--off", "--json"]),
    );
    home.check("bad_unpin", &["pin", "ADDRESS", "--off"], &home.run(&["pin", &source, "--off"]));
}

#[test]
fn a_session_is_forked() {
    let home = Home::new();
    let first = home.says("Acme/Plan", "agent:Rocky", "one");
    home.says("Acme/Plan", "agent:Rocky", "two");
    home.check("fork", &["fork", "Plan"], &home.run(&["fork", "Plan"]));
    let args = ["fork", "Plan", "--at", &first, "--title", "Other", "--json"];
    assert_eq!(home.run(&args).json()["name"], "Other");
    home.says("Acme/Other", "owner:Mira", "another way");
    home.check("fork_show", &["show", "Other"], &home.run(&["show", "Other"]));
    home.check("bad_move_fork", &["session", "move", "Other", "Acme"], &{
        home.says("Beta/Build", "owner:Mira", "hello");
        home.run(&["session", "move", "Other", "Beta"])
    });
    assert_eq!(home.run(&["verify"]).code, Some(0));
}

#[test]
fn things_are_erased() {
    let home = Home::new();
    let source = home.says("Acme/Plan", "agent:Rocky", "The pin is 4711.");
    let other = home.says("Acme/Plan", "owner:Mira", "Good.");
    let args = ["forward", &source, "--to", "Beta/Build", "--create", "--json"];
    let quote = super::address(&home.run(&args).json());
    home.check("erase_turn", &["erase", "ADDRESS"], &home.run(&["erase", &source]));
    home.check("erase_show", &["show", "Acme/Plan"], &home.run(&["show", "Acme/Plan"]));
    home.check("erase_origin", &["show", "QUOTE"], &home.run(&["show", &quote]));
    let session = other.rsplit_once('/').unwrap().0;
    let args = ["erase", session, "--quotes", "--json"];
    home.check("erase_session", &["erase", "SESSION", "--quotes", "--json"], &home.run(&args));
    home.check("bad_show_erased", &["show", "ADDRESS"], &home.run(&["show", &other]));
    home.check("bad_erase_name", &["erase", "Beta"], &home.run(&["erase", "Beta"]));
    let scoped = home.run(&["erase", &quote, "--scope", "Beta"]);
    home.check("bad_erase_scoped", &["erase", "ADDRESS", "--scope", "Beta"], &scoped);
    home.check("erase_resume", &["erase", "--resume"], &home.run(&["erase", "--resume"]));
    assert_eq!(home.run(&["verify"]).code, Some(0));
}

#[test]
fn the_beginning_of_a_fork_is_kept() {
    let home = Home::new();
    let first = home.says("Acme/Plan", "agent:Rocky", "one");
    assert_eq!(home.run(&["fork", "Plan"]).code, Some(0));
    let session = first.rsplit_once('/').unwrap().0;
    home.check("bad_erase_parent", &["erase", "SESSION"], &home.run(&["erase", session]));
    assert_eq!(home.run(&["erase", session, "--forks"]).code, Some(0));
    assert_eq!(home.run(&["sessions", "--json"]).text(), "");
}

#[test]
fn a_backup_is_a_ledger_and_never_goes_over_something() {
    let home = Home::new();
    let address = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.check("backup", &["backup", "copy.db"], &home.run(&["backup", "copy.db"]));
    home.says("Acme/Plan", "owner:Mira", "Good.");
    assert_eq!(
        home.run(&["show", &address, "--ledger", "copy.db", "--as", "text"]).text(),
        "The plan stands."
    );
    let sessions = home.run(&["sessions", "--ledger", "copy.db", "--json"]).json();
    assert_eq!(sessions["turns"], 1, "what came later is not in it");
    assert_eq!(home.run(&["verify", "--ledger", "copy.db"]).code, Some(0));
    let before = std::fs::read(home.path("copy.db")).unwrap();
    home.check("bad_backup_exists", &["backup", "copy.db"], &home.run(&["backup", "copy.db"]));
    assert_eq!(std::fs::read(home.path("copy.db")).unwrap(), before);
    let scoped = home.run(&["backup", "other.db", "--scope", "Acme"]);
    home.check("bad_backup_scoped", &["backup", "other.db", "--scope", "Acme"], &scoped);
    assert!(!home.path("other.db").exists());
    std::fs::write(home.path("file"), "").unwrap();
    let missing = ["backup", "missing/copy.db"];
    home.check("bad_backup_missing_folder", &missing, &home.run(&missing));
    assert!(!home.path("missing").exists());
    home.check("bad_backup_folder", &["backup", "file/copy.db"], &home.run(&["backup", "file/copy.db"]));
}
