//! From the bytes of a file to JSON values.
//!
//! A line ends at a line feed and nowhere else. Where a line stops being JSON, it is left out up to the next record that was
//! glued to it; a last line without its end may yet be finished, so nothing is looked for there.

use serde_json::Value;

use super::json::{self, Stop};

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
        let (end, rest) = values(&line, &mut found.records);
        let last = lines.peek().is_none();
        if end == End::Broken || (end == End::CutOff && !last) {
            found.broken += 1;
        }
        if end != End::Whole && !last {
            glued(rest, &mut found.records);
        }
    }
    found
}

/// The one value that a text holds, if it holds nothing else.
pub(super) fn one(mut text: &str) -> Option<Value> {
    let value = json::next(&mut text)?.ok()?;
    json::next(&mut text).is_none().then_some(value)
}

/// Adds the values that a line begins with; what is left from the first that is none.
fn values<'a>(mut line: &'a str, records: &mut Vec<Value>) -> (End, &'a str) {
    loop {
        let before = line;
        match json::next(&mut line) {
            None => return (End::Whole, line),
            Some(Ok(value)) => records.push(value),
            Some(Err(Stop::CutOff)) => return (End::CutOff, before),
            Some(Err(Stop::Broken)) => return (End::Broken, before),
        }
    }
}

/// Adds the records behind the break in a line: from the first place on where an object begins
/// that is no part of the broken record, and behind which nothing but records comes.
fn glued(line: &str, records: &mut Vec<Value>) {
    let found = line.match_indices("{\"").find_map(|(at, _)| {
        let (before, rest) = line.split_at_checked(at)?;
        let mut found = Vec::new();
        (!wants_value(before) && values(rest, &mut found).0 == End::Whole).then_some(found)
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
        last = if c <= ' ' { last } else { c };
    }
    let in_list = open.last() == Some(&'[');
    !in_string && (last == ':' || (in_list && (last == '[' || last == ',')))
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

    #[test]
    fn what_json_does_not_allow_is_taken_where_it_is_clear() {
        assert_eq!(strings(b"{\"a\":1e999}{\"a\":NaN}{\"a\":-Infinity}\n"), ["1e999", "NaN", "-Infinity"]);
        assert_eq!(strings(br#"{"a":"\x1b \u12"}"#), ["\\x1b \\u12"]);
        assert_eq!(strings(b"{\"a\"\0:\xef\xbb\xbf\"1\"}\n"), ["1"]);
        let deep = format!("{{\"b\":{}\"x]\"{},\"a\":\"1\"}}\n", "[".repeat(5_000), "]".repeat(5_000));
        let found = read(deep.as_bytes());
        assert_eq!((found.records.len(), found.broken), (1, 0));
        let mut inner = &found.records[0]["b"];
        for _ in 0..126 {
            inner = &inner[0];
        }
        assert_eq!(*inner, format!("{}\"x]\"{}", "[".repeat(4_874), "]".repeat(4_874)));
    }

    #[test]
    fn what_is_no_json_at_all_is_broken() {
        for broken in
            ["{\"a\":01}", "{\"a\":tru}", "{\"a\":1,}", "[1}", "{a:1}", "[1 2]", "[1e]", "[.5]", "[9e9999x]"]
        {
            let found = read(format!("{broken}\n{{}}\n").as_bytes());
            assert_eq!((found.records.len(), found.broken), (1, 1), "{broken}");
        }
    }

    /// Damage of every kind, made at random: the reader of the importers finds what is found here.
    #[test]
    fn the_importers_reader_finds_the_same() {
        let pieces = [
            "{\"a\":\"1\"}",
            "{\"a\":",
            "\"a\":",
            "{\"",
            "\"",
            "[",
            "]",
            "{",
            "}",
            ",",
            ":",
            "1e999",
            "0",
            "-",
            "NaN",
            "tru",
            "true",
            "\\",
            "\\u",
            "\\ud83d",
            "\\ude00",
            "00e9",
            "\0",
            "\u{1b}",
            " ",
            "\n",
            "\n",
            "\u{feff}",
            "한",
            "\u{85}",
        ];
        let mut state = 7_u64;
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            usize::try_from(state >> 33).unwrap() % below
        };
        let (mut found, mut broken) = (0, 0);
        for _ in 0..60_000 {
            let length = random(14);
            let text: String = (0..length).map(|_| pieces[random(pieces.len())]).collect::<String>() + "\n";
            let here = read(text.as_bytes());
            let mut records = sayso_import::records::Records::new(text.as_bytes());
            let theirs: Vec<Value> = records.by_ref().map(|record| record.unwrap().value).collect();
            assert_eq!(theirs, here.records, "{text:?}");
            let kind = sayso_import::records::DamageKind::Broken;
            assert_eq!(records.damaged(kind), here.broken, "{text:?}");
            found += here.records.len();
            broken += here.broken;
        }
        assert!(found > 10_000 && broken > 10_000, "{found} {broken}");
    }
}
