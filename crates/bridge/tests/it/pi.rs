//! pi in RPC mode, played by a script that says what the real one (0.73.1) said; `cargo xtask live` runs the real one.

use std::time::Duration;

use sayso_bridge::session::{PiSession, Start};
use sayso_output::envelope::{Envelope, Purpose, Received};
use sayso_relay::port::{
    AgentSession, Call, Injecting, Injection, Outcome, RequestId, Seen, SessionEvent, Stop,
};
use tempfile::TempDir;

const ID: &str = "01M8QCWWHAEG1P9BVVXWD331RY";
/// Never waited for where the script says what it should.
const LONG: Duration = Duration::from_secs(60);

/// Answers the nth question of a kind with the file `kind.n`, else with the last one there is.
const SCRIPT: &str = r#"
while read -r line; do
  kind=$(printf '%s' "$line" | sed 's/.*"type":"\([^"]*\)".*/\1/')
  id=$(printf '%s' "$line" | sed 's/.*"id":"\([^"]*\)".*/\1/')
  printf '%s\n' "$line" >>"asked.$kind"
  n=$(wc -l <"asked.$kind" | tr -d ' ')
  while [ ! -e "$kind.$n" ] && [ "$n" -gt 1 ]; do n=$((n - 1)); done
  [ -e "$kind.$n" ] && sed "s/ITS-ID/$id/" "$kind.$n"
  [ -e "after.$kind" ] && exit 0
done
"#;

const RESTS: &str = r#"{"id":"ITS-ID","type":"response","command":"get_state","success":true,"data":{"isStreaming":false,"isCompacting":false,"pendingMessageCount":0,"sessionFile":"session.jsonl"}}"#;
const WORKS: &str = r#"{"id":"ITS-ID","type":"response","command":"get_state","success":true,"data":{"isStreaming":true,"isCompacting":false,"pendingMessageCount":0}}"#;
const TAKEN: &str = r#"{"id":"ITS-ID","type":"response","command":"prompt","success":true}"#;
const BUSY: &str = r#"{"id":"ITS-ID","type":"response","command":"prompt","success":false,"error":"Agent is already processing. Specify streamingBehavior ('steer' or 'followUp') to queue the message."}"#;
const STARTED: &str = r#"{"type":"agent_start"}
{"type":"turn_start"}
{"type":"message_start","message":{"role":"user","content":[{"type":"text","text":"[request 01M8QCWWHAEG1P9BVVXWD331RY]\n막배가 언제야?"}],"timestamp":1}}
{"type":"message_end","message":{"role":"user","content":[{"type":"text","text":"[request 01M8QCWWHAEG1P9BVVXWD331RY]\n막배가 언제야?"}],"timestamp":1}}
{"type":"message_start","message":{"role":"assistant","content":[],"stopReason":"stop","timestamp":2}}"#;
const CALLS: &str = r#"{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"I"},"message":{"role":"assistant","content":[]}}
{"type":"message_end","message":{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look."},{"type":"toolCall","id":"call_2","name":"bash","arguments":{"command":"news"}}],"stopReason":"toolUse","timestamp":2}}
{"type":"tool_execution_start","toolCallId":"call_2","toolName":"bash","args":{"command":"news"}}
{"type":"tool_execution_end","toolCallId":"call_2","toolName":"bash","result":{"content":[{"type":"text","text":"the night ferry leaves at 24:40\n[exit:0 | 27ms]"}],"details":{"sayso":{"texts":[{"person":"the list","purpose":"detail"}],"output":"01M8QCWWHAEG1P9BVVXWD331RZ"}}},"isError":false}"#;
const FINAL: &str = r#"{"type":"message_end","message":{"role":"assistant","content":[{"type":"text","text":"24:40 \ud83d"},{"type":"text","text":"."}],"stopReason":"stop","timestamp":3}}"#;
const END: &str = r#"{"type":"agent_end","messages":[]}"#;
const RETRIES: &str =
    r#"{"type":"auto_retry_start","attempt":1,"maxAttempts":3,"delayMs":2000,"errorMessage":"529"}"#;
const FAILED: &str = r#"{"type":"message_end","message":{"role":"assistant","content":[],"stopReason":"error","errorMessage":"529","timestamp":3}}"#;

struct Played(TempDir);

impl Played {
    fn new(answers: &[(&str, &[&str])]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        for (name, lines) in answers {
            std::fs::write(folder.path().join(name), lines.join("\n") + "\n").unwrap();
        }
        Self(folder)
    }

    fn start(&self) -> PiSession {
        let start = Start {
            command: ["/bin/sh", "-c", SCRIPT].map(Into::into).to_vec(),
            folder: Some(self.0.path().to_owned()),
            grace: Duration::from_secs(5),
            ..Start::default()
        };
        PiSession::start(&start, LONG).unwrap()
    }

    fn asked(&self, kind: &str) -> String {
        std::fs::read_to_string(self.0.path().join(format!("asked.{kind}"))).unwrap_or_default()
    }
}

fn request() -> RequestId {
    ID.parse().unwrap()
}

fn message(text: &str) -> Injection {
    Injection { request: request(), text: text.to_owned() }
}

fn events(pi: &mut PiSession, until: &SessionEvent) -> Vec<SessionEvent> {
    let mut events = Vec::new();
    while events.last() != Some(until) {
        events.extend(pi.next(LONG));
    }
    events
}

fn ended(texts: &[&str], calls: Vec<Call>, stop: Stop) -> SessionEvent {
    let text_parts = texts.iter().map(|text| (*text).to_owned()).collect();
    SessionEvent::Ended { request: Some(request()), message: None, text_parts, calls, stop }
}

#[test]
fn a_message_is_answered_and_settled_when_pi_rests() {
    let played = Played::new(&[
        ("prompt.1", &[TAKEN, STARTED, CALLS, FINAL, END]),
        ("get_state.1", &[RESTS]),
        ("get_state.2", &[WORKS]),
        ("get_state.3", &[RESTS]),
    ]);
    let mut pi = played.start();
    assert!(pi.idle());
    assert_eq!(pi.inject(&message("/quit\n막배가 언제야?")), Injecting::Accepted);
    let call = Call {
        id: "call_2".to_owned(),
        tool: "bash".to_owned(),
        arguments: r#"{"command":"news"}"#.to_owned(),
    };
    let model = "the night ferry leaves at 24:40\n[exit:0 | 27ms]";
    let envelope = Envelope::received(model, "the list", Purpose::Detail).unwrap();
    assert_eq!(
        events(&mut pi, &SessionEvent::Idle),
        [
            SessionEvent::Started { request: Some(request()) },
            ended(&["I look."], vec![call], Stop::ToolCall),
            SessionEvent::ToolResult {
                request: Some(request()),
                call: "call_2".to_owned(),
                tool: "bash".to_owned(),
                outcome: Outcome::Ok,
                result: Received::Whole(envelope),
                output: Some("01M8QCWWHAEG1P9BVVXWD331RZ".parse().unwrap()),
            },
            ended(&["24:40 \u{FFFD}", "."], Vec::new(), Stop::Stop),
            SessionEvent::Settled { request: Some(request()) },
            SessionEvent::Idle,
        ]
    );
    let asked: serde_json::Value = serde_json::from_str(&played.asked("prompt")).unwrap();
    assert_eq!(asked["message"], format!("[request {ID}]\n/quit\n막배가 언제야?"), "no command of pi's");
    assert_eq!(asked.get("streamingBehavior"), None);
    assert_eq!(played.asked("get_state").lines().count(), 3, "asked again until it rests");
}

#[test]
fn what_an_extension_begins_after_a_turn_names_no_message() {
    let stopped = r#"{"id":"ITS-ID","type":"response","command":"abort","success":true}"#;
    let begun = r#"{"type":"agent_start"}"#;
    let played = Played::new(&[
        ("prompt.1", &[TAKEN, STARTED, END]),
        ("get_state.1", &[RESTS]),
        ("abort.1", &[begun, FINAL, END, stopped]),
    ]);
    let mut pi = played.start();
    assert_eq!(pi.inject(&message("?")), Injecting::Accepted);
    let its = events(&mut pi, &SessionEvent::Idle);
    assert_eq!(its[1], SessionEvent::Settled { request: Some(request()) });
    pi.interrupt();
    let later = events(&mut pi, &SessionEvent::Idle);
    assert!(matches!(later[0], SessionEvent::Ended { request: None, .. }), "{later:?}");
    assert_eq!(later[1], SessionEvent::Settled { request: None });
}

#[test]
fn a_message_goes_in_at_an_idle_edge_or_not_at_all() {
    let refused = r#"{"id":"ITS-ID","type":"response","command":"prompt","success":false,"error":"No model selected."}"#;
    let played = Played::new(&[("prompt.1", &[BUSY]), ("prompt.2", &[refused]), ("get_state.1", &[WORKS])]);
    let mut pi = played.start();
    assert!(!pi.idle());
    assert_eq!(pi.inject(&message("a")), Injecting::Busy);
    assert_eq!(pi.inject(&message("a")), Injecting::Refused { why: "No model selected.".to_owned() });
}

#[test]
fn a_provider_that_fails_settles_after_the_last_retry() {
    let ends = r#"{"type":"auto_retry_end","success":false,"attempt":3,"finalError":"529"}"#;
    let played = Played::new(&[
        ("prompt.1", &[TAKEN, STARTED, FAILED, END, RETRIES]),
        ("get_state.1", &[RESTS, STARTED, FAILED, END, ends]),
        ("get_state.2", &[RESTS]),
    ]);
    let mut pi = played.start();
    pi.inject(&message("a"));
    let started = SessionEvent::Started { request: Some(request()) };
    let failed = ended(&[], Vec::new(), Stop::Error);
    assert_eq!(
        events(&mut pi, &SessionEvent::Idle),
        [
            started.clone(),
            failed.clone(),
            started,
            failed,
            SessionEvent::Settled { request: Some(request()) },
            SessionEvent::Idle
        ]
    );
}

#[test]
fn a_session_that_ends_in_the_middle_leaves_the_message_unknown() {
    let played = Played::new(&[("after.prompt", &[""])]);
    let mut pi = played.start();
    assert_eq!(pi.inject(&message("a")), Injecting::Unknown { why: "pi gave no answer".to_owned() });
    assert_eq!(pi.next(LONG), Some(SessionEvent::Gone));
    assert_eq!(pi.inject(&message("a")), Injecting::Refused { why: "pi does not run".to_owned() });
    assert_eq!((pi.idle(), pi.probe(request())), (false, Seen::CannotTell));
}

#[test]
fn a_request_is_looked_for_in_the_context_and_in_the_sessions_file() {
    let messages = |text: &str| {
        format!(
            r#"{{"id":"ITS-ID","type":"response","command":"get_messages","success":true,"data":{{"messages":[{{"role":"user","content":[{{"type":"text","text":"{text}"}}]}},{{"role":"compactionSummary","summary":"a"}}]}}}}"#
        )
    };
    let (there, not) =
        (messages(&format!("[request {ID}]\\nhello")), messages(&format!("see [request {ID}]\\n")));
    let file = format!(
        "{{\"type\":\"session\"}}\n{{\"type\":\"message\",\"message\":{{\"role\":\"user\",\"content\":\"[request {ID}]\\nhi\"}}}}"
    );
    for (answer, state, file, seen) in [
        (&there, RESTS, None, Seen::Seen),
        (&there, WORKS, None, Seen::Seen),
        (&not, RESTS, Some(&file), Seen::Seen),
        (&not, RESTS, None, Seen::NotSeen),
        (&not, WORKS, None, Seen::CannotTell),
    ] {
        let played = Played::new(&[("get_messages.1", &[answer]), ("get_state.1", &[state])]);
        let path = played.0.path().join("session.jsonl");
        if let Some(file) = file {
            std::fs::write(&path, file).unwrap();
        }
        let state = state.replace("session.jsonl", path.to_str().unwrap());
        std::fs::write(played.0.path().join("get_state.1"), state + "\n").unwrap();
        assert_eq!(played.start().probe(request()), seen, "{answer} {file:?}");
    }
}
