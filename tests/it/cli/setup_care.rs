//! Setting agent programs up, where their files are not as one would wish.

use super::Home;
use super::setup::{done, read, setup};

fn home() -> Home {
    let home = Home::new();
    std::fs::create_dir_all(home.path(".codex")).unwrap();
    home
}

#[test]
fn a_file_that_is_broken_keeps_no_other_from_being_taken_back() {
    for (broken, code) in [("model = \n", 0), ("model = \n[mcp_servers.sayso]\n", 1)] {
        let home = home();
        let (hooks, config) = (home.path(".codex/hooks.json"), home.path(".codex/config.toml"));
        done(&home, &["codex"]);
        std::fs::write(&config, broken).unwrap();
        let ran = setup(&home, &["codex", "--remove"]);
        assert_eq!((ran.code, hooks.exists()), (Some(code), false), "{}", ran.stderr);
        assert_eq!(read(&config), broken);
        assert_eq!(
            ran.stderr.contains("config.toml was left as it is: it is no TOML"),
            code == 1,
            "{}",
            ran.stderr
        );
        let again = setup(&home, &["codex", "--remove"]);
        assert_eq!((again.code, again.stderr.contains("Nothing to take back")), (Some(code), code == 0));
    }
}

#[test]
fn what_is_added_is_added_whole_or_not_at_all() {
    let home = home();
    std::fs::write(home.path(".codex/config.toml"), "model = \n").unwrap();
    assert_eq!(setup(&home, &["codex", "--mcp"]).code, Some(1));
    assert!(!home.path(".codex/hooks.json").exists());
}

#[test]
fn a_group_that_somebody_else_left_empty_stays() {
    let home = home();
    let path = home.path(".codex/hooks.json");
    let own =
        "{\n  \"hooks\": {\n    \"Stop\": [\n      {\"matcher\": \"mine\", \"hooks\": []}\n    ]\n  }\n}\n";
    std::fs::write(&path, own).unwrap();
    done(&home, &["codex"]);
    // What was there before is not remembered: what is taken out is found by looking.
    std::fs::remove_file(home.path(".local/state/sayso/setup.json")).unwrap();
    done(&home, &["codex", "--remove"]);
    let left: serde_json::Value = serde_json::from_str(&read(&path)).unwrap();
    assert_eq!(left, serde_json::from_str::<serde_json::Value>(own).unwrap());
}

#[test]
fn a_hook_in_a_group_of_somebody_else_is_taken_out_alone() {
    let home = home();
    let path = home.path(".codex/hooks.json");
    done(&home, &["codex"]);
    let with = read(&path).replacen(
        "\"hooks\": [\n",
        "\"hooks\": [\n{\"type\": \"command\", \"command\": \"say hello\"},\n",
        1,
    );
    assert!(with.contains("say hello"));
    std::fs::write(&path, with).unwrap();
    done(&home, &["codex", "--remove"]);
    let left = read(&path);
    assert!(left.contains("say hello") && !left.contains("sayso"), "{left}");
}

#[test]
fn a_scope_that_nothing_heeds_is_refused() {
    let home = home();
    for args in [&["codex", "--scope", "harbour"][..], &["codex", "--remove", "--scope", "harbour"]] {
        let ran = setup(&home, args);
        assert!(
            ran.code == Some(1) && ran.stderr.contains("add --mcp, or leave --scope out"),
            "{}",
            ran.stderr
        );
    }
    assert!(!home.path(".codex/hooks.json").exists());
}

#[test]
fn what_would_be_refused_is_refused_when_it_is_only_shown() {
    let home = home();
    let path = home.path(".codex/hooks.json");
    std::fs::write(&path, "{}\n").unwrap();
    let mut permissions = std::fs::metadata(&path).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&path, permissions).unwrap();
    let ran = setup(&home, &["codex", "--dry-run"]);
    assert!(ran.text().contains("+++"), "it is shown all the same");
    assert!(ran.code == Some(1) && ran.stderr.contains("is read-only: make it writable"), "{}", ran.stderr);
}

#[test]
fn line_breaks_are_those_of_the_file() {
    for text in ["\r\n", "{}\r\n", "{\r\n}\r\n", "// mine\r\n{\"a\": 1}\r\n", "/* of\r\nmine */ {}"] {
        let home = home();
        let path = home.path(".codex/hooks.json");
        std::fs::write(&path, text).unwrap();
        done(&home, &["codex"]);
        let set = read(&path);
        assert!(set.contains("hook codex Stop") && !set.replace("\r\n", "").contains('\n'), "{set:?}");
    }
    let home = home();
    std::fs::create_dir_all(home.path(".pi/agent")).unwrap();
    done(&home, &["pi"]);
    let path = home.path(".pi/agent/extensions/sayso.ts");
    let crlf = read(&path).replace('\n', "\r\n");
    std::fs::write(&path, &crlf).unwrap();
    assert!(done(&home, &["pi"]).stderr.contains("set up already"));
    assert_eq!(read(&path), crlf);
}

#[test]
fn what_is_not_quite_json_is_not_guessed_at() {
    for text in [
        "{'a': 1}",
        "{a: 1}",
        "{\"a\": 1 \"b\": 2}",
        "{\"a\": [1 2]}",
        "{\"a\": 0xFF}",
        "{\"a\": +1}",
        "{\"a\": .5}",
        "{\"a\": NaN}",
        "{\"hooks\": {}, \"hooks\": {}}",
        "{\"hooks\": {\"Stop\": [], \"Stop\": []}}",
    ] {
        let home = home();
        let path = home.path(".codex/hooks.json");
        std::fs::write(&path, text).unwrap();
        for args in [&["codex"][..], &["codex", "--remove"]] {
            let ran = setup(&home, args);
            assert!(
                ran.code == Some(1) && ran.stderr.contains("hooks.json was left as it is"),
                "{text}: {}",
                ran.stderr
            );
            assert!(
                ran.stderr.contains("mend it there") || ran.stderr.contains("mend that by hand"),
                "{}",
                ran.stderr
            );
        }
        assert_eq!(read(&path), text);
    }
}

#[cfg(unix)]
#[test]
fn a_program_of_another_name_is_set_up_once_all_the_same() {
    let home = home();
    let program = home.path("ledger tool");
    // A link would be followed to its own name; where the file system has none, it is copied.
    std::fs::hard_link(super::program(), &program)
        .or_else(|_| std::fs::copy(super::program(), &program).map(drop))
        .unwrap();
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&program);
        super::run(command.env_clear().env("HOME", home.path("")).args(args), b"")
    };
    assert_eq!(run(&["setup", "codex"]).code, Some(0));
    let once = read(&home.path(".codex/hooks.json"));
    assert_eq!(once.matches("ledger tool").count(), 5, "{once}");
    let again = run(&["setup", "codex"]);
    assert!(again.stderr.contains("set up already"), "{}", again.stderr);
    assert_eq!(read(&home.path(".codex/hooks.json")), once);
    std::fs::remove_file(home.path(".local/state/sayso/setup.json")).unwrap();
    assert_eq!(run(&["setup", "codex", "--remove"]).code, Some(0));
    assert!(!read(&home.path(".codex/hooks.json")).contains("ledger tool"));
}
