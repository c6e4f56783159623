//! Events of a rollout: what the program showed. They tell who wrote what; their words stand in items too.

use serde_json::Value;

use crate::blocks::joined;
use crate::values::{take, take_words, text};

/// Every kind of event that is known to hold no turn, in the spelling of any version, in order.
const KNOWN: &[&str] = &[
    "account/rateLimits/updated",
    "add_credits_nudge_email_response",
    "agent_message",
    "agent_message_content_delta",
    "agent_message_delta",
    "agent_reasoning",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "apply_patch_approval_request",
    "background_event",
    "codex/event/raw_item",
    "collab_agent_interaction_begin",
    "collab_agent_interaction_end",
    "collab_agent_spawn_begin",
    "collab_agent_spawn_end",
    "collab_close_begin",
    "collab_close_end",
    "collab_resume_begin",
    "collab_resume_end",
    "collab_waiting_begin",
    "collab_waiting_end",
    "context_compacted",
    "conversation_path",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "elicitation_request",
    "entered_review_mode",
    "error",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_end",
    "exec_command_output_delta",
    "exited_review_mode",
    "get_history_entry_response",
    "guardian_assessment",
    "hook_completed",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "item_completed",
    "item_started",
    "list_custom_prompts_response",
    "list_remote_skills_response",
    "list_skills_response",
    "mcp_list_tools_response",
    "mcp_startup_complete",
    "mcp_startup_update",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "model_reroute",
    "model_verification",
    "patch_apply_begin",
    "patch_apply_end",
    "patch_apply_updated",
    "plan_delta",
    "plan_update",
    "raw_response_item",
    "realtime_conversation_closed",
    "realtime_conversation_list_voices_response",
    "realtime_conversation_realtime",
    "realtime_conversation_sdp",
    "realtime_conversation_started",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "remote_skill_downloaded",
    "request_permissions",
    "request_user_input",
    "session_configured",
    "shutdown_complete",
    "skills_update_available",
    "stream_error",
    "sub_agent_activity",
    "task_complete",
    "task_started",
    "terminal_interaction",
    "thread_goal_updated",
    "thread_name_updated",
    "thread_rolled_back",
    "thread_settings_applied",
    "token_count",
    "turn.completed",
    "turn_aborted",
    "turn_complete",
    "turn_diff",
    "turn_started",
    "undo_completed",
    "undo_started",
    "user_message",
    "view_image_tool_call",
    "warning",
    "web_search_begin",
    "web_search_end",
];

/// Whether the kind is on the list.
pub(super) fn is_known(kind: &str) -> bool {
    KNOWN.binary_search(&kind).is_ok()
}

/// How many turns a person took back, if the event tells that.
pub(super) fn rolled_back(kind: &str, payload: &Value) -> Option<u64> {
    let turns = payload.get("num_turns").and_then(Value::as_u64);
    turns.filter(|_| kind == "thread_rolled_back")
}

/// How words were announced as a person's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum By {
    UserMessage,
    ItemCompleted,
}

/// Words that a person wrote, as an event tells.
#[derive(Debug)]
pub(super) struct Announced {
    pub(super) by: By,
    pub(super) words: String,
}

impl Announced {
    /// The announcement in an event, if it is one with words.
    pub(super) fn of(kind: &str, payload: &mut Value) -> Option<Self> {
        let (by, words) = match kind {
            "user_message" => (By::UserMessage, take_words(payload, "message")),
            "item_completed" => {
                if payload.get("item").and_then(|item| text(item, "type")) != Some("UserMessage") {
                    return None;
                }
                let mut item = take(payload, "item");
                (By::ItemCompleted, joined(take(&mut item, "content")).0)
            }
            _ => return None,
        };
        (!words.is_empty()).then_some(Self { by, words })
    }

    /// The kind under which it is counted where its words stand in an item.
    pub(super) const fn kind(&self) -> &'static str {
        match self.by {
            By::UserMessage => "event_msg/user_message",
            By::ItemCompleted => "event_msg/item_completed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_is_in_order() {
        assert!(KNOWN.is_sorted());
        assert!(is_known("token_count") && !is_known("token_counts"));
    }
}
