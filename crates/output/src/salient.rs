//! Lines of an output that look like what went wrong.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;

use regex::bytes::Regex;

use crate::limits::{SALIENT_BYTES, SALIENT_LINES, SALIENT_SHAPES};
use crate::view::Line;

/// Words by which a line is worth a look. Ways of writing them in capitals are spelled out: that is what makes the search fast.
const WORDS: &str = "error|Error|ERROR|fail|Fail|FAIL|fatal|Fatal|FATAL|panic|PANIC|xception|EXCEPTION|raceback|\
    abort|Abort|ABORT|denied|DENIED|cannot|Cannot|could not|Could not|undefined|Undefined|unresolved|not found|NOT FOUND|\
    No such|egmentation fault|SIGSEGV|Killed|out of memory|Out of memory|OutOfMemory|OOM|warning|Warning|WARN|timed out|\
    refused|ssertion|오류|에러|실패|경고|错误|失败|異常|异常|錯誤|失敗|エラー|ошибка|Ошибка|erreur|Erreur|Fehler|✗|✘|❌";

#[expect(clippy::expect_used, reason = "constant patterns, compiled by the tests")]
fn compile(pattern: &str) -> Regex {
    Regex::new(pattern).expect("a constant pattern")
}

static ANY: LazyLock<Regex> = LazyLock::new(|| compile(WORDS));
static STRONG: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\berror(\[\w+\])?:|\bfatal\b|panick|traceback|\bFAILED\b|segmentation|out of memory|\w*(Error|Exception)\b:|^E  |오류|에러|실패|错误|失败|エラー|失敗|錯誤",
    )
});
static NONE_OF: LazyLock<Regex> = LazyLock::new(|| {
    compile(
        r"(?i)\b(0|no|zero|without)\s+(errors?|fail\w*|warnings?|exceptions?)|\b(errors?|fail\w*|warnings?)\s*[:=]\s*0\b",
    )
});
static WEAK: LazyLock<Regex> = LazyLock::new(|| compile(r"(?i)warn|경고"));

/// Whether a line says plainly that something went wrong, such as `error: no space left`; that it names a warning, or counts no
/// errors, does not.
///
/// ```
/// assert!(sayso_output::says_what_failed("src/main.rs:3: error: expected `;`"));
/// assert!(!sayso_output::says_what_failed("0 errors, 2 warnings"));
/// ```
#[must_use]
pub fn says_what_failed(line: &str) -> bool {
    ANY.is_match(line.as_bytes()) && weakness(line.as_bytes()) == 0
}

/// How much a salient line matters, most first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Rank {
    /// Lines of a shape that was seen already come last.
    repeated: bool,
    weakness: u8,
    number: u64,
}

/// A line that is worth showing from the middle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Salient {
    pub(crate) rank: Rank,
    pub(crate) line: Line,
}

/// Finds salient lines and keeps the best.
#[derive(Debug, Default)]
pub(crate) struct Finder {
    found: Vec<Salient>,
    shapes: HashSet<u64>,
    /// The last line that was kept, so that a line in pieces counts once.
    last: u64,
}

impl Finder {
    /// Looks at whole lines, or at a piece of one; `number` is that of the first.
    pub(crate) fn look(&mut self, bytes: &[u8], number: u64) {
        let (mut at, mut line, mut counted) = (0, number, 0);
        while let Some(hit) = ANY.find_at(bytes, at) {
            let start =
                memchr::memrchr(b'\n', bytes.get(..hit.start()).unwrap_or_default()).map_or(0, |n| n + 1);
            let rest = bytes.get(hit.end()..).unwrap_or_default();
            let end = memchr::memchr(b'\n', rest).map_or(bytes.len(), |n| hit.end() + n);
            line += bytecount::count(bytes.get(counted..start).unwrap_or_default(), b'\n') as u64;
            counted = start;
            self.keep(bytes.get(start..end).unwrap_or_default(), hit.start() - start, line);
            at = end;
        }
    }

    /// The best, by number.
    pub(crate) fn finish(mut self) -> Vec<Salient> {
        self.prune();
        self.found.sort_by_key(|s| s.line.number);
        self.found
    }

    fn keep(&mut self, line: &[u8], hit: usize, number: u64) {
        if number == self.last {
            return;
        }
        self.last = number;
        let excerpt = excerpt(line, hit);
        let repeated = self.repeated(excerpt);
        if repeated && self.found.len() > SALIENT_LINES {
            return;
        }
        let rank = Rank { repeated, weakness: weakness(excerpt), number };
        let text = String::from_utf8_lossy(excerpt);
        self.found
            .push(Salient { rank, line: Line::part(number, &text, (line.len() - excerpt.len()) as u64) });
        if self.found.len() > SALIENT_LINES * 8 {
            self.prune();
        }
    }

    fn prune(&mut self) {
        self.found.sort_by_key(|s| s.rank);
        self.found.truncate(SALIENT_LINES);
    }

    /// Whether a line like this one, but for its numbers, was seen.
    fn repeated(&mut self, line: &[u8]) -> bool {
        let mut hasher = DefaultHasher::new();
        line.iter().filter(|b| !b.is_ascii_digit()).for_each(|b| b.hash(&mut hasher));
        let shape = hasher.finish();
        let room = self.shapes.len() < SALIENT_SHAPES;
        if room { !self.shapes.insert(shape) } else { self.shapes.contains(&shape) }
    }
}

fn weakness(line: &[u8]) -> u8 {
    match (STRONG.is_match(line), NONE_OF.is_match(line), WEAK.is_match(line)) {
        (_, true, _) => 3,
        (true, false, _) => 0,
        (false, false, true) => 2,
        (false, false, false) => 1,
    }
}

/// What stands around the hit, from a character to a character.
fn excerpt(line: &[u8], hit: usize) -> &[u8] {
    if line.len() <= SALIENT_BYTES {
        return line;
    }
    let character = |at: &usize| !matches!(line.get(*at), Some(0x80..=0xBF));
    let from = hit.saturating_sub(SALIENT_BYTES / 4).min(line.len() - SALIENT_BYTES);
    let from = (from..line.len()).find(character).unwrap_or(0);
    let to = (0..=(from + SALIENT_BYTES).min(line.len())).rev().find(character).unwrap_or(line.len());
    line.get(from..to).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn real_errors_outrank_warnings_and_repeats() {
        let mut finder = Finder::default();
        let noise = "warning: unused 1\n".repeat(500);
        finder.look(format!("{noise}0 errors\nerror: disk full\n실패했습니다\n").as_bytes(), 1);
        let mut found = finder.finish();
        found.sort_by_key(|s| s.rank);
        let numbers: Vec<u64> = found.iter().map(|s| s.line.number).take(3).collect();
        assert_eq!(numbers, [502, 503, 1]);
    }

    #[test]
    fn a_giant_line_is_shown_around_what_makes_it_salient() {
        let mut finder = Finder::default();
        finder.look(format!("{}error: here{}", "가".repeat(9_000), "나".repeat(9_000)).as_bytes(), 7);
        let found = finder.finish();
        assert!(found[0].line.to_string().contains("error: here"), "{}", found[0].line);
    }
}
