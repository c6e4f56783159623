//! A short text as a terminal would show it.

use super::clean::{Cleaner, LineSink};

/// What a terminal would show of a text: without escape sequences and NULs, of what was overwritten only what came last. Line
/// ends become LF; the last line has one where the text has one.
///
/// ```
/// assert_eq!(sayso_output::as_shown("\u{1B}[31mred\u{1B}[0m\r\n10%\r20%"), "red\n20%");
/// ```
#[must_use]
pub fn as_shown(text: &str) -> String {
    let mut lines = Lines::default();
    let mut cleaner = Cleaner::new(&mut lines);
    cleaner.feed(text);
    cleaner.finish();
    // The end of everything ends a line that is open.
    if lines.ends > bytecount::count(text.as_bytes(), b'\n') {
        lines.done.pop();
    }
    lines.done
}

#[derive(Default)]
struct Lines {
    done: String,
    /// Where the current line begins.
    line: usize,
    ends: usize,
}

impl LineSink for Lines {
    fn text(&mut self, piece: &str) {
        self.done.push_str(piece);
    }

    fn end(&mut self) {
        self.done.push('\n');
        self.line = self.done.len();
        self.ends += 1;
    }

    fn restart(&mut self) {
        self.done.truncate(self.line);
    }
}

#[cfg(test)]
mod tests {
    use super::as_shown;

    #[test]
    fn plain_text_stays_and_what_hides_goes() {
        for plain in ["", "\n", "one", "one\n", "one\n\n", "확인 ✓\n  two\t3"] {
            assert_eq!(as_shown(plain), plain);
        }
        let shown = [
            ("\u{1B}]0;title\u{7}one", "one"),
            ("\u{1B}[1mone\u{1B}[0m\n", "one\n"),
            ("a\r\nb\r\n", "a\nb\n"),
            ("10%\r100%\nx", "100%\nx"),
            ("o\u{8}on\0e", "one"),
            ("one\n\u{1B}[0m", "one\n"),
        ];
        for (text, wanted) in shown {
            assert_eq!(as_shown(text), wanted, "{text:?}");
        }
    }
}
