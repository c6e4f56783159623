//! Taking the machine out of a recording: its paths, and the programs' own instructions, which are long and not ours.

use anyhow::{Result, ensure};
use serde_json::Value;

/// What stands where the programs' instructions stood.
pub(super) const LEFT_OUT: &str = "[Instructions of the program, left out of this recording.]";

/// The recording with `root` taken off every path, and the instructions replaced.
///
/// A line without instructions keeps its bytes, but for the paths.
pub(super) fn mask(recording: &str, root: &str) -> Result<String> {
    let mut masked = String::with_capacity(recording.len());
    for line in recording.lines() {
        let mut record: Value = serde_json::from_str(line)?;
        if replace(&mut record) {
            masked.push_str(&record.to_string().replace(root, ""));
        } else {
            masked.push_str(&line.replace(root, ""));
        }
        masked.push('\n');
    }
    clean(&masked)?;
    Ok(masked)
}

/// Replaces instructions wherever they stand in a record; says whether there were any.
fn replace(value: &mut Value) -> bool {
    match value {
        Value::Array(items) => items.iter_mut().fold(false, |any, item| replace(item) | any),
        Value::Object(object) => {
            let is_developer = object.get("role").and_then(Value::as_str) == Some("developer");
            let mut any = false;
            for (key, inner) in object.iter_mut() {
                let holds_instructions =
                    key == "base_instructions" || key == "host_skills" || (is_developer && key == "content");
                any |= if holds_instructions { blank(inner) } else { replace(inner) };
            }
            any
        }
        _ => false,
    }
}

/// Replaces every `text` and every `body` inside.
fn blank(value: &mut Value) -> bool {
    match value {
        Value::Array(items) => items.iter_mut().fold(false, |any, item| blank(item) | any),
        Value::Object(object) => {
            let texts = object.iter_mut().filter(|(key, _)| *key == "text" || *key == "body");
            texts.fold(false, |_, (_, text)| {
                *text = Value::from(LEFT_OUT);
                true
            })
        }
        _ => false,
    }
}

/// Refuses a recording that still names this machine.
fn clean(masked: &str) -> Result<()> {
    let workspace = env!("CARGO_MANIFEST_DIR");
    ensure!(!masked.contains(workspace), "the workspace's path is left");
    if let Ok(home) = std::env::var("HOME") {
        let home = format!("{home}/");
        ensure!(!masked.contains(&home), "the home folder's path is left");
    }
    if let Ok(host) = std::fs::read_to_string("/etc/hostname") {
        let host = host.trim();
        ensure!(
            host.len() < 4 || host == "localhost" || !masked.contains(host),
            "the machine's name is left"
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lose_the_stage_and_other_bytes_stay() {
        let line = "{\"cwd\":\"/x/stage/home/mira/harbour\",  \"n\":1.50}\n";
        let masked = mask(line, "/x/stage").unwrap();
        assert_eq!(masked, "{\"cwd\":\"/home/mira/harbour\",  \"n\":1.50}\n");
    }

    #[test]
    fn instructions_are_replaced_at_any_depth() {
        let line = r#"{"history":[{"role":"developer","content":[{"type":"input_text","text":"long"}]},{"role":"user","content":[{"text":"mine"}]}]}"#;
        let masked = mask(line, "/x/stage").unwrap();
        assert!(masked.contains(LEFT_OUT) && !masked.contains("long"));
        assert!(masked.contains("mine"));
    }
}
