//! Texts for two recipients, from a tool through `sayso emit` to `sayso run`.

use std::path::{Path, PathBuf};
use std::process::Command;

use regex::Regex;
use serde_json::Value;

use super::run::{emit, outputs};
use super::{Home, Ran, run};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().join("crates/output/examples")
}

fn command(home: &Home) -> Command {
    let mut command = home.command();
    let path = std::env::var_os("PATH").unwrap_or_default();
    // The spool folders stand in the scratch folder.
    command.env("PATH", path).env("LC_ALL", "C").env("SAYSO_EMIT", emit()).env("TMPDIR", home.path(""));
    command
}

fn sayso(home: &Home, args: &[&str]) -> Ran {
    run(command(home).args(args), b"")
}

fn shell(home: &Home, line: &str) -> Value {
    sayso(home, &["run", "--json", "--shell", "--", line]).json()
}

/// Without times, nonces, and the name of the scratch folder.
fn check(home: &Home, name: &str, args: &[&str], ran: &Ran) {
    let mask = |text: &str| {
        let times = Regex::new(r"\| \d+(?:\.\d+)?(?:ms|s)\b").unwrap();
        let text = times.replace_all(text, "| <TIME>").into_owned();
        let nonces = Regex::new(r"\b[0-9a-f]{32}\b").unwrap();
        let folders = Regex::new(r"\.tmp\w{6}/call").unwrap();
        let text = folders.replace_all(&text, "<FOLDER>/call").into_owned();
        nonces.replace_all(&text, "<NONCE>").replace(&emit(), "sayso emit")
    };
    let ran = Ran { code: ran.code, stdout: mask(&ran.text()).into_bytes(), stderr: mask(&ran.stderr) };
    home.check(name, args, &ran);
}

#[test]
fn t34_tools_in_three_languages_hand_over_and_end_at_once() {
    for (tool, script) in [("sh", "emit.sh"), ("python3", "emit.py"), ("node", "emit.mjs")] {
        if Command::new(tool).arg("--version").output().is_err() {
            println!("SKIPPED {script}: there is no {tool} here");
            continue;
        }
        let home = Home::new();
        let path = examples().join(script);
        let path = path.to_str().unwrap();
        let short = sayso(&home, &["run", "--json", "--", tool, path]).json();
        let one = &short["envelopes"][0];
        assert!(
            one["model"].as_str().unwrap().ends_with("entry 3: everything the model may be asked about\n"),
            "{script}: {short}"
        );
        assert_eq!(
            (one["person"].as_str(), one["purpose"].as_str(), one["whole"].as_bool()),
            (Some("3 entries, newest first"), Some("listing"), Some(true))
        );
        assert!(
            short["view"].as_str().unwrap().starts_with("raw progress on stdout\n[exit:0"),
            "{script}: stdout is raw"
        );
        // A megabyte: bounded, and one call reads it whole.
        let long = sayso(&home, &["run", "--json", "--", tool, path, "25000"]).json();
        let one = &long["envelopes"][0];
        let id = one["output"].as_str().unwrap();
        assert!(one["model"].as_str().unwrap().contains(&format!("sayso output {id} ")), "{script}");
        let whole = sayso(&home, &["output", id]).text();
        assert!(
            whole.len() > 1_000_000
                && whole.ends_with("entry 25000: everything the model may be asked about\n"),
            "{script}"
        );
        // As text: what the model gets.
        let text = sayso(&home, &["run", "--", tool, path]);
        assert!(text.text().starts_with("entry 1: everything"), "{script}: {}", text.text());
        assert!(!text.text().contains("newest first") && text.stderr.contains("--json gives it"), "{script}");
    }
}

#[test]
fn where_nobody_asks_the_models_text_is_the_output() {
    let home = Home::new();
    let script = examples().join("emit.sh");
    let own = run(command(&home).args(["run", "--raw", "--", "sh", script.to_str().unwrap(), "1"]), b"");
    assert_eq!(own.text(), "raw progress on stdout\nentry 1: everything the model may be asked about\n");
    assert_eq!(outputs(&home).len(), 1);
}

#[test]
fn t28_an_empty_display_is_none_and_a_display_alone_is_the_models_too() {
    let home = Home::new();
    let emit = emit();
    let plain = shell(&home, &format!("printf 'three files' | {emit}"));
    let one = &plain["envelopes"][0];
    assert_eq!((one["model"].as_str(), one["person"].is_null()), (Some("three files"), true));
    let blank = shell(&home, &format!("printf 'three files  ' | {emit} --model-bytes 11"));
    assert!(blank["envelopes"][0]["person"].is_null(), "{blank}");
    let alone = shell(&home, &format!("printf 'shown' | {emit} --model-bytes 0"));
    let one = &alone["envelopes"][0];
    assert_eq!((one["model"].as_str(), one["person"].as_str()), (Some("shown"), Some("shown")));
}

#[test]
fn frames_come_over_standard_output_where_no_folder_is_shared() {
    let home = Home::new();
    let line = format!(
        "echo before; printf 'for the modelfor the person' | SAYSO_SPOOL= {} --model-bytes 13; echo after",
        emit()
    );
    let ran = shell(&home, &line);
    let one = &ran["envelopes"][0];
    assert_eq!(
        (one["model"].as_str(), one["person"].as_str()),
        (Some("for the model"), Some("for the person"))
    );
    assert!(ran["view"].as_str().unwrap().starts_with("before\nafter\n[exit:0"), "{ran}");
    let stored = &outputs(&home)[0];
    assert!(String::from_utf8_lossy(&stored.1).contains("for the person"), "what is stored is raw");
}

/// How often a text is in all that a model and a person were given.
fn given(ran: &Value, text: &str) -> [usize; 3] {
    let count = |value: &Value| value.as_str().map_or(0, |value| value.matches(text).count());
    let envelopes = ran["envelopes"].as_array().map(Vec::as_slice).unwrap_or_default();
    let sum = |key: &str| envelopes.iter().map(|one| count(&one[key])).sum();
    [count(&ran["view"]), sum("model"), sum("person")]
}

#[test]
fn t33_a_display_inside_another_tools_output_goes_whole_or_is_gone_whole() {
    let home = Home::new();
    let emit = emit();
    let sayso_run = format!("{} run --shell --", super::program().display());
    let inner = "printf 'for the modelshown to Mira'";
    let ways = [
        // A frame between lines of the tool around it, and one that the tool around it takes on its way.
        (format!("echo before; {inner} | SAYSO_SPOOL= {emit} --model-bytes 13; echo after"), [0, 1, 1]),
        (
            format!("echo before; ({inner} | SAYSO_SPOOL= {emit} --model-bytes 13) | cat; echo after"),
            [0, 1, 1],
        ),
        (format!("echo before; {inner} | {emit} --model-bytes 13; echo after"), [0, 1, 1]),
        // A run within a run gives its caller what a model is to see.
        (format!("echo before; {sayso_run} \"{inner} | {emit} --model-bytes 13\"; echo after"), [1, 0, 0]),
        // A frame of another call, and the old markers: words of the tool, all of them.
        (
            format!(
                "echo before; {inner} | SAYSO_SPOOL= SAYSO_NONCE={OTHER} {emit} --model-bytes 13; echo after"
            ),
            [1, 0, 0],
        ),
    ];
    for (line, [view, model, person]) in ways {
        let ran = shell(&home, &line);
        let shown = ran["view"].as_str().unwrap();
        assert!(shown.starts_with("before\n") && shown.contains("after\n"), "{line}: {shown}");
        assert_eq!(given(&ran, "for the model"), [view, model, 0], "{line}: {ran}");
        let display = given(&ran, "shown to Mira");
        let foreign = line.contains(OTHER);
        assert_eq!(display, [usize::from(foreign), 0, person], "{line}: {ran}");
    }
}

/// Writes a file as a broken tool would: whatever it likes.
const FRAME: &str = r#"put() { printf '\036sayso-frame %s %s\n%s\036sayso-end %s\n' "$1" "$2" "$3" "$1" >"$SAYSO_SPOOL/000000-00000000000000000000000000000001.envelope"; }"#;
const OTHER: &str = "ffffffffffffffffffffffffffffffff";
const WRONG: &str = "0000000000000000000000000000000000000000000000000000000000000000";

#[test]
fn what_else_lies_in_the_spool_folder_is_named_and_ignored() {
    let home = Home::new();
    let emit = emit();
    std::fs::write(home.path("secret"), "a secret").unwrap();
    let cases = [
        ("junk", "echo junk >\"$SAYSO_SPOOL/notes.txt\"".to_owned()),
        (
            "link",
            "ln -s \"$HOME/secret\" \"$SAYSO_SPOOL/000000-00000000000000000000000000000001.envelope\""
                .to_owned(),
        ),
        ("folder", "mkdir \"$SAYSO_SPOOL/000000-00000000000000000000000000000001.envelope\"".to_owned()),
        (
            "oversize",
            "head -c 17000000 /dev/zero >\"$SAYSO_SPOOL/000000-00000000000000000000000000000001.envelope\""
                .to_owned(),
        ),
        ("unfinished", "echo half >\"$SAYSO_SPOOL/tmp-00000000000000000000000000000001\"".to_owned()),
        ("wrong_nonce", format!("{FRAME}; put {OTHER} 'listing 1 1 {WRONG}' ab")),
        ("wrong_hash", format!("{FRAME}; put $SAYSO_NONCE 'listing 1 1 {WRONG}' ab")),
        ("short", format!("{FRAME}; put $SAYSO_NONCE 'listing 100 1 {WRONG}' ab")),
        ("nothing", format!("printf '' | {emit}")),
        ("bytes", format!("printf abc | {emit} --model-bytes 4")),
        ("charset", format!("printf '\\277\\300' | {emit}")),
        ("purpose", format!("printf abc | {emit} --purpose letter")),
        ("folder_gone", format!("rmdir \"$SAYSO_SPOOL\"; printf abc | {emit}")),
    ];
    for (name, line) in cases {
        let args = ["run", "--shell", "--", &line];
        let ran = sayso(&home, &args);
        assert!(!ran.text().contains("a secret"), "{name}");
        check(
            &home,
            &format!("bad_spool_{name}"),
            &["run", "--shell", "--", &line.replace(&emit, "sayso emit").replace(FRAME, "…")],
            &ran,
        );
    }
}
