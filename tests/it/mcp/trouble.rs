//! A ledger that cannot be used, and a client that misbehaves: the server goes on.

use serde_json::{Value, json};

use super::Client;
use crate::cli::Home;

const LOOK: &str = r#"{"query":"plan"}"#;

#[track_caller]
fn told(client: &mut Client, home: &Home) -> String {
    let mut messages = Vec::new();
    for (name, arguments) in [("search", LOOK), ("sessions", "{}"), ("show", r#"{"address":"Plan"}"#)] {
        messages.push(client.refused(name, serde_json::from_str(arguments).unwrap()));
    }
    let listed = client.request("resources/list", json!({}));
    assert_eq!(listed["code"], -32603, "it is not the request that is wrong: {listed}");
    let read = client.request("resources/read", json!({"uri": "sayso://nowhere"}));
    assert_eq!(read["code"], -32603, "{read}");
    messages.push(read["message"].as_str().unwrap_or_else(|| panic!("no error: {read}")).to_owned());
    messages.push(listed["message"].as_str().unwrap_or_else(|| panic!("no error: {listed}")).to_owned());
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    let message = messages.remove(0);
    let folder = home.path("").to_string_lossy().into_owned();
    assert!(!message.contains(folder.trim_end_matches('/')) && !message.contains("ledger.db"), "{message}");
    message
}

#[test]
fn a_missing_ledger_is_told_and_found_when_it_comes() {
    let home = Home::new();
    let mut client = Client::start(&home, &[]);
    assert!(told(&mut client, &home).contains("there is no ledger yet"));
    assert!(!home.ledger().exists(), "reading makes none");
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    assert_eq!(
        client.call("search", serde_json::from_str(LOOK).unwrap())["hits"].as_array().unwrap().len(),
        1
    );
    let (code, said) = client.end();
    assert_eq!(code, Some(0));
    assert!(said.contains("ledger.db"), "the person is told which file: {said}");
}

#[test]
fn a_file_that_is_no_ledger_is_told() {
    let home = Home::new();
    std::fs::write(home.ledger(), "not a database ".repeat(1_000)).unwrap();
    let mut client = Client::start(&home, &["--scope", "Acme"]);
    assert!(told(&mut client, &home).contains("no ledger"));
    std::fs::remove_file(home.ledger()).unwrap();
    // A scope that could not be told at the start is told at the first call that can.
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    home.says("Beta/Build", "agent:Rocky", "Another plan.");
    assert_eq!(
        client.call("search", serde_json::from_str(LOOK).unwrap())["hits"].as_array().unwrap().len(),
        1
    );
}

#[test]
fn a_locked_ledger_is_told_and_read_when_it_is_free() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let lock = rusqlite::Connection::open(home.ledger()).unwrap();
    lock.pragma_update(None, "locking_mode", "EXCLUSIVE").unwrap();
    lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
    let mut client = Client::start(&home, &[]);
    assert!(client.refused("sessions", json!({})).contains("locked by another program"));
    drop(lock);
    assert_eq!(client.call("sessions", json!({}))["sessions"][0]["title"], "Plan");
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn damage_is_told_where_it_is_and_only_there() {
    let home = Home::new();
    let broken = home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let whole = home.says("Acme/Other", "agent:Rocky", "Another plan.");
    let id = broken.rsplit('/').next().unwrap();
    let damage = rusqlite::Connection::open(home.ledger()).unwrap();
    let changed = damage
        .execute("UPDATE part SET text = x'6869' WHERE no >> 12 = (SELECT no FROM entry WHERE id = ?1)", [id])
        .unwrap();
    assert_eq!(changed, 1);
    drop(damage);
    let mut client = Client::start(&home, &[]);
    let message = client.refused("show", json!({"address": broken}));
    assert!(message.contains("damaged") && message.contains("sayso verify"), "{message}");
    assert_eq!(client.call("show", json!({"address": whole}))["entries"][0]["seq"], 1);
}

#[test]
fn an_unknown_scope_ends_it_before_it_begins() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let (code, said) = Client::silent(&home, &["--scope", "Amce"]).end();
    assert_eq!(code, Some(1));
    assert!(said.contains("near to it: Acme"), "{said}");
}

#[test]
fn the_end_of_input_ends_it_cleanly() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let (code, said) = Client::silent(&home, &[]).end();
    assert_eq!((code, said.as_str()), (Some(0), ""), "before it began");
    let (code, said) = Client::start(&home, &[]).end();
    assert_eq!((code, said.as_str()), (Some(0), ""), "after it began");
    // A call whose answer is still to come is answered.
    let mut client = Client::start(&home, &[]);
    let call = json!({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "sessions", "arguments": {}}});
    client.send(format!("{call}\n").as_bytes());
    client.hang_up();
    let answer: Value = serde_json::from_str(&client.line()).unwrap();
    assert_eq!(answer["id"], 9);
    assert_eq!(client.end().0, Some(0));
}

#[test]
fn junk_does_not_end_it() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let junk: [&[u8]; 7] = [
        b"hello\n",
        b"\n\n\r\n",
        b"\xFF\xFE\x00\x01\n",
        b"{\"jsonrpc\":\"2.0\",\n",
        b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n",
        b"{\"jsonrpc\":\"2.0\",\"id\":77,\"result\":{}}\n",
        b"]\n",
    ];
    let mut client = Client::silent(&home, &[]);
    for _ in 0..2 {
        junk.iter().for_each(|line| client.send(line));
        for _ in 0..4 {
            let answer: Value = serde_json::from_str(&client.line()).unwrap();
            let null = Some(&Value::Null);
            assert_eq!((&answer["error"]["code"], answer.get("id")), (&json!(-32700), null), "{answer}");
        }
        if client.is_new() {
            client.hello();
        }
    }
    assert_eq!(client.call("sessions", json!({}))["sessions"][0]["title"], "Plan");
    let (code, said) = client.end();
    assert_eq!(code, Some(0));
    assert!(said.contains("no JSON") && said.contains("before initialize"), "{said}");
}

#[test]
fn a_message_that_is_too_long_is_refused_and_the_next_is_answered() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let mut client = Client::start(&home, &[]);
    client.send(
        format!("{{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"{}\"}}\n", "x".repeat(3_000_000)).as_bytes(),
    );
    let answer: Value = serde_json::from_str(&client.line()).unwrap();
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("1048576 bytes"), "{answer}");
    assert!(answer.as_object().unwrap().contains_key("id") && answer["id"].is_null(), "{answer}");
    // What is no request of the protocol is answered as such.
    client.send(b"[1]\n");
    let answer: Value = serde_json::from_str(&client.line()).unwrap();
    assert_eq!(answer["error"]["code"], -32600, "{answer}");
    assert!(answer.as_object().unwrap().contains_key("id") && answer["id"].is_null(), "{answer}");
    assert_eq!(client.call("sessions", json!({}))["sessions"][0]["title"], "Plan");
    assert!(client.end().1.contains("bytes was refused"));
}

#[test]
fn arguments_that_do_not_fit_are_told() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let mut client = Client::start(&home, &[]);
    let mut page = String::new();
    for (name, arguments) in [
        ("search", json!({})),
        ("search", json!({"query": "…"})),
        ("search", json!({"query": "plan", "speaker": "boss"})),
        ("search", json!({"query": "plan", "since": "yesterday"})),
        ("search", json!({"query": "plan", "project": "Amce"})),
        ("search", json!({"query": 7})),
        ("search", json!({"query": "plan", "limit": 0})),
        ("search", json!({"query": "plan", "limit": 51})),
        ("search", json!({"query": "plan", "limit": -1})),
        ("show", json!({"address": "Plan", "from": 0})),
        ("output", json!({"output": "01M8QCWWHAEG1P9BVVXWD331RY", "count": 0})),
        ("output", json!({"output": "01M8QCWWHAEG1P9BVVXWD331RY", "line": 0})),
        ("show", json!({"address": "x".repeat(100_000)})),
        ("show", json!({"address": "sayso://nothing"})),
        ("show", json!({"address": "Plan", "cursor": "c1.1.0.0.0000000000000000"})),
        ("origin", json!({"address": "01M8QCWWHAEG1P9BVVXWD331RY"})),
        ("inbox", json!({"session": "Paln"})),
        ("sessions", json!({"all": true})),
    ] {
        page.push_str(&format!("{name}: {}\n", client.refused(name, arguments)));
    }
    sayso_snapshots::check("mcp_bad_arguments", &home.steady(&page));
}

/// The codes of JSON-RPC 2.0 and, for resources, of the protocol.
#[test]
fn every_error_of_the_protocol_has_its_code() {
    let home = Home::new();
    home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let mut client = Client::start(&home, &[]);
    for (method, params, code) in [
        ("tools/call", json!({}), -32602),
        ("tools/call", json!({"name": 7}), -32602),
        ("tools/call", json!({"name": "nope"}), -32602),
        ("tools/call", json!({"name": "search", "arguments": [1]}), -32602),
        ("tools/call", json!("x"), -32602),
        ("tools/call", json!([1]), -32602),
        ("tools/call", Value::Null, -32602),
        ("resources/read", json!({}), -32602),
        ("resources/read", json!({"uri": "sayso://nothing"}), -32002),
        ("resources/list", json!({"cursor": "c1.made.up"}), -32602),
        ("prompts/list", json!({}), -32601),
        ("no/such", json!({}), -32601),
    ] {
        let error = client.request(method, params.clone());
        assert_eq!(error["code"], code, "{method} {params}: {error}");
        assert!(!error["message"].as_str().unwrap().is_empty());
    }
    assert_eq!(client.call("search", json!({"query": "plan", "limit": 50}))["hits"][0]["found_in"], "text");
}
