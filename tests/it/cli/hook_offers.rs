//! A forwarded turn that was offered to an agent and got lost on the way.

use serde_json::{Value, json};

use super::Home;

const SESSION: &str = "01a22eaa-6f1c-7690-a0d1-000000abcdef";

/// A session of Codex that a turn was forwarded to.
struct Live {
    home: Home,
    lines: Vec<String>,
}

impl Live {
    fn new() -> Self {
        let mut live = Self { home: Home::new(), lines: Vec::new() };
        let about = json!({"id": SESSION, "cwd": "/home/mira/lantern", "timestamp": "2026-11-30T22:54:11Z"});
        live.write("session_meta", &about);
        live.hook("SessionStart");
        let source = live.home.says("Acme/Plan", "agent:Rocky", "The plan stands.");
        let forward = ["forward", source.as_str(), "--to", "lantern/codex abcdef"];
        assert_eq!(live.home.run(&forward).code, Some(0));
        live
    }

    fn write(&mut self, kind: &str, payload: &Value) {
        let line = json!({"timestamp": "2026-11-30T22:54:11.291Z", "type": kind, "payload": payload});
        self.lines.push(line.to_string());
        std::fs::write(self.home.path("rollout.jsonl"), self.lines.join("\n") + "\n").unwrap();
    }

    fn shows(&mut self, role: &str, text: &str) {
        let kind = if role == "assistant" { "output_text" } else { "input_text" };
        let content = json!([{"type": kind, "text": text}]);
        self.write("response_item", &json!({"type": "message", "role": role, "content": content}));
    }

    /// What a hook adds to the context.
    #[track_caller]
    fn hook(&self, event: &str) -> Option<String> {
        let input = json!({
            "session_id": SESSION, "cwd": "/home/mira/lantern", "transcript_path": self.home.path("rollout.jsonl"),
            "prompt": "What now?", "source": "startup",
        });
        let ran = self.home.feed(input.to_string().as_bytes(), &["hook", "codex", event]);
        assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""), "{event}");
        let answer: Value = serde_json::from_slice(&ran.stdout).ok()?;
        answer["hookSpecificOutput"]["additionalContext"].as_str().map(str::to_owned)
    }

    /// A turn of the person and one of the agent.
    fn goes_on(&mut self) {
        self.shows("user", "What now?");
        self.shows("assistant", "This.");
        self.hook("Stop");
    }
}

#[test]
fn an_offer_that_the_transcript_never_shows_is_made_again_and_three_times_at_most() {
    let mut live = Live::new();
    let first = live.hook("UserPromptSubmit").expect("the offer");
    assert_eq!(live.hook("UserPromptSubmit"), None, "the conversation did not go on without it");
    for again in [2, 3] {
        live.goes_on();
        assert_eq!(live.hook("UserPromptSubmit").as_ref(), Some(&first), "time {again}");
        assert_eq!(live.hook("UserPromptSubmit"), None);
    }
    for _ in 0..3 {
        live.goes_on();
        assert_eq!(live.hook("UserPromptSubmit"), None, "no more");
    }
    assert_eq!(live.home.run(&["inbox", "--json"]).json()["state"], "offered", "it still waits");
    assert_eq!(live.home.run(&["verify"]).code, Some(0));
}

#[test]
fn an_offer_that_arrived_at_the_second_time_is_in_context() {
    let mut live = Live::new();
    live.hook("UserPromptSubmit").expect("the offer");
    live.goes_on();
    let again = live.hook("UserPromptSubmit").expect("the offer again");
    live.shows("developer", &again);
    live.goes_on();
    assert_eq!(live.home.run(&["inbox", "--json"]).text(), "");
    assert_eq!(live.hook("UserPromptSubmit"), None);
}
