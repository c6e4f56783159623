//! `sayso compact`, and the context before and after it.

use super::{Home, address};

/// A session that pi wrote: parallel calls, one of them without a result, and words on both sides.
const SESSION: &str = r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-01T00:00:00Z","cwd":"/home/mira/harbour"}
{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-01T00:00:01Z","message":{"role":"user","content":"배 시간표를 읽어줘"}}
{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-01T00:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"Reading."},{"type":"toolCall","id":"call_1","name":"read","arguments":{"path":"ferries.csv"}},{"type":"toolCall","id":"call_2","name":"bash","arguments":{"command":"wc -l *"}}]}}
{"type":"message","id":"a3","parentId":"a2","timestamp":"2026-01-01T00:00:03Z","message":{"role":"toolResult","toolCallId":"call_1","toolName":"read","content":[{"type":"text","text":"24:40 Geoje"}],"isError":false}}
{"type":"message","id":"a4","parentId":"a3","timestamp":"2026-01-01T00:00:04Z","message":{"role":"user","content":"never mind the count"}}
{"type":"message","id":"a5","parentId":"a4","timestamp":"2026-01-01T00:00:05Z","message":{"role":"assistant","content":[{"type":"text","text":"The last ferry leaves at 24:40."}]}}
"#;

/// A home with that session, and the addresses of its turns.
fn imported() -> (Home, Vec<String>) {
    let home = Home::new();
    std::fs::write(home.path("pi.jsonl"), SESSION).unwrap();
    assert_eq!(home.run(&["import", "pi.jsonl"]).code, Some(0));
    let turns = home.run(&["show", "harbour/s1", "--json"]).lines().iter().map(address).collect();
    (home, turns)
}

const SESSION_NAME: &str = "harbour/s1";

#[test]
fn every_provider_gets_calls_and_results_in_its_own_way() {
    let (home, turns) = imported();
    for provider in ["openai-responses", "openai-chat", "anthropic"] {
        let args = ["context", SESSION_NAME, "--for", provider];
        home.check(&format!("compact_before_{provider}"), &args, &home.run(&args));
    }
    // The boundary stands between the calls and their results: both are shown behind the summary.
    let args = ["compact", SESSION_NAME, "--summary", "-", "--through", &turns[1], "--by", "agent:Rocky"];
    let ran = home.feed("They read the timetable.".as_bytes(), &args);
    let shown = args.map(|arg| if arg == turns[1] { "ADDRESS" } else { arg });
    home.check("compact", &shown, &ran);
    for provider in ["openai-responses", "openai-chat", "anthropic"] {
        let args = ["context", SESSION_NAME, "--for", provider];
        home.check(&format!("compact_after_{provider}"), &args, &home.run(&args));
    }
}

#[test]
fn a_retry_with_the_same_key_is_written_once() {
    let (home, turns) = imported();
    std::fs::write(home.path("summary.txt"), "They read the timetable.\n").unwrap();
    let args = ["compact", SESSION_NAME, "--summary", "summary.txt", "--key", "k", "--json"];
    let first = home.run(&args).json();
    let names: Vec<&String> = first.as_object().unwrap().keys().collect();
    assert_eq!(names, ["entry", "address", "seq", "through"]);
    assert_eq!((first["seq"].as_u64(), first["through"].as_u64()), (Some(6), Some(turns.len() as u64)));
    home.says(SESSION_NAME, "owner:Mira", "and the first one?");
    assert_eq!(home.run(&args).json(), first);
    std::fs::write(home.path("summary.txt"), "Something else.").unwrap();
    home.check("bad_compact_key", &args, &home.run(&args));
}

#[test]
fn bad_input() {
    let (home, turns) = imported();
    let elsewhere = home.says("Beta/Build", "owner:Mira", "hello");
    std::fs::write(home.path("blank.txt"), " \n").unwrap();
    let given = |session, summary, through: &[&str]| {
        let args = ["compact", session, "--summary", summary].into_iter();
        args.chain(through.iter().copied()).map(str::to_owned).collect::<Vec<_>>()
    };
    let cases = [
        ("session", given("harbour/s2", "-", &[])),
        ("boundary", given(SESSION_NAME, "-", &["--through", &elsewhere])),
        ("unknown_boundary", given(SESSION_NAME, "-", &["--through", "01ARZ3NDEKTSV4RRFFQ69G5FAV"])),
        ("blank", given(SESSION_NAME, "blank.txt", &[])),
        ("no_file", given(SESSION_NAME, "missing.txt", &[])),
        ("speaker", given(SESSION_NAME, "-", &["--by", "robot:R"])),
        ("no_summary", vec!["compact".to_owned(), SESSION_NAME.to_owned()]),
    ];
    for (name, args) in cases {
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let shown: Vec<&str> = args.iter().map(|a| if *a == elsewhere { "ADDRESS" } else { a }).collect();
        let ran = home.feed("A summary.".as_bytes(), &args);
        assert_ne!(ran.code, Some(0), "{name}: {}", ran.text());
        home.check(&format!("bad_compact_{name}"), &shown, &ran);
    }
    let empty = ["compact", SESSION_NAME, "--summary", "-"];
    home.check("bad_compact_empty", &empty, &home.run(&empty));
    assert_eq!(home.run(&["show", SESSION_NAME, "--json"]).lines().len(), turns.len(), "nothing was written");
}
