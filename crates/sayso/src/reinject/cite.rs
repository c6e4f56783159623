//! What a summary names: outputs and turns by their ids, calls by theirs, files by their paths. Values in, values out.

use sayso_model::limits::SUFFIX_CHARS;

/// Characters of a call's id at least, since shorter ones are words.
const CALL_CHARS: usize = 4;
/// Characters of a path at least.
const PATH_CHARS: usize = 5;

/// One line of a summary, and what it may name.
#[derive(Debug, Clone)]
pub(super) struct Line<'s> {
    pub(super) text: &'s str,
    /// What may be the end of an id, in upper case.
    ends: Vec<String>,
    paths: Vec<Path<'s>>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Path<'s> {
    path: &'s str,
    line: Option<u64>,
}

/// That a summary names something, and where.
#[derive(Debug, Clone, Copy)]
pub(super) struct Citation<'s> {
    /// The line of the summary.
    pub(super) text: &'s str,
    /// The line of the file, where the summary says it.
    pub(super) line: Option<u64>,
    /// Whether it is named by a path, which several calls may share.
    pub(super) by_path: bool,
}

pub(super) fn lines(summary: &str) -> Vec<Line<'_>> {
    let line = |text| Line { text, ends: ends(text), paths: paths(text) };
    summary.lines().map(line).collect()
}

fn ends(line: &str) -> Vec<String> {
    let words = line.split(|c: char| !c.is_ascii_alphanumeric());
    words.filter(|word| (SUFFIX_CHARS..=26).contains(&word.len())).map(str::to_ascii_uppercase).collect()
}

fn paths(line: &str) -> Vec<Path<'_>> {
    let outside = |c: char| c.is_whitespace() || "\"'`()[]{}<>,;*|".contains(c);
    line.split(outside).filter_map(path).collect()
}

/// A word with a slash in it, or one that ends like a file's name; perhaps with the number of a line.
fn path(word: &str) -> Option<Path<'_>> {
    let word = word.trim_end_matches(['.', ':', '!', '?']);
    let (path, line) = match word.split_once(':') {
        Some((path, rest)) => (path, rest.split(':').next().and_then(|n| n.parse().ok())),
        None => (word, None),
    };
    let path = path.trim_start_matches("./");
    let ends = path.rsplit_once('.').is_some_and(|(stem, end)| {
        !stem.is_empty() && (1..=5).contains(&end.len()) && end.chars().all(char::is_alphanumeric)
    });
    let letters = path.chars().any(char::is_alphabetic);
    (path.chars().count() >= PATH_CHARS && letters && (path.contains('/') || ends))
        .then_some(Path { path, line })
}

/// What a result may be named by.
pub(super) struct Names<'a> {
    /// Ids of its output and its turn.
    pub(super) ids: &'a [String],
    pub(super) call_id: &'a str,
    pub(super) arguments: &'a str,
}

impl<'s> Line<'s> {
    fn citation(&self, names: &Names<'_>) -> Option<Citation<'s>> {
        let by_id = self.ends.iter().any(|end| names.ids.iter().any(|id| id.ends_with(end.as_str())));
        let by_call = names.call_id.len() >= CALL_CHARS && stands(self.text, names.call_id);
        let path = self.paths.iter().find(|path| stands(names.arguments, path.path));
        if !by_id && !by_call && path.is_none() {
            return None;
        }
        let line = path.and_then(|path| path.line);
        Some(Citation { text: self.text, line, by_path: !by_id && !by_call })
    }
}

/// The first line that names it, one that names it by an id before one that names a path.
pub(super) fn citation<'s>(lines: &[Line<'s>], names: &Names<'_>) -> Option<Citation<'s>> {
    let found: Vec<Citation<'s>> = lines.iter().filter_map(|line| line.citation(names)).collect();
    found.iter().find(|citation| !citation.by_path).or(found.first()).copied()
}

/// Whether a word stands in a text as a whole.
fn stands(text: &str, word: &str) -> bool {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(word).any(|(at, _)| {
        let before = text.get(..at).and_then(|t| t.chars().next_back());
        let after = text.get(at + word.len()..).and_then(|t| t.chars().next());
        !before.is_some_and(inside) && !after.is_some_and(inside)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cited(summary: &str) -> Option<(Option<u64>, bool)> {
        let ids = ["01M8QCWWHAEG1P9BVVXWD331RY".to_owned()];
        let names = Names { ids: &ids, call_id: "call_9", arguments: r#"{"path":"/home/mira/src/main.rs"}"# };
        citation(&lines(summary), &names).map(|c| (c.line, c.by_path))
    }

    #[test]
    fn a_summary_names_results_by_id_call_and_path() {
        assert_eq!(cited("see output XWD331RY"), Some((None, false)));
        assert_eq!(cited("01M8QCWWHAEG1P9BVVXWD331RY has it"), Some((None, false)));
        assert_eq!(cited("it came from call_9."), Some((None, false)));
        assert_eq!(cited("The bug is in `src/main.rs:40`."), Some((Some(40), true)));
        assert_eq!(cited("Read main.rs, then\nask about output XWD331RY"), Some((None, false)));
        for other in ["see call_91", "in main.rst", "in rs", "31RY", "domain.rs", "nothing"] {
            assert_eq!(cited(other), None, "{other}");
        }
    }
}
