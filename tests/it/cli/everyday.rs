//! What a person sees: cards, lists, help.

use super::{Home, address};

fn forwarded() -> (Home, String) {
    let home = Home::new();
    let said = "코드:\n    print(\"안녕\")\u{202E}\n```\nopen fence";
    let args = [
        "append",
        "--project",
        "Acme",
        "--session",
        "Plan",
        "--speaker",
        "agent:Rocky",
        "--said-at",
        "2026-11-30T18:14:05+09:00",
        "--json",
    ];
    let source = address(&home.feed(said.as_bytes(), &args).json());
    let args = ["forward", &source, "--to", "Beta/Build", "--create", "--note", "이거 확인해줘", "--json"];
    let forwarded = address(&home.run(&args).json());
    (home, forwarded)
}

#[test]
fn every_form_of_a_forward() {
    let (home, address) = forwarded();
    for form in ["text", "card", "markdown", "html", "marker", "marker-json", "json"] {
        let ran = home.run(&["show", &address, "--as", form]);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        home.check(&format!("show_{form}"), &["show", "ADDRESS", "--as", form], &ran);
    }
}

#[test]
fn lists() {
    let (home, address) = forwarded();
    for args in
        [vec!["projects"], vec!["sessions"], vec!["inbox"], vec!["show", "Plan"], vec!["origin", &address]]
    {
        let shown: Vec<&str> = args.iter().map(|a| if *a == address { "ADDRESS" } else { a }).collect();
        let ran = home.run(&args);
        assert_eq!(ran.code, Some(0), "{}", ran.stderr);
        home.check(&format!("list_{}", args[0]), &shown, &ran);
    }
}

#[test]
fn context() {
    let (home, _) = forwarded();
    let said = ["append", "--project", "Beta", "--session", "Build", "--speaker", "agent:Rocky"];
    assert_eq!(home.feed("확인했습니다.".as_bytes(), &said).code, Some(0));
    for provider in ["openai-responses", "openai-chat", "anthropic"] {
        let args = ["context", "Build", "--for", provider];
        home.check(&format!("context_{provider}"), &args, &home.run(&args));
    }
}

#[test]
fn help() {
    let home = Home::new();
    let mut page = String::new();
    let commands = [
        "",
        "append",
        "edit",
        "redact",
        "erase",
        "pin",
        "import",
        "projects",
        "sessions",
        "session",
        "session rename",
        "session close",
        "session reopen",
        "session move",
        "fork",
        "project",
        "project rename",
        "project alias",
        "project merge",
        "show",
        "search",
        "forward",
        "origin",
        "context",
        "compact",
        "run",
        "present",
        "emit",
        "thresholds",
        "thresholds decide",
        "thresholds set",
        "output",
        "inbox",
        "deliveries",
        "deliveries list",
        "deliveries show",
        "deliveries retry",
        "deliveries resolve",
        "deliveries cancel",
        "verify",
        "backup",
        "bridge",
        "doctor",
        "setup",
        "hook",
        "demo",
        "completions",
        "man",
    ];
    for command in commands {
        let args: Vec<&str> = command.split(' ').chain(["--help"]).filter(|a| !a.is_empty()).collect();
        let ran = home.run(&args);
        assert_eq!(ran.code, Some(0), "{command}: {}", ran.stderr);
        page.push_str(&format!("$ sayso {}\n{}\n", args.join(" "), ran.text()));
    }
    sayso_snapshots::check("help", &page);
}

#[test]
fn completions_and_manual() {
    let home = Home::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = home.run(&["completions", shell]);
        assert!(ran.code == Some(0) && ran.text().contains("forward"), "{shell}: {}", ran.stderr);
    }
    assert!(home.run(&["man"]).text().contains(".TH sayso"));
    assert_eq!(home.run(&["man", "--to", "pages"]).code, Some(0));
    assert!(home.path("pages/sayso-forward.1").is_file());
}

#[test]
fn search() {
    let (home, _) = forwarded();
    let words = format!(
        "{} 월간 보고서를\n봤어요\u{202E} 👩\u{200D}👩\u{200D}👧 {}",
        "앞말 ".repeat(30),
        "뒷말 ".repeat(40)
    );
    home.says("Acme/Plan", "owner:Mira", &words);
    for (name, args) in [
        ("search", vec!["search", "고서"]),
        ("search_quote", vec!["search", "print", "--session", "Build"]),
        ("search_nothing", vec!["search", "nowhere", "--outputs"]),
        ("search_more", vec!["search", "코드", "--limit", "1"]),
        ("bad_search_empty", vec!["search", "?!"]),
        ("bad_search_since", vec!["search", "plan", "--since", "yesterday"]),
        ("bad_search_limit", vec!["search", "plan", "--limit", "many"]),
    ] {
        let ran = home.run(&args);
        home.check(name, &args, &ran);
    }
}

#[test]
fn a_session_is_shown_in_pages() {
    let home = Home::new();
    let said: Vec<String> =
        (0..5).map(|n| home.says("Acme/Plan", "owner:Mira", &format!("Step {n}."))).collect();
    let elsewhere = home.says("Acme/Build", "owner:Mira", "Built.");
    let page = |args: &[&str]| -> Vec<String> {
        let shown = home.run(&[&["show", "Plan", "--json"], args].concat()).lines();
        shown.iter().map(|turn| turn["address"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(page(&[]), said);
    assert_eq!(page(&["--last", "2"]), said[3..]);
    assert_eq!(page(&["--last", "9"]), said);
    assert_eq!(page(&["--after", &said[1]]), said[2..]);
    assert_eq!(page(&["--from", &said[1], "--limit", "2"]), said[1..3]);
    assert_eq!(page(&["--after", &said[4]]), said[5..]);
    let refused = |args: &[&str], why: &str| {
        let ran = home.run(args);
        assert!(ran.code == Some(1) && ran.stderr.contains(why), "{}", ran.stderr);
    };
    refused(&["show", "Plan", "--from", &elsewhere], "stands in another session");
    refused(&["show", &said[0], "--last", "2"], "name the session");
    assert_eq!(home.run(&["show", "Plan", "--last", "1", "--after", &said[0]]).code, Some(2));
}
