//! Whole outputs that events hold, where the model saw less.

use std::collections::VecDeque;

use sayso::store::{OutputState, StreamKind};
use serde_json::Value;

use crate::blocks::joined;
use crate::draft::{Draft, Source, Whole};
use crate::tool::holds_more;
use crate::values::{named, take, take_text, text};

/// Whole outputs that wait for their result at most; older ones are given up.
const WAITING: usize = 64;

/// The whole output of a call, as an event tells it.
#[derive(Debug)]
pub(super) struct Ended {
    stdout: String,
    stderr: String,
    exit: Option<i32>,
}

impl Ended {
    /// Links the whole output to the result in a draft, where the model saw less of it.
    pub(super) fn attach(self, draft: &mut Draft) {
        let Some((result, whole)) = draft.result() else { return };
        let more = holds_more(&self.stdout, &result.text) || holds_more(&self.stderr, &result.text);
        if more && whole.is_none() {
            *whole = Some(self.whole());
        }
    }

    fn whole(self) -> Whole {
        let streams = [(StreamKind::Stdout, self.stdout), (StreamKind::Stderr, self.stderr)];
        let filled = streams.into_iter().filter(|(_, text)| !text.is_empty());
        let streams: Vec<_> = filled.map(|(kind, text)| (kind, Source::Bytes(text.into_bytes()))).collect();
        // Codex itself keeps at most 64 KiB of a command's output and says so in the middle.
        let capped = streams.iter().any(|(_, source)| matches!(source, Source::Bytes(b) if is_capped(b)));
        Whole {
            exit: self.exit,
            streams,
            state: if capped { OutputState::Capped } else { OutputState::Complete },
        }
    }
}

const CAPPED: &[u8] = b"... command output truncated for persistence ...";

fn is_capped(bytes: &[u8]) -> bool {
    bytes.windows(CAPPED.len()).any(|w| w == CAPPED)
}

/// The call's id and its whole output, if the event tells the end of a call.
pub(super) fn ended(kind: &str, payload: &mut Value) -> Option<(String, Ended)> {
    let mut item = take(payload, "item");
    let of_item = text(&item, "type").unwrap_or_default();
    let (ended, call) = match (kind, of_item) {
        ("exec_command_end", _) => (command(payload), named(payload, "call_id")),
        ("mcp_tool_call_end", _) => {
            let mut result = take(payload, "result");
            (answer(take(&mut result, "Ok")), named(payload, "call_id"))
        }
        ("item_completed", "CommandExecution") => (command(&mut item), named(&item, "id")),
        ("item_completed", "McpToolCall") => (answer(take(&mut item, "result")), named(&item, "id")),
        _ => return None,
    };
    Some((call?.to_owned(), ended))
}

/// What an MCP server answered.
fn answer(mut result: Value) -> Ended {
    let (stdout, _) = joined(take(&mut result, "content"));
    Ended { stdout, stderr: String::new(), exit: None }
}

/// Both streams as they came, in the order in which they were read; else each by itself.
fn command(payload: &mut Value) -> Ended {
    let exit = payload.get("exit_code").and_then(Value::as_i64).and_then(|code| i32::try_from(code).ok());
    let both = take_text(payload, "aggregated_output");
    if both.is_empty() {
        return Ended { stdout: take_text(payload, "stdout"), stderr: take_text(payload, "stderr"), exit };
    }
    Ended { stdout: both, stderr: String::new(), exit }
}

/// Whole outputs whose result has not come yet: calls run side by side, so that several may wait.
#[derive(Debug, Default)]
pub(super) struct Wholes(VecDeque<(String, Ended)>);

impl Wholes {
    pub(super) fn keep(&mut self, call: String, ended: Ended) {
        if self.0.len() >= WAITING {
            self.0.pop_front();
        }
        self.0.push_back((call, ended));
    }

    pub(super) fn take(&mut self, call: &str) -> Option<Ended> {
        let at = self.0.iter().position(|(id, _)| id == call)?;
        self.0.remove(at).map(|(_, ended)| ended)
    }
}
