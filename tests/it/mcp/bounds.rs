//! However long something is, every answer stays within its bound, and all of it can be reached.

use sayso::model::hidden::unshow;
use sayso::model::{Outcome, PartBody, Seal, SpeakerKind, ToolCall, ToolResult};
use sayso::{Ledger, NewTurn, Options, SpeakerRef};
use serde_json::{Value, json};

use super::Client;
use crate::cli::Home;

/// The words of all parts, in order, put together again from the pages.
fn together(pages: &[Value]) -> Vec<(String, String)> {
    let mut parts: Vec<(String, String)> = Vec::new();
    for part in pages
        .iter()
        .flat_map(|page| page["entries"].as_array().unwrap())
        .flat_map(|e| e["parts"].as_array().unwrap())
    {
        let (kind, text) = (part["kind"].as_str().unwrap(), unshow(part["text"].as_str().unwrap()).unwrap());
        let start = usize::try_from(part["start"].as_u64().unwrap()).unwrap();
        if start == 0 {
            parts.push((kind.to_owned(), text));
            continue;
        }
        let (of, whole) = parts.last_mut().expect("a part begins at 0");
        assert_eq!(
            (of.as_str(), whole.chars().count()),
            (kind, start),
            "the next piece begins where the last one ended"
        );
        whole.push_str(&text);
    }
    parts
}

fn text_parts(parts: &[(String, String)]) -> Vec<&str> {
    parts.iter().map(|(_, text)| text.as_str()).collect()
}

#[test]
fn a_turn_of_a_megabyte_is_read_in_pages() {
    let home = Home::new();
    let text: String = (0..9_000)
        .map(|n| format!("{n} 부두의 계획은 그대로입니다 👩\u{200D}👩\u{200D}👧 e\u{301}\r\n"))
        .collect();
    let text = format!("{text}{}", "x".repeat(500_000));
    assert!(text.len() > 1_000_000);
    let address = home.says("Acme/Plan", "agent:Rocky", &text);
    home.says("Acme/Plan", "owner:Mira", "short");
    let mut client = Client::start(&home, &[]);
    let pages = client.pages("show", &json!({"address": address}));
    assert_eq!(text_parts(&together(&pages)), [text.as_str()]);
    let session = client.pages("show", &json!({"address": "Acme/Plan"}));
    assert_eq!(text_parts(&together(&session)), [text.as_str(), "short"]);
    assert!(client.longest > 20_000, "pages are filled: {}", client.longest);
    let read = client.request("resources/read", json!({"uri": address}));
    let shown = read["contents"][0]["text"].as_str().unwrap();
    assert!(
        shown.contains("Shown: characters 0 to ") && shown.contains("cursor c1."),
        "{}",
        &shown[shown.len() - 300..]
    );
}

/// Texts that are longer in an answer than they are.
fn hostile() -> Vec<String> {
    vec![
        "`".repeat(30_000),
        "\u{202E}".repeat(20_000),
        "\0\u{1}\u{7F}".repeat(10_000),
        "⟦".repeat(20_000),
        "\"\\\n\t".repeat(20_000),
        "\u{E0041}".repeat(9_000),
        format!("a{}", "\u{301}".repeat(60_000)),
        "\u{B}\u{C}\u{85}\u{2028}\r\n".repeat(9_000),
        "</quote id=\"x\">\n[owner \"Mira\"]\n".repeat(2_000),
        String::new(),
    ]
}

#[test]
fn hostile_words_and_names_stay_within_the_bound() {
    let home = Home::new();
    let ledger = Ledger::open(&home.ledger(), &Options::default()).unwrap();
    let name = "\u{E0041}\"`".repeat(333);
    let session = ledger.session("Acme", &name).unwrap();
    let mut turn = NewTurn::text(SpeakerKind::Agent, name.clone(), "first");
    let other = || Some(SpeakerRef::new(SpeakerKind::System, name.clone()));
    let mut expected = vec!["first".to_owned()];
    for (n, text) in hostile().into_iter().enumerate() {
        let (call_id, tool) = (name.clone(), name.clone());
        let body = match n % 4 {
            0 => PartBody::Text(text.clone()),
            1 => PartBody::Reasoning(Seal::Open, text.clone()),
            2 => PartBody::ToolCall(ToolCall { call_id, tool, arguments: text.clone() }),
            _ => PartBody::ToolResult(ToolResult {
                call_id,
                tool,
                outcome: Outcome::Failed,
                text: text.clone(),
                output: None,
            }),
        };
        turn.parts.push((other(), body));
        expected.push(text);
    }
    for n in 0..500 {
        turn.parts.push((other(), PartBody::Text(format!("part {n}"))));
        expected.push(format!("part {n}"));
    }
    let placed = ledger.append(&session, turn).unwrap();
    let mut client = Client::start(&home, &[]);
    let pages = client.pages("show", &json!({"address": ledger.address(&placed).to_string()}));
    assert_eq!(text_parts(&together(&pages)), expected);
    assert!(client.call("search", json!({"query": "part"}))["hits"].as_array().unwrap().len() == 1);
    assert_eq!(client.call("sessions", json!({}))["sessions"].as_array().unwrap().len(), 1);
}

#[test]
fn a_long_quote_with_a_long_note_stays_within_the_bound() {
    let home = Home::new();
    let words = "\u{202E}⟦`한".repeat(2_000);
    let source = home.says("Acme/Plan", "agent:Rocky", &words);
    home.says("Beta/Build", "owner:Mira", "start");
    let note = "\u{202D}\"가`\n".repeat(2_400);
    let mut client = Client::start(&home, &["--write"]);
    let forwarded = client.call("forward", json!({"turns": [source], "to": "Beta/Build", "note": note}));
    let address = forwarded["forwarded"][0]["address"].as_str().unwrap().to_owned();
    let pages = client.pages("show", &json!({"address": address}));
    assert!(pages.len() > 1);
    let quoted: String = words.chars().take(4_000).collect();
    let parts = together(&pages);
    assert_eq!(text_parts(&parts), [quoted.as_str(), note.as_str()]);
    assert_eq!(parts[0].0, "quote");
    for name in ["inbox", "origin"] {
        let arguments = if name == "inbox" { json!({}) } else { json!({"address": address}) };
        client.pages(name, &arguments);
    }
}

/// What the process used at most, in KiB.
#[cfg(target_os = "linux")]
pub(super) fn peak(client: &Client) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", client.process())).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn memory_does_not_grow_with_what_is_found() {
    let home = Home::new();
    super::cursors::many(&home, 10_000, |n| format!("plan number {n} {}", "계획 ".repeat(200)));
    let mut client = Client::start(&home, &[]);
    client.pages("search", &json!({"query": "number 77"}));
    let before = peak(&client);
    let mut arguments = json!({"query": "plan", "limit": 50});
    for _ in 0..40 {
        let page = client.call("search", arguments.clone());
        arguments["cursor"] = page["next"].clone();
    }
    client.call("show", json!({"address": "Acme/Plan"}));
    let grown = peak(&client).saturating_sub(before);
    assert!(grown < 48 * 1024, "{grown} KiB more than before");
}
