//! The Bot API, as a source and a sink.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use sayso_bridge::Waits;
use sayso_bridge::rehearsal::{Act, BotServer};
use sayso_bridge::telegram::{Bot, People, TelegramSender, TelegramSource, Token};
use sayso_relay::port::{
    Ability, Blind, Incoming, Outgoing, Receipt, Sender, Sent, Source, SourceFail, SpeakerKind,
};
use serde_json::{Value, json};

use crate::outgoing;

const TOKEN: &str = "4711:not_a-secret";
const OWNER: i64 = 7;

fn server() -> BotServer {
    BotServer::start(TOKEN).unwrap()
}

fn bot(base: &str, token: &str) -> Bot {
    Bot::new(base, Token::parse(token).unwrap(), Waits::default())
}

/// A bot that does not wait long for an answer.
fn hasty(server: &BotServer) -> Bot {
    let waits = Waits { answer: Duration::from_millis(50), ..Waits::default() };
    Bot::new(&server.url(), Token::parse(TOKEN).unwrap(), waits)
}

fn sender(server: &BotServer) -> TelegramSender {
    TelegramSender::new(bot(&server.url(), TOKEN), Blind::Park)
}

type Notes = Arc<Mutex<Vec<(i64, String)>>>;

fn source(base: &str, token: &str) -> (TelegramSource, Notes) {
    let notes = Notes::default();
    let people = People { owners: [OWNER].into(), people: [8].into(), chats: [-100].into() };
    let note = Arc::clone(&notes);
    let note = Box::new(move |id, why: &str| note.lock().unwrap().push((id, why.to_owned())));
    (TelegramSource::new(bot(base, token), people, note), notes)
}

fn poll(source: &mut TelegramSource, after: Option<&str>) -> Result<Vec<Incoming>, SourceFail> {
    source.poll(after, Duration::ZERO)
}

fn answer(text: &str) -> Outgoing {
    outgoing(r#"{"chat_id":5}"#, text)
}

fn delivered(id: u32) -> Sent {
    Sent::Delivered(Receipt(json!({"message_id": id}).to_string()))
}

fn temporary(why: &str, retry_after_ms: Option<u64>) -> Sent {
    Sent::Temporary { why: why.to_owned(), retry_after_ms }
}

#[test]
fn an_answer_is_a_reply_to_the_original_message() {
    let server = server();
    let mut sender = sender(&server);
    assert_eq!(sender.ability(), Ability::Opaque(Blind::Park));
    assert_eq!(sender.send(&answer("막배는 24:40입니다.")), delivered(1_001));
    let topic = outgoing(r#"{"chat_id":-100,"message_thread_id":3}"#, "in a topic");
    assert_eq!(sender.send(&topic), delivered(1_002));
    let reply = json!({"message_id": 17, "allow_sending_without_reply": true});
    let seen = server.seen();
    assert_eq!(seen[0], json!({"chat_id": 5, "text": "막배는 24:40입니다.", "reply_parameters": reply}));
    assert_eq!(
        seen[1],
        json!({"chat_id": -100, "message_thread_id": 3, "text": "in a topic", "reply_parameters": reply})
    );
}

#[test]
fn a_repeat_says_so_and_every_part_has_room_for_that() {
    let server = server();
    let mut sender = sender(&server);
    let parts = sender.split(&"가".repeat(9_000));
    assert_eq!(parts.len(), 3);
    for part in &parts {
        let marked = Outgoing { repeat_mark: true, ..answer(part) };
        assert!(matches!(sender.send(&marked), Sent::Delivered(_)));
    }
    let texts = server.texts();
    assert!(texts.iter().all(|text| text.starts_with("[possible repeat]\n가")));
}

#[test]
fn outcomes_by_what_the_server_answers() {
    let server = server();
    let mut sender = sender(&server);
    let cases = [
        (
            Act::Refuse(429, "Too Many Requests: retry after 7", Some(7)),
            temporary("429 Too Many Requests: retry after 7", Some(7_000)),
        ),
        (Act::Refuse(500, "Internal Server Error", None), temporary("500 Internal Server Error", None)),
        (
            Act::Refuse(403, "Forbidden: bot was blocked by the user", None),
            Sent::Permanent { why: "403 Forbidden: bot was blocked by the user".to_owned() },
        ),
        (
            Act::Refuse(400, "Bad Request: chat not found", None),
            Sent::Permanent { why: "400 Bad Request: chat not found".to_owned() },
        ),
        (Act::Gateway(503), temporary("503 something on the way to the server turned it away", None)),
        (
            Act::Gateway(502),
            Sent::Unknown { why: "the server answered with status 502 and without an outcome".to_owned() },
        ),
    ];
    for (act, sent) in cases {
        server.acts([act]);
        assert_eq!(sender.send(&answer("hello")), sent);
    }
    assert_eq!(server.seen(), Vec::<Value>::new(), "nobody saw any of it");
}

#[test]
fn a_request_that_was_written_and_not_answered_is_unknown() {
    let server = server();
    let mut sender = sender(&server);
    let lost = Sent::Unknown { why: "the connection was lost before an answer came".to_owned() };
    for (act, arrived) in [(Act::LoseAnswer, 1), (Act::Vanish, 1)] {
        server.acts([act.clone()]);
        assert_eq!(sender.send(&answer("hello")), lost, "{act:?}");
        assert_eq!(server.seen().len(), arrived, "{act:?}");
    }
    server.acts([Act::Silence]);
    let sent = TelegramSender::new(hasty(&server), Blind::Park).send(&answer("hello"));
    assert_eq!(sent, Sent::Unknown { why: "no answer came in time".to_owned() });
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn a_request_that_was_not_written_is_proven_unsent() {
    let mut server = server();
    server.goes_down();
    let mut sender = sender(&server);
    assert_eq!(sender.send(&answer("hello")), temporary("the connection was refused", None));
    server.comes_back().unwrap();
    assert_eq!(sender.send(&answer("hello")), delivered(1_001));
    // Something that does not speak TLS: the request was not given out of hand.
    let https = server.url().replace("http://", "https://");
    let mut sender = TelegramSender::new(bot(&https, TOKEN), Blind::Park);
    let sent = sender.send(&answer("hello"));
    assert!(matches!(&sent, Sent::Temporary { .. }), "{sent:?}");
    let mut sender = TelegramSender::new(bot("http://no-such-host.invalid", TOKEN), Blind::Park);
    assert!(matches!(sender.send(&answer("hello")), Sent::Temporary { .. }));
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_destination_of_another_channel_is_refused() {
    let server = server();
    let sent = sender(&server).send(&outgoing("mira@harbour.example", "hello"));
    assert!(matches!(sent, Sent::Permanent { .. }));
    assert_eq!(server.calls(), []);
}

#[test]
fn messages_come_with_who_said_them_and_where_to_answer() {
    let server = server();
    server.says(5, OWNER, "막배가 언제야?");
    server.says(6, 8, "and the first?");
    server.says(-100, 9, "in the group");
    let (mut source, notes) = source(&server.url(), TOKEN);
    assert_eq!((source.account(), source.channel()), ("telegram:4711".to_owned(), "telegram".to_owned()));
    let found = poll(&mut source, None).unwrap();
    let first = Incoming {
        update: "1".to_owned(),
        message: "1".to_owned(),
        destination: r#"{"chat_id":5}"#.to_owned(),
        speaker_kind: SpeakerKind::Owner,
        speaker_id: "7".to_owned(),
        speaker_name: "Mira Lund".to_owned(),
        said_at: sayso_relay::port::SaidAt::parse("2026-11-30T09:00:00Z"),
        text: "막배가 언제야?".to_owned(),
        repairs: 0,
        cursor: Some("1".to_owned()),
    };
    assert_eq!(found[0], first);
    let kinds: Vec<_> = found.iter().map(|m| (m.speaker_kind, m.destination.as_str())).collect();
    assert_eq!(kinds[1], (SpeakerKind::Person, r#"{"chat_id":6}"#));
    assert_eq!(kinds[2], (SpeakerKind::Person, r#"{"chat_id":-100}"#));
    assert_eq!(*notes.lock().unwrap(), []);
}

#[test]
fn the_offset_confirms_what_was_taken_and_no_more() {
    let server = server();
    for n in 1..=3 {
        server.says(5, OWNER, &n.to_string());
    }
    let (mut source, _) = source(&server.url(), TOKEN);
    let texts = |found: Vec<Incoming>| found.into_iter().map(|m| m.text).collect::<Vec<_>>();
    assert_eq!(texts(poll(&mut source, None).unwrap()), ["1", "2", "3"]);
    assert_eq!(texts(poll(&mut source, Some("1")).unwrap()), ["2", "3"]);
    assert_eq!(texts(poll(&mut source, Some("3")).unwrap()), [""; 0]);
    let offsets: Vec<Value> = server.calls().iter().map(|(_, a)| a["offset"].clone()).collect();
    assert_eq!(offsets, [Value::Null, json!(2), json!(4)]);
    let arguments = &server.calls()[0].1;
    assert_eq!(arguments["allowed_updates"], json!(["message"]));
}

#[test]
fn what_is_passed_over_confirms_no_message_before_it() {
    let server = server();
    server.says(5, OWNER, "hello");
    server.says(5, 99, "let me in");
    let (mut source, _) = source(&server.url(), TOKEN);
    for _ in 0..2 {
        // Nobody has said yet that the message was taken in.
        assert_eq!(poll(&mut source, None).unwrap().len(), 1);
    }
}

#[test]
fn what_is_not_for_the_agent_is_passed_over_and_said_once() {
    let server = server();
    server.says(5, 99, "let me in");
    server.update(json!({"edited_message": {"message_id": 1}}));
    let sticker =
        json!({"message_id": 3, "date": 0, "from": {"id": OWNER}, "chat": {"id": 5}, "sticker": {}});
    server.update(json!({"message": sticker}));
    server.says(5, OWNER, "hello");
    let (mut source, notes) = source(&server.url(), TOKEN);
    for _ in 0..2 {
        assert_eq!(poll(&mut source, None).unwrap().len(), 1);
    }
    let notes = notes.lock().unwrap();
    let why: Vec<&str> = notes.iter().map(|(_, why)| why.as_str()).collect();
    assert_eq!(
        why,
        [
            "user 99 in chat 5 may not speak here: name one of them in the config (owners, people, chats)",
            "it is no new message",
            "message 3 has no text, and nothing else is carried",
        ]
    );
    let again = &server.calls()[1].1;
    assert_eq!(again["offset"], json!(4), "what was passed over is confirmed, the message is not");
}

#[test]
fn an_update_that_cannot_be_read_takes_no_other_with_it() {
    let server = server();
    server.says(5, OWNER, "before");
    server.update(json!({"message": {"message_id": "no number"}}));
    server.says(5, OWNER, "after");
    let (mut source, _) = source(&server.url(), TOKEN);
    let found = poll(&mut source, None).unwrap();
    assert_eq!(found.len(), 1);
    let broken = poll(&mut source, Some("1")).unwrap_err();
    let why = "update 2 has not the form of a message (line 1, column 36)".to_owned();
    assert_eq!(broken, SourceFail::Malformed { why, cursor: Some("2".to_owned()) });
    assert_eq!(poll(&mut source, Some("2")).unwrap()[0].text, "after");
}

#[test]
fn half_a_character_is_repaired_and_counted() {
    let server = server();
    server.says(5, OWNER, "boat \u{E000}");
    server.replaces("\u{E000}", "\\ud83d");
    let (mut source, _) = source(&server.url(), TOKEN);
    let found = poll(&mut source, None).unwrap();
    assert_eq!((found[0].text.as_str(), found[0].repairs), ("boat \u{FFFD}", 1));
}

#[test]
fn updates_without_a_number_are_passed_over_or_waited_out() {
    let server = server();
    server.bare(json!({"message": {}}));
    let (mut source, notes) = source(&server.url(), TOKEN);
    let fail = poll(&mut source, None).unwrap_err();
    assert_eq!(fail.to_string(), "the source cannot be read now: the server's updates have no numbers");
    server.says(5, OWNER, "hello");
    for _ in 0..2 {
        assert_eq!(poll(&mut source, None).unwrap()[0].text, "hello");
    }
    let told = (2, "1 that came with it have no number and cannot be read".to_owned());
    assert_eq!(*notes.lock().unwrap(), [told], "once");
}

#[test]
fn failures_of_the_source_say_which_kind_they_are() {
    let mut server = server();
    let (mut wrong, _) = source(&server.url(), "4711:wrong_secret");
    let refused = poll(&mut wrong, None).unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the source refuses this account: the server does not accept the bot's token (401 Unauthorized): check the token"
    );
    let (mut source, _) = source(&server.url(), TOKEN);
    server.goes_down();
    let down = poll(&mut source, None).unwrap_err();
    assert_eq!(down.to_string(), "the source cannot be read now: the connection was refused");
}

#[test]
fn two_that_poll_one_bot_are_told_apart() {
    let server = server();
    let (mut first, _) = source(&server.url(), TOKEN);
    let waiting = std::thread::spawn(move || first.poll(None, Duration::from_secs(30)));
    assert!(server.waits_for(Duration::from_secs(20), |_, calls| calls.len() == 1));
    let (mut second, _) = source(&server.url(), TOKEN);
    assert_eq!(poll(&mut second, None).unwrap(), []);
    assert!(matches!(waiting.join().unwrap(), Err(SourceFail::Conflict { .. })));
}

#[test]
fn a_long_poll_is_ended_by_a_message_or_by_stopping() {
    let server = server();
    let (mut first, _) = source(&server.url(), TOKEN);
    let waiting = std::thread::spawn(move || first.poll(None, Duration::from_secs(30)));
    assert!(server.waits_for(Duration::from_secs(20), |_, calls| calls.len() == 1));
    server.says(5, OWNER, "hello");
    assert_eq!(waiting.join().unwrap().unwrap().len(), 1);

    let bot = bot(&server.url(), TOKEN);
    let mut second = TelegramSource::new(bot.clone(), People::default(), Box::new(|_, _| {}));
    let waiting = std::thread::spawn(move || second.poll(Some("1"), Duration::from_secs(30)));
    assert!(server.waits_for(Duration::from_secs(20), |_, calls| calls.len() == 2));
    bot.stop();
    assert!(matches!(waiting.join().unwrap(), Err(SourceFail::Temporary { .. })));
}

#[test]
fn the_token_stands_in_no_message() {
    let server = server();
    let echo = server.url();
    let (source, _) = source(&format!("{echo}/nowhere"), TOKEN);
    let mut said = vec![format!("{:?}", bot(&echo, TOKEN))];
    let mut source = source;
    said.push(format!("{:?}", poll(&mut source, None)));
    for base in ["not an address", "http://", "ftp://a.example", "http://127.0.0.1:1"] {
        let mut sender = TelegramSender::new(bot(base, TOKEN), Blind::Park);
        said.push(format!("{:?}", sender.send(&answer("hello"))));
        said.push(format!("{sender:?}"));
    }
    for text in said {
        assert!(!text.contains("not_a-secret"), "{text}");
    }
}
