//! The demo and the shipped sessions.

use crate::cli::Home;

fn shipped(name: &str) -> String {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../crates/cli/demo").join(name);
    std::fs::read_to_string(path).expect("the session ships with the program")
}

/// The ledger that a demo left, removed at the end.
struct Left(std::path::PathBuf);

impl Drop for Left {
    fn drop(&mut self) {
        let _ = self.0.parent().map(std::fs::remove_dir_all);
    }
}

fn ledger(page: &str) -> Left {
    let line = page
        .lines()
        .find_map(|l| l.strip_prefix("The ledger stays at "))
        .expect("it says where the ledger is");
    Left(line.into())
}

#[test]
fn the_printed_addresses_resolve() {
    let home = Home::new();
    let ran = home.run(&["demo"]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let page = ran.text();
    let ledger = ledger(&page);
    let addresses: Vec<&str> = page
        .split(|c: char| c.is_whitespace() || c == '"')
        .filter(|word| word.starts_with("sayso://"))
        .collect();
    assert!(addresses.len() >= 4, "{page}");
    for address in addresses {
        let shown = home.run(&["--ledger", ledger.0.to_str().unwrap(), "show", address]);
        assert_eq!(shown.code, Some(0), "{address}: {}", shown.stderr);
    }
    for line in page.lines().filter_map(|l| l.trim().strip_prefix("sayso --ledger ")) {
        let args: Vec<&str> = ["--ledger"].into_iter().chain(line.split(' ')).collect();
        let shown = home.run(&args);
        assert_eq!(shown.code, Some(0), "{line}: {}", shown.stderr);
    }
    assert!(page.contains("kept=\"4000\""), "more than 4,000 characters are forwarded");
}

#[test]
fn a_changed_word_of_a_session_shows() {
    let home = Home::new();
    let word = "Harbour importer: the plan";
    let pi = shipped("pi.jsonl");
    assert!(pi.contains(word));
    std::fs::write(home.path("pi.jsonl"), pi.replace(word, "Harbour importer: the quokka plan")).unwrap();
    let ran = home.run(&["demo", "--pi", "pi.jsonl"]);
    let page = ran.text();
    let _left = ledger(&page);
    assert!(page.contains("the quokka plan"), "{page}");
    let untouched = home.run(&["demo"]).text();
    let _left = ledger(&untouched);
    assert!(!untouched.contains("quokka"));
}

#[test]
fn each_shipped_session_has_what_it_must_have() {
    for name in ["pi.jsonl", "codex.jsonl"] {
        let home = Home::new();
        std::fs::write(home.path(name), shipped(name)).unwrap();
        let done = home.run(&["import", name, "--json"]).lines().pop().unwrap();
        assert!(done["turns_added"].as_u64() >= Some(20), "{name}: {done}");
        assert_eq!(done["unknown"], 0, "{name}");
        let session = home.run(&["sessions", "--json"]).json();
        let entries = home.run(&["show", session["address"].as_str().unwrap(), "--json"]).lines();
        let text = |e: &serde_json::Value| e["text"].as_str().unwrap_or_default().to_owned();
        assert!(entries.iter().any(|e| e["kind"] == "compaction"), "{name}: a compaction");
        assert!(entries.iter().any(|e| text(e).contains("니다")), "{name}: Korean");
        let calls = |e: &serde_json::Value| {
            let parts = e["parts"].as_array().cloned().unwrap_or_default();
            parts.iter().filter(|p| p["kind"] == "tool_call").count()
        };
        // Two calls at least before the first result: in one turn, or in turns in a row.
        let parallel = entries.windows(2).any(|w| calls(&w[0]) > 1 || calls(&w[0]) + calls(&w[1]) > 1);
        assert!(parallel, "{name}: parallel calls");
    }
}

#[test]
fn what_the_model_did_not_see_is_read_back_whole() {
    let home = Home::new();
    let log = "pi-bash-9a65ded034bedaea.log";
    for name in ["pi.jsonl", "codex.jsonl", log] {
        std::fs::write(home.path(name), shipped(name)).unwrap();
    }
    assert_eq!(home.run(&["import", "pi.jsonl", "codex.jsonl"]).code, Some(0));
    let mut wholes = Vec::new();
    for session in home.run(&["sessions", "--json"]).lines() {
        let entries = home.run(&["show", session["address"].as_str().unwrap(), "--json"]).lines();
        let parts = entries.iter().flat_map(|e| e["parts"].as_array().cloned().unwrap_or_default());
        for part in parts.filter(|p| p["output"].is_string()) {
            let whole = home.run(&["output", part["output"].as_str().unwrap()]);
            assert_eq!(whole.code, Some(0), "{}", whole.stderr);
            // A file that is there is never written over.
            let mine = home.path("mine.txt");
            std::fs::write(&mine, "mine").unwrap();
            let refused =
                home.run(&["output", part["output"].as_str().unwrap(), "--to", mine.to_str().unwrap()]);
            assert_eq!((refused.code, std::fs::read_to_string(&mine).unwrap().as_str()), (Some(1), "mine"));
            wholes.push((whole.text(), part["text"].as_str().unwrap().to_owned()));
        }
    }
    let pi = wholes.iter().find(|(whole, _)| *whole == shipped(log)).expect("all that pi kept in a file");
    assert!(pi.1.len() < pi.0.len(), "the model saw less");
    // What Codex cut for its model stands in an event of the rollout.
    let codex =
        wholes.iter().find(|(_, seen)| seen.contains("tokens truncated")).expect("one output was cut");
    assert_eq!(codex.0.lines().count(), 105);
    let to = home.path("whole.txt");
    let id = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
    assert_eq!(home.run(&["output", id, "--to", to.to_str().unwrap()]).code, Some(1));
    assert!(!to.exists(), "an unknown output makes no file");
}
