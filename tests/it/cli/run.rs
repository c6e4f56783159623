//! `sayso run`: what it prints, how it exits, what it stores.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use regex::Regex;
use sayso::store::{Output, OutputState, StreamKind};
use sayso::{Ledger, Options, Scope};

use super::{Home, Ran, program, run};

/// Every stored output, by id.
pub(super) fn outputs(home: &Home) -> Vec<(Output, Vec<u8>, Vec<u8>)> {
    let reader = Ledger::open(&home.ledger(), &Options::default()).unwrap().reader(Scope::All);
    let sessions = reader.sessions(None).unwrap();
    let stored = sessions.iter().flat_map(|s| reader.archived_outputs(s.id, None, 100).unwrap());
    let bytes = |id, kind| {
        let mut bytes = Vec::new();
        reader.read_output(id, kind, &mut bytes).unwrap();
        bytes
    };
    let mut all: Vec<_> = stored
        .map(|o| (o.clone(), bytes(o.id, StreamKind::Stdout), bytes(o.id, StreamKind::Stderr)))
        .collect();
    all.sort_by_key(|(output, ..)| output.id);
    all
}

/// The program without variables of the outside, but with a way to find commands.
pub(super) fn command(home: &Home) -> Command {
    let mut command = home.command();
    command.env("PATH", "/usr/local/bin:/usr/bin:/bin").env("LC_ALL", "C");
    command
}

pub(super) fn sayso(home: &Home, args: &[&str]) -> Ran {
    run(command(home).args(args), b"")
}

/// Without how long it took, and without the nonce in the name of a folder.
fn masked(ran: &Ran) -> Ran {
    let times = Regex::new(r"(?P<before>\| )\d+(?:\.\d+)?(?:ms|s)\b").unwrap();
    let field = Regex::new(r#""duration_ms":\d+"#).unwrap();
    let mask = |text: &str| {
        let text = times.replace_all(text, "${before}<TIME>");
        field.replace_all(&text, "\"duration_ms\":<MS>").into_owned()
    };
    Ran { code: ran.code, stdout: mask(&ran.text()).into_bytes(), stderr: mask(&ran.stderr) }
}

#[track_caller]
pub(super) fn check(home: &Home, name: &str, args: &[&str]) -> Ran {
    let ran = sayso(home, args);
    home.check(name, args, &masked(&ran));
    ran
}

fn big() -> String {
    (1..=60_000).map(|n| format!("{n} {}\n", if n % 7 == 0 { "error: no berth" } else { "ok" })).collect()
}

#[test]
fn what_is_printed_and_stored() {
    let home = Home::new();
    let line = "echo a; echo b >&2; exit 3";
    check(&home, "run_failed", &["run", "--shell", "--", line]);
    check(
        &home,
        "run_json",
        &["run", "--json", "--tool", "bash", "--session", "Acme/Plan", "--shell", "--", line],
    );
    let stored = outputs(&home);
    let facts: Vec<_> = stored
        .iter()
        .map(|(o, out, err)| (o.tool.as_str(), o.exit, o.state, out.as_slice(), err.as_slice()))
        .collect();
    let state = OutputState::Complete;
    assert_eq!(
        facts,
        [("sh", Some(3), state, &b"a\n"[..], &b"b\n"[..]), ("bash", Some(3), state, b"a\n", b"b\n")]
    );
    assert_eq!(stored[0].0.run.command.as_deref(), Some(line));
    // Without a session, the folder's project.
    let sessions = home.run(&["sessions"]).text();
    let folder = home.path("x").parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    assert!(sessions.contains(&format!("{folder} / sayso run\n")), "{sessions}");
    assert!(sessions.contains("Acme / Plan\n"), "{sessions}");
}

#[test]
fn it_exits_as_its_command_did() {
    let home = Home::new();
    let exits = [
        ("exit 0", 0),
        ("exit 7", 7),
        ("exit 255", 255),
        ("kill -9 $$", 137),
        ("kill -TERM $$", 143),
        ("nosuch", 127),
    ];
    for (line, code) in exits {
        for raw in [&["run", "--shell", "--", line][..], &["run", "--raw", "--shell", "--", line]] {
            assert_eq!(sayso(&home, raw).code, Some(code), "{raw:?}");
        }
    }
    assert_eq!(sayso(&home, &["run", "--", "true"]).code, Some(0));
    assert_eq!(sayso(&home, &["run", "--", "false"]).code, Some(1));
}

#[test]
fn t_raw_is_byte_equal_to_the_shell() {
    let home = Home::new();
    std::fs::write(home.path("big"), big()).unwrap();
    std::fs::write(home.path("bytes"), (0..=255u8).cycle().take(100_000).collect::<Vec<_>>()).unwrap();
    let lines = [
        "cat big | grep error | head",
        "cat big",
        "cat bytes; cat bytes >&2",
        "cat missing; echo after",
        "printf x",
        "printf '[exit:0 | 1s]\\n'; exit 9",
        "printf '[5 compressed hash=aaaaaaaaaaaaaaaaaaaaaaaa]'",
    ];
    for line in lines {
        let own = Command::new("/bin/sh")
            .args(["-c", line])
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .env("LC_ALL", "C")
            .current_dir(home.path("big").parent().unwrap())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let ours = sayso(&home, &["run", "--raw", "--shell", "--", line]);
        assert!(ours.stdout == own.stdout, "{line}");
        assert_eq!(ours.stderr.as_bytes(), String::from_utf8_lossy(&own.stderr).as_bytes(), "{line}");
        assert_eq!(ours.code, own.status.code(), "{line}");
        let (_, stdout, stderr) = outputs(&home).pop().unwrap();
        assert!(stdout == own.stdout && stderr == own.stderr, "{line}: stored byte for byte");
    }
}

#[test]
fn the_failing_line_of_a_long_log_is_found_in_three_calls_and_2_kb() {
    let home = Home::new();
    let mut log: Vec<String> =
        (1..=5_000).map(|n| format!("[{n:>5}] compiling unit {n} … done in {}ms", n * 7 % 90)).collect();
    log[3_210] =
        "error[E0308]: mismatched types: expected `Berth`, found `Quay` in src/ferry.rs:88".to_owned();
    log[3_211] = "  help: call .into() on the quay".to_owned();
    std::fs::write(home.path("log"), log.join("\n") + "\n").unwrap();
    // The tool exits with 0, so that nothing points at the line.
    let first = sayso(&home, &["run", "--limit", "8,1000", "--", "cat", "log"]);
    let id = Regex::new(r"sayso output (\w{26})").unwrap().captures(&first.text()).unwrap()[1].to_owned();
    let second = sayso(&home, &["output", &id, "--grep", "mismatched"]);
    let number: usize = second.text().split(':').next().unwrap().parse().unwrap();
    assert_eq!(number, 3_211);
    let third = sayso(&home, &["output", &id, "--lines", &format!("{}:{}", number - 1, number + 1)]);
    assert!(third.text().contains("src/ferry.rs:88\n  help: call .into()"), "{}", third.text());
    let read: usize = [&first, &second, &third].iter().map(|ran| ran.stdout.len() + ran.stderr.len()).sum();
    assert!(read < 2_048, "{read} bytes");
    // A failing tool's line is there at once.
    let failed = sayso(&home, &["run", "--limit", "20,2000", "--shell", "--", "cat log; exit 101"]);
    assert!(failed.text().contains("3211: error[E0308]: mismatched types"), "{}", failed.text());
}

#[test]
fn t6_bad_endings_and_commands() {
    let home = Home::new();
    check(&home, "bad_run_not_found", &["run", "--", "nosuch-command", "--flag"]);
    check(&home, "bad_run_line_without_shell", &["run", "--", "cat big | head"]);
    std::fs::write(home.path("notes.txt"), "words").unwrap();
    check(&home, "bad_run_not_executable", &["run", "--", "./notes.txt"]);
    check(&home, "bad_run_unreadable_file", &["run", "--", "cat", "missing.txt"]);
    check(&home, "bad_run_unreadable_folder", &["run", "--", "cat", "."]);
    check(&home, "bad_run_killed", &["run", "--shell", "--", "echo so far; kill -9 $$"]);
    check(&home, "bad_run_timeout", &["run", "--timeout", "500ms", "--shell", "--", "echo P; sleep 30"]);
    check(&home, "bad_run_binary", &["run", "--shell", "--", "printf '\\211PNG\\r\\n\\032\\n\\000\\000'"]);
    check(&home, "bad_run_no_command", &["run"]);
    check(&home, "bad_run_timeout_of_nothing", &["run", "--timeout", "soon", "--", "true"]);
    check(&home, "bad_run_unknown_session", &["run", "--session", "Plna", "--", "echo", "not run"]);
    check(&home, "bad_run_raw_and_json", &["run", "--raw", "--json", "--", "true"]);
    // Of other commands, wrong arguments are no failure of `run`.
    assert_eq!(sayso(&home, &["append", "--project", "run", "--nosuch"]).code, Some(2));
    assert_eq!(sayso(&home, &["--ledger", "x.db", "run", "--nosuch"]).code, Some(125));
    let timed = outputs(&home).into_iter().find(|(o, ..)| o.run.timed_out).unwrap();
    assert_eq!((timed.1.as_slice(), timed.0.exit), (&b"P\n"[..], None));
}

#[test]
fn t7_a_background_child_is_not_waited_for() {
    let home = Home::new();
    let ran = sayso(&home, &["run", "--shell", "--", "sleep 30 & echo done"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.text().starts_with("done\n") && ran.text().contains("pipe held"), "{}", ran.text());
    assert!(outputs(&home)[0].0.run.pipe_held);
}

#[test]
fn a_broken_ledger_never_eats_the_result() {
    let home = Home::new();
    std::fs::write(home.ledger(), "These are my notes, not a ledger.\n".repeat(40)).unwrap();
    let line = "echo kept; echo trouble >&2; exit 4";
    check(&home, "bad_run_ledger", &["run", "--shell", "--", line]);
    check(&home, "bad_run_ledger_json", &["run", "--json", "--shell", "--", line]);
    let ran = sayso(&home, &["--ledger", "no/x.db", "run", "--shell", "--", "echo done"]);
    assert_eq!((ran.code, ran.text().lines().next()), (Some(0), Some("done")), "{}", ran.stderr);
    assert!(ran.stderr.contains("folder no is not there") && !home.path("no").exists(), "{}", ran.stderr);
    let raw = sayso(&home, &["run", "--raw", "--shell", "--", line]);
    assert_eq!((raw.code, raw.text().as_str()), (Some(4), "kept\n"));
    assert!(raw.stderr.starts_with("trouble\nwarning: the output was not stored: "), "{}", raw.stderr);
    // What is cut names nothing that is not there.
    let long = sayso(&home, &["run", "--limit", "8", "--", "seq", "100"]);
    assert!(!long.text().contains("sayso output"), "{}", long.text());
}

#[test]
fn a_closed_session_is_refused_before_anything_runs() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    assert_eq!(home.run(&["session", "close", "Plan"]).code, Some(0));
    check(&home, "bad_run_closed_session", &["run", "--session", "Plan", "--", "touch", "made"]);
    assert!(!home.path("made").exists());
}

/// A command that says P and then waits; what it said was read.
fn started(
    home: &Home,
    args: &[&str],
    line: &str,
) -> (std::process::Child, BufReader<std::process::ChildStdout>) {
    let mut child = command(home)
        .args(["run"])
        .args(args)
        .args(["--shell", "--", line])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    (child, stdout)
}

/// Waits for a file that a command makes.
fn wait_for(home: &Home, name: &str) {
    for _ in 0..1_200 {
        if home.path(name).exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    panic!("{name} never came");
}

fn signal(child: &std::process::Child, name: &str) {
    let sent = Command::new("kill").args([&format!("-{name}"), &child.id().to_string()]).status().unwrap();
    assert!(sent.success());
}

#[test]
fn signals_are_passed_on_and_what_came_is_stored() {
    let home = Home::new();
    for (name, code) in [("INT", 130), ("TERM", 143)] {
        let (child, _) = started(&home, &[], &format!("echo so far; touch {name}; sleep 60"));
        wait_for(&home, name);
        signal(&child, name);
        assert_eq!(child.wait_with_output().unwrap().status.code(), Some(code), "{name}");
        let (output, stdout, _) = outputs(&home).pop().unwrap();
        assert_eq!((output.run.signal, stdout.as_slice()), (Some(code - 128), &b"so far\n"[..]));
    }
    // A command that minds the signal ends as it likes.
    let line = "trap 'echo minded; exit 5' INT; touch minds; for n in $(seq 600); do sleep 0.1; done";
    let (child, _) = started(&home, &[], line);
    wait_for(&home, "minds");
    signal(&child, "INT");
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(5));
    assert_eq!(outputs(&home).pop().unwrap().1, b"minded\n");
}

#[test]
fn it_stands_as_partial_while_it_runs_and_after_a_kill() {
    let home = Home::new();
    let (mut child, _) = started(
        &home,
        &[],
        "echo so far; touch ready; for n in $(seq 600); do [ -e end ] && break; sleep 0.1; done; echo more",
    );
    wait_for(&home, "ready");
    let mut seen = Vec::new();
    for _ in 0..1_200 {
        if home.ledger().exists() {
            seen = outputs(&home);
        }
        if !seen.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let (output, stdout, _) = seen.pop().unwrap();
    assert_eq!(
        (output.state, output.growing, stdout.as_slice()),
        (OutputState::Partial, true, &b"so far\n"[..])
    );
    std::fs::write(home.path("end"), "").unwrap();
    assert!(child.wait().unwrap().success());
    let (output, stdout, _) = outputs(&home).pop().unwrap();
    assert_eq!((output.state, stdout.as_slice()), (OutputState::Complete, &b"so far\nmore\n"[..]));
    // Killed: what came stays.
    let (mut child, _) = started(&home, &[], "echo first; echo $$ >again; exec sleep 60");
    wait_for(&home, "again");
    for _ in 0..1_200 {
        if outputs(&home).len() == 2 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let (output, stdout, _) = outputs(&home).pop().unwrap();
    assert_eq!((output.state, stdout.as_slice()), (OutputState::Partial, &b"first\n"[..]));
    // What it ran has no parent any more.
    let left = std::fs::read_to_string(home.path("again")).unwrap();
    assert!(Command::new("kill").arg(left.trim()).status().unwrap().success());
}

#[test]
fn a_reader_that_goes_away_ends_the_command() {
    let home = Home::new();
    let (child, mut stdout) = started(&home, &["--raw"], "exec yes");
    let mut line = String::new();
    stdout.read_line(&mut line).unwrap();
    drop(stdout);
    let ended = child.wait_with_output().unwrap();
    assert_eq!((line.as_str(), ended.status.code()), ("y\n", Some(141)));
    assert_eq!(outputs(&home)[0].0.run.signal, Some(13));
}

#[test]
fn standard_input_is_the_commands() {
    let home = Home::new();
    let ran = run(command(&home).args(["run", "--", "tr", "a-z", "A-Z"]), b"quay\n");
    assert!(ran.text().starts_with("QUAY\n[exit:0"), "{}", ran.text());
}

#[test]
fn what_is_left_out_of_stderr_is_read_by_the_call_that_the_view_names() {
    let home = Home::new();
    let ran = sayso(&home, &["run", "--limit", "8", "--json", "--", "sh", "-c", "seq 40 >&2"]).json();
    let (view, id) = (ran["view"].as_str().unwrap(), ran["output"].as_str().unwrap());
    let call = view.split("whole: sayso ").nth(1).and_then(|rest| rest.split(" |").next()).unwrap();
    let whole = sayso(&home, &call.split(' ').collect::<Vec<_>>());
    assert_eq!(whole.stdout, (1..=40).map(|n| format!("{n}\n")).collect::<String>().into_bytes());
    let other = sayso(&home, &["output", id]);
    assert_eq!((other.stdout.len(), other.code), (0, Some(0)));
    assert!(other.stderr.contains("standard output is empty; --stderr has 111 bytes"), "{}", other.stderr);
}

#[test]
fn present_shows_a_file_as_a_model_would_see_it() {
    let home = Home::new();
    std::fs::write(home.path("out"), (1..=30).map(|n| format!("line {n}\n")).collect::<String>()).unwrap();
    std::fs::write(home.path("err"), "no berth\n").unwrap();
    check(&home, "present", &["present", "out", "--exit", "1", "--stderr", "err", "--limit", "12"]);
    check(&home, "present_json", &["present", "out", "--exit", "0", "--limit", "8", "--json"]);
    let piped = run(command(&home).args(["present", "-", "--exit", "0"]), b"\x1b[31mred\x1b[0m\n");
    assert_eq!(piped.text(), "red\n[normalised: 2 escape sequences removed]\n[exit:0]\n");
    check(&home, "bad_present_missing", &["present", "missing"]);
    check(&home, "bad_present_folder", &["present", "."]);
    std::os::unix::fs::symlink("loop", home.path("loop")).unwrap();
    check(&home, "bad_present_loop", &["present", "loop"]);
    check(&home, "bad_present_stderr", &["present", "out", "--stderr", "missing"]);
    check(&home, "bad_present_limit", &["present", "out", "--limit", "3"]);
}

#[test]
fn present_reads_a_pipe_once() {
    let home = Home::new();
    assert!(Command::new("mkfifo").arg(home.path("pipe")).status().unwrap().success());
    let child =
        command(&home).args(["present", "pipe", "--exit", "0"]).stdout(Stdio::piped()).spawn().unwrap();
    std::fs::write(home.path("pipe"), (1..=300).map(|n| format!("line {n}\n")).collect::<String>()).unwrap();
    let text = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(text.starts_with("line 1\n") && text.contains("[exit:0 | 300 lines"), "{text}");
}

/// The same program for another account, from a folder that it may look into.
fn as_nobody(home: &Home, args: &[&str]) -> Ran {
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65_534;
    std::fs::set_permissions(home.path(""), std::fs::Permissions::from_mode(0o755)).unwrap();
    let copy = home.path("sayso");
    std::fs::hard_link(program(), &copy).or_else(|_| std::fs::copy(program(), &copy).map(drop)).unwrap();
    let mut nobody = Command::new(copy);
    nobody.env_clear().env("COLUMNS", "80").current_dir(home.path("")).uid(NOBODY).gid(NOBODY);
    run(nobody.args(args), b"")
}

#[test]
fn a_file_without_permission_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    std::fs::write(home.path("locked"), "words").unwrap();
    std::fs::set_permissions(home.path("locked"), std::fs::Permissions::from_mode(0o000)).unwrap();
    let args = ["present", "locked"];
    // Root may read everything.
    let ran = match std::fs::read(home.path("locked")) {
        Ok(_) => as_nobody(&home, &args),
        Err(_) => sayso(&home, &args),
    };
    home.check("bad_present_locked", &args, &ran);
}

/// The program itself, as tools call it.
pub(super) fn emit() -> String {
    format!("{} emit", program().display())
}
