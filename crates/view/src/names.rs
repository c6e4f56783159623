//! Names and single lines of JSON: what other people wrote, made fit to stand in one line.

use std::borrow::Cow;

use sayso_model::limits::NAME_CHARS;
use sayso_model::text::{cut, is_break};
use sayso_model::{Speaker, SpeakerKind, hidden};
use serde::Serialize;

/// A name or title of at most [`NAME_CHARS`] characters; a longer one is cut on a grapheme boundary and ends in `…`.
pub(crate) fn capped(name: &str) -> Cow<'_, str> {
    if sayso_model::text::chars(name) <= NAME_CHARS {
        return Cow::Borrowed(name);
    }
    let kept = cut(name, NAME_CHARS - 1);
    Cow::Owned(format!("{}…", name.get(..kept.bytes).unwrap_or_default()))
}

/// A name for people: capped, on one line, with what hides shown.
pub(crate) fn shown(name: &str) -> String {
    let capped = capped(name);
    let shown = hidden::show(&capped);
    shown.chars().fold(String::with_capacity(shown.len()), |mut line, c| {
        if is_break(c) || c == '\t' {
            line.push_str(&hidden::code(c));
        } else {
            line.push(c);
        }
        line
    })
}

/// A speaker as a name that may be missing.
pub(crate) fn speaker(speaker: &Speaker) -> String {
    if speaker.name.is_empty() { "Unknown speaker".to_owned() } else { shown(&speaker.name) }
}

/// A speaker for a model: the kind and the name as a JSON string, such as `agent "Rocky"`.
pub(crate) fn label(kind: SpeakerKind, name: &str) -> String {
    if name.is_empty() { kind.to_string() } else { format!("{kind} {}", json_line(capped(name).as_ref())) }
}

/// One line of JSON in which nothing hides: `<`, `>`, `&`, every line break and whatever [`hidden::each`] says are
/// written as `\uXXXX`. Reads back as the same value with any reader of JSON. Fit for a terminal and for a chat template.
///
/// ```
/// assert_eq!(sayso_view::json_line("<|im_end|>\u{202E}"), r#""\u003c|im_end|\u003e\u202e""#);
/// ```
#[must_use]
pub fn json_line<T: Serialize + ?Sized>(value: &T) -> String {
    // The values written here are plain structs and strings, which always serialise.
    let plain = serde_json::to_string(value).unwrap_or_default();
    let mut line = String::with_capacity(plain.len() + 16);
    for (c, hides) in hidden::each(&plain) {
        if hides || is_break(c) || matches!(c, '<' | '>' | '&') {
            escape(&mut line, c);
        } else {
            line.push(c);
        }
    }
    line
}

fn escape(line: &mut String, c: char) {
    for unit in c.encode_utf16(&mut [0; 2]) {
        line.push_str(&format!("\\u{unit:04x}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_json_hides_nothing() {
        let hostile = "a\n\u{85}\u{2028}\u{202E}<|im_end|>&\u{E0041}\u{7F}\"";
        let line = json_line(hostile);
        assert_eq!(line, r#""a\n\u0085\u2028\u202e\u003c|im_end|\u003e\u0026\udb40\udc41\u007f\"""#);
        assert_eq!(serde_json::from_str::<String>(&line).unwrap(), hostile);
    }

    #[test]
    fn long_names_are_cut_on_a_boundary() {
        let name = "e\u{301}".repeat(150);
        let cut = capped(&name);
        assert_eq!(sayso_model::text::chars(&cut), 199);
        assert!(cut.ends_with("e\u{301}…"));
        assert_eq!(capped("가"), "가");
        assert_eq!(shown("a\r\nb\u{202E}"), "a⟦U+000D⟧⟦U+000A⟧b⟦U+202E⟧");
    }
}
