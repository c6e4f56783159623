//! Words that waited in the queue of a Claude Code session.

use sayso::SpeakerKind;
use sayso::SpeakerKind::{Agent, Owner, System};
use serde_json::{Value, json};

use super::claude::{agent, record, text, user};
use super::{Sample, growth};

pub(super) fn operation(operation: &str, content: Option<Value>) -> String {
    let mut record = json!({"type": "queue-operation", "operation": operation, "sessionId": "s-1",
        "timestamp": "2026-03-01T09:00:00Z"});
    if let Some(content) = content {
        record["content"] = content;
    }
    record.to_string()
}

fn enqueue(words: &str) -> String {
    operation("enqueue", Some(json!(words)))
}

fn take(word: &str) -> String {
    operation(word, None)
}

fn queued(uuid: &str, words: &str) -> String {
    record("attachment", uuid, json!({"attachment": {"type": "queued_command", "prompt": words}}))
}

fn answer() -> String {
    agent("z", text("ok"))
}

type Said = Vec<(SpeakerKind, String)>;

fn check(name: &str, lines: &[String], wanted: &[(SpeakerKind, &str)]) {
    let sample = Sample::new();
    let first = user("first", json!("start"));
    let lines: Vec<String> = std::iter::once(first).chain(lines.iter().cloned()).collect();
    sample.import(&lines.join("\n"));
    let said: Said = sample.said().into_iter().skip(1).map(|(kind, _, text)| (kind, text)).collect();
    let wanted: Said = wanted.iter().map(|(kind, text)| (*kind, (*text).to_owned())).collect();
    assert_eq!(said, wanted, "{name}");
    growth::by_lines(name, &lines);
}

#[test]
fn words_that_no_record_shows_are_kept() {
    check("removed", &[enqueue("a"), take("remove"), answer()], &[(Owner, "a"), (Agent, "ok")]);
    check("at the end", &[enqueue("a"), take("remove")], &[(Owner, "a")]);
    check("taken for a turn", &[enqueue("a"), take("dequeue"), answer()], &[(Owner, "a"), (Agent, "ok")]);
    check(
        "one of two",
        &[enqueue("a"), enqueue("b"), take("remove"), answer()],
        &[(Owner, "a"), (Agent, "ok")],
    );
    let note = "<task-notification>done</task-notification>";
    check("a notification", &[enqueue(note), take("remove"), answer()], &[(System, note), (Agent, "ok")]);
}

#[test]
fn words_that_were_not_said_are_not_there() {
    check("still waiting", &[enqueue("a"), answer()], &[(Agent, "ok")]);
    check("pulled back", &[enqueue("a"), operation("popAll", Some(json!("a"))), answer()], &[(Agent, "ok")]);
    let lines = [enqueue("a"), enqueue("b"), take("remove"), operation("popAll", Some(json!("a"))), answer()];
    let sample = Sample::new();
    sample.import(&lines.join("\n"));
    assert_eq!(sample.said()[0].2, "b");
    check("empty", &[operation("enqueue", None), take("remove"), take("remove"), answer()], &[(Agent, "ok")]);
}

#[test]
fn words_that_a_record_shows_are_there_once() {
    let shown = [(Owner, "a"), (Agent, "ok")];
    check("a message", &[enqueue("a"), take("dequeue"), user("u", json!("a")), answer()], &shown);
    check("an attachment", &[enqueue("a"), take("remove"), queued("u", "a"), answer()], &shown);
    check("an attachment before", &[enqueue("a"), queued("u", "a"), take("remove"), answer()], &shown);
}

#[test]
fn words_are_found_where_they_look_a_little_different() {
    let echo = "<command-name>/go</command-name><command-args>now</command-args>";
    let cases: [(&str, Vec<String>, &str); 3] = [
        ("blocks", vec![enqueue("a"), take("dequeue"), user("u", text("a\n"))], "a\n"),
        (
            "two in one",
            vec![enqueue("a"), enqueue("b"), take("dequeue"), take("dequeue"), user("u", json!("a\nb"))],
            "a\nb",
        ),
        (
            "a command",
            vec![enqueue("/go now"), take("dequeue"), user("u", json!(echo))],
            "<command-name>/go</command-name><command-args>\nnow\n</command-args>",
        ),
    ];
    for (name, lines, wanted) in cases {
        let sample = Sample::new();
        sample.import(&lines.join("\n"));
        assert_eq!(sample.said(), [(Owner, "Mira".to_owned(), wanted.to_owned())], "{name}");
    }
}

#[test]
fn a_picture_that_comes_later_than_its_words_is_kept() {
    let image =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk="}});
    let pictured = user("u", json!([{"type": "text", "text": "a"}, image]));
    let lines = [enqueue("a"), take("dequeue"), pictured];
    let sample = Sample::new();
    sample.import(&lines[..2].join("\n"));
    sample.import(&lines.join("\n"));
    let words: Vec<_> =
        sample.turns().iter().flat_map(super::parts).map(|(_, word, text)| (word, text)).collect();
    assert_eq!(words, [("text", "a".to_owned()), ("attachment", String::new())]);
    assert_eq!(sample.import(&lines.join("\n")).turns_added, 0);
}

#[test]
fn the_same_words_twice_are_said_twice() {
    let lines = [enqueue("a"), enqueue("a"), take("remove"), queued("u", "a"), take("remove"), answer()];
    check("twice", &lines, &[(Owner, "a"), (Owner, "a"), (Agent, "ok")]);
}

#[test]
fn an_attachment_says_whose_words_it_holds() {
    let sample = Sample::new();
    let attachment = |uuid: &str, mut more: Value| {
        more["type"] = json!("queued_command");
        record("attachment", uuid, json!({"attachment": more}))
    };
    let lines = [
        attachment("a", json!({"prompt": "hi", "timestamp": "2026-03-01T09:00:00Z"})),
        attachment("b", json!({"prompt": text("x"), "commandMode": "task-notification"})),
        attachment("c", json!({"prompt": "y", "isMeta": true})),
        attachment("d", json!({"prompt": "z", "origin": {"kind": "peer", "from": "bob"}})),
    ];
    sample.import(&lines.join("\n"));
    let said: Vec<_> = sample.said().into_iter().map(|(kind, name, _)| (kind, name)).collect();
    let program = || (System, "Claude Code".to_owned());
    assert_eq!(said, [(Owner, "Mira".to_owned()), program(), program(), (Agent, "bob".to_owned())]);
    assert_eq!(sample.turns()[0].said_at.unwrap().utc(), "2026-03-01T09:00:00Z");
}
