//! What a bridge says to what cannot be.

use serde_json::json;

use super::{ECHO, OWNER, Place, Running, sees};
use crate::cli::run;

const ARGS: [&str; 3] = ["bridge", "--config", "bridge.toml"];

#[track_caller]
fn check(name: &str, place: &Place) {
    let mut ran = run(&mut place.command(), b"");
    ran.stderr = ran.stderr.replace(&place.server.url(), "<SERVER>");
    assert!(!ran.stderr.contains("not_a-secret"), "the token is shown: {}", ran.stderr);
    place.home.check(&format!("bridge_{name}"), &ARGS, &ran);
}

#[test]
fn what_cannot_be_is_refused_with_the_next_action() {
    let place = Place::new(ECHO);
    let standard = place.standard();
    std::fs::remove_file(place.home.path("bridge.toml")).unwrap();
    check("missing_file", &place);
    for (name, from, to) in [
        ("unknown_key", "owners", "owner"),
        ("unknown_table", "[agent]", "[agents]"),
        ("no_table", "[session]", "session"),
        ("nobody", "owners = [7]\n", ""),
        ("wrong_type", "owners = [7]", "owners = \"mira\""),
        ("wrong_agent", "kind = \"lines\"", "kind = \"codex\""),
        ("no_token", "token_env = \"BOT\"", "token_env = \"NO_SUCH\""),
        ("no_token_file", "token_env = \"BOT\"", "token_file = \"no/such/file\""),
        ("no_agent", "\"/bin/sh\"", "\"no-such-agent\""),
        ("no_folder", "name = \"Rocky\"", "name = \"Rocky\"\nfolder = \"no/such/folder\""),
    ] {
        place.config(&standard.replace(from, to));
        check(name, &place);
    }
    place.config(&standard.replace("token_env = \"BOT\"", "token_file = \"token\""));
    std::fs::write(place.home.path("token"), "my secret").unwrap();
    check("malformed_token", &place);
    std::fs::write(place.home.path("token"), "4711:another_secret").unwrap();
    check("bad_token", &place);
}

#[test]
fn two_bridges_on_one_account_are_refused() {
    let place = Place::new(ECHO);
    let mut first = place.start();
    first.says("is read");
    let mut ran = run(&mut place.command(), b"");
    ran.stderr = ran.stderr.replace(&first.child.id().to_string(), "<PROCESS>");
    place.home.check("bridge_two_on_one_account", &ARGS, &ran);
    assert!(first.stop_by("-INT").ends_with("stopping\n"));
}

/// What a bridge says that goes on, without what changes from run to run.
#[track_caller]
fn said(name: &str, place: &Place, bridge: Running) {
    let id = bridge.child.id().to_string();
    let said = bridge.stop().replace(&place.server.url(), "<SERVER>").replace(&id, "<PROCESS>");
    sayso_snapshots::check(&format!("bridge_{name}"), &place.home.steady(&said));
}

#[test]
fn a_server_that_cannot_be_reached_is_said_and_tried_again() {
    let mut place = Place::new(ECHO);
    place.server.goes_down();
    let mut bridge = place.start();
    bridge.says("it is tried again");
    said("unreachable_server", &place, bridge);
}

#[test]
fn an_update_that_cannot_be_read_is_said_and_passed_over() {
    let place = Place::new(ECHO);
    place.server.update(json!({"message": {"message_id": "no number"}}));
    place.server.says(5, OWNER, "hello");
    let bridge = place.start();
    sees(&place, &["You said: hello"]);
    said("malformed_update", &place, bridge);
}
