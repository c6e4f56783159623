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

/// Every part that holds words or a file, as `KIND TEXT`, sorted.
fn held(sample: &Sample) -> Vec<String> {
    let parts = sample.turns();
    let parts = parts.iter().flat_map(super::parts).map(|(kind, word, text)| format!("{kind} {word} {text}"));
    let mut parts: Vec<String> = parts.collect();
    parts.sort();
    parts
}

/// Imports every start of the lines and then all of them: what is held is the same each time, and held once.
#[track_caller]
fn held_once(name: &str, lines: &[String], wanted: &[&str]) {
    let lines: Vec<String> =
        std::iter::once(user("first", json!("start"))).chain(lines.iter().cloned()).collect();
    let mut wanted: Vec<String> = wanted.iter().map(|w| (*w).to_owned()).collect();
    wanted.push("owner text start".to_owned());
    wanted.sort();
    for length in 1..=lines.len() {
        let sample = Sample::new();
        sample.import(&lines[..length].join("\n"));
        sample.import(&lines.join("\n"));
        let held: Vec<String> =
            held(&sample).iter().flat_map(|part| split(part)).filter(|part| !part.ends_with(' ')).collect();
        assert_eq!(held, wanted, "{name} after {length} lines");
        assert_eq!(sample.import(&lines.join("\n")).turns_added, 0, "{name} after {length} lines");
    }
}

/// A part with several lines as one for each.
fn split(part: &str) -> Vec<String> {
    let (kind, text) = part.rsplit_once(' ').unwrap();
    text.split('\n').map(|line| format!("{kind} {line}")).collect()
}

#[test]
fn queued_words_stand_once_wherever_a_file_was_cut() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aGk=", "url": "i.png"}});
    let pictured = json!([{"type": "text", "text": "a"}, image]);
    let reminder = "<system-reminder>r</system-reminder>";
    let editor = "<ide_opened_file>f</ide_opened_file>";
    let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "out"});
    let both = [enqueue("a"), enqueue("b"), take("dequeue"), take("dequeue")];
    let then = |more: &[String]| [both.as_slice(), more].concat();
    held_once(
        "a picture in both",
        &[operation("enqueue", Some(pictured.clone())), take("dequeue"), user("u", pictured.clone())],
        &["owner text a", "owner attachment i.png"],
    );
    held_once(
        "a picture that is shown only",
        &[enqueue("a"), take("dequeue"), user("u", pictured)],
        &["owner text a", "owner attachment i.png"],
    );
    held_once("joined", &then(&[user("u", json!("a\nb"))]), &["owner text a", "owner text b"]);
    held_once(
        "joined one after the other",
        &[enqueue("a"), take("dequeue"), enqueue("b"), take("dequeue"), user("u", json!("a\nb")), answer()],
        &["owner text a", "owner text b", "agent text ok"],
    );
    held_once(
        "beside a result",
        &[enqueue("a"), take("remove"), user("u", json!([result, {"type": "text", "text": "a"}])), answer()],
        &["owner text a", "tool result out", "agent text ok"],
    );
    held_once(
        "with what the program added",
        &[enqueue("a"), take("dequeue"), user("u", json!(format!("{editor}\na\n{reminder}"))), answer()],
        &[
            "owner text a",
            &format!("system text {editor}"),
            &format!("system text {reminder}"),
            "agent text ok",
        ],
    );
    held_once(
        "with a reminder of its own",
        &then(&[user("u", json!([{"type": "text", "text": reminder}, {"type": "text", "text": "a\nb"}]))]),
        &["owner text a", "owner text b", &format!("system text {reminder}")],
    );
    let note = "<task-notification>done</task-notification>";
    held_once(
        "a notification",
        &[enqueue(note), take("remove"), queued("u", note)],
        &[&format!("system text {note}")],
    );
}

#[test]
fn a_sub_agent_has_a_queue_too() {
    let sample = Sample::new();
    let path = sample.folder().join("agent-1.jsonl");
    let side = |uuid: &str, kind: &str, message: Value| {
        record(kind, uuid, json!({"isSidechain": true, "message": message}))
    };
    let lines = [
        side("a", "user", json!({"content": "find"})),
        enqueue("look there"),
        take("remove"),
        side("b", "user", json!({"content": "look there"})),
        side("c", "assistant", json!({"model": "m", "content": "yes"})),
        enqueue("and here"),
        take("remove"),
        side("d", "assistant", json!({"model": "m", "content": "done"})),
    ];
    for length in [3, lines.len()] {
        std::fs::write(&path, lines[..length].join("\n")).unwrap();
        crate::import_file(&sample.ledger, &path, &mut |_| {}).unwrap();
    }
    let said: Vec<_> =
        sample.said().into_iter().map(|(kind, name, text)| format!("{kind} {name}: {text}")).collect();
    let caller = "agent Claude Code";
    let wanted = [
        format!("{caller}: find"),
        format!("{caller}: look there"),
        "agent m: yes".to_owned(),
        format!("{caller}: and here"),
        "agent m: done".to_owned(),
    ];
    assert_eq!(said, wanted);
}

#[test]
fn mail_is_by_the_agents_that_sent_it() {
    let sample = Sample::new();
    let mail = |uuid: &str, messages: Value| {
        let attachment = json!({"type": "teammate_mailbox", "messages": messages, "recipientIsLead": true});
        record("attachment", uuid, json!({"attachment": attachment}))
    };
    let messages = json!([{"from": "bob", "text": "I am done"}, {"from": "eve", "text": "<b>me too</b>"}]);
    let ended = json!([{"from": "system", "text": "eve has left"}, {"text": "x"}, "y"]);
    let report = sample.import(&[mail("a", messages), mail("b", ended), mail("c", json!([]))].join("\n"));
    let said: Vec<_> =
        sample.said().into_iter().map(|(kind, name, text)| format!("{kind} {name}: {text}")).collect();
    assert_eq!(said, ["agent bob: I am done\n<b>me too</b>", "system Claude Code: eve has left\nx\ny"]);
    let by: Vec<_> =
        sample.turns()[0].parts.iter().map(|part| part.by.as_ref().map(|by| by.name.clone())).collect();
    assert_eq!(by, [None, Some("eve".to_owned())]);
    assert_eq!(report.skipped["attachment/teammate_mailbox"], 1);
}
