//! A short soak: `cargo xtask soak` with a few seconds.

use std::process::Command;

#[test]
fn nothing_is_lost_or_doubled_while_processes_are_killed() {
    let ran = Command::new(env!("CARGO_BIN_EXE_xtask")).args(["soak", "--seconds", "5"]).output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{stdout}\n{stderr}");
    assert!(!stdout.contains(": 0 kills"), "{stdout}");
    assert!(
        stdout.contains("lost 0, doubled 0, never begun 0, not found by a search 0, errors 0"),
        "{stdout}"
    );
    assert_eq!(stderr, "");
}
