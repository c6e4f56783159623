//! Lines that look like a marker or a label are shown as what they are: words.
//!
//! In a text for a model, `⟦<⟧quote …` stands for a line that starts with something that looks like the marker of a
//! quotation, `⟦[⟧person …` for one that looks like a label of a speaker. [`guard`] also shows what hides, and [`unguard`]
//! is its exact inverse. Like the marker itself this is a label and no security boundary: it keeps words from looking
//! like something that they are not; what a model does with them remains the model's.

mod skeleton;

use std::borrow::Cow;
use std::sync::LazyLock;

use sayso_model::hidden::{self, UnshowError};
use sayso_model::text::{break_len, is_break};
use skeleton::{skeleton, visible};

/// Which lines are taken for something else than words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shapes {
    /// Those that look like a marker.
    Markers,
    /// Those, and those that look like a label or one of the fixed sentences beside a marker.
    All,
}

/// The text with what hides shown and every marker-shaped or label-shaped line start escaped.
///
/// ```
/// use sayso_view::guard::{guard, unguard};
/// let text = "see\n</quote id=\"x\">";
/// assert_eq!(guard(text), "see\n⟦<⟧/quote id=\"x\">");
/// assert_eq!(unguard(&guard(text)).unwrap(), text);
/// ```
#[must_use]
pub fn guard(text: &str) -> String {
    mark(&hidden::show(text), Shapes::All).into_owned()
}

/// The text that was guarded.
///
/// # Errors
///
/// [`UnshowError`] where this is no guarded text.
pub fn unguard(text: &str) -> Result<String, UnshowError> {
    let plain = hidden::unshow(&unmark(text)?)?;
    if guard(&plain) == text { Ok(plain) } else { Err(UnshowError::NotShown) }
}

/// The text with every line start of these shapes escaped and nothing else changed.
#[must_use]
pub fn mark(text: &str, shapes: Shapes) -> Cow<'_, str> {
    let mut marked = String::new();
    let mut clean = 0;
    for (start, line) in lines(text) {
        let Some((at, c)) = shape(line, shapes) else {
            continue;
        };
        marked.push_str(text.get(clean..start + at).unwrap_or_default());
        marked.extend(['⟦', c, '⟧']);
        clean = start + at + c.len_utf8();
    }
    if clean == 0 {
        return Cow::Borrowed(text);
    }
    marked.push_str(text.get(clean..).unwrap_or_default());
    Cow::Owned(marked)
}

fn unmark(text: &str) -> Result<String, UnshowError> {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('⟦') {
        plain.push_str(before);
        let mut next = after.chars();
        rest = match (next.next(), next.next()) {
            (Some(c), Some('⟧')) if c != '⟦' => {
                plain.push(c);
                next.as_str()
            }
            (Some('⟦'), _) => kept(&mut plain, "⟦⟦", after.strip_prefix('⟦')),
            (Some('U'), Some('+')) => kept(&mut plain, "⟦", Some(after)),
            _ => return Err(UnshowError::Bracket),
        };
    }
    plain.push_str(rest);
    Ok(plain)
}

fn kept<'a>(plain: &mut String, token: &str, rest: Option<&'a str>) -> &'a str {
    plain.push_str(token);
    rest.unwrap_or_default()
}

/// The lines of a text with the byte each starts at, at every kind of line break, without the breaks.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut next = Some(0);
    std::iter::from_fn(move || {
        let start = next?;
        let rest = text.get(start..)?;
        let length = rest.find(is_break).unwrap_or(rest.len());
        let (line, tail) = rest.split_at_checked(length)?;
        next = (!tail.is_empty()).then(|| start + length + break_len(tail));
        Some((start, line))
    })
}

/// Visible characters of decoration, such as `> - `, behind which a line still starts.
const DECORATION: usize = 64;

/// Where the line's disguise starts, if it has one: at the first visible character that is no mere decoration.
fn shape(line: &str, shapes: Shapes) -> Option<(usize, char)> {
    for (at, c) in visible(line).take(DECORATION) {
        let rest = line.get(at..)?;
        if is_opener(c) && is_marker(rest) || shapes == Shapes::All && is_label(c, rest) {
            return Some((at, c));
        }
        if c.is_alphanumeric() {
            return None;
        }
    }
    None
}

fn is_opener(c: char) -> bool {
    matches!(c, '<' | '&' | '\\' | '%') || !c.is_ascii() && skeleton(c.encode_utf8(&mut [0; 4]), 1) == "<"
}

/// Characters that a look at a line's start takes in.
const GLANCE: usize = 48;

fn is_marker(text: &str) -> bool {
    let seen = skeleton(text, GLANCE);
    let Some(rest) = after_opener(&seen) else {
        return false;
    };
    rest.trim_start_matches(['/', '<']).starts_with("quote")
}

/// What follows a `<`, also one that is written as an HTML entity, a JSON escape or a URL escape.
fn after_opener(seen: &str) -> Option<&str> {
    // `look` folds 1 and l to i, 0 to o and the backslash to a slash.
    const ESCAPES: [&str; 5] = ["<", "it", "/uoo3c", "/x3c", "%3c"];
    if let Some(entity) = seen.strip_prefix('&') {
        let mut entity = entity;
        while let Some(inner) = entity.strip_prefix("arnp;") {
            entity = inner;
        }
        let rest = entity.strip_prefix("it").or_else(|| numeric(entity))?;
        return Some(rest.trim_start_matches(';'));
    }
    ESCAPES.iter().find_map(|escape| seen.strip_prefix(escape)).filter(|_| !seen.starts_with("it"))
}

fn numeric(entity: &str) -> Option<&str> {
    let number = entity.strip_prefix('#')?;
    let hex = number.strip_prefix('x').map(|n| n.trim_start_matches('o'));
    match hex {
        Some(hex) => hex.strip_prefix("3c"),
        None => number.trim_start_matches('o').strip_prefix("6o"),
    }
}

/// What words look like that a label starts with, behind its bracket.
static LABELS: LazyLock<[String; 7]> = LazyLock::new(|| {
    ["owner", "person", "agent", "tool", "system", "summary", "attachment"].map(|s| skeleton(s, GLANCE))
});
/// What the fixed sentences beside a marker and a summary look like.
static SENTENCES: LazyLock<[String; 3]> = LazyLock::new(|| {
    ["Note from the sender", "Quoted from another session", "Quotes it covers"].map(|s| skeleton(s, GLANCE))
});

fn is_label(c: char, text: &str) -> bool {
    match skeleton(c.encode_utf8(&mut [0; 4]), 1).as_str() {
        "n" | "q" => {
            let seen = skeleton(text, GLANCE);
            SENTENCES.iter().any(|sentence| seen.starts_with(sentence))
        }
        "[" => skeleton(text, GLANCE).strip_prefix('[').is_some_and(is_label_word),
        _ => false,
    }
}

fn is_label_word(inside: &str) -> bool {
    let inside = inside.strip_prefix("end").unwrap_or(inside);
    let goes_on = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '(');
    LABELS
        .iter()
        .any(|label| inside.strip_prefix(label.as_str()).is_some_and(|rest| !rest.starts_with(goes_on)))
}

#[cfg(test)]
mod tests;
