//! Lines that match a pattern, in bytes that stream past, at a memory that does not grow with them or with a giant line.

use std::io::{self, BufRead};
use std::ops::ControlFlow;

use memchr::{memchr, memchr_iter, memrchr};
use regex::bytes::{Regex, RegexBuilder};

/// Bytes of a line that are searched in one piece; a longer line is searched in pieces of at most twice that, which overlap.
const PIECE: usize = 1024 * 1024;
/// Bytes by which the pieces of a giant line overlap: a match that is longer may be missed there.
const OVERLAP: usize = 4 * 1024;
/// Bytes of a line that a match shows at most.
const SHOWN: usize = 4 * 1024;

/// A regular expression for lines.
#[derive(Debug, Clone)]
pub struct Pattern {
    regex: Regex,
    /// Whether lines must be looked at one by one: it may tell the beginning or end of what it is given from those of a line.
    alone: bool,
}

impl Pattern {
    /// The syntax is that of the crate `regex`; `(?i)` makes it ignore case. `^` and `$` stand for the ends of a line, also
    /// where it ends with CR LF.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn new(pattern: &str) -> Result<Self, regex::Error> {
        let regex = RegexBuilder::new(pattern).multi_line(true).crlf(true).build()?;
        let flags = pattern.match_indices("(?").any(|(at, _)| {
            let rest = pattern.get(at + 2..).unwrap_or_default();
            rest.bytes().take_while(|b| b.is_ascii_alphabetic() || *b == b'-').any(|b| b == b'-')
        });
        Ok(Self { regex, alone: flags || pattern.contains("\\A") || pattern.contains("\\z") })
    }
}

impl Pattern {
    /// Where a line matches by itself, with its line break or without.
    fn in_line(&self, line: &[u8]) -> Option<(usize, usize)> {
        let bare = line.strip_suffix(b"\n").unwrap_or(line);
        let place = |m: regex::bytes::Match<'_>| (m.start(), m.end());
        let found =
            self.regex.find(line).map(place).filter(|(start, end)| end <= &bare.len() && start < &line.len());
        found.or_else(|| self.regex.find(bare.strip_suffix(b"\r").unwrap_or(bare)).map(place))
    }
}

/// A line that matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GrepMatch<'a> {
    /// Its number, from 1.
    pub line: u64,
    /// The place in the stream of the first byte that is shown.
    pub at: u64,
    /// The line without its LF; of a line of more than 4 KiB only what stands around the match.
    pub text: &'a [u8],
    /// Whether this is not the whole line.
    pub cut: bool,
}

type Each<'e> = &'e mut dyn FnMut(&GrepMatch<'_>) -> io::Result<ControlFlow<()>>;
type Step = io::Result<ControlFlow<()>>;

/// Shows each line that matches, until told to stop.
pub(super) fn search(from: &mut dyn BufRead, pattern: &Pattern, each: Each<'_>) -> Step {
    let mut search = Search { pattern, each, line: 1, at: 0, open: Vec::new(), giant: None };
    loop {
        let part = from.fill_buf()?;
        let length = part.len();
        if length == 0 {
            return search.end();
        }
        if search.part(part)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        from.consume(length);
    }
}

struct Search<'p, 'e> {
    pattern: &'p Pattern,
    each: Each<'e>,
    /// The number of the line that comes next, and the place where what is in `open` begins.
    line: u64,
    at: u64,
    /// The beginning of a line whose end has not come.
    open: Vec<u8>,
    /// Set within a line that is too long for one piece: whether it was shown.
    giant: Option<bool>,
}

impl Search<'_, '_> {
    fn part(&mut self, mut part: &[u8]) -> Step {
        if !self.open.is_empty() || self.giant.is_some() {
            let end = memchr(b'\n', part).map_or(part.len(), |at| at + 1);
            let (rest, after) = part.split_at(end);
            part = after;
            self.open.extend_from_slice(rest);
            if rest.last() == Some(&b'\n') {
                if self.line_ended()?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            } else if self.open.len() >= PIECE {
                return self.piece();
            }
        }
        let end = memrchr(b'\n', part).map_or(0, |at| at + 1);
        let (lines, open) = part.split_at(end);
        if self.lines(lines)?.is_break() {
            return Ok(ControlFlow::Break(()));
        }
        self.open.extend_from_slice(open);
        Ok(ControlFlow::Continue(()))
    }

    fn end(&mut self) -> Step {
        if self.open.is_empty() { Ok(ControlFlow::Continue(())) } else { self.line_ended() }
    }

    fn line_ended(&mut self) -> Step {
        if self.giant.is_some() {
            return self.last_piece();
        }
        let open = std::mem::take(&mut self.open);
        let done = self.lines(&open);
        self.open = open;
        self.open.clear();
        done
    }

    /// Whole lines, each with its LF but for the very last.
    fn lines(&mut self, lines: &[u8]) -> Step {
        let (mut from, mut counted) = (0, 0);
        while let Some((start, end, found)) = self.next(lines, from) {
            let Some(line) = lines.get(start..end) else { break };
            self.line += count(lines, counted, start);
            counted = start;
            if let Some(found) = found {
                let text = Text { line, at: self.at + start as u64, partial: false };
                if self.show(text, found)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            from = end + 1;
        }
        self.line += count(lines, counted, lines.len());
        self.at += lines.len() as u64;
        Ok(ControlFlow::Continue(()))
    }

    /// The next line that may match: where it begins and ends, and where in it the match is if it does.
    #[allow(clippy::type_complexity)]
    fn next(&self, lines: &[u8], from: usize) -> Option<(usize, usize, Option<(usize, usize)>)> {
        if from >= lines.len() {
            return None;
        }
        let block = match self.pattern.alone {
            true => None,
            false => Some(self.pattern.regex.find_at(lines, from)?),
        };
        let at = block.map_or(from, |m| m.start());
        if at >= lines.len() {
            return None;
        }
        let start = memrchr(b'\n', lines.get(from..at)?).map_or(from, |lf| from + lf + 1);
        let end = memchr(b'\n', lines.get(at..)?).map_or(lines.len(), |lf| at + lf);
        let within = block.filter(|m| m.end() <= end).map(|m| (m.start() - start, m.end() - start));
        let found = within.or_else(|| self.pattern.in_line(lines.get(start..lines.len().min(end + 1))?));
        Some((start, end, found))
    }

    /// What is open is long, and its line goes on.
    fn piece(&mut self) -> Step {
        let shown = self.giant.unwrap_or(false);
        let step = if shown { ControlFlow::Continue(()) } else { self.look(false)? };
        let keep = self.open.len().saturating_sub(OVERLAP);
        self.at += keep as u64;
        self.open.drain(..keep);
        self.giant.get_or_insert(false);
        Ok(step)
    }

    fn last_piece(&mut self) -> Step {
        let ended = self.open.pop_if(|last| *last == b'\n').is_some();
        let step = if self.giant == Some(true) { ControlFlow::Continue(()) } else { self.look(true)? };
        self.at += self.open.len() as u64 + u64::from(ended);
        self.line += u64::from(ended);
        self.open.clear();
        self.giant = None;
        Ok(step)
    }

    /// Looks for a match in a piece of a giant line.
    fn look(&mut self, last: bool) -> Step {
        // The byte before stands for the line's beginning, which is elsewhere.
        let from = usize::from(self.giant.is_some()).min(self.open.len());
        let found = self.pattern.regex.find_at(&self.open, from).map(|m| (m.start(), m.end()));
        // What reaches the end of a piece may be longer than it seems, and stands whole in the next.
        let whole = |(start, end): &(usize, usize)| last || *end < self.open.len() || end - start >= OVERLAP;
        let Some(found) = found.filter(whole) else { return Ok(ControlFlow::Continue(())) };
        let open = std::mem::take(&mut self.open);
        let step = self.show(Text { line: &open, at: self.at, partial: true }, found);
        self.open = open;
        self.giant = Some(true);
        step
    }

    fn show(&mut self, text: Text<'_>, (start, end): (usize, usize)) -> Step {
        let fits = text.line.len() <= SHOWN;
        let room = SHOWN.saturating_sub(end - start) / 2;
        let from = if fits { 0 } else { start.saturating_sub(room).min(text.line.len() - SHOWN) };
        let shown = text.line.get(from..text.line.len().min(from + SHOWN)).unwrap_or_default();
        let cut = text.partial || !fits;
        (self.each)(&GrepMatch { line: self.line, at: text.at + from as u64, text: shown, cut })
    }
}

/// A line, or a piece of one.
struct Text<'t> {
    line: &'t [u8],
    at: u64,
    partial: bool,
}

fn count(lines: &[u8], from: usize, to: usize) -> u64 {
    memchr_iter(b'\n', lines.get(from..to).unwrap_or_default()).count() as u64
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// Line, place of its first shown byte, text.
    type Found = Vec<(u64, u64, String)>;

    fn found(text: &[u8], pattern: &str, capacity: usize) -> Found {
        let mut all = Vec::new();
        let mut each = |m: &GrepMatch<'_>| {
            all.push((m.line, m.at, String::from_utf8_lossy(m.text).into_owned()));
            Ok(ControlFlow::Continue(()))
        };
        let mut from = BufReader::with_capacity(capacity, text);
        assert!(search(&mut from, &Pattern::new(pattern).unwrap(), &mut each).unwrap().is_continue());
        all
    }

    fn line_by_line(text: &str, pattern: &str) -> Found {
        let pattern = Pattern::new(pattern).unwrap();
        let (mut at, mut all) = (0, Vec::new());
        for (line, whole) in (1..).zip(text.split_inclusive('\n')) {
            let shown = whole.strip_suffix('\n').unwrap_or(whole);
            if pattern.in_line(whole.as_bytes()).is_some() {
                all.push((line, at, shown.to_owned()));
            }
            at += whole.len() as u64;
        }
        all
    }

    #[test]
    fn it_finds_what_a_look_at_each_line_finds() {
        let texts =
            ["", "\n", "a", "a\nb\n", "\n\na\n\n", "ab\nba\nabab", "a \n b\r\nc\r\n\r\n", "x\naa\n aa\n"];
        let patterns = [
            "a", "^a", "a$", "^$", "b\\s", "[^x]", "a\\s*b", "\\Aa", "a\\z", "(?-m)^a", "(?i)A", "x*", "\\bb",
        ];
        for (text, pattern) in texts.iter().flat_map(|t| patterns.map(|p| (t, p))) {
            for capacity in [1, 2, 3, 64] {
                let found = found(text.as_bytes(), pattern, capacity);
                assert_eq!(found, line_by_line(text, pattern), "{pattern:?} in {text:?} by {capacity}");
            }
        }
    }

    #[test]
    fn a_giant_line_is_found_once_wherever_the_match_stands_in_it() {
        for at in [0, 5, PIECE - 3, PIECE, PIECE + 1, 2 * PIECE - 4, 3 * PIECE + 77, 3 * PIECE + 99_995] {
            let mut text = b"first\n".to_vec();
            text.extend(std::iter::repeat_n(b'-', 3 * PIECE + 100_000));
            text[6 + at..6 + at + 5].copy_from_slice(b"wanted".get(..5).unwrap());
            text.extend(b"\nlast wante\n");
            for capacity in [8 * 1024, 300_000, 5 * PIECE] {
                let found = found(&text, "wante", capacity);
                let lines: Vec<u64> = found.iter().map(|(line, ..)| *line).collect();
                assert_eq!(lines, [2, 3], "at {at} by {capacity}");
                let (_, from, shown) = &found[0];
                assert!(shown.len() <= SHOWN && shown.contains("wante"), "at {at} by {capacity}");
                let from = usize::try_from(*from).unwrap();
                assert_eq!(shown.as_bytes(), &text[from..from + shown.len()], "at {at} by {capacity}");
            }
            // The middle of a line is neither its beginning nor its end.
            assert_eq!(found(&text, "^wante", 300_000).len(), usize::from(at == 0), "at {at}");
            let ends = usize::from(at == 3 * PIECE + 99_995);
            assert_eq!(found(&text, "-wante$", 300_000).len(), ends, "at {at}");
        }
    }

    #[test]
    fn it_stops_when_told_to() {
        let mut seen = 0;
        let mut each = |_: &GrepMatch<'_>| {
            seen += 1;
            Ok(ControlFlow::Break(()))
        };
        let step = search(&mut &b"a\na\na\n"[..], &Pattern::new("a").unwrap(), &mut each).unwrap();
        assert!(step.is_break() && seen == 1);
    }
}
