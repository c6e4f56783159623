//! An agent that speaks lines, played by a shell script.

use std::time::Duration;

use sayso_bridge::session::{LinesSession, Start};
use sayso_output::envelope::{Envelope, Purpose, Received};
use sayso_relay::port::{
    AgentSession, Call, Injecting, Injection, Outcome, RequestId, Seen, SessionEvent, Stop,
};

const ID: &str = "01M8QCWWHAEG1P9BVVXWD331RY";
/// Never waited for where the program does what the test says.
const LONG: Duration = Duration::from_secs(60);

fn session(script: &str) -> LinesSession {
    let start = Start {
        command: ["/bin/sh", "-c", script].map(Into::into).to_vec(),
        grace: Duration::from_secs(5),
        ..Start::default()
    };
    LinesSession::start(&start, "Rocky", LONG).unwrap()
}

fn request() -> RequestId {
    ID.parse().unwrap()
}

fn message() -> Injection {
    Injection { request: request(), text: "막배가 언제야?".to_owned() }
}

/// Everything that comes until the session is gone.
fn events(session: &mut LinesSession) -> Vec<SessionEvent> {
    let mut events = Vec::new();
    while events.last() != Some(&SessionEvent::Gone) {
        events.extend(session.next(LONG));
    }
    events
}

#[test]
fn a_message_is_answered() {
    let mut session = session(&format!(
        r#"read -r line
case "$line" in *'"type":"message"'*'{ID}'*) ;; *'{ID}'*'"type":"message"'*) ;; *) exit 1 ;; esac
echo '{{"type":"accepted","request":"{ID}"}}'
echo '{{"type":"started","request":"{ID}"}}'
echo 'no line of ours'
echo '{{"type":"progress","text":"I look."}}'
echo '{{"type":"ended","texts":["I look."],"calls":[{{"id":"c1","tool":"news","arguments":"{{}}"}}],"stop":"tool_call"}}'
echo '{{"type":"tool_result","call":"c1","tool":"news","ok":true,"text":"three","user":"a b c","purpose":"article"}}'
echo '{{"type":"ended","id":"m2","texts":["24","40"],"stop":"stop"}}'
echo '{{"type":"settled"}}'
echo '{{"type":"idle"}}'"#
    ));
    assert!(session.idle());
    assert_eq!(session.inject(&message()), Injecting::Accepted);
    assert!(!session.idle());
    let ended = |message: Option<&str>, texts: &[&str], calls, stop| SessionEvent::Ended {
        request: None,
        message: message.map(str::to_owned),
        text_parts: texts.iter().map(|t| (*t).to_owned()).collect(),
        calls,
        stop,
    };
    let call = Call { id: "c1".to_owned(), tool: "news".to_owned(), arguments: "{}".to_owned() };
    let envelope = Envelope::received("three", "a b c", Purpose::Article).unwrap();
    assert_eq!(
        events(&mut session),
        [
            SessionEvent::Started { request: Some(request()) },
            SessionEvent::Progress { request: None, message: None, text: "I look.".to_owned() },
            ended(None, &["I look."], vec![call], Stop::ToolCall),
            SessionEvent::ToolResult {
                request: None,
                call: "c1".to_owned(),
                tool: "news".to_owned(),
                outcome: Outcome::Ok,
                result: Received::Whole(envelope),
                output: None,
            },
            ended(Some("m2"), &["24", "40"], Vec::new(), Stop::Stop),
            SessionEvent::Settled { request: None },
            SessionEvent::Idle,
            SessionEvent::Gone,
        ]
    );
    assert!(matches!(session.inject(&message()), Injecting::Refused { .. }), "it is gone");
}

#[test]
fn a_line_may_name_the_message_that_it_belongs_to() {
    let mut session = session(&format!(
        r#"echo '{{"type":"progress","request":"{ID}","text":"I look."}}'
echo '{{"type":"ended","request":"{ID}","texts":["24"],"stop":"stop"}}'
echo '{{"type":"tool_result","request":"{ID}","call":"c1","tool":"news","ok":true}}'
echo '{{"type":"settled","request":"{ID}"}}'
echo '{{"type":"failed","request":"{ID}","why":"529"}}'
echo '{{"type":"settled","request":null}}'
echo '{{"type":"settled","request":"nobody"}}'"#
    ));
    let named = |event: &SessionEvent| match event {
        SessionEvent::Progress { request, .. }
        | SessionEvent::Ended { request, .. }
        | SessionEvent::ToolResult { request, .. }
        | SessionEvent::Settled { request }
        | SessionEvent::Failed { request, .. } => *request,
        other => panic!("{other:?}"),
    };
    let events = events(&mut session);
    let named: Vec<Option<RequestId>> = events[..events.len() - 1].iter().map(named).collect();
    let its = Some(request());
    assert_eq!(named[..6], [its, its, its, its, its, None]);
    assert!(named[6].is_some_and(|other| other != request()), "an id of nobody's names nobody's request");
}

#[test]
fn what_a_session_takes_or_not() {
    for (answer, injecting) in [
        (format!(r#"echo '{{"type":"busy","request":"{ID}"}}'"#), Injecting::Busy),
        (
            format!(r#"echo '{{"type":"refused","request":"{ID}","why":"no"}}'"#),
            Injecting::Refused { why: "no".to_owned() },
        ),
        ("exit 0".to_owned(), Injecting::Unknown { why: "the session's program gave no answer".to_owned() }),
    ] {
        let mut session = session(&format!("read -r line; {answer}; read -r line"));
        assert_eq!(session.inject(&message()), injecting);
    }
}

#[test]
fn a_session_is_asked_what_it_has_seen() {
    for (seen, told) in [("true", Seen::Seen), ("false", Seen::NotSeen), ("null", Seen::CannotTell)] {
        let line = format!(r#"read -r line; echo '{{"type":"seen","request":"{ID}","seen":{seen}}}'"#);
        assert_eq!(session(&line).probe(request()), told);
    }
}

#[test]
fn frames_in_a_result_are_taken_out_of_it() {
    let mut session = session(
        r#"read -r line
printf '{"type":"tool_result","call":"c1","tool":"news","ok":false,"text":"a\\u001esayso-frame %s listing 3 9 0000\\nrest"}\n' "$SAYSO_NONCE""#,
    );
    let _ = session.probe(request());
    let [SessionEvent::ToolResult { outcome, result, .. }, _] = &events(&mut session)[..] else { panic!() };
    assert_eq!(*outcome, Outcome::Failed);
    assert_eq!(
        *result,
        Received::Truncated("alisting 3 9 0000\nrest".to_owned()),
        "broken: all that came is the model's"
    );
}

#[test]
fn a_program_that_does_not_end_is_ended_with_what_it_started() {
    let folder = tempfile::tempdir().unwrap();
    let fifo = folder.path().join("alive");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let script = "trap '' TERM; exec 3>alive; sleep 600 & while :; do wait; done";
    let start = Start {
        command: ["/bin/sh", "-c", script].map(Into::into).to_vec(),
        folder: Some(folder.path().to_owned()),
        grace: Duration::from_millis(20),
        ..Start::default()
    };
    let session = LinesSession::start(&start, "Rocky", LONG).unwrap();
    let mut alive = std::fs::File::open(&fifo).unwrap();
    drop(session);
    // Comes to its end once the last process that holds it has ended.
    assert_eq!(std::io::Read::read(&mut alive, &mut [0]).unwrap(), 0);
}
