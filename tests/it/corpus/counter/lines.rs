//! From the bytes of a file to JSON values.
//!
//! A line ends at a line feed and nowhere else. What is wrong inside a line is repaired before
//! it is parsed. Where a line stops being JSON, it is left out up to the next record that was
//! glued to it; a last line without its end may yet be finished, so nothing is looked for there.

use std::fmt::Write as _;
use std::str::Chars;

use serde_json::{Deserializer, Value};

/// What stands in for half of a pair of surrogates.
const REPLACEMENT: &str = "\\ufffd";

/// What the lines of a file hold.
pub(super) struct Lines {
    /// Every complete JSON value, in file order. Values glued on one line count separately.
    pub(super) records: Vec<Value>,
    /// How many lines stop being JSON.
    pub(super) broken: u64,
}

/// How a line ends.
#[derive(PartialEq, Eq)]
enum End {
    Whole,
    /// Something is missing.
    CutOff,
    /// It is no JSON, whatever may follow.
    Broken,
}

/// Reads the content of a file.
pub(super) fn read(bytes: &[u8]) -> Lines {
    let mut found = Lines { records: Vec::new(), broken: 0 };
    let mut lines = bytes.split(|byte| *byte == b'\n').peekable();
    while let Some(line) = lines.next() {
        let line = String::from_utf8_lossy(line);
        let end = values(&line, &mut found.records);
        let last = lines.peek().is_none();
        if end == End::Broken || (end == End::CutOff && !last) {
            found.broken += 1;
        }
        if end != End::Whole && !last {
            glued(&line, &mut found.records);
        }
    }
    found
}

/// Adds the values that a line begins with.
fn values(line: &str, records: &mut Vec<Value>) -> End {
    let line = repair(line);
    for value in Deserializer::from_str(&line).into_iter::<Value>() {
        match value {
            Ok(value) => records.push(value),
            Err(error) if error.is_eof() => return End::CutOff,
            Err(_) => return End::Broken,
        }
    }
    End::Whole
}

/// Adds the records behind the break in a line: from the first place on where an object begins
/// that is no part of the broken record, and behind which nothing but records comes.
fn glued(line: &str, records: &mut Vec<Value>) {
    let found = line.match_indices("{\"").find_map(|(at, _)| {
        let (before, rest) = line.split_at_checked(at)?;
        let mut found = Vec::new();
        (!wants_value(before) && values(rest, &mut found) == End::Whole).then_some(found)
    });
    records.extend(found.unwrap_or_default());
}

/// Whether a value may come behind the beginning of a record, so that an object that does is
/// part of it.
fn wants_value(record: &str) -> bool {
    let (mut open, mut last) = (Vec::new(), ' ');
    let (mut in_string, mut escaped) = (false, false);
    for c in record.chars() {
        if in_string {
            in_string = escaped || c != '"';
            escaped = !escaped && c == '\\';
            continue;
        }
        match c {
            '"' => in_string = true,
            '{' | '[' => open.push(c),
            '}' | ']' => drop(open.pop()),
            _ => {}
        }
        last = if c.is_whitespace() { last } else { c };
    }
    let in_list = open.last() == Some(&'[');
    !in_string && (last == ':' || (in_list && (last == '[' || last == ',')))
}

/// The same line with its known damage undone.
///
/// Outside of strings, control characters and byte order marks become spaces. Inside of them, a
/// raw control character is escaped, and an escape that is half of a pair becomes U+FFFD.
fn repair(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut in_string = false;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                in_string = !in_string;
                out.push(c);
            }
            '\\' if in_string => escape(&mut chars, &mut out),
            '\0'..' ' if in_string => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            '\0'..' ' | '\u{feff}' if !in_string => out.push(' '),
            _ => out.push(c),
        }
    }
    out
}

/// Copies an escape. Its backslash has been read.
fn escape(chars: &mut Chars<'_>, out: &mut String) {
    match chars.next() {
        Some('u') => unicode(chars, out),
        Some(c) => out.extend(['\\', c]),
        None => out.push('\\'),
    }
}

/// Copies a unicode escape, or what stands in for it. Its `\u` has been read.
///
/// A pair is copied whole, so that its second half is not taken for a lone one.
fn unicode(chars: &mut Chars<'_>, out: &mut String) {
    let rest = chars.as_str();
    let (digits, after) = rest.split_at_checked(4).unwrap_or((rest, ""));
    let length = match unit(digits) {
        Some(0xd800..=0xdbff) if starts_with_low(after) => "d83d\\ude00".len(),
        Some(0xd800..=0xdfff) => {
            out.push_str(REPLACEMENT);
            *chars = after.chars();
            return;
        }
        _ => 0,
    };
    let (copied, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
    out.push_str("\\u");
    out.push_str(copied);
    *chars = after.chars();
}

/// Whether the text begins with the escape of a low surrogate.
fn starts_with_low(text: &str) -> bool {
    let digits = text.strip_prefix("\\u").and_then(|rest| rest.get(..4));
    matches!(digits.and_then(unit), Some(0xdc00..=0xdfff))
}

/// The number that exactly four hexadecimal digits say.
fn unit(digits: &str) -> Option<u32> {
    let four = digits.len() == 4 && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    four.then(|| u32::from_str_radix(digits, 16).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn strings(bytes: &[u8]) -> Vec<String> {
        let text = |value: &Value| value.get("a").and_then(Value::as_str).map(str::to_owned);
        read(bytes).records.iter().filter_map(text).collect()
    }

    #[test]
    fn glued_values_count_separately() {
        assert_eq!(strings(b"{\"a\":\"1\"}{\"a\":\"2\"} {\"a\":\"3\"}\n"), ["1", "2", "3"]);
    }

    #[test]
    fn line_ends_marks_and_tails_do_no_harm() {
        let whole = [
            strings(b"\xef\xbb\xbf{\"a\":\"1\"}\r\n\r\n{\"a\":\"2\"}\r\n"),
            strings(b"{\"a\":\"1\"}\n{\"a\":\"2\"}\n\0\0\0\0"),
            strings(b"{\"a\":\"1\"}\n\0\0\0\0{\"a\":\"2\"}\n"),
            strings(b"{\"a\":\"1\"}\x0c\n{\"a\":\"2\"}"),
        ];
        for found in whole {
            assert_eq!(found, ["1", "2"]);
        }
    }

    #[test]
    fn a_cut_off_last_line_is_not_counted() {
        assert_eq!(strings(b"{\"a\":\"1\"}\n{\"a\":\"2"), ["1"]);
        assert_eq!(strings(b"{\"a\":\"1\"}\n{\"a\":\"2\xe4\xb8"), ["1"]);
        assert_eq!(strings(b"{\"a\":\"1\"}{\"a\":\"2\0\0\0"), ["1"]);
    }

    #[test]
    fn the_lines_after_a_broken_one_are_kept() {
        assert_eq!(strings(b"{\"a\":\"1\"}\n{\"a\":}\n{\"a\":\"3\"}\n"), ["1", "3"]);
    }

    #[test]
    fn a_record_glued_to_a_broken_one_is_found() {
        let both: &[&str] = &["1", "2", "3"];
        let second: &[&str] = &["1", "3"];
        let broken = [
            (r#"{"c":"cut"#, both),
            (r#"{"c":"a:"#, both),
            (r#"{"c":"\"a:"#, both),
            (r#"{"c":[{"a":"x"}],"#, both),
            (r#"{"c":1"#, both),
            ("{", both),
            // Here the first of the two is taken for a part of the broken one.
            (r#"{"c":"#, second),
            (r#"{"c":[{"a":"x"},"#, second),
        ];
        for (broken, wanted) in broken {
            let line = format!(r#"{{"a":"1"}}{broken}{{"a":"2","b":{{"a":"y"}}}} {{"a":"3"}}"#);
            assert_eq!(strings(format!("{line}\n").as_bytes()), wanted, "{broken}");
        }
    }

    #[test]
    fn a_part_of_a_broken_record_is_no_record() {
        for broken in [r#"{"b":{"a":"x"}"#, r#"{"b":[1,{"a":"x"}"#, r#"{"b":[{"a":"x"},{"a":"y"}"#] {
            let found = read(format!("{broken}\n").as_bytes());
            assert_eq!((found.records.len(), found.broken), (0, 1), "{broken}");
        }
    }

    #[test]
    fn half_of_a_pair_becomes_a_replacement() {
        assert_eq!(strings(br#"{"a":"x\ud83dy"}"#), ["x\u{fffd}y"]);
        assert_eq!(strings(br#"{"a":"\ude00\ud83d\u0041"}"#), ["\u{fffd}\u{fffd}A"]);
        assert_eq!(strings(br#"{"a":"\ud83d\ud83d\ude00"}"#), ["\u{fffd}\u{1f600}"]);
        assert_eq!(strings(br#"{"a":"\ud83d\n"}"#), ["\u{fffd}\n"]);
        assert_eq!(strings(br#"{"a":"\ud83d"}"#), ["\u{fffd}"]);
    }

    #[test]
    fn whole_pairs_and_escaped_backslashes_stay() {
        assert_eq!(strings(br#"{"a":"\ud83d\ude00"}"#), ["\u{1f600}"]);
        assert_eq!(strings(br#"{"a":"\\ud83d \" \\"}"#), ["\\ud83d \" \\"]);
    }

    #[test]
    fn raw_control_characters_in_a_text_are_kept() {
        assert_eq!(strings(b"{\"a\":\"p\x0cq\tr\"}\n"), ["p\x0cq\tr"]);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replaced() {
        assert_eq!(strings(b"{\"a\":\"x\xffy\"}\n"), ["x\u{fffd}y"]);
    }
}
