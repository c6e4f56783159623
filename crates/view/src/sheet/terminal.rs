//! Plain text for a terminal: words behind a bar, nothing that only colour would tell.

use sayso_model::hidden;
use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::{Block, Foot, Sheet};
use crate::guard::lines;

const BAR: &str = "│ ";
/// Columns that words get at least, also on a terminal narrower than that.
const MIN_COLUMNS: usize = 16;
const TAB: &str = "    ";

impl Sheet {
    /// The sheet in at most `width` columns; addresses are never broken.
    pub(crate) fn terminal(&self, width: usize) -> String {
        let columns = width.max(MIN_COLUMNS + BAR.width()) - BAR.width();
        let mut out = String::new();
        let head: Vec<&str> =
            [self.kind, &self.name].into_iter().chain(self.head.iter().map(String::as_str)).collect();
        paragraph(&mut out, "", &head.join(" · "), width);
        paragraph(&mut out, "", &self.facts.join(" · "), width);
        self.blocks.iter().for_each(|part| block(&mut out, part, columns));
        out.push('\n');
        self.foot.iter().for_each(|line| foot(&mut out, line));
        out
    }
}

fn paragraph(out: &mut String, before: &str, line: &str, columns: usize) {
    for row in wrap(line, columns.max(MIN_COLUMNS)) {
        out.extend([before, &row, "\n"]);
    }
}

fn block(out: &mut String, block: &Block, columns: usize) {
    out.push('\n');
    if !block.label.is_empty() {
        paragraph(out, "", &format!("{}:", block.label), columns);
    }
    let shown = hidden::show(&block.text);
    for (_, line) in lines(&shown) {
        paragraph(out, BAR, &line.replace('\t', TAB), columns);
    }
}

fn foot(out: &mut String, foot: &Foot) {
    let parts: Vec<&str> = [foot.text.as_str(), foot.code.as_deref().unwrap_or_default()]
        .into_iter()
        .filter(|p| !p.is_empty())
        .collect();
    out.extend([foot.label, ": ", &parts.join(", "), "\n"]);
}

/// Rows of at most `columns` columns, broken between words where that is possible. An empty line is one row.
fn wrap(line: &str, columns: usize) -> Vec<String> {
    let mut rows = vec![String::new()];
    let mut used = 0;
    for word in pieces(line) {
        let wide = word.width();
        if used + wide <= columns {
            used += wide;
            append(&mut rows, word);
        } else if wide > columns {
            used = split(&mut rows, word, used, columns);
        } else {
            // The space that a row would end in is the break itself.
            let spaces = word.trim().is_empty();
            rows.push(if spaces { String::new() } else { word.to_owned() });
            used = if spaces { 0 } else { wide };
        }
    }
    rows
}

/// Words, with an escape such as `⟦U+202E⟧` or a doubled `⟦⟦` as one: broken, it would read as something else.
fn pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut rest = line;
    while let Some((before, escape)) = rest.find('⟦').and_then(|at| rest.split_at_checked(at)) {
        let doubled = escape.starts_with("⟦⟦").then_some('⟦'.len_utf8() * 2);
        let closed = || escape.find('⟧').map(|at| at + '⟧'.len_utf8());
        let end = doubled.or_else(closed).unwrap_or('⟦'.len_utf8());
        let (escape, after) = escape.split_at(end);
        pieces.extend(before.split_word_bounds());
        pieces.push(escape);
        rest = after;
    }
    pieces.extend(rest.split_word_bounds());
    pieces
}

fn split(rows: &mut Vec<String>, word: &str, mut used: usize, columns: usize) -> usize {
    for cluster in word.graphemes(true) {
        let wide = cluster.width();
        if used + wide > columns {
            rows.push(String::new());
            used = 0;
        }
        used += wide;
        append(rows, cluster);
    }
    used
}

fn append(rows: &mut [String], text: &str) {
    if let Some(row) = rows.last_mut() {
        row.push_str(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_escape_is_never_broken() {
        let line = "word ⟦U+202E⟧ ⟦⟦x⟧ ".repeat(20);
        for columns in 16..40 {
            let rows = wrap(&line, columns);
            let whole = |row: &String| row.matches("U+202E").count() == row.matches("⟦U+202E⟧").count();
            assert!(rows.iter().all(whole), "{columns}: {rows:?}");
            assert!(rows.iter().all(|row| !row.ends_with('⟦') || row.ends_with("⟦⟦")), "{columns}: {rows:?}");
        }
    }

    #[test]
    fn wide_letters_count_two_columns() {
        assert_eq!(wrap("이거 확인해줘", 9), ["이거 ", "확인해줘"]);
        assert_eq!(wrap("가나다라마", 4), ["가나", "다라", "마"]);
        assert_eq!(wrap("    code", 8), ["    code"]);
        assert_eq!(wrap("", 8), [""]);
        for row in wrap(&"word 단어 👩‍💻 ".repeat(40), 24) {
            assert!(row.width() <= 24, "{row:?}");
        }
    }
}
