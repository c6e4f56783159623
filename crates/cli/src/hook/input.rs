//! What an agent program writes on a hook's standard input.

use std::io::Read;
use std::path::PathBuf;

use sayso_import::records::Records;
use serde::Deserialize;

use crate::fail::Failure;

/// Bytes of input that are read at most: what a tool printed may stand in it.
const INPUT_BYTES: u64 = 64 * 1024 * 1024;

/// The input, as far as it is used; each program adds more.
#[derive(Debug, Deserialize)]
pub(crate) struct Input {
    /// The program's id of the session.
    pub(super) session_id: String,
    /// Where it writes the transcript, if it does.
    #[serde(default)]
    pub(super) transcript_path: Option<PathBuf>,
    /// The folder that it runs in.
    pub(super) cwd: PathBuf,
    /// The owner's words, at `UserPromptSubmit`.
    #[serde(default)]
    pub(super) prompt: Option<String>,
    /// What started the session, at `SessionStart`: `startup`, `resume`, `clear`, or `compact` where it goes on after a
    /// compaction.
    #[serde(default)]
    pub(super) source: Option<String>,
}

impl Input {
    /// Reads it: one JSON object, on however many lines. What JSON does not allow is read where it is clear, such as half of
    /// a surrogate pair in a prompt.
    pub(super) fn read(from: impl Read) -> Result<Self, Failure> {
        let mut bytes = Vec::new();
        let read = from.take(INPUT_BYTES).read_to_end(&mut bytes);
        read.map_err(|e| Failure::io("the hook's input cannot be read", e))?;
        if let Ok(input) = serde_json::from_slice::<Self>(&bytes) {
            return Ok(input.tidied());
        }
        // An object on one line is what can be mended; in strings, JSON has no line breaks anyway.
        bytes.iter_mut().filter(|byte| matches!(byte, b'\n' | b'\r')).for_each(|byte| *byte = b' ');
        let wrong =
            |why: String| Failure::request(format!("the hook's input is not what the program sends: {why}"));
        let record = match Records::new(bytes.as_slice()).next() {
            Some(record) => record.map_err(|e| wrong(e.to_string()))?,
            None => return Err(wrong("it holds no JSON object".to_owned())),
        };
        serde_json::from_value(record.value).map(Self::tidied).map_err(|e| wrong(e.to_string()))
    }

    /// A path without a character is none.
    fn tidied(mut self) -> Self {
        self.transcript_path = self.transcript_path.filter(|path| !path.as_os_str().is_empty());
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_of_a_character_in_a_prompt_stops_nothing() {
        let text = r#"{"session_id":"s","cwd":"/w","prompt":"a\ud83d b","more":[1]}"#;
        let input = Input::read(text.as_bytes()).unwrap();
        assert_eq!((input.prompt.as_deref(), input.transcript_path), (Some("a\u{FFFD} b"), None));
        let lines = "{\r\n  \"session_id\": \"s\",\n  \"cwd\": \"/w\",\n\n  \"prompt\": \"a\\ud83d b\"\n}\n";
        for (text, prompt) in [(lines, "a\u{FFFD} b"), (&lines.replace("\\ud83d", "c"), "ac b")] {
            assert_eq!(Input::read(text.as_bytes()).unwrap().prompt.as_deref(), Some(prompt));
        }
        let empty = r#"{"session_id":"s","cwd":"/w","transcript_path":""}"#;
        assert_eq!(Input::read(empty.as_bytes()).unwrap().transcript_path, None);
        for wrong in ["", "not json", "{}", "[1]", "{\"session_id\":\"s\"}"] {
            assert!(Input::read(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
