//! What must hold for any bytes, by target. Each panics where it does not.

mod files;
mod hook;
mod mcp;
mod parts;
mod setup;

/// A target: its name, which is that of its corpus, and what it runs.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: &[Target] = &[
    ("marker", sayso_view::fuzzing::marker),
    ("output_decode", sayso_output::fuzzing::decode),
    ("output_present", sayso_output::fuzzing::present),
    ("output_wire", sayso_output::fuzzing::wire),
    ("import_claude", files::import),
    ("import_codex", files::import),
    ("import_pi", files::import),
    ("archive", files::archive),
    ("bridge_config", parts::bridge_config),
    ("telegram_update", parts::telegram_update),
    ("session_lines", parts::session_lines),
    ("command_source", parts::command_source),
    ("hook_input", parts::hook_input),
    ("setup_json", parts::setup_json),
    ("setup_toml", parts::setup_toml),
    ("mcp_cursor", parts::mcp_cursor),
    ("patterns", parts::patterns),
    ("ids", parts::ids),
    ("policies", parts::policies),
];

/// The target of a name.
#[must_use]
pub fn target(name: &str) -> Option<fn(&[u8])> {
    TARGETS.iter().find(|(target, _)| *target == name).map(|(_, run)| *run)
}
