//! Long texts in messages that a channel takes.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use unicode_segmentation::{GraphemeCursor, GraphemeIncomplete};

/// What a text's length is counted in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// UTF-16 code units, as Telegram counts.
    Utf16,
    /// Unicode scalar values.
    Scalar,
}

impl Unit {
    /// How long a text is.
    #[must_use]
    pub fn of(self, text: &str) -> usize {
        text.chars().map(|c| self.length(c)).sum()
    }

    const fn length(self, c: char) -> usize {
        match self {
            Self::Utf16 => c.len_utf16(),
            Self::Scalar => 1,
        }
    }
}

/// What Telegram makes a link of in a plain text: addresses of pages and mail, mentions, tags and commands.
#[expect(clippy::expect_used, reason = "the pattern is fixed; a test compiles it")]
static ENTITY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(concat!(
        r#"(?i)[a-z][a-z0-9+.-]*://[^\s<>"]+"#,
        r"|[a-z0-9._+-]+@[a-z0-9-]+(?:\.[a-z0-9-]+)+",
        r#"|(?:[a-z0-9-]+\.)+[a-z]{2,}(?::\d+)?(?:[/?#][^\s<>"]*)?"#,
        r"|[@#$/][\w@]+",
    ))
    .expect("the pattern compiles")
});

/// The text in parts of at most `most` units. Cut after an empty line, else a line, else a space, else between
/// two characters as people count them (grapheme clusters); never inside a link, mention, tag or command. Only one that is
/// itself longer than a part is cut. Nothing is left out but parts of white space alone, which Telegram refuses.
///
/// ```
/// use sayso_bridge::split::{Unit, split};
/// assert_eq!(split("one two", 5, Unit::Scalar), ["one ", "two"]);
/// assert_eq!(split("👨‍👩‍👧👨‍👩‍👧", 8, Unit::Utf16), ["👨‍👩‍👧", "👨‍👩‍👧"]);
/// ```
#[must_use]
pub fn split(text: &str, most: usize, unit: Unit) -> Vec<String> {
    let mut parts = Vec::new();
    let mut rest = text;
    while unit.of(rest) > most {
        let (part, after) = rest.split_at(cut(rest, most.max(2), unit));
        parts.push(part);
        rest = after;
    }
    parts.push(rest);
    let mut kept: Vec<String> =
        parts.into_iter().filter(|part| !part.trim().is_empty()).map(str::to_owned).collect();
    if kept.is_empty() {
        // There has to be one part; the server says what it thinks of it.
        kept.push(rest.to_owned());
    }
    kept
}

/// The byte of a text longer than `most` units before which its first part ends; not 0.
fn cut(text: &str, most: usize, unit: Unit) -> usize {
    let end = fitting(text, most, unit);
    // A link that fits into a part and begins in this one ends within the next.
    let seen = text.get(..fitting(text, most.saturating_mul(2), unit)).unwrap_or(text);
    let whole = |span: &Range<usize>| unit.of(text.get(span.clone()).unwrap_or_default()) <= most;
    let spans = ENTITY.find_iter(seen).map(|found| found.range());
    let place = Place { text, end, links: spans.take_while(|span| span.start < end).filter(whole).collect() };
    let half = end / 2;
    place
        .last(half, |before, _| before.ends_with("\n\n") || before.ends_with("\n\r\n"))
        .or_else(|| place.last(half, |before, _| before.ends_with('\n')))
        .or_else(|| place.last(end / 4, |before, after| before.ends_with(char::is_whitespace) && !after))
        .or_else(|| place.last(0, |_, _| true))
        .unwrap_or(end)
}

/// How many bytes of the beginning have at most so many units; whole scalar values.
fn fitting(text: &str, most: usize, unit: Unit) -> usize {
    let mut left = most;
    let past = text.char_indices().find(|(_, c)| match left.checked_sub(unit.length(*c)) {
        Some(rest) => {
            left = rest;
            false
        }
        None => true,
    });
    past.map_or(text.len(), |(at, _)| at)
}

/// The places where a text may be cut.
struct Place<'a> {
    text: &'a str,
    end: usize,
    links: Vec<Range<usize>>,
}

impl Place<'_> {
    /// The last place after byte `least` that suits; told is the text before it, and whether white space follows.
    fn last(&self, least: usize, suits: impl Fn(&str, bool) -> bool) -> Option<usize> {
        let mut cursor = GraphemeCursor::new(self.end, self.text.len(), true);
        let at_end = cursor.is_boundary(self.text, 0).unwrap_or(false).then_some(self.end);
        let mut next = at_end.or_else(|| before(&mut cursor, self.text));
        while let Some(at) = next.filter(|at| *at > least) {
            let (before_it, after) = self.text.split_at(at);
            if !self.inside(at) && suits(before_it, after.starts_with(char::is_whitespace)) {
                return Some(at);
            }
            next = before(&mut cursor, self.text);
        }
        None
    }

    fn inside(&self, at: usize) -> bool {
        self.links.iter().any(|link| link.start < at && at < link.end)
    }
}

fn before(cursor: &mut GraphemeCursor, text: &str) -> Option<usize> {
    let found: Result<Option<usize>, GraphemeIncomplete> = cursor.prev_boundary(text, 0);
    found.ok().flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    const MESSAGE_UNITS: usize = 4_096;

    fn units(text: &str) -> usize {
        Unit::Utf16.of(text)
    }

    fn split(text: &str, most: usize) -> Vec<String> {
        super::split(text, most, Unit::Utf16)
    }

    #[test]
    fn units_are_counted_not_characters_or_bytes() {
        let ferry = "⛴️".repeat(2_048);
        assert_eq!(units(&ferry), 4_096);
        assert_eq!(split(&ferry, MESSAGE_UNITS).len(), 1);
        assert_eq!(split(&format!("{ferry}!"), MESSAGE_UNITS).len(), 2);
        let moon = "🌕".repeat(2_048);
        assert_eq!(split(&moon, MESSAGE_UNITS), [&*moon]);
        assert_eq!(split(&format!("a{moon}"), MESSAGE_UNITS)[0], format!("a{}", "🌕".repeat(2_047)));
        assert_eq!(split(&"가".repeat(4_097), MESSAGE_UNITS)[1], "가");
    }

    #[test]
    fn what_is_one_character_to_people_is_not_cut() {
        let family = "👩‍👩‍👧‍👦";
        let parts = split(&format!("{}{family}", "a".repeat(4_090)), MESSAGE_UNITS);
        assert_eq!(parts, ["a".repeat(4_090), family.to_owned()]);
        // One that no message could hold is cut between scalar values.
        let tower = format!("a{}", "\u{301}".repeat(5_000));
        assert_eq!(split(&tower, MESSAGE_UNITS).concat(), tower);
    }

    #[test]
    fn what_telegram_links_is_not_cut() {
        for link in [
            "https://harbour.example/quay/7?at=24:40#a",
            "mira.lund+quay@harbour.example",
            "@harbour_news_bot",
            "#막배시간표",
            "/timetable@harbour_bot",
            "harbour.example/quay",
        ] {
            let text = format!("{}{link} tail", "가".repeat(4_093));
            let parts = split(&text, MESSAGE_UNITS);
            assert_eq!(parts[1], format!("{link} tail"), "{link}");
            assert_eq!(parts.concat(), text);
        }
        let long = format!("https://harbour.example/{}", "x".repeat(5_000));
        assert_eq!(split(&long, MESSAGE_UNITS).concat(), long, "longer than a message: cut all the same");
    }

    #[test]
    fn paragraphs_then_lines_then_words() {
        let [a, b] = ["a ".repeat(1_200), "b ".repeat(1_200)];
        assert_eq!(split(&format!("{a}\n\n{b}"), MESSAGE_UNITS), [format!("{a}\n\n"), b.clone()]);
        assert_eq!(split(&format!("{a}\n{b}"), MESSAGE_UNITS), [format!("{a}\n"), b.clone()]);
        assert_eq!(split(&format!("{a}{b}"), MESSAGE_UNITS)[0], format!("{a}{}", "b ".repeat(848)));
    }

    #[test]
    fn white_space_alone_is_no_message() {
        let text = format!("a{}b", " \n".repeat(5_000));
        let parts = split(&text, MESSAGE_UNITS);
        assert!(parts.iter().all(|part| !part.trim().is_empty()), "{}", parts.len());
        assert_eq!(split(" ", MESSAGE_UNITS), [" "]);
    }

    fn texts() -> impl Strategy<Value = String> {
        let piece = prop_oneof![
            "[a-z가-힣 \\n]{0,12}",
            "\\PC{0,6}",
            Just("👨‍👩‍👧‍👦".to_owned()),
            Just("e\u{301}\u{302}".to_owned()),
            Just("\r\n\r\n".to_owned()),
            Just("https://a.example/b?c".to_owned()),
            Just("@mira_l".to_owned()),
        ];
        prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn any_text(text in texts(), most in 2usize..60) {
            let parts = split(&text, most);
            let whole: String = parts.concat().split_whitespace().collect();
            prop_assert_eq!(whole, text.split_whitespace().collect::<String>(), "nothing but white space is left out");
            let mut from = 0;
            let starts: Vec<usize> = text.grapheme_indices(true).map(|(at, _)| at).collect();
            for part in &parts {
                prop_assert!(units(part) <= most);
                let at = text[from..].find(part.as_str()).map(|at| from + at).unwrap();
                from = at + part.len();
                let graphemes = starts.windows(2).filter(|w| w[0] < from && from < w[1]);
                for cluster in graphemes {
                    prop_assert!(units(&text[cluster[0]..cluster[1]]) > most, "a character is cut at {}", from);
                }
            }
        }
    }
}
