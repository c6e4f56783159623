//! What hides is shown: characters that a reader cannot see, or that rearrange what is seen, and their exact way back.
//!
//! [`show`] writes such a character as `⟦U+202E⟧` and doubles a literal `⟦`; [`unshow`] undoes exactly that. These hide:
//!
//! - controls (C0, DEL, C1) other than the tab and the line breaks, which every caller treats in its own way;
//! - bidirectional controls: U+061C, U+200E, U+200F, U+202A to U+202E, U+2066 to U+2069;
//! - tag characters (U+E0000 to U+E007F) outside the three flags that are recommended for interchange
//!   (England, Scotland, Wales);
//! - every character of a run of three or more default-ignorable characters.
//!
//! A single zero-width joiner or non-joiner and a variation selector stay as they are: emoji and scripts need them.

use std::borrow::Cow;

use crate::text::is_break;

/// Why a text was not written by [`show`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum UnshowError {
    /// A `⟦` that is neither doubled nor the start of a character's number.
    #[error("a ⟦ stands alone: it is written twice, or starts a ⟦U+202E⟧")]
    Bracket,
    /// A number that names no character.
    #[error("the number between ⟦U+ and ⟧ names no character")]
    Number,
    /// A character is shown that does not hide, or hides and is not shown.
    #[error("the text is not the shown form of any text: a character is shown without need or hides still")]
    NotShown,
}

/// Whether a character is default-ignorable: `Default_Ignorable_Code_Point` of Unicode 17.0 (`DerivedCoreProperties.txt`).
#[must_use]
pub const fn is_ignorable(c: char) -> bool {
    matches!(c,
        '\u{AD}' | '\u{34F}' | '\u{61C}' | '\u{115F}'..='\u{1160}' | '\u{17B4}'..='\u{17B5}' | '\u{180B}'..='\u{180F}'
        | '\u{200B}'..='\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}'..='\u{206F}' | '\u{3164}'
        | '\u{FE00}'..='\u{FE0F}' | '\u{FEFF}' | '\u{FFA0}' | '\u{FFF0}'..='\u{FFF8}' | '\u{1BCA0}'..='\u{1BCA3}'
        | '\u{1D173}'..='\u{1D17A}' | '\u{E0000}'..='\u{E0FFF}')
}

const fn hides_alone(c: char) -> bool {
    let bidi =
        matches!(c, '\u{61C}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}');
    let tag = matches!(c, '\u{E0000}'..='\u{E007F}');
    let control = matches!(c, '\0'..='\u{1F}' | '\u{7F}'..='\u{9F}') && c != '\t' && !is_break(c);
    bidi || tag || control
}

/// The black flag, which the tags of a flag follow.
const FLAG: char = '\u{1F3F4}';
/// The tags of the flags in `emoji-sequences.txt` (RGI_Emoji_Tag_Sequence): gbeng, gbsct, gbwls, each with the cancel tag.
const FLAG_TAGS: [&str; 3] = [
    "\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}",
    "\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}",
    "\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}",
];

/// Each character with whether it hides.
///
/// ```
/// let seen: Vec<bool> = sayso_model::hidden::each("a\u{202E}").map(|(_, hides)| hides).collect();
/// assert_eq!(seen, [false, true]);
/// ```
pub fn each(text: &str) -> impl Iterator<Item = (char, bool)> {
    Each { rest: text.chars(), settled: 0, hides: false }
}

struct Each<'a> {
    rest: std::str::Chars<'a>,
    /// How many of the next characters are already decided on.
    settled: usize,
    hides: bool,
}

impl Iterator for Each<'_> {
    type Item = (char, bool);

    fn next(&mut self) -> Option<Self::Item> {
        let c = self.rest.next()?;
        if self.settled > 0 {
            self.settled -= 1;
            return Some((c, self.hides));
        }
        Some((c, self.decide(c)))
    }
}

impl Each<'_> {
    fn decide(&mut self, c: char) -> bool {
        let rest = self.rest.as_str();
        if c == FLAG && FLAG_TAGS.iter().any(|tags| rest.starts_with(tags)) {
            (self.settled, self.hides) = (6, false);
            return false;
        }
        if !is_ignorable(c) || rest.chars().take(2).filter(|c| is_ignorable(*c)).count() < 2 {
            return hides_alone(c);
        }
        let run = rest.chars().take_while(|c| is_ignorable(*c)).count();
        (self.settled, self.hides) = (run, true);
        true
    }
}

/// The text with everything that hides shown.
///
/// ```
/// use sayso_model::hidden::{show, unshow};
/// assert_eq!(show("a\u{202E}b ⟦"), "a⟦U+202E⟧b ⟦⟦");
/// assert_eq!(unshow("a⟦U+202E⟧b ⟦⟦").unwrap(), "a\u{202E}b ⟦");
/// ```
#[must_use]
pub fn show(text: &str) -> Cow<'_, str> {
    if text.is_ascii() && !text.chars().any(hides_alone) || each(text).all(|(c, hides)| !hides && c != '⟦')
    {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for (c, hides) in each(text) {
        match (hides, c) {
            (true, _) => shown.push_str(&code(c)),
            (false, '⟦') => shown.push_str("⟦⟦"),
            (false, _) => shown.push(c),
        }
    }
    Cow::Owned(shown)
}

/// A character by its number, such as `⟦U+202E⟧`.
#[must_use]
pub fn code(c: char) -> String {
    format!("⟦U+{:04X}⟧", u32::from(c))
}

/// The text whose shown form this is.
///
/// # Errors
///
/// [`UnshowError`] where no text has this shown form, so that a shown text and its origin belong together one to one.
pub fn unshow(text: &str) -> Result<String, UnshowError> {
    let plain = decode(text)?;
    if show(&plain) == text { Ok(plain) } else { Err(UnshowError::NotShown) }
}

fn decode(text: &str) -> Result<String, UnshowError> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('⟦') {
        plain.push_str(before);
        let (c, left) = match after.strip_prefix('⟦') {
            Some(left) => ('⟦', left),
            None => numbered(after)?,
        };
        plain.push(c);
        rest = left;
    }
    plain.push_str(rest);
    Ok(plain)
}

fn numbered(text: &str) -> Result<(char, &str), UnshowError> {
    let (number, rest) =
        text.strip_prefix("U+").and_then(|t| t.split_once('⟧')).ok_or(UnshowError::Bracket)?;
    let value = u32::from_str_radix(number, 16).ok().and_then(char::from_u32);
    value.map(|c| (c, rest)).ok_or(UnshowError::Number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_shown() {
        for (text, shown) in [
            ("\0\u{1B}[31m\u{7F}\u{9B}", "⟦U+0000⟧⟦U+001B⟧[31m⟦U+007F⟧⟦U+009B⟧"),
            ("\u{2066}x\u{2069}\u{61C}", "⟦U+2066⟧x⟦U+2069⟧⟦U+061C⟧"),
            ("a\u{E0041}", "a⟦U+E0041⟧"),
            ("\u{200B}\u{200C}\u{FEFF}", "⟦U+200B⟧⟦U+200C⟧⟦U+FEFF⟧"),
            ("⟦U+202E⟧", "⟦⟦U+202E⟧"),
            ("🏴\u{E0075}\u{E0073}\u{E007F}", "🏴⟦U+E0075⟧⟦U+E0073⟧⟦U+E007F⟧"),
        ] {
            assert_eq!(show(text), shown);
            assert_eq!(unshow(shown).unwrap(), text);
        }
    }

    #[test]
    fn what_scripts_and_emoji_need_stays() {
        let england = "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}";
        for text in [
            "👩\u{200D}💻",
            "❤\u{FE0F}",
            "می\u{200C}خواهم",
            england,
            "\tline\r\n\u{85}\u{2028}\u{2029}\u{B}\u{C}",
        ] {
            assert_eq!(show(text), text);
        }
    }

    #[test]
    fn only_a_shown_text_is_undone() {
        for (text, error) in [
            ("⟦x⟧", UnshowError::Bracket),
            ("⟦U+110000⟧", UnshowError::Number),
            ("⟦U+0041⟧", UnshowError::NotShown),
            ("⟦U+202e⟧", UnshowError::NotShown),
            ("\u{202E}", UnshowError::NotShown),
        ] {
            assert_eq!(unshow(text), Err(error), "{text}");
        }
    }

    #[test]
    fn a_flag_ends_a_run() {
        let wales = "🏴\u{E0067}\u{E0062}\u{E0077}\u{E006C}\u{E0073}\u{E007F}";
        let text = format!("\u{200B}{wales}\u{200B}\u{200B}");
        assert_eq!(show(&text), text);
        assert_eq!(show(&format!("{wales}\u{E007F}")), format!("{wales}⟦U+E007F⟧"));
    }
}
