//! What a bridge says to what cannot be.

use super::{ECHO, Place};
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
