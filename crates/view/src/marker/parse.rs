//! Reading a marker back. Nothing but its bytes is known here.

use std::str::FromStr;

use sayso_model::hidden::{self, UnshowError};
use sayso_model::{SaidAt, TurnId};

use super::region::unquoted;
use super::write::{Names, note_label};
use super::{Marker, Profile, RULE};
use crate::guard::unguard;

/// Why bytes are no message that starts with a marker.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// They are no UTF-8.
    #[error("a marker is UTF-8, these bytes are not")]
    Utf8(#[from] std::str::Utf8Error),
    /// They do not start with an open tag.
    #[error("a marker starts with <quote id=\"…\" and its tag ends with the line")]
    Open,
    /// An attribute is missing or no such value.
    #[error("the attribute {name} is missing or has no value that it can have")]
    Attribute {
        /// Which.
        name: &'static str,
    },
    /// The line of names is no JSON, or not this.
    #[error("the line of names is not the JSON that stands there")]
    Names(#[source] serde_json::Error),
    /// A name in that line is no such value.
    #[error("{name} in the line of names has no value that it can have")]
    Name {
        /// Which.
        name: &'static str,
    },
    /// There is no close tag of the same id where one must stand.
    #[error("the close tag with the id {id} is missing, or not followed by the fixed sentence")]
    Close {
        /// The id of the open tag.
        id: TurnId,
    },
    /// A line of the quoted region does not start with `> `.
    #[error("a line of the quoted region does not start with \"> \"")]
    Region,
    /// Neither the end nor a note follows.
    #[error("behind the fixed sentence only a note with the forwarder's label may stand")]
    Note,
    /// The words are not the shown form of any words.
    #[error("the quoted words or the note are escaped in a way that no rendering writes")]
    Escape(#[from] UnshowError),
    /// It is no JSON.
    #[error("the line is no JSON of a marker")]
    Json(#[source] serde_json::Error),
    /// It reads as a marker, but a rendering of it gives other bytes.
    #[error("this is not what a rendering of the same marker gives: it was changed or written by hand")]
    Differs,
}

/// Reads a message that starts with a marker. `parse(render(message))` is exactly what the marker shows, and whatever
/// parses renders to the same bytes again.
///
/// # Errors
///
/// [`ParseError`] for everything that no rendering writes.
pub fn parse(bytes: &[u8]) -> Result<Marker, ParseError> {
    let text = std::str::from_utf8(bytes)?;
    let marker = read(text)?;
    if marker.render(Profile::V1) == text { Ok(marker) } else { Err(ParseError::Differs) }
}

fn read(text: &str) -> Result<Marker, ParseError> {
    let (tag, rest) = open_tag(text).ok_or(ParseError::Open)?;
    let (names, rest) = rest.strip_prefix("> ").and_then(|r| r.split_once('\n')).ok_or(ParseError::Region)?;
    let names: Names = serde_json::from_str(names).map_err(ParseError::Names)?;
    let id = tag.value("id")?;
    let close = format!("\n</quote id=\"{id}\">\n{RULE}");
    let (region, tail) = rest.split_once(&close).ok_or(ParseError::Close { id })?;
    let words = unquoted(region).ok_or(ParseError::Region)?;
    let mut marker = assemble(&tag, names, hidden::unshow(&words)?)?;
    marker.note = note(&marker, tail)?;
    Ok(marker)
}

fn note(marker: &Marker, tail: &str) -> Result<String, ParseError> {
    if tail.is_empty() {
        return Ok(String::new());
    }
    let label = format!("\n\n{}: ", note_label(marker));
    let note = tail.strip_prefix(&label).filter(|note| !note.is_empty()).ok_or(ParseError::Note)?;
    Ok(unguard(note)?)
}

/// The attributes of an open tag.
pub(super) struct Tag<'a>(pub(super) Vec<(&'a str, &'a str)>);

/// The open tag that the text starts with, and what follows its line.
pub(super) fn open_tag(text: &str) -> Option<(Tag<'_>, &str)> {
    let (line, rest) = text.split_once('\n')?;
    let inside = line.strip_prefix("<quote ")?.strip_suffix('>')?;
    let attributes = inside.split(' ').map(|attribute| {
        let (name, value) = attribute.split_once('=')?;
        Some((name, value.strip_prefix('"')?.strip_suffix('"')?))
    });
    let tag = Tag(attributes.collect::<Option<_>>()?);
    tag.value::<TurnId>("id").ok()?;
    Some((tag, rest))
}

impl Tag<'_> {
    fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(n, _)| *n == name).map(|(_, value)| *value)
    }

    pub(super) fn value<T: FromStr>(&self, name: &'static str) -> Result<T, ParseError> {
        self.get(name).and_then(|v| v.parse().ok()).ok_or(ParseError::Attribute { name })
    }

    fn said(&self) -> Result<Option<SaidAt>, ParseError> {
        let Some(text) = self.get("said") else {
            return Ok(None);
        };
        SaidAt::parse(text).map(Some).ok_or(ParseError::Attribute { name: "said" })
    }
}

pub(super) fn assemble(tag: &Tag<'_>, names: Names, text: String) -> Result<Marker, ParseError> {
    let forwarded_by = match names.forwarded_by {
        Some(named) => Some(named.forwarder().ok_or(ParseError::Name { name: "forwarded_by" })?),
        None => None,
    };
    Ok(Marker {
        id: tag.value("id")?,
        speaker: tag.value("speaker")?,
        said: tag.said()?,
        kept: tag.value("kept")?,
        of: tag.value("of")?,
        cut: tag.value("cut")?,
        open_fence: names.open_fence,
        hops: names.hops,
        by: names.by,
        session: names.session,
        project: names.project,
        from: address("from", &names.from)?,
        quoted: names.quoted.map(|text| address("quoted", &text)).transpose()?,
        forwarded_by,
        text,
        note: String::new(),
    })
}

fn address(name: &'static str, text: &str) -> Result<sayso_model::Address, ParseError> {
    text.parse().map_err(|_| ParseError::Name { name })
}
