//! Hooks around a compaction: what is stored before it, and what comes back behind it.

use serde_json::{Value, json};

use super::{Home, Ran, address};

const SESSION: &str = "01a22eaa-6f1c-7690-a0d1-000000abcdef";
/// Stands in the middle of an output, where no model saw it.
const WORD: &str = "막배는 24:40 우미나리";

/// A transcript that grows, and the program that it is of.
struct Live {
    home: Home,
    program: &'static str,
    file: &'static str,
    lines: Vec<String>,
}

impl Live {
    fn new(program: &'static str) -> Self {
        let file = match program {
            "claude-code" => "11111111-2222-4333-8444-555555555555.jsonl",
            _ => "rollout.jsonl",
        };
        Self { home: Home::new(), program, file, lines: Vec::new() }
    }

    fn add(&mut self, lines: impl IntoIterator<Item = Value>) {
        self.lines.extend(lines.into_iter().map(|line| line.to_string()));
        std::fs::write(self.home.path(self.file), self.lines.join("\n") + "\n").unwrap();
    }

    #[track_caller]
    fn hook(&self, event: &str, more: Value) -> Ran {
        let mut input = json!({
            "session_id": SESSION, "cwd": "/home/mira/lantern", "hook_event_name": event,
            "transcript_path": self.home.path(self.file),
        });
        let both = (input.as_object_mut().unwrap(), more.as_object().unwrap());
        both.0.extend(both.1.clone());
        let ran = self.home.feed(input.to_string().as_bytes(), &["hook", self.program, event]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{event}");
        assert!(!self.home.path(".local/state/sayso/hook-failures.jsonl").exists(), "{:?}", self.failures());
        ran
    }

    fn failures(&self) -> String {
        std::fs::read_to_string(self.home.path(".local/state/sayso/hook-failures.jsonl")).unwrap_or_default()
    }

    /// What a hook added to the context.
    #[track_caller]
    fn added(&self, event: &str, more: Value) -> Option<String> {
        let ran = self.hook(event, more);
        let answer: Value = serde_json::from_slice(&ran.stdout).ok()?;
        assert_eq!(answer["hookSpecificOutput"]["hookEventName"], event);
        answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    }

    fn compacted(&self) -> Option<String> {
        self.added("SessionStart", json!({"source": "compact"}))
    }

    fn prompt(&self, words: &str) -> Option<String> {
        self.added("UserPromptSubmit", json!({"prompt": words}))
    }

    fn entries(&self) -> Vec<Value> {
        let sessions = self.home.run(&["sessions", "--project", "lantern", "--json"]).json();
        self.home.run(&["show", &address(&sessions), "--json"]).lines()
    }

    fn texts(&self) -> Vec<String> {
        let turns = self.entries().into_iter().filter(|entry| entry["kind"] == "turn");
        turns.map(|turn| turn["text"].as_str().unwrap_or_default().to_owned()).collect()
    }
}

/// What a command printed: more than any model is shown.
fn printed() -> String {
    let line = |n| if n == 230 { WORD.to_owned() } else { format!("{n} 날씨는 맑음, calm sea") };
    (1..=400).map(|n| line(n) + "\n").collect()
}

const SEEN: &str = "1 날씨는 맑음, calm sea\n…398 lines truncated…\n400 날씨는 맑음, calm sea\n";

mod codex {
    use super::*;

    fn line(kind: &str, payload: Value) -> Value {
        json!({"timestamp": "2026-11-30T22:54:11.291Z", "type": kind, "payload": payload})
    }

    pub(super) fn message(role: &str, text: &str) -> Value {
        let kind = if role == "assistant" { "output_text" } else { "input_text" };
        line(
            "response_item",
            json!({"type": "message", "role": role, "content": [{"type": kind, "text": text}]}),
        )
    }

    pub(super) fn header() -> Value {
        line(
            "session_meta",
            json!({"id": SESSION, "cwd": "/home/mira/lantern", "timestamp": "2026-11-30T22:54:11Z"}),
        )
    }

    pub(super) fn said(text: &str) -> [Value; 2] {
        [message("user", text), line("event_msg", json!({"type": "user_message", "message": text}))]
    }

    /// A call of a command whose whole output stands in an event, as Codex 0.169.0 writes it.
    pub(super) fn call(id: &str, command: &str) -> [Value; 3] {
        let item =
            json!({"type": "CommandExecution", "id": id, "aggregated_output": printed(), "exit_code": 0});
        [
            line(
                "response_item",
                json!({"type": "function_call", "name": "exec_command", "call_id": id,
                       "arguments": json!({"cmd": command}).to_string()}),
            ),
            line("event_msg", json!({"type": "item_completed", "item": item})),
            line("response_item", json!({"type": "function_call_output", "call_id": id, "output": SEEN})),
        ]
    }

    pub(super) fn compacted(summary: &str) -> Value {
        line("compacted", json!({"message": summary, "replacement_history": []}))
    }
}

/// A Codex session with a long output, just before its compaction.
fn before_compaction() -> Live {
    let mut live = Live::new("codex");
    live.add([codex::header()]);
    live.hook("SessionStart", json!({"source": "startup"}));
    live.add(codex::said("When does it leave? 언제?"));
    live.add(codex::call("call_ferry", "cat ferries.log"));
    live
}

#[test]
fn a_whole_output_is_stored_though_the_model_saw_less() {
    let live = before_compaction();
    live.hook("PreCompact", json!({"trigger": "auto"}));
    let shown = live.entries();
    let output =
        shown.iter().find_map(|entry| entry.pointer("/parts/0/output")?.as_str()).expect("an output");
    let found = live.home.run(&["output", output, "--grep", "우미나리"]);
    assert!(found.text().contains(WORD), "{}", found.text());
    assert_eq!(live.home.run(&["output", output]).text(), printed());
}

#[test]
fn what_a_summary_names_comes_back_right_behind_it_once() {
    let mut live = before_compaction();
    live.hook("PreCompact", json!({"trigger": "auto"}));
    live.add([codex::compacted(&format!("The times stand in call_ferry, at the words {WORD}."))]);
    let back = live.compacted().expect("ranges of the output");
    assert!(back.starts_with("[sayso 0") && back.contains(WORD), "{back}");
    assert!(back.len() < 76_000);
    assert_eq!(live.compacted(), None, "nothing is repeated");
    assert_eq!(live.prompt("우미나리?"), None, "the context shows it");
    // The transcript shows it: that is the re-injection, not a new turn.
    live.add([codex::message("developer", &back)]);
    live.add(codex::said("And then?"));
    live.add([codex::message("assistant", "24:40.")]);
    live.hook("Stop", json!({}));
    let texts = live.texts();
    assert!(texts.iter().all(|text| !text.contains("[sayso 0")), "{texts:?}");
    assert_eq!(live.entries().iter().filter(|entry| entry["kind"] == "reinjection").count(), 1);
    // What was changed on the way is words like any other.
    live.add([codex::message("developer", &back.replace("24:40", "25:40"))]);
    live.add([codex::message("assistant", "25:40?")]);
    live.hook("Stop", json!({}));
    assert!(live.texts().iter().any(|text| text.contains("25:40 우미나리")));
}

#[test]
fn a_later_prompt_finds_what_no_summary_names() {
    let mut live = before_compaction();
    live.add([codex::compacted("They looked at something.")]);
    assert_eq!(live.compacted(), None, "nothing names it");
    let back = live.prompt("우미나리 뭐였지?").expect("the range with the word");
    assert!(back.contains(WORD), "{back}");
    live.add([codex::message("developer", &back)]);
    assert_eq!(live.prompt("우미나리 다시?"), None, "the context shows it");
    assert_eq!(live.prompt("  "), None);
    // After the next compaction it is gone from the context again, and comes back again.
    live.add([codex::compacted("They looked at it twice.")]);
    assert_eq!(live.compacted(), None);
    assert!(live.prompt("우미나리?").expect("once more").contains(WORD));
}

#[test]
fn before_a_compaction_nothing_comes_back() {
    let live = before_compaction();
    assert_eq!(live.prompt("우미나리?"), None);
}

#[test]
fn a_compaction_that_the_transcript_does_not_show_yet_is_answered_with_the_next_prompt() {
    let mut live = before_compaction();
    let (source, marker) = with_quote(&mut live);
    live.add([codex::message("developer", &marker)]);
    assert_eq!(live.compacted(), None);
    live.add([codex::compacted("The times stand in call_ferry.")]);
    let back = live.prompt("go on").expect("what stands behind the summary");
    assert!(back.contains("call_ferry") && back.contains(&source), "{back}");
    assert_eq!(live.prompt("go on"), None);
}

/// A forward that its model was given: the address of what is quoted, and the marker.
fn with_quote(live: &mut Live) -> (String, String) {
    let source = live.home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
    let to = format!("lantern/{} {}", live.program, &SESSION[SESSION.len() - 6..]);
    let to =
        live.home.run(&["sessions", "--project", "lantern", "--json"]).lines().first().map_or(to, address);
    assert_eq!(live.home.run(&["forward", &source, "--to", &to]).code, Some(0));
    let marker = live.prompt("Have a look").expect("the marker");
    (source, marker)
}

#[test]
fn after_a_compaction_the_quotes_that_it_covers_are_named() {
    let mut live = before_compaction();
    let (source, marker) = with_quote(&mut live);
    live.add([codex::message("developer", &marker)]);
    live.add([codex::compacted("They read the plan.")]);
    let back = live.compacted().expect("the quotes");
    assert!(back.contains("quotes that the summary covers") && back.contains(&source), "{back}");
    live.add([codex::message("developer", &back)]);
    live.add([codex::message("assistant", "Yes.")]);
    live.hook("Stop", json!({}));
    assert!(live.texts().iter().all(|text| !text.contains("[sayso 0")));
    assert_eq!(live.home.run(&["inbox", "--json"]).text(), "");
}

#[test]
fn between_calls_of_tools_a_transcript_is_read_when_it_grew_enough() {
    let mut live = before_compaction();
    live.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": {}, "tool_response": "x"}));
    assert_eq!(live.texts().len(), 0, "a small transcript waits for the end of the turn");
    for n in 0..12 {
        live.add(codex::call(&format!("call_{n}"), "cat ferries.log"));
    }
    live.hook("PostToolUse", json!({"tool_name": "Bash", "tool_input": {}, "tool_response": "x"}));
    assert!(live.texts().len() > 20);
}

#[test]
fn a_session_that_was_erased_while_it_runs_stays_out_and_is_no_failure() {
    let mut live = before_compaction();
    live.hook("Stop", json!({}));
    let session = address(&live.home.run(&["sessions", "--project", "lantern", "--json"]).json());
    assert_eq!(live.home.run(&["erase", &session]).code, Some(0));
    live.add(codex::said("And now?"));
    for event in ["SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact", "Stop"] {
        assert_eq!(live.hook(event, json!({"prompt": "And now?", "source": "resume"})).text(), "");
    }
    assert_eq!(live.home.run(&["sessions", "--json"]).text(), "");
}

mod claude {
    use super::*;

    pub(super) fn record(kind: &str, uuid: &str, more: Value) -> Value {
        let mut record = json!({
            "type": kind, "uuid": uuid, "parentUuid": null, "sessionId": SESSION, "cwd": "/home/mira/lantern",
            "timestamp": "2026-11-30T22:54:11.291Z", "version": "2.1.300", "isSidechain": false, "userType": "external",
        });
        record.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        record
    }

    pub(super) fn user(uuid: &str, text: &str) -> Value {
        record("user", uuid, json!({"message": {"role": "user", "content": text}}))
    }

    /// As versions 2.1 write what a hook added.
    pub(super) fn added(uuid: &str, event: &str, text: &str) -> Value {
        let attachment = json!({"type": "hook_additional_context", "hookName": event, "hookEvent": event, "toolUseID": event, "content": [text]});
        record("attachment", uuid, json!({"attachment": attachment}))
    }
}

#[test]
fn claude_code_is_known_by_its_file_and_shows_what_a_hook_added() {
    let mut live = Live::new("claude-code");
    live.hook("SessionStart", json!({"source": "startup"}));
    live.add([claude::user("u1", "When?")]);
    live.hook("Stop", json!({"stop_hook_active": false}));
    assert_eq!(live.texts(), ["When?"], "the session that was registered is the one that is imported");
    let (_, marker) = with_quote(&mut live);
    let waiting = live.home.run(&["inbox", "--json"]).json();
    assert_eq!(waiting["state"], "offered");
    assert_eq!(waiting["carried_as"], json!({"role": "user", "route": "claude-code UserPromptSubmit"}));
    live.add([claude::user("u2", "Have a look"), claude::added("a1", "UserPromptSubmit", &marker)]);
    live.hook("Stop", json!({}));
    assert_eq!(live.home.run(&["inbox", "--json"]).text(), "", "it is in context now");
    assert_eq!(live.texts(), ["When?", "", "Have a look"]);
}

#[test]
fn claude_code_is_given_what_fits_its_answers() {
    let mut live = Live::new("claude-code");
    live.add([claude::user("u1", "Run it.")]);
    let call = json!([{"type": "tool_use", "id": "toolu_ferry", "name": "Bash", "input": {"command": "cat ferries.log"}}]);
    let seen = json!([{"type": "tool_result", "tool_use_id": "toolu_ferry", "content": SEEN}]);
    live.add([
        claude::record("assistant", "s1", json!({"message": {"id": "m1", "role": "assistant", "model": "m", "content": call}})),
        claude::record(
            "user",
            "r1",
            json!({"message": {"role": "user", "content": seen}, "toolUseResult": {"stdout": printed(), "stderr": ""}}),
        ),
    ]);
    live.hook("PreCompact", json!({"trigger": "manual", "custom_instructions": ""}));
    let summary = json!({"role": "user", "content": "The times stand in toolu_ferry."});
    live.add([
        claude::record(
            "system",
            "b1",
            json!({"subtype": "compact_boundary", "content": "Conversation compacted"}),
        ),
        claude::record("user", "c1", json!({"message": summary, "isCompactSummary": true})),
    ]);
    let back = live.compacted().expect("ranges of the output");
    assert!(back.contains("toolu_ferry") && back.encode_utf16().count() <= 9_500, "{}", back.len());
}

#[test]
fn pi_is_served_through_the_same_events() {
    let mut live = Live::new("pi");
    live.hook("SessionStart", json!({"source": "startup"}));
    let text = |text: &str| json!([{"type": "text", "text": text}]);
    let entry = |id: &str, message: Value| json!({"type": "message", "id": id, "parentId": null, "timestamp": "2026-11-30T22:54:11Z", "message": message});
    live.add([
        json!({"type": "session", "version": 3, "id": SESSION, "timestamp": "2026-11-30T22:54:11Z", "cwd": "/home/mira/lantern"}),
        entry("a", json!({"role": "user", "content": text("When?")})),
        entry("b", json!({"role": "assistant", "content": text("24:40."), "model": "m"})),
    ]);
    live.hook("Stop", json!({}));
    assert_eq!(live.texts(), ["When?", "24:40."]);
    let (_, marker) = with_quote(&mut live);
    live.add([json!({
        "type": "custom_message", "id": "c", "parentId": "b", "timestamp": "2026-11-30T22:54:12Z", "customType": "sayso",
        "content": marker, "display": false,
    })]);
    live.hook("Stop", json!({}));
    assert_eq!(live.home.run(&["inbox", "--json"]).text(), "", "it is in context now");
    assert_eq!(live.texts(), ["When?", "24:40.", ""]);
}
