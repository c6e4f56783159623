//! Stored outputs, read in parts.

use sayso::model::OutputId;
use sayso::model::hidden::unshow;
use sayso::store::{Blob, Command, OutputState, OutputStream, Run, StoreOutput, StreamKind};
use sayso::{Ledger, Options, Scope};
use serde_json::{Value, json};

use super::Client;
use crate::cli::Home;

/// An output of a tool, in a session of its own.
pub(super) fn stored(home: &Home, stdout: &[u8], stderr: Option<&[u8]>) -> String {
    let ledger = Ledger::open(&home.ledger(), &Options::default()).unwrap();
    let session = ledger.session("Acme", "Plan").unwrap();
    let put = |mut bytes: &[u8]| ledger.put_blob(&mut bytes).unwrap();
    let mut streams = vec![stream(StreamKind::Stdout, put(stdout))];
    streams.extend(stderr.map(|bytes| stream(StreamKind::Stderr, put(bytes))));
    let id = ledger.fresh_output();
    ledger.write(&Scope::All, vec![command(id, session.id, streams)]).unwrap();
    id.to_string()
}

fn stream(kind: StreamKind, blob: Blob) -> OutputStream {
    OutputStream::new(kind, blob)
}

pub(super) fn command(id: OutputId, session: sayso::model::SessionId, streams: Vec<OutputStream>) -> Command {
    let (tool, state, exit) = ("bash".to_owned(), OutputState::Complete, Some(2));
    Command::StoreOutput(StoreOutput { id, session, tool, state, exit, streams, run: Run::default() })
}

fn text(page: &Value) -> String {
    unshow(page["text"].as_str().unwrap()).unwrap()
}

fn together(pages: &[Value]) -> String {
    let mut whole = String::new();
    for page in pages {
        assert_eq!(page["from_byte"].as_u64().unwrap(), whole.len() as u64);
        whole.push_str(&text(page));
    }
    whole
}

#[test]
fn lines_bytes_and_matches() {
    let home = Home::new();
    let lines: String = (1..=500).map(|n| format!("line {n} 줄\n")).collect();
    let id = stored(&home, lines.as_bytes(), Some(b"warning: \x1B[31mred\x00"));
    let mut client = Client::start(&home, &[]);
    let mut read = |more: Value| {
        let mut arguments = json!({"output": id});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        client.call("output", arguments)
    };
    let first = read(json!({"count": 2}));
    assert_eq!(text(&first), "line 1 줄\nline 2 줄\n");
    assert_eq!(
        (&first["exit"], &first["tool"], &first["bytes"]),
        (&json!(2), &json!("bash"), &json!(lines.len()))
    );
    let second = read(json!({"count": 2, "cursor": first["next"]}));
    assert_eq!((text(&second).as_str(), &second["from_line"]), ("line 3 줄\nline 4 줄\n", &json!(3)));
    let last = read(json!({"line": 500}));
    assert_eq!((text(&last).as_str(), &last["next"]), ("line 500 줄\n", &Value::Null));
    assert_eq!(text(&read(json!({"byte": 5, "count": 6}))), "1 줄\n");
    let error = read(json!({"stream": "stderr"}));
    assert_eq!(
        (text(&error).as_str(), error["text"].as_str().unwrap()),
        ("warning: \u{1B}[31mred\0", "warning: ⟦U+001B⟧[31mred⟦U+0000⟧")
    );
    let found = read(json!({"grep": "line 4.9"}));
    let numbers: Vec<u64> =
        found["matches"].as_array().unwrap().iter().map(|m| m["line"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (0..10).map(|n| 409 + 10 * n).collect::<Vec<_>>());
    let page = read(json!({"grep": "(?i)LINE", "count": 3}));
    let next = read(json!({"grep": "(?i)LINE", "count": 3, "cursor": page["next"]}));
    assert_eq!(next["matches"][0], json!({"line": 4, "text": "line 4 줄", "cut": false}));
    assert!(read(json!({"grep": "nowhere"}))["matches"].as_array().unwrap().is_empty());
    let end = id[18..].to_owned();
    assert_eq!(client.call("output", json!({"output": end}))["output"], json!(id));
    let uri = format!("sayso-output:{id}");
    let resource = client.request("resources/read", json!({"uri": uri}));
    assert!(
        resource["contents"][0]["text"].as_str().unwrap().contains("\n> line 1 줄\n> line 2 줄\n"),
        "{resource}"
    );
}

#[test]
fn what_cannot_be_read_is_told() {
    let home = Home::new();
    let id = stored(&home, b"one\ntwo", None);
    let mut client = Client::start(&home, &[]);
    let mut page = String::new();
    for more in [
        json!({"stream": "stderr"}),
        json!({"line": 3}),
        json!({"byte": 8}),
        json!({"grep": "("}),
        json!({"grep": "a{1000}{1000}"}),
        json!({"grep": "a", "line": 1}),
        json!({"stream": "both"}),
        json!({"output": "nothing"}),
        json!({"output": "01M8QCWWHAEG1P9BVVXWD331RY"}),
        json!({"cursor": "c1.0.1.0000000000000000"}),
    ] {
        let mut arguments = json!({"output": id});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        page.push_str(&format!("{more}: {}\n", client.refused("output", arguments)));
    }
    sayso_snapshots::check("mcp_output_refusals", &home.steady(&page));
}

#[test]
fn hostile_bytes_stay_within_the_bound_and_are_reached() {
    let home = Home::new();
    let mut client = None;
    for bytes in [
        "`\n".repeat(40_000),
        "\n".repeat(60_000),
        "\u{202E}⟦\0".repeat(20_000),
        "한글".repeat(30_000),
        "a\r\nb\u{2028}".repeat(20_000),
        String::new(),
        "no break at the end".to_owned(),
    ] {
        let id = stored(&home, bytes.as_bytes(), None);
        let client = client.get_or_insert_with(|| Client::start(&home, &[]));
        assert_eq!(together(&client.pages("output", &json!({"output": id}))), bytes);
        assert_eq!(together(&client.pages("output", &json!({"output": id, "byte": 0}))), bytes);
    }
    // What is no text is shown as such, and reading on ends.
    let binary: Vec<u8> = (0..200_000_u32).map(|n| (n * 7 % 256) as u8).collect();
    let id = stored(&home, &binary, None);
    let client = client.as_mut().unwrap();
    let pages = client.pages("output", &json!({"output": id, "byte": 0}));
    assert!(pages.len() > 10 && pages.iter().all(|page| page["text"].as_str().unwrap().contains('\u{FFFD}')));
    let long = format!("{}needle{}\n", "x".repeat(400_000), "\u{202E}".repeat(400_000));
    let id = stored(&home, long.as_bytes(), None);
    let found = client.call("output", json!({"output": id, "grep": "needle"}));
    assert_eq!((found["matches"].as_array().unwrap().len(), &found["matches"][0]["cut"]), (1, &json!(true)));
}

#[cfg(target_os = "linux")]
#[test]
fn a_hundred_megabytes_are_read_in_parts_at_constant_memory() {
    let home = Home::new();
    let line = |n: usize| {
        format!("{n:08} the build goes on and on, target by target, crate by crate, for a long while\n")
    };
    let length = line(0).len();
    let count = 100_000_000 / length;
    let bytes: String = (1..=count).map(line).collect();
    let id = stored(&home, bytes.as_bytes(), None);
    let size = bytes.len();
    drop(bytes);
    let mut client = Client::start(&home, &[]);
    client.call("output", json!({"output": id}));
    let before = super::bounds::peak(&client);
    let mut pages = client.call("output", json!({"output": id, "count": 3}));
    assert_eq!(pages["bytes"], json!(size));
    for n in 0..10 {
        assert!(text(&pages).starts_with(&line(1 + 3 * n)), "page {n}");
        pages = client.call("output", json!({"output": id, "count": 3, "cursor": pages["next"]}));
    }
    let last = client.call("output", json!({"output": id, "line": count}));
    assert_eq!((text(&last), &last["next"]), (line(count), &Value::Null));
    let tail = client.call("output", json!({"output": id, "byte": size - length}));
    assert_eq!(text(&tail), line(count));
    let found = client.call("output", json!({"output": id, "grep": format!("^{:08}", count - 5)}));
    assert_eq!(found["matches"][0]["line"], json!(count - 5));
    let all = client.call("output", json!({"output": id, "grep": "build"}));
    assert!(all["matches"].as_array().unwrap().len() > 50 && all["next"].is_string());
    let grown = super::bounds::peak(&client).saturating_sub(before);
    assert!(grown < 16 * 1024, "{grown} KiB more than before");
}
