//! Markdown: words in fences that nothing inside can close.

use sayso_model::hidden;

use super::{Block, Foot, Sheet};
use crate::guard::lines;

impl Sheet {
    /// The sheet as Markdown (CommonMark).
    pub(crate) fn markdown(&self) -> String {
        let mut out = format!("{} · **{}**", self.kind, escaped(&self.name));
        for part in &self.head {
            out.push_str(" · ");
            out.push_str(&escaped(part));
        }
        out.push_str("\\\n");
        out.push_str(&escaped(&self.facts.join(" · ")));
        out.push('\n');
        self.blocks.iter().for_each(|part| block(&mut out, part));
        out.push('\n');
        self.foot.iter().for_each(|line| foot(&mut out, line));
        out
    }
}

pub(crate) fn block(out: &mut String, block: &Block) {
    if !block.label.is_empty() {
        out.push_str(&format!("\n{}:\n", escaped(&block.label)));
    }
    let shown = hidden::show(&block.text);
    let fence = fence(&shown);
    out.push_str(&format!("\n{fence}\n"));
    for (_, line) in lines(&shown) {
        out.extend([line, "\n"]);
    }
    out.push_str(&format!("{fence}\n"));
}

pub(crate) fn foot(out: &mut String, foot: &Foot) {
    out.push_str(&format!("- {}: {}", foot.label, escaped(&foot.text)));
    if let Some(code) = &foot.code {
        let comma = if foot.text.is_empty() { "" } else { ", " };
        out.push_str(&format!("{comma}`{code}`"));
    }
    out.push('\n');
}

/// A fence longer than any run of backticks in the text.
pub(crate) fn fence(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(3.max(longest + 1))
}

/// Text that Markdown takes as letters: every punctuation that could mark something up is escaped.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(
            c,
            '\\' | '`'
                | '*'
                | '_'
                | '{'
                | '}'
                | '['
                | ']'
                | '('
                | ')'
                | '#'
                | '!'
                | '|'
                | '<'
                | '>'
                | '~'
                | '&'
                | '$'
                | '@'
        ) {
            out.push('\\');
        }
        out.push(c);
        // A link that writes itself (https://…, www.…) is broken by a character that is not seen.
        if c == ':' && text.contains("://") || c == '.' && text.to_ascii_lowercase().contains("www.") {
            out.push_str("<!-- -->");
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(fence("a"), "```");
        assert_eq!(fence("``` and `````"), "``````");
    }

    #[test]
    fn names_mark_nothing_up() {
        assert_eq!(escaped("**[x](y)** <b> @all"), "\\*\\*\\[x\\]\\(y\\)\\*\\* \\<b\\> \\@all");
        assert_eq!(escaped("https://x"), "https:<!-- -->//x");
        assert_eq!(escaped("v1.2: 14:05"), "v1.2: 14:05");
    }
}
