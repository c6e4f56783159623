//! What was tried and could not be done, or not as it seemed: the answer says so, and what to do next.

use super::{Home, address};

/// The same address with another last segment.
fn other(address: &str) -> String {
    format!("{}/01ARZ3NDEKTSV4RRFFQ69G5FAV", address.rsplit_once('/').unwrap().0)
}

#[track_caller]
fn refused(home: &Home, args: &[&str], code: i32, told: &str) {
    let ran = home.run(args);
    assert_eq!(ran.code, Some(code), "{}{}", ran.text(), ran.stderr);
    assert!(ran.stderr.contains(told), "{}", ran.stderr);
}

#[test]
fn an_unknown_turn_is_not_erased() {
    let home = Home::new();
    let turn = home.says("Acme/Plan", "owner:Mira", "one");
    home.says("Beta/Build", "owner:Mira", "two");
    refused(&home, &["erase", &other(&turn)], 1, "there is no turn");
    refused(&home, &["erase", &turn, "--scope", "Beta"], 1, "there is no turn");
    refused(&home, &["erase", &other(&turn), "--scope", "Beta"], 1, "there is no turn");
}

#[test]
fn a_project_takes_no_name_of_another() {
    let home = Home::new();
    home.says("Acme/Plan", "owner:Mira", "one");
    home.says("Beta/Build", "owner:Mira", "two");
    refused(&home, &["project", "rename", "Beta", "Acme"], 1, "belongs to project");
    assert_eq!(home.run(&["show", "Acme/Plan"]).code, Some(0));
    assert_eq!(home.run(&["project", "rename", "Beta", "Gamma"]).code, Some(0));
    assert_eq!(home.run(&["project", "rename", "Gamma", "Beta"]).code, Some(0), "its own name again");
}

#[test]
fn the_doctor_counts_what_the_scope_sees() {
    let home = Home::new();
    home.says("Acme/Plan", "owner:Mira", "one");
    home.says("Beta/Build", "owner:Mira", "two");
    assert!(home.run(&["doctor"]).text().contains(", 2 sessions;"));
    assert!(home.run(&["doctor", "--scope", "Beta"]).text().contains(", 1 session;"));
}

#[test]
fn a_fork_tells_what_it_shares() {
    let home = Home::new();
    let turn = home.says("Acme/Plan", "owner:Mira", "one");
    let fork = home.run(&["fork", "Plan", "--json"]).json();
    assert_eq!(fork["fork"]["parent"], turn.rsplit_once('/').unwrap().0);
    assert_eq!((fork["fork"]["entries"].as_u64(), fork["closed"].as_bool()), (Some(1), Some(false)));
    assert_eq!(fork["project"], "Acme");
    assert!(home.run(&["show", &address(&fork)]).text().contains("one"));
    assert!(home.run(&["sessions"]).text().contains("0 turns of its own, 1 entry shared"));
}

#[test]
fn what_is_nothing_is_refused() {
    let home = Home::new();
    home.says("Acme/Plan", "owner:Mira", "one");
    refused(&home, &["session", "rename", "Plan", ""], 1, "title is empty: give one");
    refused(&home, &["search", "one", "--limit", "0"], 2, "1 or more");
    refused(&home, &["show", "Plan", "--last", "0"], 2, "--last");
    refused(&home, &["show", "Plan", "--limit", "0"], 2, "1 or more");
    refused(&home, &["context", "Plan", "--for", "google"], 2, "openai-chat");
}
