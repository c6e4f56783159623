//! Whole outputs of tools, where the model saw less.

use sayso::store::{OutputState, StreamKind};
use sayso_model::ToolResult;
use serde_json::Value;

use super::content::typed;
use super::home::Place;
use crate::draft::{Source, Whole};
use crate::tool::holds_more;
use crate::values::{take, take_text, text};

/// How the model was told that an output is too long for it.
const PERSISTED: &str = "<persisted-output>";
const SAVED_TO: &str = "Full output saved to: ";
const TOO_LARGE: &str = "Output too large (";

/// The whole output beside a tool's answer: from the file that the program saved it to while that is there, else from what
/// the record holds.
pub(super) fn whole(told: Value, seen: &ToolResult, place: &Place) -> Option<Whole> {
    let exit = exit(&told, &seen.text);
    let persisted = seen.text.trim_start().starts_with(PERSISTED);
    if persisted && let Some(path) = saved_to(&seen.text).and_then(|name| place.output(name)) {
        return Some(Whole::of(Source::File(path), exit));
    }
    let (stdout, stderr) = streams(told, persisted);
    if !holds_more(&stdout, &seen.text) && !holds_more(&stderr, &seen.text) {
        return None;
    }
    let state = state(stdout.len() + stderr.len(), &seen.text);
    let streams = [(StreamKind::Stdout, stdout), (StreamKind::Stderr, stderr)];
    let filled = streams.into_iter().filter(|(_, text)| !text.is_empty());
    let streams = filled.map(|(kind, text)| (kind, Source::Bytes(text.into_bytes()))).collect();
    Some(Whole { exit, state, streams })
}

/// What the program noted beside the answer. Commands print on two streams; what other tools gave counts only where the
/// model was told that it saw a preview, since they note much that they never gave.
fn streams(mut told: Value, persisted: bool) -> (String, String) {
    if text(&told, "stdout").is_some() || text(&told, "stderr").is_some() {
        return (take_text(&mut told, "stdout"), take_text(&mut told, "stderr"));
    }
    if !persisted {
        return (String::new(), String::new());
    }
    let noted = match &mut told {
        Value::Object(_) => {
            let mut file = take(&mut told, "file");
            let places = [take(&mut told, "content"), take(&mut file, "content"), take(&mut told, "result")];
            places.iter().map(typed).find(|text| !text.is_empty())
        }
        other => Some(typed(other)),
    };
    (noted.unwrap_or_default(), String::new())
}

/// The exit code, where it is told.
fn exit(told: &Value, seen: &str) -> Option<i32> {
    let told = told.get("exitCode").and_then(Value::as_i64);
    let written = || seen.lines().next()?.strip_prefix("Exit code ")?.trim().parse().ok();
    told.or_else(written).and_then(|code| i32::try_from(code).ok())
}

fn saved_to(seen: &str) -> Option<&str> {
    let (_, rest) = seen.split_once(SAVED_TO)?;
    rest.lines().next().map(str::trim)
}

/// Whether all is there: the program tells the size of what it saved, rounded, and what it notes in the record may be less.
fn state(bytes: usize, seen: &str) -> OutputState {
    let told = seen.split_once(TOO_LARGE).and_then(|(_, rest)| size(rest.split(')').next()?));
    match told {
        Some(size) if (bytes as f64) < size * 0.98 => OutputState::Capped,
        _ => OutputState::Complete,
    }
}

fn size(written: &str) -> Option<f64> {
    let units = [("KB", 1024.0), ("MB", 1024.0 * 1024.0), ("GB", 1024.0 * 1024.0 * 1024.0), ("bytes", 1.0)];
    units.iter().find_map(|(unit, factor)| {
        let number: f64 = written.trim().strip_suffix(unit)?.trim().parse().ok()?;
        Some(number * factor)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_size_is_read_as_it_is_written() {
        let cases =
            [("35.1KB", Some(35_942.4)), ("2 MB", Some(2_097_152.0)), ("12 bytes", Some(12.0)), ("?", None)];
        for (written, wanted) in cases {
            assert_eq!(size(written), wanted, "{written}");
        }
        assert_eq!(state(24_184, "Output too large (35.1KB)."), OutputState::Capped);
        assert_eq!(state(166_944, "Output too large (163.1KB)."), OutputState::Complete);
        assert_eq!(state(1, "short"), OutputState::Complete);
    }
}
