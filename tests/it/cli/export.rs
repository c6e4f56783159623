//! Exports and their import, as a person uses them.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Home, Ran};

/// The heads of a ledger by session: their addresses name the ledger, which is another one in a copy.
#[track_caller]
fn heads(home: &Home) -> BTreeMap<String, Value> {
    let verified = home.run(&["verify", "--json"]).json();
    assert_eq!(verified["problems"], Value::Array(vec![]));
    let heads = verified["heads"].as_object().unwrap();
    heads.iter().map(|(address, head)| (id(address), head.clone())).collect()
}

fn id(address: &str) -> String {
    address.rsplit('/').next().unwrap().to_owned()
}

#[track_caller]
fn export(home: &Home, args: &[&str]) -> Vec<u8> {
    let ran = home.run(&[&["export", "--as", "jsonl"], args].concat());
    assert_eq!(ran.code, Some(0), "{}", ran.stderr);
    ran.stdout
}

#[track_caller]
fn import(home: &Home, export: &[u8]) -> Ran {
    let path = home.path("export.jsonl");
    std::fs::write(&path, export).unwrap();
    home.run(&["import", path.to_str().unwrap(), "--json"])
}

#[test]
fn an_export_comes_back_with_equal_heads_and_equal_bytes() {
    let (home, copy) = (Home::new(), Home::new());
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Acme/Plan", "owner:Mira", "두 줄\n\0 and a NUL");
    home.says("Beta/Build", "tool:cargo", "ok");
    let whole = export(&home, &[]);
    let report = import(&copy, &whole).json();
    assert_eq!((&report["turns_added"], &report["refused"]), (&3.into(), &Value::Array(vec![])), "{report}");
    assert_eq!(heads(&copy), heads(&home));
    assert_eq!(heads(&copy).len(), 2);
    assert!(export(&copy, &[]) == whole);
    let again = import(&copy, &whole).json();
    assert_eq!((&again["turns_added"], &again["turns_known"]), (&0.into(), &3.into()), "{again}");
    assert!(copy.run(&["search", "stands"]).text().contains("The plan stands."));
}

#[test]
fn a_copy_answers_to_the_addresses_and_heads_of_its_source() {
    let (home, copy) = (Home::new(), Home::new());
    let said = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    assert_eq!(home.run(&["forward", &said, "--to", "Beta/Build", "--create"]).code, Some(0));
    let heads = home.path("heads.json");
    std::fs::write(&heads, home.run(&["verify", "--json"]).stdout).unwrap();
    assert_eq!(import(&copy, &export(&home, &[])).code, Some(0));
    let against = copy.run(&["verify", "--against", heads.to_str().unwrap()]);
    assert_eq!(against.code, Some(0), "{}", against.text());
    assert!(copy.run(&["show", &said]).text().contains("The plan stands."));
    let held = copy.run(&["show", "Build", "--json"]).json();
    let origin = copy.run(&["origin", held["address"].as_str().unwrap(), "--json"]).json();
    assert_eq!(origin["state"], "same", "{origin}");
}

#[test]
fn a_copy_takes_what_was_added_since_and_names_what_parted() {
    let (home, copy) = (Home::new(), Home::new());
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Acme/Aside", "agent:Rocky", "Aside.");
    assert_eq!(import(&copy, &export(&home, &[])).code, Some(0));
    home.says("Acme/Plan", "owner:Mira", "Good.");
    let more = import(&copy, &export(&home, &[])).json();
    assert_eq!((&more["turns_added"], &more["turns_known"]), (&1.into(), &2.into()));
    assert_eq!(heads(&copy), heads(&home));
    // An older export tells nothing new to a ledger that went on.
    let older = export(&copy, &[]);
    home.says("Acme/Plan", "owner:Mira", "Only here.");
    let known = import(&home, &older).json();
    assert_eq!((&known["turns_added"], &known["refused"]), (&0.into(), &Value::Array(vec![])), "{known}");
    // Both went on: the session that parted is named, and the other one is taken.
    copy.says("Acme/Plan", "owner:Mira", "Only there.");
    copy.says("Acme/Aside", "owner:Mira", "News.");
    let path = home.path("copy.jsonl");
    std::fs::write(&path, export(&copy, &[])).unwrap();
    let before = heads(&home);
    let ran = home.run(&["import", path.to_str().unwrap()]);
    home.check("export_parted", &["import", "<HOME>/copy.jsonl"], &ran);
    assert_eq!(ran.code, Some(1));
    let after = heads(&home);
    let changed = after.iter().filter(|(id, head)| before.get(*id) != Some(head)).count();
    assert_eq!(changed, 1, "{before:?} {after:?}");
    assert!(home.run(&["show", "Aside"]).text().contains("News."));
    assert!(!home.run(&["show", "Plan"]).text().contains("Only there."));
}

/// Changes one line of an export.
fn with(export: &[u8], change: impl Fn(&mut Vec<String>)) -> Vec<u8> {
    let mut lines: Vec<String> = std::str::from_utf8(export).unwrap().lines().map(str::to_owned).collect();
    change(&mut lines);
    lines.iter().map(|line| format!("{line}\n")).collect::<String>().into_bytes()
}

#[test]
fn an_export_that_was_cut_off_or_edited_adds_nothing() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Acme/Plan", "owner:Mira", "Good.");
    let whole = export(&home, &[]);
    let cases: [(&str, Vec<u8>); 7] = [
        ("export_cut_off", with(&whole, |lines| lines.truncate(5))),
        ("export_cut_in_a_record", whole[..whole.len() - 40].to_vec()),
        ("export_edited", with(&whole, |lines| lines[4] = lines[4].replace("stands", "falls"))),
        ("export_line_left_out", with(&whole, |lines| drop(lines.remove(3)))),
        ("export_lines_moved", with(&whole, |lines| lines.swap(4, 5))),
        ("export_more_behind_the_end", with(&whole, |lines| lines.push(lines[0].clone()))),
        (
            "export_of_a_newer_version",
            with(&whole, |lines| {
                lines[0] = lines[0].replace("\"version\":1", "\"version\":2");
            }),
        ),
    ];
    for (name, bytes) in cases {
        let copy = Home::new();
        let path = copy.path("export.jsonl");
        std::fs::write(&path, bytes).unwrap();
        let ran = copy.run(&["import", path.to_str().unwrap()]);
        assert_eq!(ran.code, Some(1), "{name}: {}", ran.text());
        copy.check(name, &["import", "<HOME>/export.jsonl"], &ran);
        assert_eq!(copy.run(&["projects", "--json"]).lines(), Vec::<Value>::new(), "{name}");
    }
}

#[test]
fn a_file_is_written_whole_and_never_over_another() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let to = home.path("acme.jsonl");
    let args = ["export", "--as", "jsonl", "--to", to.to_str().unwrap()];
    let ran = home.run(&args);
    home.check("export_to_a_file", &["export", "--as", "jsonl", "--to", "<HOME>/acme.jsonl"], &ran);
    let written = std::fs::read(&to).unwrap();
    assert_eq!(written, export(&home, &[]));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        assert_eq!(std::fs::metadata(&to).unwrap().permissions().mode() & 0o777, 0o600);
    }
    home.says("Acme/Plan", "agent:Rocky", "More.");
    let again = home.run(&args);
    home.check("export_over_a_file", &["export", "--as", "jsonl", "--to", "<HOME>/acme.jsonl"], &again);
    assert_eq!(again.code, Some(1));
    assert_eq!(std::fs::read(&to).unwrap(), written);
    let nowhere = home.path("none/acme.jsonl");
    let failed = home.run(&["export", "--as", "jsonl", "--to", nowhere.to_str().unwrap()]);
    assert_eq!(failed.code, Some(1));
    // Nothing is left lying around.
    let names = std::fs::read_dir(home.path("")).unwrap().map(|e| e.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().starts_with(".tmp")));
}

#[test]
fn what_is_not_there_is_not_exported() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    for (name, args) in [
        ("export_unknown_session", ["export", "Plam", "--as", "jsonl"].as_slice()),
        ("export_no_form", &["export", "Plan"]),
        ("export_with_a_narrow_scope", &["export", "Plan", "--as", "jsonl", "--scope", "Beta"]),
    ] {
        home.says("Beta/Build", "agent:Rocky", "ok");
        let ran = home.run(args);
        assert_ne!(ran.code, Some(0), "{}", ran.text());
        home.check(name, args, &ran);
    }
}

#[test]
fn an_export_holds_nothing_from_outside_its_scope_or_beside_what_was_named() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Acme/Other", "agent:Lovell", "Other words.");
    home.says("Secret/Hidden", "agent:Swigert", "Nobody sees this.");
    for form in ["jsonl", "markdown", "html"] {
        for args in
            [["export", "--as", form, "--scope", "Acme"].as_slice(), &["export", "Acme", "--as", form]]
        {
            let text = home.run(args).text();
            assert!(text.contains("Other words.") && text.contains("The plan stands."), "{text}");
            for hidden in ["Secret", "Hidden", "Swigert", "Nobody"] {
                assert!(!text.contains(hidden), "{form}: {hidden}\n{text}");
            }
        }
        let text = home.run(&["export", "Acme/Plan", "--as", form]).text();
        assert!(!text.contains("Other") && !text.contains("Lovell"), "{text}");
    }
}

#[test]
fn a_fork_brings_what_it_was_forked_off() {
    let (home, copy) = (Home::new(), Home::new());
    let first = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Acme/Plan", "owner:Mira", "Behind the fork.");
    assert_eq!(home.run(&["fork", "Plan", "--at", &first, "--title", "Branch"]).code, Some(0));
    home.says("Acme/Branch", "owner:Mira", "On the branch.");
    let only = export(&home, &["Branch"]);
    assert_eq!(import(&copy, &only).code, Some(0));
    assert_eq!(heads(&copy), heads(&home));
    assert!(copy.run(&["show", "Branch"]).text().contains("The plan stands."));
    let page = home.run(&["export", "Acme", "--as", "html"]).text();
    assert_eq!(page.matches("The plan stands.").count(), 1);
    assert!(page.contains("Begins with the entries up to 1"), "{page}");
    let alone = home.run(&["export", "Branch", "--as", "html"]).text();
    assert!(alone.contains("The plan stands.") && !alone.contains("Behind the fork."));
}

#[test]
fn what_was_taken_away_stays_away_on_both_sides() {
    let (home, copy) = (Home::new(), Home::new());
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let redacted = home.says("Acme/Plan", "owner:Mira", "A secret word.");
    let erased = home.says("Acme/Plan", "owner:Mira", "Another secret.");
    let kept = export(&home, &[]);
    assert_eq!(import(&copy, &kept).code, Some(0));
    assert_eq!(home.run(&["redact", &redacted]).code, Some(0));
    assert_eq!(home.run(&["erase", &erased]).code, Some(0));
    // An older export brings nothing back.
    let back = home.run(&["import", home.path("none").to_str().unwrap()]);
    assert_eq!(back.code, Some(1));
    assert_eq!(import(&home, &kept).json()["turns_added"], 0);
    assert!(!home.run(&["show", "Plan"]).text().contains("secret"));
    // A newer one takes it away elsewhere too, and holds none of it.
    let newer = export(&home, &[]);
    assert!(!String::from_utf8_lossy(&newer).contains("secret"));
    assert_eq!(import(&copy, &newer).code, Some(0));
    assert_eq!(heads(&copy), heads(&home));
    assert!(!copy.run(&["show", "Plan"]).text().contains("secret"));
    let fresh = Home::new();
    assert_eq!(import(&fresh, &newer).code, Some(0));
    assert_eq!(heads(&fresh), heads(&home));
    // A session that was erased whole does not come back either.
    let session = super::address(&home.run(&["sessions", "--json"]).json());
    assert_eq!(home.run(&["erase", &session]).code, Some(0));
    let report = import(&home, &newer).json();
    assert_eq!((&report["turns_added"], &report["skipped"]["erased"]), (&0.into(), &1.into()), "{report}");
    assert_eq!(heads(&home).len(), 0);
}
