//! Any other channel, by programs that the tests write.

use std::sync::atomic::AtomicUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use sayso_bridge::command::{CommandSender, CommandSource, Program};
use sayso_relay::port::{
    Ability, Blind, Outgoing, Probed, Receipt, SaidAt, Sender, Sent, Source, SourceFail, SpeakerKind,
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::outgoing;

/// A program that is this line of shell, in a folder of its own.
struct Shell(TempDir);

impl Shell {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn program(&self, line: &str) -> Program {
        Program {
            command: ["/bin/sh", "-c", line].map(Into::into).to_vec(),
            folder: Some(self.0.path().to_owned()),
            timeout: Duration::from_secs(60),
            stop: Arc::new(AtomicUsize::new(0)),
        }
    }

    fn sender(&self, line: &str) -> CommandSender {
        CommandSender::new(self.program(line), Ability::Opaque(Blind::Park), None)
    }

    fn source(&self, line: &str) -> CommandSource {
        self.noted(line).0
    }

    fn noted(&self, line: &str) -> (CommandSource, Arc<Mutex<Vec<String>>>) {
        let notes = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&notes);
        let note = Box::new(move |why: &str| kept.lock().unwrap().push(why.to_owned()));
        (CommandSource::new(self.program(line), "mail", "mira", note), notes)
    }

    fn read(&self, name: &str) -> Value {
        serde_json::from_slice(&std::fs::read(self.0.path().join(name)).unwrap()).unwrap()
    }
}

fn says(line: &str) -> String {
    format!("cat >/dev/null; printf '%s\\n' '{line}'")
}

fn mail(text: &str) -> Outgoing {
    outgoing(r#"{"to":"mira"}"#, text)
}

#[test]
fn a_sink_is_told_everything_on_its_standard_input() {
    let shell = Shell::new();
    let mut sender = shell.sender(r#"cat >given; echo '{"status":"delivered","receipt":{"id":18}}'"#);
    let text = "막배는 24:40.\nIt's \"late\".";
    let sent = sender.send(&Outgoing { repeat_mark: true, ..mail(text) });
    assert_eq!(sent, Sent::Delivered(Receipt(r#"{"id":18}"#.to_owned())));
    assert_eq!(
        shell.read("given"),
        json!({
            "version": 1, "action": "send", "delivery": "01M8QCWWHAEG1P9BVVXWD331RY", "key": "key-1", "part": 0,
            "parts": 1, "channel": "telegram", "destination": {"to": "mira"}, "reply_to": "17", "text": text,
            "repeat_mark": true,
        })
    );
}

#[test]
fn outcomes_by_what_the_program_says() {
    let unknown = |why: &str| Sent::Unknown { why: why.to_owned() };
    let shell = Shell::new();
    for (line, sent) in [
        (says(r#"{"status":"delivered","receipt":"m18"}"#), Sent::Delivered(Receipt("m18".to_owned()))),
        (says(r#"{"status":"delivered","receipt":""}"#), Sent::Delivered(Receipt("\"\"".to_owned()))),
        (says(r#"{"status":"permanent","why":"no"}"#), Sent::Permanent { why: "no".to_owned() }),
        (
            says(r#"{"status":"temporary","why":"busy","retry_after_ms":5}"#),
            Sent::Temporary { why: "busy".to_owned(), retry_after_ms: Some(5) },
        ),
        (says(r#"{"status":"unknown","why":"lost"}"#), unknown("lost")),
        (
            says(r#"{"status":"sent"}"#),
            unknown("what the program said is no answer: see the form it has to have"),
        ),
        (says(""), unknown("the program gave no answer")),
        (says("{}\\n{}"), unknown("what the program said is no answer: see the form it has to have")),
        ("echo a; echo b".to_owned(), unknown("the program said 2 lines instead of one")),
        ("echo oh >&2; exit 3".to_owned(), unknown("the program ended with exit code 3: oh")),
        ("kill -KILL $$".to_owned(), unknown("the program was ended by signal 9")),
        // What was said counts, whatever came after it.
        (
            format!("{}; exit 3", says(r#"{"status":"delivered","receipt":"m"}"#)),
            Sent::Delivered(Receipt("m".to_owned())),
        ),
    ] {
        assert_eq!(shell.sender(&line).send(&mail("hello")), sent, "{line}");
    }
}

#[test]
fn a_program_that_cannot_be_started_sent_nothing() {
    let shell = Shell::new();
    let program = Program { command: vec!["no-such-program".into()], ..shell.program("") };
    let mut sender = CommandSender::new(program, Ability::Probe, None);
    let why = "no-such-program is not found: check its name and PATH".to_owned();
    assert_eq!(sender.send(&mail("hello")), Sent::Temporary { why: why.clone(), retry_after_ms: None });
    assert_eq!(sender.probe(&mail("hello")), Probed::CannotTell { why });
}

#[test]
fn a_program_that_takes_too_long_is_ended_and_unknown() {
    let shell = Shell::new();
    let program = Program { timeout: Duration::from_millis(50), ..shell.program("exec sleep 600") };
    let sent = CommandSender::new(program, Ability::Probe, None).send(&mail("hello"));
    assert_eq!(sent, Sent::Unknown { why: "the program did not end in time".to_owned() });
}

#[test]
fn a_sink_that_can_be_asked_is_asked_for_the_same_key() {
    let shell = Shell::new();
    let mut sender = CommandSender::new(
        shell.program(r#"cat >given; if [ -e arrived ]; then echo '{"status":"delivered","receipt":"m"}'; else echo '{"status":"not_sent"}'; fi"#),
        Ability::Probe,
        None,
    );
    assert_eq!(sender.probe(&mail("hello")), Probed::NotSent);
    std::fs::write(shell.0.path().join("arrived"), "").unwrap();
    assert_eq!(sender.probe(&mail("hello")), Probed::Delivered(Receipt("m".to_owned())));
    let given = shell.read("given");
    assert_eq!((&given["action"], &given["key"]), (&json!("probe"), &json!("key-1")));
}

#[test]
fn parts_are_of_characters() {
    let shell = Shell::new();
    let whole = shell.sender("").split(&"가".repeat(10_000));
    assert_eq!(whole.len(), 1);
    let sender = CommandSender::new(shell.program(""), Ability::Probe, Some(160));
    assert_eq!(sender.split(&"🌕".repeat(161)), ["🌕".repeat(160), "🌕".to_owned()]);
}

#[test]
fn a_source_gives_messages_in_order() {
    let shell = Shell::new();
    let lines = concat!(
        r#"{"update":"18","message":"m18","destination":{"to":"mira"},"speaker":{"kind":"owner","id":"mira","name":"Mira"},"said_at":"2026-11-30T09:14:05Z","text":"막배?","cursor":"c18"}"#,
        r#"\n{"update":"19","destination":"5","speaker":{"kind":"person","id":"rocky"},"text":"hi"}"#,
    );
    let line = format!("cat >given; printf '{lines}\\n'");
    let mut source = shell.source(&line);
    assert_eq!((source.account(), source.channel()), ("mail:mira".to_owned(), "mail".to_owned()));
    let found = source.poll(Some("17"), Duration::from_millis(1_500)).unwrap();
    assert_eq!(
        shell.read("given"),
        json!({"version": 1, "action": "poll", "account": "mail:mira", "after": "17", "wait_ms": 1_500})
    );
    let [first, second] = &found[..] else { panic!("{found:?}") };
    assert_eq!(first.said_at, SaidAt::parse("2026-11-30T09:14:05Z"));
    assert_eq!((first.message.as_str(), first.cursor.as_deref()), ("m18", Some("c18")));
    assert_eq!((second.message.as_str(), second.cursor.as_deref()), ("19", Some("19")));
    assert_eq!((second.speaker_kind, second.said_at), (SpeakerKind::Person, None));
    // What a source gave goes back to its sink as it was, also a text that looks like a number.
    let mut sender = shell.sender(r#"cat >given; echo '{"status":"delivered","receipt":"m"}'"#);
    sender.send(&outgoing(&second.destination, "hello"));
    assert_eq!(shell.read("given")["destination"], json!("5"));
}

#[test]
fn failures_of_a_source_say_which_kind_they_are() {
    let shell = Shell::new();
    let temporary = |why: &str| SourceFail::Temporary { why: why.to_owned(), retry_after_ms: None };
    for (line, fail) in [
        (says(r#"{"error":"conflict","why":"two"}"#), SourceFail::Conflict { why: "two".to_owned() }),
        (says(r#"{"error":"refused","why":"who?"}"#), SourceFail::Refused { why: "who?".to_owned() }),
        (
            says(r#"{"error":"temporary","why":"busy","retry_after_ms":9}"#),
            SourceFail::Temporary { why: "busy".to_owned(), retry_after_ms: Some(9) },
        ),
        (says("hello"), temporary("line 1 of what the program said is no message")),
        ("echo oh >&2; exit 3".to_owned(), temporary("the program ended with exit code 3: oh")),
    ] {
        assert_eq!(shell.source(&line).poll(None, Duration::ZERO), Err(fail), "{line}");
    }
    let empty =
        r#"{"update":"1","destination":1,"speaker":{"kind":"owner","id":"m"},"text":"","cursor":"c1"}"#;
    let why = "a message has no text".to_owned();
    let fail = SourceFail::Malformed { why, cursor: Some("c1".to_owned()) };
    assert_eq!(shell.source(&says(empty)).poll(None, Duration::ZERO), Err(fail));
    let one = r#"{"update":"1","destination":1,"speaker":{"kind":"owner","id":"m"},"text":"a"}"#;
    let line = format!("{}; {}; exit 1", says(one), says(r#"{"error":"temporary"}"#));
    assert_eq!(shell.source(&line).poll(None, Duration::ZERO).unwrap().len(), 1, "what came whole counts");
}

#[test]
fn a_line_that_is_no_message_keeps_no_other_back() {
    let shell = Shell::new();
    let one = |id: u32| {
        format!(r#"{{"update":"{id}","destination":1,"speaker":{{"kind":"owner","id":"m"}},"text":"a"}}"#)
    };
    let line = [says("reading the mail"), says(&one(1)), says("oh: {"), says(&one(2))].join("; ");
    let (mut source, notes) = shell.noted(&line);
    for _ in 0..2 {
        let found = source.poll(None, Duration::ZERO).unwrap();
        assert_eq!(found.iter().map(|message| message.update.as_str()).collect::<Vec<_>>(), ["1", "2"]);
    }
    let said = |at: u32| format!("line {at} of what the program said is no message");
    assert_eq!(*notes.lock().unwrap(), [said(1), said(3)], "each is told of once");
    // One that says where reading goes on waits for its turn, and is reported then.
    let broken = r#"{"update":"2","destination":1,"text":"nobody said it"}"#;
    let (mut source, notes) = shell.noted(&[says(&one(1)), says(broken), says(&one(3))].join("; "));
    assert_eq!(source.poll(None, Duration::ZERO).unwrap().len(), 1);
    let (mut source, _) = (shell.source(&[says(broken), says(&one(3))].join("; ")), source);
    let fail = SourceFail::Malformed { why: said(1), cursor: Some("2".to_owned()) };
    assert_eq!(source.poll(None, Duration::ZERO), Err(fail));
    assert!(notes.lock().unwrap().is_empty());
    // Where the program breaks off, its last line may be half a message.
    let half = format!("{}; {}; exit 1", says(&one(1)), says(r#"{"update":"2","dest"#));
    assert_eq!(shell.source(&half).poll(None, Duration::ZERO).unwrap().len(), 1);
}
