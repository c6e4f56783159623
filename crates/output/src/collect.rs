//! Gathers the lines of a stream that may be shown, at constant memory.

use std::collections::VecDeque;
use std::io::{self, Read};

use crate::capture::Source;
use crate::limits::READ_BYTES;
use crate::salient::Finder;
use crate::text::{Charset, Cleaned, Cleaner, Decoder, LineSink, Plan, Survey};
use crate::view::{Line, Shape, Text};

/// How much is gathered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Want {
    pub(crate) lines: usize,
    pub(crate) bytes: usize,
    pub(crate) shape: Shape,
    /// Whether salient lines are looked for.
    pub(crate) salient: bool,
}

/// Gathers from a stream whose charset is known.
pub(crate) fn collect(
    source: &dyn Source,
    survey: &Survey,
    plan: Plan,
    want: Want,
) -> io::Result<(Text, Cleaned, u64)> {
    if survey.clean() && plan.charset == Charset::UTF_8 {
        return Ok((clean(source, survey, plan, want)?, Cleaned::default(), 0));
    }
    let mut collector = Collector::new(want);
    let mut decoder = Decoder::new(plan);
    let mut cleaner = Cleaner::new(&mut collector);
    let (mut reader, mut buffer, mut text) = (source.open(plan.skip)?, vec![0; READ_BYTES], String::new());
    loop {
        let read = reader.read(&mut buffer)?;
        text.clear();
        decoder.feed(buffer.get(..read).unwrap_or_default(), read == 0, &mut text);
        cleaner.feed(&text);
        if read == 0 {
            break;
        }
    }
    let cleaned = cleaner.finish();
    Ok((collector.finish(survey.bytes), cleaned, decoder.unexplained))
}

/// A stream that is its own clean text: only what is shown is looked at closely.
fn clean(source: &dyn Source, survey: &Survey, plan: Plan, want: Want) -> io::Result<Text> {
    let mut collector = Collector::new(want);
    let finder = collector.finder.take();
    let last = tail_start(source, plan.skip, want)?;
    let apart = want.shape == Shape::Head || last.is_some() && survey.lines() > want.lines as u64;
    let through = if apart { Through::UntilFull } else { Through::End };
    plain(source, plan.skip, &mut collector, through)?;
    if let (Shape::Ends, true, Some((start, lines))) = (want.shape, apart && collector.full(), last) {
        collector.skip_to(survey.lines() - lines + 1);
        plain(source, start, &mut collector, Through::End)?;
    }
    collector.finder = finder.map(|finder| salient(source, plan.skip, finder)).transpose()?;
    collector.number = survey.lines() + 1;
    Ok(collector.finish(survey.bytes))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Through {
    UntilFull,
    End,
}

/// Lines of valid UTF-8 into a collector.
fn plain(source: &dyn Source, from: u64, collector: &mut Collector, through: Through) -> io::Result<()> {
    let (mut reader, mut buffer, mut carried) = (source.open(from)?, vec![0; READ_BYTES], 0);
    while through == Through::End || !collector.full() {
        let read = reader.read(buffer.get_mut(carried..).unwrap_or_default())?;
        let bytes = buffer.get(..carried + read).unwrap_or_default();
        let whole = if read == 0 { bytes.len() } else { crate::text::whole_characters(bytes) };
        let text = String::from_utf8_lossy(bytes.get(..whole).unwrap_or_default());
        let mut lines = text.split('\n');
        collector.text(lines.next().unwrap_or_default());
        for line in lines {
            collector.end();
            collector.text(line);
        }
        if read == 0 {
            collector.end_last();
            break;
        }
        let end = carried + read;
        buffer.copy_within(whole..end, 0);
        carried = end - whole;
    }
    Ok(())
}

/// Where the last lines begin and how many they are; `None` where one line is longer than all that is gathered.
fn tail_start(source: &dyn Source, skip: u64, want: Want) -> io::Result<Option<(u64, u64)>> {
    let window = (want.bytes as u64 * 2).min(source.size().saturating_sub(skip));
    let from = source.size() - window;
    let mut bytes = Vec::new();
    source.open(from)?.take(window).read_to_end(&mut bytes)?;
    let body = bytes.strip_suffix(b"\n").unwrap_or(&bytes);
    let breaks: Vec<usize> = memchr::memrchr_iter(b'\n', body).take(want.lines).collect();
    Ok(breaks.last().map(|first| (from + *first as u64 + 1, breaks.len() as u64)))
}

/// Salient lines of the whole stream, a block of lines at a time.
fn salient(source: &dyn Source, skip: u64, mut finder: Finder) -> io::Result<Finder> {
    let (mut reader, mut buffer, mut carried, mut number) =
        (source.open(skip)?, vec![0; READ_BYTES * 2], 0, 1);
    loop {
        let read = reader.read(buffer.get_mut(carried..).unwrap_or_default())?;
        let end = carried + read;
        let bytes = buffer.get(..end).unwrap_or_default();
        let full = read == 0 || end == buffer.len();
        let whole = memchr::memrchr(b'\n', bytes).map_or(if full { end } else { 0 }, |at| at + 1);
        let whole = if read == 0 { end } else { whole };
        let block = bytes.get(..whole).unwrap_or_default();
        finder.look(block, number);
        number += bytecount::count(block, b'\n') as u64;
        if read == 0 {
            return Ok(finder);
        }
        buffer.copy_within(whole..end, 0);
        carried = end - whole;
    }
}

/// Keeps the first lines and, where asked, the last and the salient ones.
struct Collector {
    want: Want,
    finder: Option<Finder>,
    number: u64,
    current: Piece,
    head: Vec<Line>,
    head_bytes: usize,
    closed: bool,
    tail: VecDeque<Line>,
    tail_bytes: usize,
}

impl Collector {
    fn new(want: Want) -> Self {
        Self {
            want,
            finder: want.salient.then(Finder::default),
            number: 1,
            current: Piece::default(),
            head: Vec::new(),
            head_bytes: 0,
            closed: false,
            tail: VecDeque::new(),
            tail_bytes: 0,
        }
    }

    /// Whether no more first lines are taken.
    fn full(&self) -> bool {
        self.closed || self.head.len() >= self.want.lines || self.head_bytes >= self.want.bytes * 2
    }

    /// The first lines are done; the line of this number comes next.
    fn skip_to(&mut self, number: u64) {
        (self.closed, self.number, self.current) = (true, number, Piece::default());
        (self.tail, self.tail_bytes) = (VecDeque::new(), 0);
    }

    fn end_last(&mut self) {
        if self.current.bytes > 0 {
            self.end();
        }
    }

    fn add(&mut self, line: Line) {
        let last = self.head.last().map_or(0, |l| l.number);
        if !self.full() {
            self.head_bytes += line.size();
            self.head.push(line);
        } else if self.want.shape == Shape::Ends && line.number > last {
            self.closed = true;
            self.tail_bytes += line.size();
            self.tail.push_back(line);
            self.relieve();
        }
    }

    fn relieve(&mut self) {
        let many = |c: &Self| c.tail.len() > c.want.lines || c.tail_bytes > c.want.bytes * 2;
        while self.tail.len() > 1 && many(self) {
            self.tail_bytes -= self.tail.pop_front().map_or(0, |l| l.size());
        }
    }

    fn finish(self, bytes: u64) -> Text {
        let lines = self.head.into_iter().chain(self.tail).collect();
        let salient = self.finder.map(Finder::finish).unwrap_or_default();
        Text::new(self.want.shape, lines, salient, self.number - 1, bytes)
    }
}

impl LineSink for Collector {
    fn text(&mut self, piece: &str) {
        if let Some(finder) = self.finder.as_mut() {
            finder.look(piece.as_bytes(), self.number);
        }
        self.current.push(piece, self.want.bytes / 2 + 1);
    }

    fn end(&mut self) {
        let piece = std::mem::take(&mut self.current);
        self.add(piece.line(self.number));
        self.number += 1;
    }

    fn restart(&mut self) {
        self.current = Piece::default();
    }
}

/// One line: its beginning, its end, and how much there is.
#[derive(Default)]
struct Piece {
    head: String,
    tail: String,
    bytes: u64,
}

impl Piece {
    fn push(&mut self, text: &str, side: usize) {
        self.bytes += text.len() as u64;
        let room = if self.tail.is_empty() { side.saturating_sub(self.head.len()) } else { 0 };
        let at = text.floor_char_boundary(room);
        let (first, rest) = text.split_at_checked(at).unwrap_or((text, ""));
        self.head.push_str(first);
        self.tail.push_str(rest);
        if self.tail.len() > side * 2 {
            let from = self.tail.floor_char_boundary(self.tail.len() - side);
            self.tail.drain(..from);
        }
    }

    fn line(self, number: u64) -> Line {
        let missing = self.bytes - (self.head.len() + self.tail.len()) as u64;
        match missing {
            0 => Line::whole(number, &(self.head + &self.tail)),
            _ => Line::ends(number, &self.head, &self.tail, missing),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::text::plan;

    fn gathered(text: &str, shape: Shape, slow: bool) -> Text {
        let mut survey = Survey::of(&text).unwrap();
        survey.controls |= slow;
        let plan = plan(&text, &survey, None).unwrap();
        let want = Want { lines: 20, bytes: 9_000, shape, salient: shape == Shape::Ends };
        collect(&text, &survey, plan, want).unwrap().0
    }

    proptest! {
        #[test]
        fn both_ways_through_gather_the_same(
            pieces in proptest::collection::vec("[a-z가 ]{0,30}|error [0-9]|실패", 0..120), ended: bool, ends: bool,
        ) {
            let mut text = pieces.join("\n");
            if ended && !text.is_empty() { text.push('\n'); }
            let shape = if ends { Shape::Ends } else { Shape::Head };
            prop_assert_eq!(gathered(&text, shape, false), gathered(&text, shape, true));
        }
    }

    #[test]
    fn a_line_longer_than_everything_is_gathered_at_both_ends() {
        for text in [
            format!("first{}last", "x".repeat(400_000)),
            format!("a\nfirst{}last\nb\n", "한".repeat(200_000)),
        ] {
            for (shape, slow) in [(Shape::Head, false), (Shape::Ends, false), (Shape::Ends, true)] {
                let line = gathered(&text, shape, slow)
                    .shown()
                    .into_iter()
                    .find(|l| l.missing() > 0)
                    .unwrap()
                    .to_string();
                assert!(line.starts_with("first") && line.ends_with("last"), "{shape:?} {slow}");
            }
        }
    }
}
