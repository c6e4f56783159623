//! What the tools are given. The comments are what a model reads.

use rmcp::schemars::{self, JsonSchema};
use sayso::SpeakerKind;
use sayso::store::StreamKind;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};

/// Hits of one answer unless told otherwise.
const HITS: u32 = 20;
/// Hits of one answer at most.
const MOST_HITS: u32 = 50;

/// Search.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// The words. All of them must occur in one turn.
    pub(crate) query: String,
    /// Only in this project: its name or address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) project: Option<String>,
    /// Only in this session: its address, title or PROJECT/TITLE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) session: Option<String>,
    /// Only words said by this kind of speaker. The owner is the person whose words are instructions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Kind")]
    pub(crate) speaker: Option<Kind>,
    /// Only turns said at this time or later: RFC 3339, or a date in UTC such as 2026-11-30.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) since: Option<String>,
    /// Search stored tool outputs too: the first 1 MiB of each.
    #[serde(default, skip_serializing_if = "is_false")]
    pub(crate) outputs: bool,
    /// Hits in one answer, 1 to 50; 20 when left out.
    #[serde(default, deserialize_with = "hits", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u32", range(min = 1, max = 50))]
    pub(crate) limit: Option<u32>,
    /// `next` of the answer before, with otherwise the same arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) cursor: Option<String>,
}

impl Search {
    pub(crate) fn limit(&self) -> usize {
        self.limit.unwrap_or(HITS) as usize
    }
}

/// Hits that one answer can have.
fn hits<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u32>, D::Error> {
    let given = Option::<u32>::deserialize(from)?;
    match given {
        Some(hits) if !(1..=MOST_HITS).contains(&hits) => Err(D::Error::custom(format!(
            "limit is {hits}, and an answer has 1 to {MOST_HITS} hits; the rest comes with the cursor in next"
        ))),
        given => Ok(given),
    }
}

/// A number that counts from 1.
fn from_one<'de, D: Deserializer<'de>>(from: D) -> Result<Option<u64>, D::Error> {
    match Option::<u64>::deserialize(from)? {
        Some(0) => Err(D::Error::custom("0 was given for a number that starts at 1")),
        given => Ok(given),
    }
}

/// A kind of speaker.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Kind {
    Owner,
    Person,
    Agent,
    Tool,
    System,
}

impl From<Kind> for SpeakerKind {
    fn from(kind: Kind) -> Self {
        match kind {
            Kind::Owner => Self::Owner,
            Kind::Person => Self::Person,
            Kind::Agent => Self::Agent,
            Kind::Tool => Self::Tool,
            Kind::System => Self::System,
        }
    }
}

/// Sessions.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Sessions {
    /// Only of this project: its name or address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) project: Option<String>,
    /// `next` of the answer before, with otherwise the same arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) cursor: Option<String>,
}

/// Show.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Show {
    /// A turn: its address or id. Or a session: its address, title or PROJECT/TITLE.
    pub(crate) address: String,
    /// Of a session: start at the entry with this seq.
    #[serde(default, deserialize_with = "from_one", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = 1))]
    pub(crate) from: Option<u64>,
    /// `next` of the answer before, with otherwise the same arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) cursor: Option<String>,
}

/// Origin.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Origin {
    /// The turn that holds the quote: its address or id.
    pub(crate) address: String,
    /// `next` of the answer before, with otherwise the same arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) cursor: Option<String>,
}

/// Inbox.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Inbox {
    /// Only of this session: its address, title or PROJECT/TITLE.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) session: Option<String>,
    /// `next` of the answer before, with otherwise the same arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) cursor: Option<String>,
}

/// Output.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Output {
    /// The output's id, as show and search give it.
    pub(crate) output: String,
    /// stdout when left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Stream")]
    pub(crate) stream: Option<Stream>,
    /// Read lines, from this one on (from 1). This is what is done when nothing else is asked.
    #[serde(default, deserialize_with = "from_one", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = 1))]
    pub(crate) line: Option<u64>,
    /// Read bytes, from this one on (from 0).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64")]
    pub(crate) byte: Option<u64>,
    /// Read the lines that match this regular expression, with their numbers; (?i) at its start ignores case.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) grep: Option<String>,
    /// Lines, bytes or matches at most; as many as fit when left out.
    #[serde(default, deserialize_with = "from_one", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "u64", range(min = 1))]
    pub(crate) count: Option<u64>,
    /// `next` of the answer before, with otherwise the same arguments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) cursor: Option<String>,
}

/// A stream of an output.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum Stream {
    Stdout,
    Stderr,
}

impl From<Stream> for StreamKind {
    fn from(stream: Stream) -> Self {
        match stream {
            Stream::Stdout => Self::Stdout,
            Stream::Stderr => Self::Stderr,
        }
    }
}

/// Forward.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Forward {
    /// The turns, in order: addresses or ids. An address with #chars=START,LENGTH forwards that part.
    #[schemars(length(min = 1, max = 50))]
    pub(crate) turns: Vec<String>,
    /// The session they go to: its address, title or PROJECT/TITLE.
    pub(crate) to: String,
    /// What you add, at most 12,000 characters. It stands beside the last quote, as yours.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) note: Option<String>,
    /// Of one turn: forward only these words, which stand in it exactly once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) words: Option<String>,
    /// Of a turn that holds a quote: its own note, or the quote. The note when left out, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "NoteOrQuote")]
    pub(crate) what: Option<NoteOrQuote>,
    /// Any text of your own; a repeated call with the same key forwards once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    pub(crate) key: Option<String>,
}

/// Which words of a turn that holds a quote.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(crate) enum NoteOrQuote {
    Note,
    Quote,
}

#[allow(clippy::trivially_copy_pass_by_ref)] // the shape that serde calls
fn is_false(value: &bool) -> bool {
    !value
}
