//! The kinds of records, by name. A kind that stands in no list here is reported as unknown.

/// Records that hold no turn, in order.
const RECORDS: &[&str] = &[
    "agent-color",
    "agent-name",
    "agent-setting",
    "ai-title",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "cost-state",
    "custom-title",
    "file-history-snapshot",
    "frame-link",
    "last-prompt",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "mode",
    "permission-mode",
    "pr-link",
    "relocated",
    "result",
    "speculation-accept",
    "started",
    "summary",
    "tag",
    "task-summary",
    "worktree-state",
];

/// What the program tells the person or itself, in order. `local_command` is not among them: the model sees it.
const SYSTEM: &[&str] = &[
    "agents_killed",
    "api_error",
    "api_metrics",
    "api_refusal",
    "away_summary",
    "bridge_status",
    "compact_boundary",
    "error",
    "informational",
    "memory_saved",
    "microcompact_boundary",
    "model_refusal_fallback",
    "permission_retry",
    "scheduled_task_fire",
    "session_start",
    "stop_hook_summary",
    "thinking",
    "turn_duration",
];

/// What is shown while something runs, in order.
const PROGRESS: &[&str] = &[
    "agent_progress",
    "bash_progress",
    "hook_progress",
    "mcp_progress",
    "powershell_progress",
    "query_update",
    "search_results_received",
    "skill_progress",
    "task_progress",
    "waiting_for_task",
];

/// What the program sets beside a message, in order. `queued_command` and `teammate_mailbox` are not
/// among them: they hold words.
const ATTACHMENTS: &[&str] = &[
    "agent_listing_delta",
    "agent_mention",
    "already_read_file",
    "async_hook_response",
    "auto_mode",
    "auto_mode_exit",
    "batching_reminder_sent",
    "budget_usd",
    "command_permissions",
    "compact_file_reference",
    "compaction_reminder",
    "context_efficiency",
    "critical_system_reminder",
    "current_session_memory",
    "date_change",
    "deferred_tools_delta",
    "diagnostics",
    "directory",
    "dynamic_skill",
    "edited_image_file",
    "edited_text_file",
    "file",
    "hook_additional_context",
    "hook_blocking_error",
    "hook_cancelled",
    "hook_error_during_execution",
    "hook_non_blocking_error",
    "hook_permission_decision",
    "hook_stopped_continuation",
    "hook_success",
    "hook_system_message",
    "invoked_skills",
    "max_turns_reached",
    "mcp_instructions_delta",
    "mcp_resource",
    "nested_memory",
    "opened_file_in_ide",
    "output_style",
    "output_token_usage",
    "pdf_reference",
    "plan_file_reference",
    "plan_mode",
    "plan_mode_exit",
    "plan_mode_reentry",
    "read_truncation_notice",
    "relevant_memories",
    "selected_lines_in_ide",
    "silent_turn_reminder",
    "skill_discovery",
    "skill_listing",
    "structured_output",
    "task_reminder",
    "task_status",
    "team_context",
    "todo_reminder",
    "token_usage",
    "total_tokens_reminder",
    "ultra_effort",
    "ultra_effort_enter",
    "ultra_effort_exit",
    "ultrathink_effort",
    "verify_plan_reminder",
];

fn is_in(list: &[&str], kind: &str) -> bool {
    list.binary_search(&kind).is_ok()
}

/// Whether a record of this type holds no turn.
pub(super) fn is_record(kind: &str) -> bool {
    is_in(RECORDS, kind)
}

/// Whether a system record of this subtype holds no turn.
pub(super) fn is_system(kind: &str) -> bool {
    is_in(SYSTEM, kind)
}

/// Whether this is a kind of progress.
pub(super) fn is_progress(kind: &str) -> bool {
    is_in(PROGRESS, kind)
}

/// Whether an attachment of this kind holds no turn.
pub(super) fn is_attachment(kind: &str) -> bool {
    is_in(ATTACHMENTS, kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lists_are_in_order() {
        for list in [RECORDS, SYSTEM, PROGRESS, ATTACHMENTS] {
            assert!(list.is_sorted());
        }
        assert!(!is_system("local_command") && !is_attachment("queued_command"));
    }
}
