//! Escape sequences of terminals (ECMA-48), followed one character at a time.

use crate::limits::ESCAPE_BYTES;

/// What a character means for what a terminal shows.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// It is text.
    Text,
    /// It belongs to a sequence that goes on.
    Inside,
    /// It ended a sequence that shows nothing.
    Ended,
    /// It ended a sequence with this effect on the line.
    Effect(Effect),
    /// What looked like a sequence is text: these characters, before the current one, which is looked at anew.
    Broken(String),
}

/// What a sequence does to the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Effect {
    /// Erases from the cursor to the end of the line.
    EraseRight,
    /// Erases the whole line.
    EraseLine,
    /// Goes to the first column.
    Home,
    /// Goes right by so many columns.
    Right(usize),
    /// Goes left by so many columns.
    Left(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Ground,
    Escape,
    /// ESC and intermediates: one final character follows.
    Intermediate,
    /// ESC [ or its one-character form.
    Control,
    /// A string until BEL or ST.
    Text,
    /// A string in which ESC was seen.
    TextEscape,
}

/// Follows sequences.
#[derive(Debug)]
pub(super) struct Escapes {
    state: State,
    held: String,
}

impl Escapes {
    pub(super) fn new() -> Self {
        Self { state: State::Ground, held: String::new() }
    }

    /// Whether the next character is not inside of a sequence.
    pub(super) fn ground(&self) -> bool {
        self.state == State::Ground
    }

    /// What is held of a sequence that never ended.
    pub(super) fn finish(&mut self) -> String {
        self.state = State::Ground;
        std::mem::take(&mut self.held)
    }

    pub(super) fn step(&mut self, c: char) -> Step {
        match self.state {
            State::Ground => self.ground_step(c),
            State::Escape => self.escape(c),
            State::Intermediate => match c {
                ' '..='/' => Step::Inside,
                '0'..='~' => self.end(),
                _ => self.broken(),
            },
            State::Control => self.control(c),
            State::Text => self.string(c),
            State::TextEscape if c == '\\' => self.end(),
            State::TextEscape => {
                self.held.push('\u{1B}');
                self.state = State::Text;
                self.string(c)
            }
        }
    }

    fn ground_step(&mut self, c: char) -> Step {
        self.state = match c {
            '\u{1B}' => State::Escape,
            '\u{9B}' => State::Control,
            '\u{90}' | '\u{98}' | '\u{9D}' | '\u{9E}' | '\u{9F}' => State::Text,
            _ => return Step::Text,
        };
        Step::Inside
    }

    fn escape(&mut self, c: char) -> Step {
        self.state = match c {
            '[' => State::Control,
            ']' | 'P' | 'X' | '^' | '_' => State::Text,
            ' '..='/' => State::Intermediate,
            '\u{1B}' => State::Escape,
            '0'..='~' => return self.end(),
            _ => return self.broken(),
        };
        if matches!(self.state, State::Text) {
            self.held.push(c);
        }
        Step::Inside
    }

    fn control(&mut self, c: char) -> Step {
        match c {
            ' '..='?' if self.held.len() < 64 => {
                self.held.push(c);
                Step::Inside
            }
            '@'..='~' => {
                let effect = effect(&self.held, c);
                self.end();
                effect.map_or(Step::Ended, Step::Effect)
            }
            _ => self.broken(),
        }
    }

    fn string(&mut self, c: char) -> Step {
        match c {
            '\u{7}' | '\u{9C}' => self.end(),
            '\u{1B}' => {
                self.state = State::TextEscape;
                Step::Inside
            }
            '\n' => self.broken(),
            _ if self.held.len() >= ESCAPE_BYTES => self.broken(),
            _ => {
                self.held.push(c);
                Step::Inside
            }
        }
    }

    fn end(&mut self) -> Step {
        self.state = State::Ground;
        self.held.clear();
        Step::Ended
    }

    fn broken(&mut self) -> Step {
        Step::Broken(self.finish())
    }
}

fn effect(parameters: &str, last: char) -> Option<Effect> {
    let number = parameters.parse::<usize>().unwrap_or(0);
    let columns = number.clamp(1, 500);
    match last {
        'K' if number == 0 => Some(Effect::EraseRight),
        'K' if number == 2 => Some(Effect::EraseLine),
        'G' if number <= 1 => Some(Effect::Home),
        'C' => Some(Effect::Right(columns)),
        'D' => Some(Effect::Left(columns)),
        _ => None,
    }
}
