//! The second form of a marker: one line of JSON, for chat templates in which markup or control tokens could take effect.

use serde::{Deserialize, Serialize};

use super::parse::{ParseError, Tag, assemble};
use super::write::{Names, note_label};
use super::{Marker, Message, RULE};
use crate::names::json_line;

#[derive(Serialize, Deserialize)]
struct Line {
    quote: Body,
    rule: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<Note>,
}

#[derive(Serialize, Deserialize)]
struct Body {
    id: String,
    speaker: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    said: Option<String>,
    kept: u32,
    of: u64,
    cut: String,
    #[serde(flatten)]
    names: Names,
    text: String,
}

#[derive(Serialize, Deserialize)]
struct Note {
    label: String,
    text: String,
}

/// Renders a message as one line of JSON that holds all that the marker shows. `<`, `>`, `&`, every line break and whatever
/// hides are written as `\uXXXX`, so a control token such as `<|im_end|>` is none.
#[must_use]
pub fn render_json(message: &Message<'_>) -> String {
    write(&Marker::of(message))
}

pub(super) fn write(marker: &Marker) -> String {
    let note =
        (!marker.note.is_empty()).then(|| Note { label: note_label(marker), text: marker.note.clone() });
    json_line(&Line { quote: body(marker), rule: RULE.to_owned(), note })
}

fn body(marker: &Marker) -> Body {
    Body {
        id: marker.id.to_string(),
        speaker: marker.speaker.to_string(),
        said: marker.said.map(|at| at.utc()),
        kept: marker.kept,
        of: marker.of,
        cut: marker.cut.to_string(),
        names: Names::of(marker),
        text: marker.text.clone(),
    }
}

/// Reads the JSON form of a marker.
///
/// # Errors
///
/// [`ParseError`] for everything that [`render_json`] does not write.
pub fn parse_json(line: &str) -> Result<Marker, ParseError> {
    let read: Line = serde_json::from_str(line).map_err(ParseError::Json)?;
    let marker = marker(read)?;
    if write(&marker) == line { Ok(marker) } else { Err(ParseError::Differs) }
}

fn marker(line: Line) -> Result<Marker, ParseError> {
    let body = line.quote;
    let (kept, of) = (body.kept.to_string(), body.of.to_string());
    let mut tag = vec![
        ("id", body.id.as_str()),
        ("speaker", &body.speaker),
        ("kept", &kept),
        ("of", &of),
        ("cut", &body.cut),
    ];
    tag.extend(body.said.as_deref().map(|said| ("said", said)));
    let mut marker = assemble(&Tag(tag), body.names, body.text)?;
    marker.note = line.note.map(|note| note.text).unwrap_or_default();
    Ok(marker)
}
