//! Setting agent programs up: what changes in their files, and what never does.

use std::path::Path;

use serde_json::{Value, json};

use super::{Home, Ran};

/// Settings as people have them: comments, an order, hooks of their own, odd blanks.
const OWN: &str = "{\n    // mine\n    \"model\" : \"x\",   \"z\": [1,2],\n    \"hooks\": {\n        \"Stop\": [\n            \
                   {\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]} // bell\n        ]\n    },\n    \"a\": {}\n}\n";

fn home() -> Home {
    let home = Home::new();
    for folder in [".codex", ".claude", ".pi/agent"] {
        std::fs::create_dir_all(home.path(folder)).unwrap();
    }
    home
}

/// The program without a ledger in its environment, as a person sets it up.
pub(super) fn setup(home: &Home, args: &[&str]) -> Ran {
    let mut command = home.command();
    super::run(command.env_remove("SAYSO_LEDGER").arg("setup").args(args), b"")
}

#[track_caller]
pub(super) fn done(home: &Home, args: &[&str]) -> Ran {
    let ran = setup(home, args);
    assert_eq!(ran.code, Some(0), "{args:?}: {}", ran.stderr);
    ran
}

pub(super) fn read(path: &Path) -> String {
    String::from_utf8(std::fs::read(path).unwrap()).unwrap()
}

const FILES: [(&str, &str); 3] = [
    ("codex", ".codex/hooks.json"),
    ("claude-code", ".claude/settings.json"),
    ("pi", ".pi/agent/extensions/sayso.ts"),
];

#[test]
fn a_missing_file_is_made_and_goes_again() {
    for (program, file) in FILES {
        let home = home();
        let path = home.path(file);
        let shown = done(&home, &[program, "--dry-run"]);
        assert!(!path.exists() && shown.text().starts_with("--- /dev/null\n+++ "), "{}", shown.text());
        let set = done(&home, &[program]);
        assert_eq!(set.stdout, shown.stdout, "what was shown is what is done");
        assert!(path.is_file());
        let again = done(&home, &[program]);
        assert_eq!(
            (again.text().as_str(), again.stderr.contains("set up already")),
            ("", true),
            "twice is once"
        );
        done(&home, &[program, "--remove"]);
        assert!(!path.exists(), "{program}");
        assert!(done(&home, &[program, "--remove"]).stderr.contains("Nothing to take back"));
    }
}

#[test]
fn every_hook_is_one_that_the_program_under_test_answers() {
    for (program, file) in &FILES[..2] {
        let home = home();
        done(&home, &[program]);
        let settings: Value = serde_json::from_str(&read(&home.path(file))).unwrap();
        let hooks = settings["hooks"].as_object().unwrap();
        let events: Vec<&str> = hooks.keys().map(String::as_str).collect();
        assert_eq!(events, ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"]);
        for (event, groups) in hooks {
            let hook = &groups[0]["hooks"][0];
            assert_eq!((groups.as_array().unwrap().len(), &hook["timeout"]), (1, &json!(10)));
            let input =
                json!({"session_id": "s1", "cwd": "/w/lantern", "transcript_path": null, "prompt": "x"})
                    .to_string();
            let mut shell = std::process::Command::new("sh");
            shell
                .args(["-c", hook["command"].as_str().unwrap()])
                .env("SAYSO_LEDGER", home.ledger())
                .env("HOME", home.path(""));
            let ran = super::run(&mut shell, input.as_bytes());
            assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{event}");
        }
        assert_eq!(home.run(&["sessions", "--json"]).json()["kind"], "live");
        assert_eq!(home.run(&["doctor"]).code, Some(0));
    }
}

#[test]
fn everything_else_in_a_file_stays_as_it_was() {
    let crlf = OWN.replace('\n', "\r\n");
    let tabs = OWN.replace("    ", "\t");
    let texts = [
        OWN,
        &crlf,
        &tabs,
        &format!("\u{FEFF}{OWN}"),
        "{}",
        "",
        "{\"a\":1}",
        OWN.trim_end(),
        "{ \"hooks\" : { } }\n",
    ];
    for (program, file) in &FILES[..2] {
        for text in texts {
            let home = home();
            let path = home.path(file);
            std::fs::write(&path, text).unwrap();
            done(&home, &[program]);
            let set = read(&path);
            // Only what was added is not what was there, but for a comma behind what stood last.
            let added = set.lines().filter(|line| !text.contains(line.trim_end_matches([',', '\r']))).count();
            assert!(set.lines().count() - added >= text.lines().count() || text.len() < 20, "{set}");
            assert_eq!(set.starts_with('\u{FEFF}'), text.starts_with('\u{FEFF}'));
            assert_eq!(set.contains("\r\n"), text.contains("\r\n"));
            assert!(!text.contains("\r\n") || !set.replace("\r\n", "").contains('\n'), "{set:?}");
            assert!(
                !text.contains("say done") || set.contains("// bell") && set.contains("// mine"),
                "{set}"
            );
            assert_eq!(done(&home, &[program]).text(), "");
            done(&home, &[program, "--remove"]);
            assert_eq!(read(&path), text, "the same bytes");
        }
    }
}

#[test]
fn what_somebody_changed_since_stays_changed() {
    let home = home();
    let path = home.path(".codex/hooks.json");
    std::fs::write(&path, OWN).unwrap();
    done(&home, &["codex"]);
    std::fs::write(&path, read(&path).replace("\"x\"", "\"another\"").replace("// mine", "// ours")).unwrap();
    done(&home, &["codex", "--remove"]);
    let left = read(&path);
    assert!(!left.contains("sayso"), "{left}");
    assert_eq!(left, OWN.replace("\"x\"", "\"another\"").replace("// mine", "// ours"));
}

#[test]
fn a_hook_that_is_out_of_date_is_mended_where_it_stands() {
    let home = home();
    let path = home.path(".codex/hooks.json");
    done(&home, &["codex"]);
    let fresh = read(&path);
    let old = fresh.replace("\"timeout\": 10", "\"timeout\": 3").replace("20000", "1");
    std::fs::write(&path, &old).unwrap();
    done(&home, &["codex"]);
    assert_eq!(read(&path), fresh);
    // With a ledger of its own, the command names it.
    let ledger = home.path("my ledger.db");
    done(&home, &["codex", "--ledger", ledger.to_str().unwrap()]);
    let named = read(&path);
    assert_eq!(named.matches("--ledger '").count(), 5, "{named}");
    assert!(named.contains(&format!("--ledger '{}' hook codex Stop", ledger.display())), "{named}");
}

#[test]
fn what_cannot_be_read_is_left_and_the_message_says_what_to_do() {
    let cases: [(&[u8], &str); 6] = [
        (b"{\"a\": ", "mend it there"),
        (b"[1]", "no JSON object"),
        (b"{\"hooks\": 1}", "\"hooks\" is no object"),
        (b"{\"hooks\": {\"Stop\": {}}}", "no list of Stop"),
        (b"\xff\xfe{\0}\0", "save it as UTF-8"),
        (b"{\"a\": 1} {\"b\": 2}", "mend it there"),
    ];
    for (bytes, why) in cases {
        let home = home();
        let path = home.path(".codex/hooks.json");
        std::fs::write(&path, bytes).unwrap();
        let ran = setup(&home, &["codex"]);
        assert_eq!(ran.code, Some(1));
        assert!(ran.stderr.contains(why) && ran.stderr.contains("hooks.json"), "{}", ran.stderr);
        assert_eq!(std::fs::read(&path).unwrap(), bytes);
    }
    let without = Home::new();
    let ran = setup(&without, &["codex"]);
    assert!(ran.stderr.contains("start the program once"), "{}", ran.stderr);
    assert!(!without.path(".codex").exists());
    let home = home();
    assert!(setup(&home, &["pi", "--mcp"]).stderr.contains("--mcp is for codex"));
}

#[cfg(unix)]
#[test]
fn links_are_followed_and_modes_and_read_only_files_are_heeded() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = home();
    let (link, file) = (home.path(".codex/hooks.json"), home.path("dotfiles.json"));
    let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
    std::fs::write(&file, OWN).unwrap();
    symlink(&file, &link).unwrap();
    mode(0o640);
    done(&home, &["codex"]);
    assert!(
        std::fs::symlink_metadata(&link).unwrap().is_symlink() && read(&file).contains("hook codex Stop")
    );
    assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    mode(0o440);
    let ran = setup(&home, &["codex", "--remove"]);
    assert!(ran.code == Some(1) && ran.stderr.contains("is read-only: make it writable"), "{}", ran.stderr);
    mode(0o600);
    done(&home, &["codex", "--remove"]);
    assert_eq!(read(&file), OWN);
    std::fs::remove_file(&file).unwrap();
    let ran = setup(&home, &["codex"]);
    assert!(ran.stderr.contains("a link to something that is not there"), "{}", ran.stderr);
    let kept = std::fs::metadata(home.path(".local/state/sayso/setup.json")).unwrap();
    assert_eq!(kept.permissions().mode() & 0o077, 0, "what is kept is nobody else's to read");
}

#[test]
fn codex_can_be_told_of_the_server_too() {
    let home = home();
    let (config, hooks) = (home.path(".codex/config.toml"), home.path(".codex/hooks.json"));
    let own = "# mine\r\nmodel = 'x'\r\n";
    std::fs::write(&config, own).unwrap();
    done(&home, &["codex", "--mcp", "--scope", "harbour"]);
    let set = read(&config);
    assert!(set.starts_with(own) && set.contains("args = [\"mcp\", \"--scope\", \"harbour\"]\r\n"), "{set}");
    done(&home, &["codex", "--remove"]);
    assert_eq!(read(&config), own);
    assert!(!hooks.exists());
}

#[test]
fn an_extension_that_is_not_ours_stays() {
    let home = home();
    let path = home.path(".pi/agent/extensions/sayso.ts");
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, "// somebody else's\n").unwrap();
    for args in [&["pi"][..], &["pi", "--remove"]] {
        let ran = setup(&home, args);
        assert!(ran.code == Some(1) && ran.stderr.contains("move it elsewhere"), "{}", ran.stderr);
    }
    assert_eq!(read(&path), "// somebody else's\n");
}

#[test]
fn the_difference_is_shown_as_people_read_it() {
    let home = home();
    std::fs::write(home.path(".claude/settings.json"), "{\n  \"model\": \"x\"\n}\n").unwrap();
    let args = ["setup", "claude-code", "--dry-run"];
    let mut ran = setup(&home, &args[1..]);
    let program = super::program().display().to_string();
    ran.stdout = ran.text().replace(&program, "<SAYSO>").into_bytes();
    home.check("setup_claude_code", &args, &ran);
}
