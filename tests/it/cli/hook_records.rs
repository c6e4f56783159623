//! What hooks keep outside of the ledger: records of failures for the doctor, and hints.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};

use super::{Home, Ran};

const SESSION: &str = "01a22eaa-6f1c-7690-a0d1-000000abcdef";

fn input(home: &Home) -> Value {
    json!({"session_id": SESSION, "cwd": home.path("lantern"), "transcript_path": null, "prompt": "What now?"})
}

fn command(home: &Home, event: &str) -> Command {
    let mut command = home.command();
    command.args(["hook", "codex", event]);
    command
}

/// Runs a hook, which is never in the way of its agent.
#[track_caller]
fn hook(command: &mut Command, input: &[u8]) -> Ran {
    let ran = super::run(command, input);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    ran
}

/// Where records are, unless told otherwise.
fn records(home: &Home) -> PathBuf {
    home.path(".local/state/sayso/hook-failures.jsonl")
}

/// The reasons that the doctor names.
fn reasons(doctor: &mut Command) -> Vec<String> {
    let ran = super::run(doctor.args(["doctor", "--json"]), b"");
    let lines = ran.text().lines().map(|l| serde_json::from_str::<Value>(l).unwrap()).collect::<Vec<_>>();
    lines.iter().filter_map(|line| Some(line.get("reason")?.as_str()?.to_owned())).collect()
}

#[track_caller]
fn all_reasons(home: &Home) -> Vec<String> {
    reasons(&mut home.command())
}

#[cfg(target_os = "linux")]
#[test]
fn a_record_goes_elsewhere_where_its_own_disk_is_full() {
    for login in [None, Some("run")] {
        let home = Home::new();
        std::fs::create_dir_all(records(&home).parent().unwrap()).unwrap();
        // Every write to it fails as on a full disk.
        std::os::unix::fs::symlink("/dev/full", records(&home)).unwrap();
        let with = |mut command: Command| {
            command.envs(login.map(|login| ("XDG_RUNTIME_DIR", home.path(login))));
            command
        };
        hook(&mut with(command(&home, "Nap")), input(&home).to_string().as_bytes());
        let found = reasons(&mut with(home.command()));
        assert_eq!(found.len(), 1, "{login:?} {found:?}");
        assert!(found[0].contains("\"Nap\" is not known"), "{found:?}");
        let ran = super::run(with(home.command()).arg("doctor"), b"");
        let place = login.map_or("/sayso-".to_owned(), |login| format!("/{login}/sayso/hook-failures.jsonl"));
        assert!(ran.text().contains(&place), "where it is has to be told: {}", ran.text());
    }
}

#[test]
fn the_first_hook_of_all_keeps_room_for_records() {
    let home = Home::new();
    hook(&mut command(&home, "SessionStart"), input(&home).to_string().as_bytes());
    let spare = records(&home).with_file_name("spare");
    assert_eq!(std::fs::metadata(spare).unwrap().len(), 16 * 1024);
}

#[cfg(unix)]
#[test]
fn what_others_could_have_put_among_temporary_files_is_not_read() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let home = Home::new();
    let own = std::fs::metadata(home.path("")).unwrap().uid();
    let folder = home.path(&format!("sayso-{own}"));
    std::fs::create_dir(&folder).unwrap();
    let record = json!({"program": "p", "event": "e", "at": "2026-11-30T00:00:00Z", "reason": "one"});
    std::fs::write(folder.join("hook-failures.jsonl"), format!("{record}\n")).unwrap();
    for (mode, found) in [(0o700, vec!["one".to_owned()]), (0o770, vec![])] {
        std::fs::set_permissions(&folder, std::fs::Permissions::from_mode(mode)).unwrap();
        assert_eq!(all_reasons(&home), found, "{mode:o}");
    }
}

#[test]
fn an_empty_variable_names_no_folder() {
    let home = Home::new();
    let folder = home.path("work");
    std::fs::create_dir(&folder).unwrap();
    let mut nap = command(&home, "Nap");
    hook(nap.env("SAYSO_STATE", "").current_dir(&folder), input(&home).to_string().as_bytes());
    let mut start = command(&home, "SessionStart");
    hook(start.env("SAYSO_STATE", "").current_dir(&folder), input(&home).to_string().as_bytes());
    assert_eq!(std::fs::read_dir(&folder).unwrap().count(), 0, "nothing is made where the agent works");
    assert_eq!(all_reasons(&home).len(), 1);
}

#[test]
fn a_byte_that_is_no_text_hides_no_record() {
    let home = Home::new();
    for event in ["Nap", "Doze"] {
        hook(&mut command(&home, event), input(&home).to_string().as_bytes());
        let mut bytes = std::fs::read(records(&home)).unwrap();
        bytes.extend(b"\xFF\n");
        std::fs::write(records(&home), bytes).unwrap();
    }
    assert_eq!(all_reasons(&home).len(), 2);
}

#[test]
fn an_input_may_stand_on_several_lines() {
    let home = Home::new();
    let pretty = serde_json::to_string_pretty(&input(&home)).unwrap();
    for text in [pretty.clone(), format!("\n{}\r\n", pretty.replace('\n', "\r\n"))] {
        hook(&mut command(&home, "SessionStart"), text.as_bytes());
    }
    assert_eq!(all_reasons(&home), Vec::<String>::new());
    assert_eq!(home.run(&["sessions", "--json"]).json()["kind"], "live");
}

#[test]
fn a_ledger_that_went_missing_is_told_of_once() {
    let home = Home::new();
    let start = || hook(&mut command(&home, "SessionStart"), input(&home).to_string().as_bytes());
    start();
    assert_eq!(all_reasons(&home), Vec::<String>::new(), "the first one is made, as ever");
    for end in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{end}", home.ledger().display()));
    }
    start();
    start();
    let found = all_reasons(&home);
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("went missing") && found[0].contains("ledger.db"), "{found:?}");
    assert_eq!(home.run(&["sessions", "--json"]).lines().len(), 1, "the session goes on in the new one");
}

#[test]
fn a_folder_that_somebody_named_is_not_made() {
    let home = Home::new();
    let ledger = home.path("not/there/ledger.db");
    let about = json!({"type": "session_meta", "payload": {"id": SESSION, "cwd": "/w"}});
    std::fs::write(home.path("rollout.jsonl"), format!("{about}\n")).unwrap();
    let mut start = command(&home, "SessionStart");
    hook(start.env("SAYSO_LEDGER", &ledger), input(&home).to_string().as_bytes());
    let found = all_reasons(&home);
    assert!(found.len() == 1 && found[0].contains("not/there is not there, make it first"), "{found:?}");
    for args in [
        &["append", "--project", "Acme", "--session", "Plan", "--speaker", "owner"][..],
        &["import", "rollout.jsonl"],
    ] {
        let mut append = home.command();
        let ran = super::run(append.arg("--ledger").arg(&ledger).args(args), b"words");
        assert_eq!(ran.code, Some(1), "{args:?}");
        assert!(ran.stderr.contains("name another file"), "{}", ran.stderr);
        assert!(ran.stderr.contains("not/there is not there, make it first"), "{}", ran.stderr);
    }
    assert!(!home.path("not").exists());
    // The platform's own is made.
    let mut append = home.command();
    append.env_remove("SAYSO_LEDGER").args([
        "append",
        "--project",
        "Acme",
        "--session",
        "Plan",
        "--speaker",
        "owner",
    ]);
    assert_eq!(super::run(&mut append, b"words").code, Some(0));
}

#[test]
fn a_transcript_that_is_not_there_is_told_of_once() {
    let home = Home::new();
    let mut input = input(&home);
    input["transcript_path"] = home.path("none.jsonl").to_string_lossy().into();
    for event in ["SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "PreCompact", "Stop"] {
        hook(&mut command(&home, event), input.to_string().as_bytes());
    }
    let found = all_reasons(&home);
    assert!(found.len() == 1 && found[0].contains("none.jsonl is not there"), "{found:?}");
}

#[test]
fn a_ledger_that_was_emptied_or_replaced_is_told_of_once() {
    for what in ["was emptied", "replaced by another"] {
        let home = Home::new();
        let start = || hook(&mut command(&home, "SessionStart"), input(&home).to_string().as_bytes());
        start();
        start();
        assert_eq!(all_reasons(&home), Vec::<String>::new(), "the same one is there");
        for end in ["", "-wal", "-shm"] {
            let _ = std::fs::remove_file(format!("{}{end}", home.ledger().display()));
        }
        if what == "was emptied" {
            std::fs::write(home.ledger(), "").unwrap();
        } else {
            home.says("Acme/Plan", "owner:Mira", "Other words.");
        }
        start();
        start();
        let found = all_reasons(&home);
        assert!(found.len() == 1 && found[0].contains(what), "{what}: {found:?}");
    }
}

#[test]
fn a_transcript_without_a_record_is_told_of_once_it_has_a_line() {
    let home = Home::new();
    let mut input = input(&home);
    input["transcript_path"] = home.path("odd.jsonl").to_string_lossy().into();
    for (text, told) in
        [("", 0), ("\n \n", 0), ("half a line", 0), ("a line\n", 1), ("a line\nand more\n", 1)]
    {
        std::fs::write(home.path("odd.jsonl"), text).unwrap();
        hook(&mut command(&home, "Stop"), input.to_string().as_bytes());
        let found = all_reasons(&home);
        assert!(
            found.len() == told && found.iter().all(|why| why.contains("odd.jsonl")),
            "{text:?} {found:?}"
        );
    }
}
