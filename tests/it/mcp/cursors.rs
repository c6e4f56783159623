//! Paging: every page within its bound, all of it reached once, and cursors that belong to what gave them.

use sayso::{Ledger, NewTurn, Options, SpeakerKind};
use serde_json::{Value, json};

use super::Client;
use crate::cli::Home;

/// Many turns in few batches.
pub(super) fn many(home: &Home, count: usize, text: impl Fn(usize) -> String) {
    let ledger = Ledger::open(&home.ledger(), &Options::default()).unwrap();
    let session = ledger.session("Acme", "Plan").unwrap();
    let commands = (0..count).map(|n| {
        let turn = NewTurn::text(SpeakerKind::Agent, "Rocky", text(n));
        ledger.append_command(session.id, turn).unwrap()
    });
    let commands: Vec<_> = commands.collect();
    for batch in commands.chunks(1_000) {
        ledger.write(&sayso::Scope::All, batch.to_vec()).unwrap();
    }
}

fn seqs(pages: &[Value], list: &str) -> Vec<u64> {
    pages
        .iter()
        .flat_map(|page| page[list].as_array().unwrap())
        .map(|entry| entry["seq"].as_u64().unwrap())
        .collect()
}

#[test]
fn ten_thousand_hits_are_reached_page_by_page() {
    let home = Home::new();
    many(&home, 10_000, |n| format!("plan number {n} {}", "계획 ".repeat(40)));
    let mut client = Client::start(&home, &[]);
    let pages = client.pages("search", &json!({"query": "plan", "limit": 50}));
    let hits = pages.iter().flat_map(|page| page["hits"].as_array().unwrap());
    let addresses: Vec<&str> = hits.map(|hit| hit["address"].as_str().unwrap()).collect();
    assert_eq!(addresses.len(), 10_000);
    let distinct: std::collections::HashSet<&&str> = addresses.iter().collect();
    assert_eq!(distinct.len(), 10_000, "each once");
    assert!(pages.iter().all(|page| page["hits"].as_array().unwrap().len() <= 50));
    let first = client.call("search", json!({"query": "plan"}));
    assert_eq!(first["hits"].as_array().unwrap().len(), 20);
    assert!(first["hits"][0]["excerpt"].as_str().unwrap().starts_with("plan number 9999"), "newest first");
    let shown = client.pages("show", &json!({"address": "Acme/Plan"}));
    assert_eq!(seqs(&shown, "entries"), (1..=10_000).collect::<Vec<_>>());
    let end = client.call("show", json!({"address": "Acme/Plan", "from": 9_999}));
    assert_eq!(seqs(&[end], "entries"), [9_999, 10_000]);
}

#[test]
fn sessions_and_resources_are_reached_page_by_page() {
    let home = Home::new();
    let ledger = Ledger::open(&home.ledger(), &Options::default()).unwrap();
    for n in 0..300 {
        ledger.session("Acme", &format!("Plan {n} {}", "⟦\u{202E}".repeat(100))).unwrap();
    }
    let mut client = Client::start(&home, &[]);
    let pages = client.pages("sessions", &json!({}));
    assert!(pages.len() > 3, "{}", pages.len());
    let count = |list: &str, pages: &[Value]| {
        let all = pages.iter().flat_map(|page| page[list].as_array().unwrap());
        all.map(|session| session.to_string()).collect::<std::collections::BTreeSet<_>>().len()
    };
    assert_eq!(count("sessions", &pages), 300);
    let (mut listed, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let mut page = client.request("resources/list", json!({"cursor": cursor}));
        cursor = page["nextCursor"].take();
        listed.push(page);
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(count("resources", &listed), 300);
}

#[test]
fn what_waits_is_reached_page_by_page() {
    let home = Home::new();
    let source = home.says("Acme/Plan", "agent:Rocky", &"계획은 그대로입니다. ".repeat(300));
    home.says("Beta/Build", "owner:Mira", "start");
    home.says("Beta/Other", "owner:Mira", "start");
    let mut client = Client::start(&home, &["--write"]);
    for to in ["Beta/Build", "Beta/Other"] {
        for _ in 0..7 {
            client.call("forward", json!({"turns": [source], "to": to, "note": "참고 ".repeat(900)}));
        }
    }
    let pages = client.pages("inbox", &json!({}));
    assert!(pages.len() > 3, "{}", pages.len());
    let waiting: Vec<&Value> = pages.iter().flat_map(|page| page["waiting"].as_array().unwrap()).collect();
    let addresses: Vec<&str> = waiting.iter().map(|one| one["turn"]["address"].as_str().unwrap()).collect();
    let distinct: std::collections::BTreeSet<_> = addresses.iter().collect();
    assert_eq!(distinct.len(), 14);
    assert!(waiting.iter().all(|one| one["state"] == "recorded"));
    assert_eq!(client.pages("inbox", &json!({"session": "Beta/Other"})).len(), pages.len() / 2);
}

#[test]
fn a_cursor_belongs_to_the_call_that_gave_it() {
    let home = Home::new();
    many(&home, 60, |n| format!("plan number {n} {}", "word ".repeat(400)));
    let mut client = Client::start(&home, &[]);
    let given = |name: &str, client: &mut Client, arguments: Value| {
        client.call(name, arguments)["next"]
            .as_str()
            .unwrap_or_else(|| panic!("{name} has no more"))
            .to_owned()
    };
    let search = given("search", &mut client, json!({"query": "plan", "limit": 5}));
    let show = given("show", &mut client, json!({"address": "Acme/Plan"}));
    // The same request, with another number of hits at once, goes on.
    assert!(client.call("search", json!({"query": "plan", "limit": 7, "cursor": search}))["hits"].is_array());
    let not_its_own = "does not belong to this call";
    for (name, arguments) in [
        ("search", json!({"query": "number", "cursor": search})),
        ("search", json!({"query": "plan", "speaker": "agent", "cursor": search})),
        ("search", json!({"query": "plan", "cursor": show})),
        ("search", json!({"query": "plan", "cursor": ""})),
        ("search", json!({"query": "plan", "cursor": format!("{search}0")})),
        ("search", json!({"query": "plan", "cursor": search.replace("c1", "c2")})),
        ("show", json!({"address": "Acme/Plan", "from": 2, "cursor": show})),
        ("show", json!({"address": "Acme/Plan", "cursor": show.to_uppercase()})),
        ("sessions", json!({"cursor": show})),
        ("inbox", json!({"cursor": show})),
    ] {
        let message = client.refused(name, arguments.clone());
        assert!(
            message.contains(not_its_own) && message.contains("start again"),
            "{name} {arguments}: {message}"
        );
    }
    let listed = client.request("resources/list", json!({"cursor": show}));
    assert!(listed["message"].as_str().unwrap().contains(not_its_own), "{listed}");
    // A server that was started again takes the cursors of the one before.
    let mut again = Client::start(&home, &[]);
    assert!(again.call("show", json!({"address": "Acme/Plan", "cursor": show}))["entries"].is_array());
    // What it points to is gone.
    let listed = client.call("sessions", json!({}));
    let session = listed["sessions"][0]["address"].as_str().unwrap();
    assert_eq!(home.run(&["erase", session]).code, Some(0));
    let message = client.refused("search", json!({"query": "plan", "cursor": search}));
    assert!(message.contains("not there any more"), "{message}");
}
