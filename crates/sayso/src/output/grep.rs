//! Lines that match a pattern, in bytes that stream past, at a memory that does not grow with them or with a giant line.

use std::io::{self, BufRead};
use std::ops::{ControlFlow, Range};

use memchr::{memchr, memchr_iter, memrchr};

use super::pattern::{Line, Pattern, Span};

/// Bytes of a line that are searched in one piece; a longer line is searched in pieces of at most twice that, which overlap.
const PIECE: usize = 1024 * 1024;
/// Bytes by which the pieces of a giant line overlap: a match that is longer may be missed there.
const OVERLAP: usize = 64 * 1024;
/// Bytes of a line that a match shows at most.
const SHOWN: usize = 4 * 1024;

/// A place between two lines, or within a giant one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LinePlace {
    /// The byte, from 0.
    pub byte: u64,
    /// The line that it stands in, from 1.
    pub line: u64,
}

impl LinePlace {
    /// Before everything.
    pub const START: Self = Self { byte: 0, line: 1 };
}

/// A line that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrepMatch<'a> {
    /// Its number, from 1.
    pub line: u64,
    /// The place in the stream of the first byte that is shown.
    pub at: u64,
    /// The line without its LF; of a line of more than 4 KiB only what stands around the match, of whole characters.
    pub text: &'a [u8],
    /// Where in `text` the match stands, as far as it is shown.
    pub found: Range<usize>,
    /// Whether the line has more before the text.
    pub more_before: bool,
    /// Whether the line has more behind the text.
    pub more_behind: bool,
    /// Where a search goes on that shows no line again.
    pub after: LinePlace,
}

impl GrepMatch<'_> {
    /// Whether this is not the whole line.
    #[must_use]
    pub const fn cut(&self) -> bool {
        self.more_before || self.more_behind
    }
}

type Each<'e> = &'e mut dyn FnMut(&GrepMatch<'_>) -> io::Result<ControlFlow<()>>;
type Step = io::Result<ControlFlow<()>>;

/// Shows each line that matches, until told to stop; what is read begins at a place between two lines.
pub(super) fn search(from: &mut dyn BufRead, place: LinePlace, pattern: &Pattern, each: Each<'_>) -> Step {
    let LinePlace { byte, line } = place;
    let mut search = Search { pattern, each, line, at: byte, open: Vec::new(), giant: None };
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
        while let Some(Line { start, end, found }) = self.pattern.next(lines, from) {
            if let (Some(found), Some(line)) = (found, lines.get(start..end)) {
                self.line += count(lines, counted, start);
                counted = start;
                let ended = u64::from(end < lines.len());
                let at = self.at + start as u64;
                let after = LinePlace { byte: self.at + end as u64 + ended, line: self.line + ended };
                if self.show(Text { line, at, begun: false, goes_on: false, after }, found)?.is_break() {
                    return Ok(ControlFlow::Break(()));
                }
            }
            from = end + 1;
        }
        self.line += count(lines, counted, lines.len());
        self.at += lines.len() as u64;
        Ok(ControlFlow::Continue(()))
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
        let found = self.pattern.find(&self.open, from);
        // What reaches the end of a piece may be longer than it seems, and stands whole in the next.
        let whole = |(start, end): &Span| last || *end < self.open.len() || end - start >= OVERLAP;
        let Some(found) = found.filter(whole) else { return Ok(ControlFlow::Continue(())) };
        let open = std::mem::take(&mut self.open);
        let after = LinePlace { byte: self.at + open.len() as u64, line: self.line };
        let (begun, goes_on) = (self.giant.is_some(), !last);
        let step = self.show(Text { line: &open, at: self.at, begun, goes_on, after }, found);
        self.open = open;
        self.giant = Some(true);
        step
    }

    fn show(&mut self, text: Text<'_>, (start, end): Span) -> Step {
        let fits = text.line.len() <= SHOWN;
        let room = SHOWN.saturating_sub(end - start) / 2;
        let from = if fits { 0 } else { start.saturating_sub(room).min(text.line.len() - SHOWN) };
        let to = text.line.len().min(from + SHOWN);
        let (from, to) = (next_character(text.line, from), character_before(text.line, to));
        let shown = text.line.get(from..to).unwrap_or_default();
        let found = start.saturating_sub(from).min(shown.len())..end.saturating_sub(from).min(shown.len());
        (self.each)(&GrepMatch {
            line: self.line,
            at: text.at + from as u64,
            text: shown,
            found,
            more_before: text.begun || from > 0,
            more_behind: text.goes_on || to < text.line.len(),
            after: text.after,
        })
    }
}

/// A line, or a piece of one.
struct Text<'t> {
    line: &'t [u8],
    at: u64,
    /// Whether the line begins before it.
    begun: bool,
    /// Whether the line goes on behind it.
    goes_on: bool,
    after: LinePlace,
}

/// Whether a place lies within a UTF-8 character.
fn within(bytes: &[u8], at: usize) -> bool {
    at > 0 && bytes.get(at).is_some_and(|byte| byte & 0xC0 == 0x80)
}

/// This place, or the end of the character that it lies in; a character has at most three bytes more.
fn next_character(bytes: &[u8], at: usize) -> usize {
    (at..=at + 3).find(|at| !within(bytes, *at)).unwrap_or(at)
}

/// This place, or the beginning of the character that it lies in.
fn character_before(bytes: &[u8], at: usize) -> usize {
    (at.saturating_sub(3)..=at).rev().find(|at| !within(bytes, *at)).unwrap_or(at)
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
        let pattern = Pattern::new(pattern).unwrap();
        assert!(search(&mut from, LinePlace::START, &pattern, &mut each).unwrap().is_continue());
        all
    }

    /// What another engine says of each line by itself.
    fn line_by_line(text: &str, pattern: &str) -> Found {
        let regex = regex::bytes::RegexBuilder::new(pattern).multi_line(true).crlf(true).build().unwrap();
        let (mut at, mut all) = (0, Vec::new());
        for (line, whole) in (1..).zip(text.split_inclusive('\n')) {
            let bare = whole.strip_suffix('\n').unwrap_or(whole);
            let within = regex.find(whole.as_bytes()).is_some_and(|m| m.end() <= bare.len());
            if within || regex.is_match(bare.strip_suffix('\r').unwrap_or(bare).as_bytes()) {
                all.push((line, at, bare.to_owned()));
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
    fn what_a_long_line_shows_is_whole_characters_and_tells_where_it_is_cut() {
        let long = 3_000;
        let lines = [(long, long), (0, long), (long, 0), (PIECE, long), (PIECE, PIECE), (1, PIECE)];
        for (before, behind) in lines {
            for (odd, pair) in
                ["", "a", "ab", "abc"].into_iter().flat_map(|odd| [(odd, "가나"), (odd, "🔥é")])
            {
                let text = format!("{odd}{}wanted{}\n", pair.repeat(before), pair.repeat(behind));
                let mut all = Vec::new();
                let mut each = |m: &GrepMatch<'_>| {
                    assert_eq!(&m.text[m.found.clone()], b"wanted");
                    assert!(m.text.len() <= SHOWN);
                    let shown = std::str::from_utf8(m.text).unwrap().to_owned();
                    all.push((shown, m.more_before, m.more_behind));
                    Ok(ControlFlow::Continue(()))
                };
                let mut from = BufReader::with_capacity(64 * 1024, text.as_bytes());
                let pattern = Pattern::new("wanted").unwrap();
                let _ = search(&mut from, LinePlace::START, &pattern, &mut each).unwrap();
                let [(_, more_before, more_behind)] = &all[..] else { panic!("{all:?}") };
                assert_eq!(
                    (*more_before, *more_behind),
                    (before > 1, behind > 1),
                    "{before} {behind} {odd:?}"
                );
            }
        }
    }

    #[test]
    fn it_stops_when_told_to() {
        let mut seen = 0;
        let mut each = |_: &GrepMatch<'_>| {
            seen += 1;
            Ok(ControlFlow::Break(()))
        };
        let pattern = Pattern::new("a").unwrap();
        let step = search(&mut &b"a\na\na\n"[..], LinePlace::START, &pattern, &mut each).unwrap();
        assert!(step.is_break() && seen == 1);
    }

    #[test]
    fn a_match_tells_where_it_stands_and_where_to_go_on() {
        let text = format!("first\n{}wanted{}\nwanted too", "-".repeat(70_000), "+".repeat(9_000));
        let mut all = Vec::new();
        let mut each = |m: &GrepMatch<'_>| {
            assert_eq!(&m.text[m.found.clone()], b"wanted");
            all.push((m.line, m.more_before && m.more_behind, m.after));
            Ok(ControlFlow::Continue(()))
        };
        let pattern = Pattern::new("wanted").unwrap();
        let _ = search(&mut text.as_bytes(), LinePlace::START, &pattern, &mut each).unwrap();
        let at = |byte, line| LinePlace { byte, line };
        assert_eq!(all, [(2, true, at(79_013, 3)), (3, false, at(text.len() as u64, 3))]);
    }
}
