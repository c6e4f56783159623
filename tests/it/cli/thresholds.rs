//! `sayso thresholds`: what is measured, proposed, set and decided.

use std::process::Stdio;

use super::Home;
use super::run::{check, command, sayso};

#[test]
fn a_policy_that_was_set_decides() {
    let home = Home::new();
    let set = |policy: &[&str]| {
        check(
            &home,
            &format!("thresholds_set_{}", policy.join("_")),
            &[&["thresholds", "set", "news"], policy].concat(),
        )
    };
    set(&["always"]);
    set(&["above", "2000"]);
    assert_eq!(sayso(&home, &["thresholds", "set", "news", "above", "2,000", "--json"]).json()["version"], 2);
    let decide = |tool: &str, length: &str| sayso(&home, &["thresholds", "decide", tool, length]).text();
    assert_eq!(decide("news", "2000"), "one text (above 2000, policies of version 2)\n");
    assert_eq!(decide("news", "2001"), "two texts (above 2000, policies of version 2)\n");
    // What is not set goes by what is stored.
    sayso(&home, &["run", "--tool", "other", "--", "echo", "hi"]);
    assert_eq!(decide("other", "9"), "one text (never, proposed by 1 output)\n");
    let report = sayso(&home, &["thresholds"]).text();
    assert!(report.starts_with("other (success): 1 output, lengths in characters\n"), "{report}");
    sayso(&home, &["run", "--tool", "news", "--", "echo", "hi"]);
    check(&home, "thresholds_with_policy", &["thresholds", "--tool", "news"]);
    check(&home, "bad_thresholds_set", &["thresholds", "set", "news", "above"]);
    check(&home, "bad_thresholds_set_word", &["thresholds", "set", "news", "sometimes"]);
    std::fs::write(home.path("wrong"), "{").unwrap();
    check(&home, "bad_thresholds_set_file", &["thresholds", "set", "news", "never", "--policies", "wrong"]);
    assert_eq!(std::fs::read(home.path("wrong")).unwrap(), b"{", "what it is not is left alone");
    check(
        &home,
        "bad_thresholds_set_folder",
        &["thresholds", "set", "news", "never", "--policies", "none/x"],
    );
}

#[test]
fn policies_that_are_set_at_once_are_all_kept() {
    let home = Home::new();
    let tools: Vec<String> = (0..12).map(|n| format!("tool{n}")).collect();
    let set = |tool: &String| {
        command(&home).args(["thresholds", "set", tool, "always"]).stdout(Stdio::null()).spawn()
    };
    let children: Vec<_> = tools.iter().map(|tool| set(tool).unwrap()).collect();
    assert!(children.into_iter().all(|mut child| child.wait().unwrap().success()));
    for tool in &tools {
        let decided = sayso(&home, &["thresholds", "decide", tool, "1"]).text();
        assert_eq!(decided, "two texts (always, policies of version 12)\n");
    }
}

#[test]
fn t29_thresholds_of_989_lengths() {
    let home = Home::new();
    let lengths = include_str!("../../../crates/output/tests/it/lengths.txt");
    let named: String = lengths.lines().map(|length| format!("news {length}\n")).collect();
    std::fs::write(home.path("lengths"), named).unwrap();
    let args = ["thresholds", "--from", "lengths", "--above", "4000", "--above", "500"];
    check(&home, "thresholds", &args);
    let json = sayso(&home, &[&args[..], &["--json"]].concat()).json();
    assert_eq!(
        (json["count"].as_u64(), json["median"].as_u64(), json["max"].as_u64()),
        (Some(989), Some(152), Some(3_466))
    );
    let decide =
        |length: &str| sayso(&home, &["thresholds", "decide", "news", length, "--from", "lengths"]).text();
    assert!(decide("100").starts_with("one text (above 500, proposed by 989 outputs)"), "{}", decide("100"));
    assert!(decide("501").starts_with("two texts (above 500"), "{}", decide("501"));
    std::fs::write(
        home.path("policies"),
        r#"{"version":3,"tools":{"news":{"above":2000},"ls":"never","map":"always"}}"#,
    )
    .unwrap();
    let by = |tool: &str, length: &str| {
        sayso(&home, &["thresholds", "decide", tool, length, "--policies", "policies"]).text()
    };
    assert_eq!(by("news", "2000"), "one text (above 2000, policies of version 3)\n");
    assert_eq!(by("news", "2001"), "two texts (above 2000, policies of version 3)\n");
    assert_eq!(by("map", "1"), "two texts (always, policies of version 3)\n");
    assert_eq!(by("other", "99999"), "one text (never, policies of version 3)\n");
    std::fs::write(home.path("wrong"), "news 12\nnews many\n").unwrap();
    check(&home, "bad_thresholds_line", &["thresholds", "--from", "wrong"]);
    check(&home, "bad_thresholds_policies", &["thresholds", "decide", "ls", "1", "--policies", "wrong"]);
    check(&home, "bad_thresholds_nothing", &["thresholds", "--tool", "ls", "--from", "lengths"]);
}

#[test]
fn thresholds_of_stored_outputs_count_characters_of_both_streams() {
    let home = Home::new();
    for _ in 0..3 {
        sayso(&home, &["run", "--tool", "say", "--shell", "--", "printf 확인; printf 가 >&2"]);
    }
    sayso(&home, &["run", "--tool", "other", "--", "false"]);
    let json = sayso(&home, &["thresholds", "--tool", "say", "--json"]).json();
    assert_eq!(
        (json["count"].as_u64(), json["max"].as_u64(), json["ending"].as_str()),
        (Some(3), Some(3), Some("success"))
    );
    assert_eq!(sayso(&home, &["thresholds", "--json"]).lines().len(), 2);
    let decided = sayso(&home, &["thresholds", "decide", "say", "3", "--json"]).json();
    assert_eq!((decided["texts"].as_u64(), decided["outputs"].as_u64()), (Some(1), Some(3)));
}
