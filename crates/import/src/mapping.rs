//! What becomes of every record, format by format: precise enough to count by.

#[doc = include_str!("../docs/claude-code.md")]
pub mod claude_code {}

#[doc = include_str!("../docs/openclaw.md")]
pub mod openclaw {}

#[doc = include_str!("../docs/sayso.md")]
pub mod sayso {}

#[doc = include_str!("../docs/codex.md")]
pub mod codex {}
