//! Which format a file has, by what it holds.

use serde::Serialize;
use serde_json::Value;

use crate::archive;
use crate::records::Records;
use crate::values::{object, text};

/// A format that is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// A Codex rollout whose records stand in envelopes.
    Codex,
    /// A Codex rollout of the older kind: a header, then bare items without times.
    CodexFlat,
    /// A pi session.
    Pi,
    /// An OpenClaw session, which has the form of pi's.
    #[serde(rename = "openclaw")]
    OpenClaw,
    /// OpenClaw's database, which holds many sessions.
    #[serde(rename = "openclaw-database")]
    OpenClawDatabase,
    /// A Claude Code session, or what one of its sub-agents did.
    #[serde(rename = "claude-code")]
    ClaudeCode,
    /// An export of Sayso's own, which holds many sessions.
    Sayso,
}

impl Format {
    /// The word that keys and aliases start with; both kinds of Codex share one.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Codex | Self::CodexFlat => "codex",
            Self::Pi => "pi",
            Self::OpenClaw | Self::OpenClawDatabase => "openclaw",
            Self::ClaudeCode => "claude-code",
            Self::Sayso => "sayso",
        }
    }

    /// The program's name as people see it.
    #[must_use]
    pub const fn program(self) -> &'static str {
        match self {
            Self::Codex | Self::CodexFlat => "Codex",
            Self::Pi => "pi",
            Self::OpenClaw | Self::OpenClawDatabase => "OpenClaw",
            Self::ClaudeCode => "Claude Code",
            Self::Sayso => "Sayso",
        }
    }

    /// Whether the first record is a header and holds no turn.
    #[must_use]
    pub const fn has_header(self) -> bool {
        !matches!(self, Self::ClaudeCode | Self::OpenClawDatabase)
    }

    /// The format of a file with this first record; OpenClaw's sessions look like pi's.
    #[must_use]
    pub fn of(first: &Value) -> Option<Self> {
        let kind = first.get("type");
        let word = kind.and_then(Value::as_str);
        let has = |key| text(first, key).is_some();
        let names_instructions = first.get("instructions").or_else(|| first.get("git")).is_some();
        match word {
            Some("export") if archive::is_header(first) => Some(Self::Sayso),
            Some("session_meta") if first.get("payload").is_some_and(Value::is_object) => Some(Self::Codex),
            Some("session") if has("id") => Some(Self::Pi),
            None if kind.is_none() && has("id") && has("timestamp") && names_instructions => {
                Some(Self::CodexFlat)
            }
            Some(kind) if is_claude_code(first, kind) => Some(Self::ClaudeCode),
            _ => None,
        }
    }
}

/// Claude Code's files have no header, so their first record may be any. Nearly all name the session; messages have content,
/// by which they are told from those of programs that took over the envelope.
fn is_claude_code(first: &Value, kind: &str) -> bool {
    let has = |key| text(first, key).is_some();
    let content = || first.get("message").is_some_and(|m| m.get("content").is_some());
    match kind {
        "user" | "assistant" => has("sessionId") && content(),
        "file-history-snapshot" => has("messageId") && first.get("snapshot").is_some_and(Value::is_object),
        "summary" => has("summary") && has("leafUuid"),
        _ => has("sessionId"),
    }
}

/// The format of a file that starts with these bytes; `None` also where they hold no complete first record.
///
/// ```
/// use sayso_import::formats::{Format, sniff};
/// assert_eq!(sniff(b"{\"type\":\"session\",\"id\":\"a\"}\n"), Some(Format::Pi));
/// assert_eq!(sniff(b"{\"type\":\"user\"}\n"), None);
/// ```
#[must_use]
pub fn sniff(first: &[u8]) -> Option<Format> {
    let record = Records::new(first).next()?.ok()?;
    Format::of(&record.value)
}

/// Whether a first record is of a journal that Claude Code keeps of a workflow.
pub(crate) fn is_journal(first: &Value) -> bool {
    let kind = matches!(text(first, "type"), Some("started" | "result"));
    kind && text(first, "key").is_some() && text(first, "agentId").is_some()
}

/// What a first record is, in words, for people whose file was refused.
pub(crate) fn describe(first: &Value) -> String {
    let Some(map) = object(first) else { return "something that is no record (a JSON object)".to_owned() };
    let short = |text: &str| text.chars().take(40).collect::<String>();
    let keys: Vec<String> = map.keys().take(6).map(|k| short(k)).collect();
    let keys = if keys.is_empty() { "no keys".to_owned() } else { format!("the keys {}", keys.join(", ")) };
    match text(first, "type") {
        Some(kind) => format!("a record of type {:?} with {keys}", short(kind)),
        None => format!("a record without a type, with {keys}"),
    }
}

/// What a file without a complete record looks like, in words.
pub(crate) fn hint(first: &[u8], broken: u64) -> &'static str {
    match first {
        [] => " (it is empty)",
        [0x28, 0xB5, 0x2F, 0xFD, ..] => " (it is compressed with zstd: unpack it first)",
        [0x1F, 0x8B, ..] => " (it is compressed with gzip: unpack it first)",
        [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => " (it is UTF-16: write it as UTF-8 first)",
        [b'S', b'Q', b'L', b'i', b't', b'e', ..] => " (it is an SQLite database)",
        _ if broken > 0 => " (its lines are not, or not all, JSON)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_tells_the_format() {
        let cases: [(&str, Option<Format>); 18] = [
            (r#"{"timestamp":"t","type":"session_meta","payload":{"id":"a"}}"#, Some(Format::Codex)),
            (r#"{"type":"session_meta","payload":"a"}"#, None),
            (r#"{"id":"a","timestamp":"t","instructions":null}"#, Some(Format::CodexFlat)),
            (r#"{"id":"a","timestamp":"t","git":{}}"#, Some(Format::CodexFlat)),
            (r#"{"id":"a","timestamp":"t"}"#, None),
            (r#"{"type":"session","id":"a"}"#, Some(Format::Pi)),
            (r#"{"type":"session","id":1}"#, None),
            (r#"{"ts":"t","dir":"meta","kind":"session_start"}"#, None),
            (r#"{"type":"session_meta","payload":{"#, None),
            (
                r#"{"type":"user","sessionId":"s","message":{"role":"user","content":"a"}}"#,
                Some(Format::ClaudeCode),
            ),
            (r#"{"type":"user","sessionId":"s","message":{"role":"user","parts":[]}}"#, None),
            (r#"{"type":"user","message":{"role":"user","content":"a"}}"#, None),
            (r#"{"type":"brand-new","sessionId":"s"}"#, Some(Format::ClaudeCode)),
            (r#"{"type":"summary","summary":"a","leafUuid":"b"}"#, Some(Format::ClaudeCode)),
            (r#"{"type":"summary","summary":"a"}"#, None),
            (r#"{"type":"file-history-snapshot","messageId":"m","snapshot":{}}"#, Some(Format::ClaudeCode)),
            (r#"{"type":"started","key":"v2:a","agentId":"b"}"#, None),
            (r#"{"sessionId":"s","projectHash":"h","kind":"main"}"#, None),
        ];
        for (text, wanted) in cases {
            assert_eq!(sniff(text.as_bytes()), wanted, "{text}");
        }
    }
}
