//! A regular expression for lines.

use grep_matcher::{LineMatchKind, Matcher};
use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use regex_syntax::ParserBuilder;

/// Bytes of memory that a pattern takes at most, unless told otherwise.
const PATTERN_BYTES: usize = 10 * 1024 * 1024;

/// A regular expression for lines.
#[derive(Debug, Clone)]
pub struct Pattern {
    matcher: RegexMatcher,
}

/// A pattern that cannot be searched for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct PatternError {
    reason: String,
}

/// A place within a line: where a match begins and ends.
pub(super) type Span = (usize, usize);

/// A line among several: where it begins and ends, without its LF, and where it matches if it does.
pub(super) struct Line {
    pub(super) start: usize,
    pub(super) end: usize,
    pub(super) found: Option<Span>,
}

impl Pattern {
    /// The syntax is that of the crate `regex`; `(?i)` makes it ignore case. `^` and `$` stand for the ends of a line, also
    /// where it ends with CR LF. It is looked for in one line at a time.
    ///
    /// # Errors
    ///
    /// What is wrong with it, among it that it asks for a line feed or takes more than 10 MiB of memory.
    pub fn new(pattern: &str) -> Result<Self, PatternError> {
        Self::within(pattern, PATTERN_BYTES)
    }

    /// The same with this many bytes of memory at most for what is made of the pattern, and as many again for what a search
    /// with it keeps.
    ///
    /// # Errors
    ///
    /// As for [`Pattern::new`].
    pub fn within(pattern: &str, bytes: usize) -> Result<Self, PatternError> {
        let mut builder = RegexMatcherBuilder::new();
        builder.multi_line(true).line_terminator(Some(b'\n')).size_limit(bytes).dfa_size_limit(bytes);
        // The flag makes `$` stand before CR LF too; unlike the builder's, it leaves CR to the pattern.
        let flagged = builder.build(&format!("(?R){pattern}"));
        flagged
            .map(|matcher| Self { matcher })
            .map_err(|error| PatternError { reason: reason(pattern, &error) })
    }

    /// Where these bytes match at or behind a place.
    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<Span> {
        self.matcher.find_at(bytes, from).ok().flatten().map(|found| (found.start(), found.end()))
    }

    /// Of whole lines the next from the beginning of a line on that may match; no line before it does.
    pub(super) fn next(&self, lines: &[u8], from: usize) -> Option<Line> {
        let rest = lines.get(from..).filter(|rest| !rest.is_empty())?;
        let at = from + if self.by_blocks() { self.candidate(rest)? } else { 0 };
        // Behind the last line break there is no line.
        if at == lines.len() && lines.last() == Some(&b'\n') {
            return None;
        }
        let start = memchr::memrchr(b'\n', lines.get(from..at)?).map_or(from, |lf| from + lf + 1);
        let end = memchr::memchr(b'\n', lines.get(at..)?).map_or(lines.len(), |lf| at + lf);
        Some(Line { start, end, found: self.in_line(lines.get(start..lines.len().min(end + 1))?) })
    }

    /// Whether several lines can be looked at in one go: it does not tell the ends of what it is given from those of a line.
    fn by_blocks(&self) -> bool {
        self.matcher.line_terminator().is_some()
    }

    /// A place in the next line that may match.
    fn candidate(&self, lines: &[u8]) -> Option<usize> {
        match self.matcher.find_candidate_line(lines).ok().flatten()? {
            LineMatchKind::Confirmed(at) | LineMatchKind::Candidate(at) => Some(at),
        }
    }

    /// Where a line with its LF, if it has one, matches; the LF is no part of what matches.
    fn in_line(&self, line: &[u8]) -> Option<Span> {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        if self.by_blocks() {
            return self.find(line, 0).filter(|(_, end)| *end <= bare.len());
        }
        self.find(bare, 0).or_else(|| self.find(bare.strip_suffix(b"\r")?, 0))
    }
}

fn reason(pattern: &str, error: &grep_regex::Error) -> String {
    if let grep_regex::ErrorKind::NotAllowed(_) = error.kind() {
        return "the pattern is looked for in one line at a time: leave the line feed out".to_owned();
    }
    // What is wrong is told of the pattern as it was given.
    let own = ParserBuilder::new().utf8(false).build().parse(pattern).err();
    own.map_or_else(|| error.to_string(), |own| own.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_told_of_the_pattern_as_it_was_given() {
        let wrong = |pattern| Pattern::new(pattern).unwrap_err().to_string();
        assert!(wrong("(").contains("unclosed group") && !wrong("(").contains("(?R)"), "{}", wrong("("));
        assert!(wrong("a\\nb").contains("leave the line feed out"));
        assert!(wrong("a{1000}{1000}").contains("size limit"), "{}", wrong("a{1000}{1000}"));
        assert!(Pattern::new("\\w{20}").is_ok() && Pattern::within("\\w{20}", 1_000).is_err());
    }
}
