//! Characters to the lines that a terminal would show.

use sayso_model::text::is_break;

use super::escape::{Effect, Escapes, Step};
use super::line::Columns;
use crate::limits::LINE_EDIT_BYTES;

/// Takes clean lines, in pieces.
pub trait LineSink {
    /// A piece of the current line, without line feeds.
    fn text(&mut self, piece: &str);
    /// The current line ends.
    fn end(&mut self);
    /// The current line starts anew: what came of it was overwritten.
    fn restart(&mut self);
}

/// What was taken out or rewritten, and what was seen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cleaned {
    /// Characters of text, without NULs and escape sequences.
    pub chars: u64,
    /// NULs, all taken out.
    pub nuls: u64,
    /// Controls that stayed, other than tabs and line breaks.
    pub controls: u64,
    /// Escape sequences, all taken out.
    pub escapes: u64,
    /// Times that a line was gone back in by a carriage return.
    pub overwrites: u64,
    /// Characters struck over another by a backspace.
    pub overstrikes: u64,
    /// Lines that ended in carriage return and line feed.
    pub crlf: u64,
}

enum Line {
    /// Only added to.
    Plain(String),
    Edited(Columns),
}

/// Cleans text piece by piece.
pub(crate) struct Cleaner<'a> {
    sink: &'a mut dyn LineSink,
    escapes: Escapes,
    line: Line,
    /// Whether more of the line is in the sink already.
    flushed: bool,
    /// A carriage return whose meaning the next character tells.
    returned: bool,
    cleaned: Cleaned,
}

impl<'a> Cleaner<'a> {
    pub(crate) fn new(sink: &'a mut dyn LineSink) -> Self {
        let line = Line::Plain(String::new());
        Self {
            sink,
            escapes: Escapes::new(),
            line,
            flushed: false,
            returned: false,
            cleaned: Cleaned::default(),
        }
    }

    pub(crate) fn feed(&mut self, text: &str) {
        let mut rest = text;
        while !rest.is_empty() {
            let run = self.run(rest);
            let (plain, special) = rest.split_at_checked(run).unwrap_or((rest, ""));
            self.push(plain);
            let mut chars = special.chars();
            if let Some(c) = chars.next() {
                self.char(c);
            }
            rest = chars.as_str();
        }
    }

    /// Ends the last line and says what was found.
    pub(crate) fn finish(mut self) -> Cleaned {
        let held = self.escapes.finish();
        self.literal(&held);
        if self.flushed || !matches!(&self.line, Line::Plain(text) if text.is_empty()) {
            self.end_line();
        }
        self.cleaned
    }

    /// The length of the plain run at the start, which needs no look at each character.
    fn run(&self, text: &str) -> usize {
        if !self.escapes.ground() || self.returned || matches!(self.line, Line::Edited(_)) {
            return 0;
        }
        let bytes = text.as_bytes();
        let special = |b: &u8| (*b < 0x20 && *b != b'\t') || matches!(*b, 0x7F | 0xC2);
        bytes.iter().position(special).unwrap_or(bytes.len())
    }

    fn push(&mut self, plain: &str) {
        let Line::Plain(line) = &mut self.line else { return };
        self.cleaned.chars += bytecount::num_chars(plain.as_bytes()) as u64;
        line.push_str(plain);
        if line.len() > LINE_EDIT_BYTES {
            self.sink.text(line);
            line.clear();
            self.flushed = true;
        }
    }

    fn char(&mut self, c: char) {
        match self.escapes.step(c) {
            Step::Text => self.shown(c),
            Step::Inside => {}
            Step::Ended => self.cleaned.escapes += 1,
            Step::Effect(effect) => {
                self.cleaned.escapes += 1;
                self.effect(effect);
            }
            Step::Broken(held) => {
                self.cleaned.escapes += 1;
                self.literal(&held);
                self.char(c);
            }
        }
    }

    fn literal(&mut self, text: &str) {
        text.chars().for_each(|c| self.shown(c));
    }

    fn shown(&mut self, c: char) {
        match c {
            '\n' => {
                self.cleaned.crlf += u64::from(self.returned);
                self.end_line();
            }
            '\r' => self.returned = true,
            '\0' => self.cleaned.nuls += 1,
            '\u{8}' => {
                self.settle();
                self.edit().backspace();
            }
            _ => self.add(c),
        }
    }

    fn add(&mut self, c: char) {
        self.settle();
        self.cleaned.chars += 1;
        self.cleaned.controls += u64::from(c.is_control() && c != '\t' && !is_break(c));
        match &mut self.line {
            Line::Plain(line) => line.push(c),
            Line::Edited(columns) => columns.put(c),
        }
        self.relieve();
    }

    /// An edited line that grew beyond its bound is one that is only added to from here on.
    fn relieve(&mut self) {
        let Line::Edited(columns) = &self.line else { return };
        if columns.long() {
            self.cleaned.overstrikes += columns.overstrikes;
            self.sink.text(&columns.text());
            (self.line, self.flushed) = (Line::Plain(String::new()), true);
        }
    }

    /// A carriage return that was not the end of its line goes back to the first column.
    fn settle(&mut self) {
        if std::mem::take(&mut self.returned) {
            self.cleaned.overwrites += 1;
            self.home();
        }
    }

    fn home(&mut self) {
        if std::mem::take(&mut self.flushed) {
            self.sink.restart();
            self.line = Line::Plain(String::new());
        }
        self.edit().home();
    }

    fn effect(&mut self, effect: Effect) {
        match effect {
            Effect::EraseRight if self.returned => {
                self.settle();
                self.edit().erase();
            }
            Effect::EraseRight => {
                if let Line::Edited(columns) = &mut self.line {
                    columns.erase_right();
                }
            }
            Effect::EraseLine => {
                self.settle();
                self.home();
                self.edit().erase();
            }
            Effect::Home => self.returned = true,
            Effect::Right(columns) => {
                self.settle();
                self.edit().right(columns);
                self.relieve();
            }
            Effect::Left(columns) => {
                self.settle();
                self.edit().left(columns);
            }
        }
    }

    fn edit(&mut self) -> &mut Columns {
        if let Line::Plain(text) = &self.line {
            self.line = Line::Edited(Columns::of(text));
        }
        match &mut self.line {
            Line::Edited(columns) => columns,
            Line::Plain(_) => unreachable!("the line was just made an edited one"),
        }
    }

    fn end_line(&mut self) {
        (self.returned, self.flushed) = (false, false);
        match std::mem::replace(&mut self.line, Line::Plain(String::new())) {
            Line::Plain(text) => self.sink.text(&text),
            Line::Edited(columns) => {
                self.cleaned.overstrikes += columns.overstrikes;
                self.sink.text(columns.text().trim_end_matches(' '));
            }
        }
        self.sink.end();
    }
}
