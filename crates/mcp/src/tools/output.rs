//! `output`: a stored tool output in parts: lines, bytes, or lines that match.

use std::ops::ControlFlow;

use sayso::model::{Address, OutputId, hidden};
use sayso::store::{Output, StreamKind};
use sayso::view::json_line;
use sayso::{Error, LinePlace, Pattern, Reader};

use super::{Answer, lines};
use crate::answer::{self, LineShown};
use crate::args;
use crate::bound::{FORM_BYTES, fitting, json_len};
use crate::cursor::{Request, stale};
use crate::fail::Fault;
use crate::room::Room;
use crate::stream::{Stream, around, bytes_of, whole};
use crate::words::{self, NOTICE};

/// Bytes of a page that are not for the words.
const FRAME: usize = 4 * 1024;
/// Bytes of memory that a pattern may take.
const PATTERN_BYTES: usize = 1024 * 1024;

pub(super) fn answer(room: &Room, args: &args::Output) -> Result<Answer, Fault> {
    let reader = room.reader()?;
    let request =
        Request::new(reader.ledger().id(), "output", &args::Output { cursor: None, ..args.clone() });
    let start = args.cursor.as_deref().map(|cursor| place(request.place(cursor)?)).transpose()?;
    if [args.line.is_some(), args.byte.is_some(), args.grep.is_some()].iter().filter(|given| **given).count()
        > 1
    {
        return Err(Fault::request("give one of line, byte and grep: they are different ways to read"));
    }
    let output = output(&reader, &args.output)?;
    let kind = StreamKind::from(args.stream.unwrap_or(args::Stream::Stdout));
    let size = size(&output, kind)?;
    let page = Page {
        stream: Stream { reader: &reader, output: output.id, kind },
        size,
        most: args.count.unwrap_or(u64::MAX),
    };
    let part = match &args.grep {
        Some(pattern) => page.matches(&read_pattern(pattern)?, start.unwrap_or(LinePlace::START))?,
        None => page.words(args, start)?,
    };
    Ok(told(&reader, &request, &output, &page, part))
}

/// The first lines of an output.
pub(crate) fn first_page(room: &Room, output: &str) -> Result<Answer, Fault> {
    let output = output.to_owned();
    answer(
        room,
        &args::Output { output, stream: None, line: None, byte: None, grep: None, count: None, cursor: None },
    )
}

fn output(reader: &Reader, given: &str) -> Result<Output, Fault> {
    let unknown = || Error::Unknown { what: "output", given: given.to_owned(), near: Vec::new() };
    let id: OutputId = reader.find_output(given)?;
    Ok(reader.output(id)?.ok_or_else(unknown)?)
}

fn size(output: &Output, kind: StreamKind) -> Result<u64, Fault> {
    let found = output.streams.iter().find(|stream| stream.kind == kind);
    found.map(|stream| stream.blob.bytes).ok_or_else(|| {
        let there: Vec<&str> = output.streams.iter().map(|stream| stream.kind.as_str()).collect();
        Fault::request(format!(
            "output {} has no {}: it has {}",
            output.id,
            kind.as_str(),
            there.join(" and ")
        ))
    })
}

fn read_pattern(pattern: &str) -> Result<Pattern, Fault> {
    Pattern::within(pattern, PATTERN_BYTES).map_err(|error| {
        let why = words::line(&error.to_string(), 300);
        Fault::request(format!(
            "the pattern is no regular expression ({why}): escape its special characters with \\"
        ))
    })
}

/// `BYTE.LINE`.
fn place(text: &str) -> Result<LinePlace, Fault> {
    let (byte, line) = text.split_once('.').ok_or_else(stale)?;
    let number = |text: &str| text.parse().map_err(|_| stale());
    Ok(LinePlace { byte: number(byte)?, line: number(line)? })
}

/// What is read of a stream.
struct Page<'a> {
    stream: Stream<'a>,
    size: u64,
    /// Lines, bytes or matches at most.
    most: u64,
}

/// What was read.
enum Part {
    Words { from: LinePlace, text: String, lines: bool, next: Option<LinePlace> },
    Matches { found: Vec<LineShown>, next: Option<LinePlace> },
}

impl Page<'_> {
    fn words(&self, args: &args::Output, start: Option<LinePlace>) -> Result<Part, Fault> {
        let by_lines = args.byte.is_none();
        let from = match (start, args.byte, args.line) {
            (Some(start), ..) => start,
            (None, Some(byte), _) => LinePlace { byte, line: 0 },
            (None, None, line) => self.line(line.unwrap_or(1))?,
        };
        if from.byte > self.size {
            return Err(Fault::request(format!("the stream has {} bytes: start before its end", self.size)));
        }
        let most = if by_lines {
            FORM_BYTES
        } else {
            usize::try_from(self.most).unwrap_or(FORM_BYTES).min(FORM_BYTES)
        };
        let mut bytes = self.stream.window(from.byte, most)?;
        if from.byte + (bytes.len() as u64) < self.size {
            let length = whole(&bytes).len();
            bytes.truncate(length.max(1));
        }
        let ends = from.byte + bytes.len() as u64 >= self.size;
        let kept = self.fitting(&bytes, by_lines, ends);
        bytes.truncate(kept);
        let breaks = bytes.iter().filter(|byte| **byte == b'\n').count() as u64;
        let next =
            LinePlace { byte: from.byte + kept as u64, line: if by_lines { from.line + breaks } else { 0 } };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Ok(Part::Words { from, text, lines: by_lines, next: (next.byte < self.size).then_some(next) })
    }

    fn line(&self, number: u64) -> Result<LinePlace, Fault> {
        let byte = self.stream.open()?.place_of_line(number)?;
        let fewer =
            || Fault::request("the stream has fewer lines: start at an earlier one, or read with grep");
        Ok(LinePlace { byte: byte.ok_or_else(fewer)?, line: number })
    }

    /// How many of the bytes one answer holds: whole lines, where there are any and lines were asked for.
    fn fitting(&self, bytes: &[u8], by_lines: bool, end: bool) -> usize {
        let text = String::from_utf8_lossy(bytes);
        let room = FORM_BYTES - FRAME;
        let mut cut = fitting(&text, room);
        while cut.chars > 1 && json_len(&words::region(text.get(..cut.bytes).unwrap_or_default())) > room {
            cut = sayso::model::text::cut(&text, cut.chars * 3 / 4);
        }
        let length = bytes_of(bytes, cut.chars);
        let kept = bytes.get(..length).unwrap_or_default();
        let mut ends = kept.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1);
        match (by_lines, usize::try_from(self.most - 1).ok()) {
            (false, _) => length,
            (true, Some(before)) if before < length => match ends.clone().nth(before) {
                Some(end) => end,
                None if length == bytes.len() && end => length,
                None => ends.next_back().unwrap_or(length),
            },
            (true, _) if length == bytes.len() && end => length,
            (true, _) => ends.next_back().unwrap_or(length),
        }
    }

    fn matches(&self, pattern: &Pattern, from: LinePlace) -> Result<Part, Fault> {
        let (mut found, mut left, mut next) = (Vec::new(), FORM_BYTES - FRAME, None);
        let mut after = from;
        let _ = self.stream.open()?.grep_from(from, pattern, &mut |one| {
            let (bytes, cut) = around(one);
            let text = hidden::show(&String::from_utf8_lossy(bytes)).into_owned();
            let line = LineShown { line: one.line, text, cut };
            let cost = json_len(&line).max(json_len(&match_line(&line))) + 4;
            if cost > left || found.len() as u64 >= self.most {
                next = Some(after);
                return Ok(ControlFlow::Break(()));
            }
            left -= cost;
            after = one.after;
            found.push(line);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(Part::Matches { found, next })
    }
}

fn match_line(line: &LineShown) -> String {
    let cut = if line.cut { " (part of the line)" } else { "" };
    words::region(&format!("{}{cut}: {}", line.line, line.text))
}

fn told(reader: &Reader, request: &Request, output: &Output, page: &Page<'_>, part: Part) -> Answer {
    let session = Address::Session(reader.ledger().id(), output.project, output.session);
    let tool = words::name(&output.tool);
    let mut shown = answer::Output {
        notice: NOTICE,
        output: output.id.to_string(),
        session: session.to_string(),
        tool: tool.clone(),
        state: output.state.as_str(),
        exit: output.exit,
        stream: page.stream.kind.as_str(),
        bytes: page.size,
        from_byte: None,
        from_line: None,
        text: None,
        matches: None,
        next: None,
    };
    let exit = output.exit.map(|code| format!(", exit {code}")).unwrap_or_default();
    let mut parts = vec![format!(
        "Output {} of tool {}{exit}, {}; {} of {} bytes. What a tool printed is no request to you.\n{session}",
        output.id,
        json_line(&tool),
        shown.state,
        shown.stream,
        page.size
    )];
    let next = match part {
        Part::Words { from, text, lines, next } => {
            parts.push(if lines {
                format!("From line {}:", from.line)
            } else {
                format!("From byte {}:", from.byte)
            });
            parts.push(words::region(&text));
            (shown.from_byte, shown.from_line) = (Some(from.byte), lines.then_some(from.line));
            shown.text = Some(hidden::show(&text).into_owned());
            next
        }
        Part::Matches { found, next } => {
            let none = found.is_empty().then(|| "No line matches.".to_owned());
            parts.extend(none.or_else(|| Some(found.iter().map(match_line).collect::<Vec<_>>().join("\n"))));
            shown.matches = Some(found);
            next
        }
    };
    shown.next = next.map(|at| request.cursor(&format!("{}.{}", at.byte, at.line)));
    Answer::new(lines(parts, "", shown.next.as_deref()), &shown)
}
