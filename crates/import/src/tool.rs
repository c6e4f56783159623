//! What an answer of a tool says about whether the call worked.

use sayso_model::Outcome;
use serde_json::Value;

use crate::values::object;

/// Bytes at the start of an output in which an exit code is looked for.
const HEAD: usize = 1_000;

/// The outcome of an exit code.
pub(crate) const fn of_exit(exit: Option<i64>) -> Outcome {
    match exit {
        Some(0) => Outcome::Ok,
        Some(_) => Outcome::Failed,
        None => Outcome::Unknown,
    }
}

/// The outcome that an output itself tells: by its exit code, or by a field that says so.
pub(crate) fn of_output(output: &Value, text: &str) -> Outcome {
    match output.get("success").and_then(Value::as_bool) {
        Some(true) => Outcome::Ok,
        Some(false) => Outcome::Failed,
        None => of_exit(exit_in(text)),
    }
}

/// The exit code in the text of an output: old ones are JSON inside of a string, newer ones have a line for it.
fn exit_in(text: &str) -> Option<i64> {
    wrapped(text).map_or_else(|| exit_line(text), |value| value.pointer("/metadata/exit_code")?.as_i64())
}

fn wrapped(text: &str) -> Option<Value> {
    let value: Value = text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    object(&value)?.contains_key("output").then_some(value)
}

fn exit_line(text: &str) -> Option<i64> {
    let mut end = text.len().min(HEAD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = text.get(..end).unwrap_or_default();
    let code = |line: &str| {
        let rest = ["Process exited with code ", "Exit code: "].iter().find_map(|p| line.strip_prefix(p))?;
        rest.trim().parse().ok()
    };
    head.lines().find_map(code)
}

/// Whether `whole` holds anything that the model did not see in `seen`.
pub(crate) fn holds_more(whole: &str, seen: &str) -> bool {
    let whole = whole.trim();
    let inside = || wrapped(seen).and_then(|v| v.get("output")?.as_str().map(|s| s.contains(whole)));
    !whole.is_empty() && !seen.contains(whole) && inside() != Some(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_is_found_where_the_program_wrote_it() {
        let old = r#"{"output":"x","metadata":{"exit_code":2,"duration_seconds":0.1}}"#;
        let cases = [
            (old, Outcome::Failed),
            (r#"{"output":"x","metadata":{"exit_code":0}}"#, Outcome::Ok),
            (r#"{"output":"Exit code: 1"}"#, Outcome::Unknown),
            ("Chunk ID: 1\nWall time: 1\nProcess exited with code 0\nOutput:\nok", Outcome::Ok),
            ("Exit code: 127\nOutput:\n", Outcome::Failed),
            ("Process running with session ID 3\n", Outcome::Unknown),
            ("It said: Exit code: 1", Outcome::Unknown),
            ("", Outcome::Unknown),
        ];
        for (text, wanted) in cases {
            assert_eq!(of_output(&Value::Null, text), wanted, "{text}");
        }
        let late = format!("{}\nExit code: 1", "x".repeat(2_000));
        assert_eq!(of_output(&Value::Null, &late), Outcome::Unknown);
        assert_eq!(of_output(&serde_json::json!({"success": false}), ""), Outcome::Failed);
    }

    #[test]
    fn more_is_what_does_not_stand_in_what_was_seen() {
        assert!(!holds_more("a\nb\n", "Output:\na\nb"));
        assert!(!holds_more("a\nb", r#"{"output":"a\nb\n","metadata":{}}"#));
        assert!(holds_more("a\nb\nc", "Output:\na\n…\nc"));
        assert!(!holds_more(" \n", "seen"));
    }
}
