//! Rollouts that come from others: forks start with a copy of what they were forked from.

use sayso_model::SaidAt;
use serde_json::Value;

use crate::values::{named, text};

/// How long copying takes at most, in milliseconds: its records get the time at which they were copied.
const COPYING: i64 = 2_000;

/// Where a rollout comes from.
#[derive(Debug, Default)]
pub(super) struct Fork {
    /// The session that it was forked from.
    forked: Option<String>,
    /// When the copied header was written.
    since: Option<i64>,
}

impl Fork {
    /// The session that a header names as the one that this comes from: by forking, or by starting a sub-agent.
    pub(super) fn source(header: &Value) -> Option<String> {
        let spawned =
            header.pointer("/source/subagent/thread_spawn/parent_thread_id").and_then(Value::as_str);
        let source =
            named(header, "forked_from_id").or_else(|| named(header, "parent_thread_id")).or(spawned);
        source.filter(|id| Some(*id) != text(header, "id")).map(str::to_owned)
    }

    pub(super) fn of(header: &Value) -> Self {
        Self { forked: named(header, "forked_from_id").map(str::to_owned), since: None }
    }

    /// Whether a record was copied: the header of the source comes first, and the rest at once behind it.
    pub(super) fn copied(&mut self, record: &Value, said_at: Option<SaidAt>) -> bool {
        let Some(forked) = &self.forked else { return false };
        if text(record, "type") == Some("session_meta") && self.since.is_none() {
            let id = record.pointer("/payload/id").and_then(Value::as_str);
            self.since = said_at.map(SaidAt::ms).filter(|_| id == Some(forked));
        }
        let copied = self.since.zip(said_at).is_some_and(|(since, at)| at.ms() <= since + COPYING);
        if self.since.is_some() && !copied {
            // What comes later is its own, whatever the clock says.
            self.forked = None;
        }
        copied
    }
}
