//! One JSON value after the other, out of a text that may be damaged.
//!
//! More is taken for JSON than JSON is: control characters in strings are what they are, outside of them they are spaces
//! like byte order marks. A backslash that escapes nothing is a backslash, half of a pair of surrogates is U+FFFD. `NaN`,
//! `Infinity` and numbers that are too large are strings, and so is what stands too deep.

use serde_json::{Map, Value};

/// How many lists and objects may stand around one that is still taken apart.
const AROUND: usize = 127;

/// Why there is no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The text ends before it does.
    CutOff,
    /// It is no JSON, whatever may follow.
    Broken,
}

/// Takes the next value off the front of a text. There is none where only spaces are left.
pub(super) fn next(text: &mut &str) -> Option<Result<Value, Stop>> {
    let mut reader = Reader { rest: text };
    reader.skip();
    if reader.rest.is_empty() {
        return None;
    }
    let found = reader.value(0);
    *text = reader.rest;
    Some(found)
}

struct Reader<'a> {
    rest: &'a str,
}

impl<'a> Reader<'a> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start_matches(|c: char| c <= ' ' || c == '\u{feff}');
    }

    /// The next character that is no space.
    fn peek(&mut self) -> Result<char, Stop> {
        self.skip();
        self.rest.chars().next().ok_or(Stop::CutOff)
    }

    fn bite(&mut self) -> Result<char, Stop> {
        let mut chars = self.rest.chars();
        let first = chars.next().ok_or(Stop::CutOff)?;
        self.rest = chars.as_str();
        Ok(first)
    }

    /// Takes this character, where it is the next one.
    fn eat(&mut self, wanted: char) -> Result<bool, Stop> {
        let found = self.peek()? == wanted;
        if found {
            self.bite()?;
        }
        Ok(found)
    }

    fn value(&mut self, around: usize) -> Result<Value, Stop> {
        match self.peek()? {
            '{' | '[' if around >= AROUND => self.whole().map(Value::from),
            '{' => self.object(around + 1),
            '[' => self.list(around + 1),
            '"' => self.string().map(Value::from),
            _ => self.word(),
        }
    }

    fn object(&mut self, around: usize) -> Result<Value, Stop> {
        let mut object = Map::new();
        self.bite()?;
        if self.eat('}')? {
            return Ok(object.into());
        }
        loop {
            if self.peek()? != '"' {
                return Err(Stop::Broken);
            }
            let key = self.string()?;
            if !self.eat(':')? {
                return Err(Stop::Broken);
            }
            object.insert(key, self.value(around)?);
            if self.ends('}')? {
                return Ok(object.into());
            }
        }
    }

    fn list(&mut self, around: usize) -> Result<Value, Stop> {
        let mut list = Vec::new();
        self.bite()?;
        if self.eat(']')? {
            return Ok(list.into());
        }
        loop {
            list.push(self.value(around)?);
            if self.ends(']')? {
                return Ok(list.into());
            }
        }
    }

    /// Whether what is open ends here; else a comma has to be.
    fn ends(&mut self, close: char) -> Result<bool, Stop> {
        match self.peek()? {
            c if c == close => self.bite().map(|_| true),
            ',' => self.bite().map(|_| false),
            _ => Err(Stop::Broken),
        }
    }

    /// The text of a list or object from one end to the other.
    fn whole(&mut self) -> Result<String, Stop> {
        let start = self.rest;
        let mut open = 0_usize;
        loop {
            match self.peek()? {
                '"' => _ = self.string()?,
                c => {
                    self.bite()?;
                    match c {
                        '{' | '[' => open += 1,
                        '}' | ']' => open -= 1,
                        _ => {}
                    }
                }
            }
            if open == 0 {
                return Ok(start[..start.len() - self.rest.len()].to_owned());
            }
        }
    }

    fn word(&mut self) -> Result<Value, Stop> {
        let is_part = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        let length = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(length);
        let at_end = rest.is_empty();
        self.rest = rest;
        let known = ["NaN", "Infinity", "-Infinity"];
        if known.contains(&word) {
            return Ok(word.into());
        }
        match serde_json::from_str(word) {
            Ok(value) => Ok(value),
            Err(_) if is_too_large(word) => Ok(word.into()),
            Err(error) if at_end && error.is_eof() => Err(Stop::CutOff),
            Err(_) if at_end && known.iter().any(|known| known.starts_with(word)) => Err(Stop::CutOff),
            Err(_) => Err(Stop::Broken),
        }
    }

    fn string(&mut self) -> Result<String, Stop> {
        let mut out = String::new();
        self.bite()?;
        loop {
            match self.bite()? {
                '"' => return Ok(out),
                '\\' => self.escape(&mut out)?,
                c => out.push(c),
            }
        }
    }

    /// What an escape stands for. Its backslash has been read.
    fn escape(&mut self, out: &mut String) -> Result<(), Stop> {
        let before = self.rest;
        match self.bite()? {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            c @ ('"' | '\\' | '/') => out.push(c),
            'u' if self.unit().is_some() => self.unicode(out),
            _ => {
                out.push('\\');
                self.rest = before;
            }
        }
        Ok(())
    }

    /// The character of a unicode escape. Its `\u` has been read, and four digits are there.
    fn unicode(&mut self, out: &mut String) {
        let high = self.unit().unwrap_or_default();
        self.rest = &self.rest[4..];
        let low = self.rest.strip_prefix("\\u").and_then(|rest| Reader { rest }.unit());
        let mut units = vec![high];
        if let Some(low) =
            low.filter(|low| (0xd800..0xdc00).contains(&high) && (0xdc00..0xe000).contains(low))
        {
            units.push(low);
            self.rest = &self.rest[6..];
        }
        out.push_str(&String::from_utf16_lossy(&units));
    }

    /// The number that the next four hexadecimal digits say.
    fn unit(&self) -> Option<u16> {
        let digits = self.rest.get(..4).filter(|four| four.bytes().all(|byte| byte.is_ascii_hexdigit()))?;
        u16::from_str_radix(digits, 16).ok()
    }
}

/// Whether this is a number as JSON writes them, but none that can be held.
fn is_too_large(word: &str) -> bool {
    let (mantissa, exponent) = word.split_once(['e', 'E']).unwrap_or((word, "0"));
    let small = format!("{mantissa}e0");
    let digits = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let plain = serde_json::from_str::<Value>(&small).is_ok() || mantissa.len() > 300;
    let exponent = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain && exponent && word.parse::<f64>().is_ok_and(f64::is_infinite)
}
