//! JSON as programs really write it: where a value ends, and how one that readers refuse is mended.
//!
//! A value may hold what JSON does not allow and what is clear all the same: control characters as they are in strings and
//! between tokens, escapes that do not exist, the words `NaN` and `Infinity`, numbers that no computer holds, and more levels
//! than readers take. Nothing here calls itself, so a value may be as deep as it likes.

use std::ops::Range;

/// Levels of arrays and objects that are kept as such. One that stands inside of so many others is kept as a string of its
/// text.
pub(crate) const LEVELS: usize = 127;

/// Words that stand for values; the last three are none of JSON's, but of programs that write it.
const WORDS: &[&str] = &["true", "false", "null", "NaN", "Infinity", "-Infinity"];

/// How what starts at a place ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// It is a value of so many bytes.
    Whole(usize),
    /// The bytes end before it does.
    CutOff,
    /// It is no value, whatever may follow.
    Broken,
}

/// How the value at the start of `bytes` ends.
pub(crate) fn end(bytes: &[u8]) -> End {
    let mut tokens = Tokens::new(bytes);
    loop {
        match tokens.next() {
            Ok(_) if tokens.is_done() => return End::Whole(tokens.at),
            Ok(_) => {}
            Err(Stop::CutOff) => return End::CutOff,
            Err(Stop::Broken) => return End::Broken,
        }
    }
}

/// A whole value in JSON that every reader takes, and how many places were changed for that.
pub(crate) fn mend(text: &str) -> (String, u64) {
    let mut mended = Mended { text, out: String::with_capacity(text.len()), copied: 0, changes: 0 };
    let mut tokens = Tokens::new(text.as_bytes());
    while let Ok(token) = tokens.next() {
        mended.between(token.bytes.start);
        match token.kind {
            Kind::Open if tokens.open.len() > LEVELS => {
                let start = token.bytes.start;
                while tokens.open.len() > LEVELS && tokens.next().is_ok() {}
                mended.quote(start..tokens.at);
            }
            Kind::Text => mended.string(token.bytes),
            Kind::Word => mended.word(token.bytes),
            Kind::Open | Kind::Close | Kind::Sign => mended.copy(token.bytes.end),
        }
        if tokens.is_done() {
            break;
        }
    }
    (mended.out, mended.changes)
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Open,
    Close,
    /// A colon or a comma.
    Sign,
    /// A string, with its quotation marks.
    Text,
    /// A number, or another word.
    Word,
}

#[derive(Debug)]
struct Token {
    kind: Kind,
    bytes: Range<usize>,
}

/// Why there is no next token.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stop {
    CutOff,
    Broken,
}

/// What may come next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Value,
    /// A value, or the end of an array that was just opened.
    First,
    /// A key, or the end of an object that was just opened.
    FirstKey,
    Key,
    Colon,
    /// A comma, or the end of what is open.
    Next,
}

/// The tokens of one value.
#[derive(Debug)]
struct Tokens<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The brackets that are open.
    open: Vec<u8>,
    want: Want,
}

impl<'a> Tokens<'a> {
    fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, open: Vec::new(), want: Want::Value }
    }

    /// Whether the value is complete.
    fn is_done(&self) -> bool {
        self.open.is_empty() && self.want == Want::Next
    }

    fn next(&mut self) -> Result<Token, Stop> {
        self.at += blanks(self.rest());
        let start = self.at;
        let byte = *self.rest().first().ok_or(Stop::CutOff)?;
        let kind = self.kind(byte)?;
        match kind {
            Kind::Text => self.at = string_end(self.bytes, start).ok_or(Stop::CutOff)?,
            Kind::Word => self.at += self.word()?,
            Kind::Open | Kind::Close | Kind::Sign => self.at += 1,
        }
        self.step(kind, byte);
        Ok(Token { kind, bytes: start..self.at })
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// What a token is that starts with this byte, if one may come here.
    fn kind(&self, byte: u8) -> Result<Kind, Stop> {
        let value = matches!(self.want, Want::Value | Want::First);
        match (byte, self.want) {
            (b'{' | b'[', _) if value => Ok(Kind::Open),
            (b'"', Want::Key | Want::FirstKey) => Ok(Kind::Text),
            (b'"', _) if value => Ok(Kind::Text),
            (b']', Want::First) | (b'}', Want::FirstKey) => Ok(Kind::Close),
            (b']', Want::Next) if self.open.last() == Some(&b'[') => Ok(Kind::Close),
            (b'}', Want::Next) if self.open.last() == Some(&b'{') => Ok(Kind::Close),
            (b',', Want::Next) | (b':', Want::Colon) => Ok(Kind::Sign),
            (b'-' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z', _) if value => Ok(Kind::Word),
            // The start of a byte order mark may be all there is so far.
            (0xEF, _) if matches!(self.rest(), [0xEF] | [0xEF, 0xBB]) => Err(Stop::CutOff),
            _ => Err(Stop::Broken),
        }
    }

    fn step(&mut self, kind: Kind, byte: u8) {
        self.want = match kind {
            Kind::Open => {
                self.open.push(byte);
                if byte == b'{' { Want::FirstKey } else { Want::First }
            }
            Kind::Close => {
                self.open.pop();
                Want::Next
            }
            Kind::Sign if byte == b',' && self.open.last() == Some(&b'{') => Want::Key,
            Kind::Sign => Want::Value,
            Kind::Text if matches!(self.want, Want::Key | Want::FirstKey) => Want::Colon,
            Kind::Text | Kind::Word => Want::Next,
        };
    }

    /// The length of the word that stands here. One at the very end of the bytes may go on, but for one that stands alone.
    fn word(&self) -> Result<usize, Stop> {
        let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'-' | b'.');
        let length = self.rest().iter().take_while(|byte| is_part(byte)).count();
        let word = self.rest().get(..length).unwrap_or_default();
        let open_end = self.at + length == self.bytes.len();
        match (is_word(word) || number(word) == Some(true), open_end) {
            (true, false) => Ok(length),
            (true, true) if self.open.is_empty() => Ok(length),
            (_, true) if may_become_word(word) || number(word).is_some() => Err(Stop::CutOff),
            _ => Err(Stop::Broken),
        }
    }
}

fn is_word(word: &[u8]) -> bool {
    WORDS.iter().any(|known| known.as_bytes() == word)
}

fn may_become_word(start: &[u8]) -> bool {
    WORDS.iter().any(|known| known.as_bytes().starts_with(start))
}

/// Whether these letters are a number; `None` where they are not even the start of one.
fn number(letters: &[u8]) -> Option<bool> {
    let mut rest = letters.strip_prefix(b"-").unwrap_or(letters);
    let mut digits = || {
        let count = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let found = rest.get(..count).unwrap_or_default();
        rest = rest.get(count..).unwrap_or_default();
        let next = rest.first().copied();
        rest = rest.get(1..).unwrap_or_default();
        (found, next)
    };
    let (whole, mut next) = digits();
    if whole.is_empty() {
        return next.is_none().then_some(false);
    }
    if whole.len() > 1 && whole.starts_with(b"0") {
        return None;
    }
    if next == Some(b'.') {
        let (fraction, behind) = digits();
        next = behind;
        if fraction.is_empty() {
            return next.is_none().then_some(false);
        }
    }
    if !matches!(next, Some(b'e' | b'E')) {
        return next.is_none().then_some(true);
    }
    let (mut exponent, mut behind) = digits();
    if exponent.is_empty() && matches!(behind, Some(b'+' | b'-')) {
        (exponent, behind) = digits();
    }
    behind.is_none().then_some(!exponent.is_empty())
}

/// The length of what stands between tokens, and between values: blanks, control characters and byte order marks.
pub(crate) fn blanks(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += match bytes.get(at..).unwrap_or_default() {
            [0..=b' ', ..] => 1,
            [0xEF, 0xBB, 0xBF, ..] => 3,
            _ => return at,
        };
    }
}

/// The byte behind the string that starts here with its quotation mark.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        at += bytes.get(at..)?.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
        if bytes.get(at) == Some(&b'"') {
            return Some(at + 1);
        }
        at += 2;
    }
}

/// What is written of a value that is mended.
struct Mended<'a> {
    text: &'a str,
    out: String,
    /// How much of the text is written.
    copied: usize,
    changes: u64,
}

impl Mended<'_> {
    fn of(&self, bytes: Range<usize>) -> &str {
        self.text.get(bytes).unwrap_or_default()
    }

    /// Copies up to a place.
    fn copy(&mut self, to: usize) {
        self.out.push_str(self.text.get(self.copied..to).unwrap_or_default());
        self.copied = to;
    }

    /// What stands between tokens; nothing but blanks is kept of it.
    fn between(&mut self, to: usize) {
        let blanks = self.text.get(self.copied..to).unwrap_or_default();
        let plain = |c: char| matches!(c, ' ' | '\t' | '\r' | '\n');
        self.changes += blanks.chars().filter(|c| !plain(*c)).count() as u64;
        self.copied = to;
    }

    /// Writes a part of the text as a string.
    fn quote(&mut self, bytes: Range<usize>) {
        let end = bytes.end;
        let quoted = serde_json::Value::from(self.of(bytes)).to_string();
        self.replace(&quoted, end);
    }

    fn replace(&mut self, with: &str, to: usize) {
        self.out.push_str(with);
        self.copied = to;
        self.changes += 1;
    }

    /// A number that cannot be held, and a word that is none of JSON's, is kept as a string.
    fn word(&mut self, bytes: Range<usize>) {
        let word = self.of(bytes.clone());
        let json = matches!(word, "true" | "false" | "null") || word.parse().is_ok_and(f64::is_finite);
        if json { self.copy(bytes.end) } else { self.quote(bytes) }
    }

    /// A string, with its control characters escaped and the backslashes of escapes that do not exist doubled.
    fn string(&mut self, bytes: Range<usize>) {
        let end = bytes.end;
        let is_odd = |byte: u8| byte == b'\\' || byte < b' ';
        while let Some(at) =
            self.text.as_bytes().get(self.copied..end).and_then(|b| b.iter().position(|b| is_odd(*b)))
        {
            self.copy(self.copied + at);
            let rest = self.of(self.copied..end);
            match rest.as_bytes().first() {
                Some(b'\\') => match escape_length(rest) {
                    Some(length) => self.copy(self.copied + length),
                    None => self.replace("\\\\", self.copied + 1),
                },
                control => {
                    let escaped = format!("\\u{:04x}", control.copied().unwrap_or_default());
                    self.replace(&escaped, self.copied + 1);
                }
            }
        }
        self.copy(end);
    }
}

/// The length of the escape that a text starts with, if there is such an escape.
fn escape_length(text: &str) -> Option<usize> {
    match text.as_bytes().get(1)? {
        b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => Some(2),
        b'u' => text.get(2..6).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit())).map(|_| 6),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_end_of_a_value_is_found() {
        let cases: [(&str, End); 24] = [
            ("{}", End::Whole(2)),
            (" [1, {\"a\": null}] x", End::Whole(17)),
            ("\"a\\\"b\"c", End::Whole(6)),
            ("12", End::Whole(2)),
            ("-Infinity,", End::Whole(9)),
            ("{\"a\":\"\0\t\"}", End::Whole(10)),
            ("{\0\"a\":\u{FEFF}1}", End::Whole(11)),
            ("{\"a\":\"\\x\"}", End::Whole(10)),
            ("[1e999]", End::Whole(7)),
            ("[-0.5e+7]", End::Whole(9)),
            ("", End::CutOff),
            ("{\"a\"", End::CutOff),
            ("{\"a\":tr", End::CutOff),
            ("{\"a\":-", End::CutOff),
            ("[1.", End::CutOff),
            ("[1e", End::CutOff),
            ("[\"a\\", End::CutOff),
            ("{a}", End::Broken),
            ("{\"a\":1,}", End::Broken),
            ("[1,]", End::Broken),
            ("[01]", End::Broken),
            ("[1}", End::Broken),
            ("{\"a\":1,{", End::Broken),
            ("[tru]", End::Broken),
        ];
        for (text, wanted) in cases {
            assert_eq!(end(text.as_bytes()), wanted, "{text:?}");
        }
    }

    #[test]
    fn a_value_is_mended_where_it_has_to_be() {
        let cases: [(&str, &str, u64); 8] = [
            ("{ \"a\" : [1, true] }", "{\"a\":[1,true]}", 0),
            ("{\"a\":\"\0\u{1b}b\"}", "{\"a\":\"\\u0000\\u001bb\"}", 2),
            ("{\0\"a\":\u{FEFF}1}", "{\"a\":1}", 2),
            ("[1e999,-1e999,1e9,NaN]", "[\"1e999\",\"-1e999\",1e9,\"NaN\"]", 3),
            ("[\"\\x41 \\u12 \\u00e9 \\n\"]", "[\"\\\\x41 \\\\u12 \\u00e9 \\n\"]", 2),
            ("[\"\\u한\"]", "[\"\\\\u한\"]", 1),
            ("\"a\"", "\"a\"", 0),
            ("{} {\"b\":1}", "{}", 0),
        ];
        for (text, wanted, changes) in cases {
            assert_eq!(mend(text), (wanted.to_owned(), changes), "{text:?}");
        }
    }

    #[test]
    fn what_is_too_deep_is_kept_as_its_text() {
        let deep = |levels: usize| format!("{}\"\\n한\"{}", "[".repeat(levels), "]".repeat(levels));
        assert_eq!(mend(&deep(LEVELS)), (deep(LEVELS), 0));
        let (mended, changes) = mend(&deep(100_000));
        assert_eq!(changes, 1);
        let mut value: Value = serde_json::from_str(&mended).unwrap();
        for _ in 0..LEVELS {
            value = value[0].take();
        }
        assert_eq!(value, Value::from(deep(100_000 - LEVELS)));
    }

    #[test]
    fn whatever_is_whole_can_be_read_once_it_is_mended() {
        let letters: Vec<char> = "{{[]}\"\"::,,\\u001eN.-\0at\u{FEFF} ".chars().collect();
        let (mut state, mut whole) = (1_u64, 0);
        for _ in 0..40_000 {
            let text: String = (0..12)
                .map(|_| {
                    state =
                        state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    letters[(state >> 33) as usize % letters.len()]
                })
                .collect();
            let start = blanks(text.as_bytes());
            let End::Whole(length) = end(&text.as_bytes()[start..]) else { continue };
            let (mended, _) = mend(&text[start..start + length]);
            assert!(serde_json::from_str::<Value>(&mended).is_ok(), "{text:?} became {mended:?}");
            whole += 1;
        }
        assert!(whole > 200, "{whole}");
    }
}
