//! Input that is made to hurt: lines without end, values without bottom, records without number, bytes that are nothing once they are
//! packed. What may be held is bounded by the system, so that a program that holds more ends here.

use std::process::Command;

use serde_json::{Value, json};

use super::{Home, Ran, run};

/// Kilobytes of addresses that the program may have, where its input is of no matter for that.
const SMALL: u64 = 150_000;

/// The program with so many kilobytes of addresses.
fn within(home: &Home, kilobytes: u64, args: &[&str]) -> Ran {
    let bare = home.command();
    let mut command = Command::new("sh");
    let script = format!("ulimit -v {kilobytes} || exit 99; exec \"$0\" \"$@\"");
    command.args(["-c", &script]).arg(bare.get_program()).args(args).env_clear();
    for (name, value) in bare.get_envs().filter_map(|(name, value)| Some((name, value?))) {
        command.env(name, value);
    }
    run(command.current_dir(home.path("")), b"")
}

/// One message of a Claude Code session.
fn message(session: u32, text: &str) -> String {
    let record = json!({
        "parentUuid": null, "type": "user", "cwd": "/w", "version": "2.0.0",
        "sessionId": format!("11111111-2222-3333-4444-{session:012}"),
        "uuid": format!("aaaaaaaa-0000-0000-0000-{session:012}"),
        "message": {"role": "user", "content": text}, "timestamp": "2026-11-30T09:14:05.000Z",
    });
    format!("{record}\n")
}

#[track_caller]
fn imported(home: &Home, kilobytes: u64, text: &str) -> Value {
    let file = home.path("transcript.jsonl");
    std::fs::write(&file, text).unwrap();
    within(home, kilobytes, &["import", file.to_str().unwrap(), "--json"]).json()
}

#[test]
fn a_line_of_25_megabytes_is_a_turn_within_a_bound_of_its_length() {
    let home = Home::new();
    let words = "가나다 words ".repeat(25_000_000 / "가나다 words ".len());
    let report = imported(&home, 500_000, &message(1, &words));
    assert_eq!((&report["turns_added"], &report["refused"]), (&json!(1), &json!([])), "{report}");
    assert_eq!(within(&home, 500_000, &["verify"]).code, Some(0));
}

#[test]
fn values_that_are_100_000_deep_stop_nothing() {
    let home = Home::new();
    let deep = 100_000;
    let arrays = format!("{{\"type\":\"user\",\"x\":{}{}}}\n", "[".repeat(deep), "]".repeat(deep));
    let whole = message(2, "still here");
    let inside = whole.trim_end().strip_suffix('}').unwrap();
    let objects = format!("{inside},\"x\":{}1{}}}\n", "{\"a\":".repeat(deep), "}".repeat(deep));
    let report = imported(&home, SMALL, &format!("{}{arrays}{objects}", message(1, "hello")));
    assert_eq!(report["records"], 3, "{report}");
    assert!(report["turns_added"].as_u64() >= Some(1) && report["refused"] == json!([]), "{report}");
    // A hook's input and a bridge's settings are no other matter.
    let hook = format!("{{\"session_id\":\"s\",\"cwd\":\"/w\",\"x\":{}", "[".repeat(deep));
    assert_eq!(home.feed(hook.as_bytes(), &["hook", "claude-code", "Stop"]).code, Some(0));
}

#[test]
fn a_million_records_of_nothing_are_counted_and_not_held() {
    let home = Home::new();
    let report = imported(&home, SMALL, &format!("{}{}", message(1, "hello"), "{}\n".repeat(1_000_000)));
    assert_eq!((&report["turns_added"], &report["unknown"]), (&json!(1), &json!(1_000_000)));
}

/// What a tool printed is some thousand times as large as what is stored of it: neither reading, nor exporting, nor importing holds it.
#[test]
fn an_output_that_packs_well_is_never_held_whole() {
    let (home, copy) = (Home::new(), Home::new());
    let bytes = 160_000_000_u64;
    home.says("Acme/Plan", "owner:Mira", "run it");
    let script = format!("head -c {bytes} /dev/zero | tr '\\0' 'a'; echo; echo the end");
    let ran = within(&home, SMALL, &["run", "--session", "Acme/Plan", "--", "sh", "-c", &script]);
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    let id = ran.text().split_once("sayso output ").unwrap().1.chars().take(26).collect::<String>();
    assert!(std::fs::metadata(home.ledger()).unwrap().len() < bytes / 50, "packed");
    let tail = within(&home, SMALL, &["output", &id, "--tail", "1"]);
    assert!(tail.text().contains("the end"), "{} {}", tail.text(), tail.stderr);
    let found = within(&home, SMALL, &["output", &id, "--grep", "^the end"]);
    assert!(found.text().contains("the end") && found.code == Some(0), "{}", found.stderr);
    let export = home.path("all.jsonl");
    let args = ["export", "--as", "jsonl", "--to", export.to_str().unwrap()];
    assert_eq!(within(&home, SMALL, &args).code, Some(0));
    let report = within(&copy, SMALL, &["import", export.to_str().unwrap(), "--json"]).json();
    assert_eq!(report["refused"], json!([]), "{report}");
    assert_eq!(within(&copy, SMALL, &["verify"]).code, Some(0));
}
