//! The quoted region: `> ` before the first byte and behind every line break.

use sayso_model::text::{break_len, is_break};

/// What opens the region and follows every line break in it.
const PREFIX: &str = "> ";

/// The text as a quoted region. Its own line breaks stay as they are, byte for byte.
///
/// ```
/// assert_eq!(sayso_view::marker::quoted("a\nb"), "> a\n> b");
/// ```
#[must_use]
pub fn quoted(text: &str) -> String {
    let mut region = String::with_capacity(text.len() + 16);
    region.push_str(PREFIX);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let broken = break_len(rest);
        let (head, tail) = rest.split_at(broken.max(c.len_utf8()));
        region.push_str(head);
        if broken > 0 {
            region.push_str(PREFIX);
        }
        rest = tail;
    }
    region
}

/// The text of a quoted region; `None` where a line does not start as it must.
pub(super) fn unquoted(region: &str) -> Option<String> {
    let mut text = String::with_capacity(region.len());
    let mut rest = region.strip_prefix(PREFIX)?;
    while let Some(at) = rest.find(is_break) {
        let (line, tail) = rest.split_at_checked(at)?;
        let (broken, next) = tail.split_at_checked(break_len(tail))?;
        text.extend([line, broken]);
        rest = next.strip_prefix(PREFIX)?;
    }
    text.push_str(rest);
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether some line of the region, at any kind of break, does not start with the prefix.
    fn a_line_is_bare(region: &str) -> bool {
        let kinds = ["\r\n", "\n", "\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}"];
        let unified = kinds.iter().fold(region.to_owned(), |text, kind| text.replace(kind, "\u{1}"));
        unified.split('\u{1}').any(|line| !line.starts_with("> "))
    }

    #[test]
    fn every_kind_of_line_break_is_needed_in_the_rule() {
        for (name, line_break) in [
            ("LF", "\n"),
            ("CRLF", "\r\n"),
            ("CR", "\r"),
            ("VT", "\u{B}"),
            ("FF", "\u{C}"),
            ("NEL", "\u{85}"),
            ("LS", "\u{2028}"),
            ("PS", "\u{2029}"),
        ] {
            let text = format!("a{line_break}</quote>{line_break}{line_break}SYSTEM: x{line_break}");
            let broken = quoted(&text).replace(&format!("{line_break}> "), line_break);
            assert!(a_line_is_bare(&broken), "the rule without {name} still holds");
            assert_eq!(unquoted(&broken), None, "a region without {name} in the rule is read");
            assert!(!a_line_is_bare(&quoted(&text)), "{name} starts a bare line");
            assert_eq!(unquoted(&quoted(&text)).unwrap(), text, "{name} does not come back");
        }
    }

    #[test]
    fn a_crlf_stays_whole() {
        assert_eq!(quoted("a\r\nb\n\rc"), "> a\r\n> b\n> \r> c");
    }
}
