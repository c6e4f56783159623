//! Which bridges run, as the doctor sees it.

use std::process::Command;

use super::{ECHO, OWNER, Place, sees};
use crate::cli::program;

fn bridges(place: &Place) -> Vec<(bool, String)> {
    let ran = place.home.run(&["doctor", "--json"]);
    let lines = ran.text();
    let checks = lines.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
    let checks = checks.filter(|check| check["check"] == "bridge");
    checks.map(|c| (c["ok"] == true, c["detail"].as_str().unwrap().to_owned())).collect()
}

#[test]
fn a_bridge_is_listed_while_it_runs() {
    let place = Place::new(ECHO);
    let bridge = place.start();
    place.server.says(5, OWNER, "hello");
    sees(&place, &["You said: hello"]);
    let [(ok, said)] = &bridges(&place)[..] else { panic!("{:?}", bridges(&place)) };
    let (version, process) = (env!("CARGO_PKG_VERSION"), bridge.child.id());
    let words = format!("telegram:4711 for harbour/telegram: sayso {version}, process {process}, since ");
    assert!(*ok && said.starts_with(&words), "{said}");
    assert_eq!(place.home.run(&["doctor", "--json", "--scope", "harbour"]).text().matches("4711").count(), 0);
    bridge.stop();
    assert_eq!(bridges(&place), []);
}

#[test]
fn a_bridge_that_crashed_or_runs_replaced_code_is_named() {
    let place = Place::new(ECHO);
    let copy = place.home.path("copy");
    std::fs::copy(program(), &copy).unwrap();
    let mut command = Command::new(&copy);
    let standard = place.command();
    command.args(standard.get_args()).env_clear().current_dir(place.home.path(""));
    command.envs(standard.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let mut bridge = place.start_as(&mut command);
    bridge.says("is read");
    assert!(bridges(&place)[0].0, "{:?}", bridges(&place));
    std::fs::remove_file(&copy).unwrap();
    std::fs::write(&copy, "a newer one").unwrap();
    let [(ok, said)] = &bridges(&place)[..] else { panic!() };
    assert!(
        !ok && said.ends_with("copy was replaced since then, and it still runs the old code: restart it"),
        "{said}"
    );
    bridge.signal("-KILL");
    bridge.child.wait().unwrap();
    let [(ok, said)] = &bridges(&place)[..] else { panic!() };
    let words = "it has ended without giving its account back: start it again, nothing is lost";
    assert!(!ok && (said.ends_with(words) || !cfg!(target_os = "linux")), "{said}");
}
