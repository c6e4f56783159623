//! Addresses: `sayso://<ledger>/<project>/<session>/<turn>`, shorter for a session and a project, and
//! `sayso://<ledger>/speaker/<speaker>`. A span of a turn is a fragment: `#chars=<start>,<length>`.
//!
//! Segments are canonical ULIDs and nothing else: no names, no query, no escapes. Two addresses are equal exactly when
//! their bytes are.

use std::fmt;
use std::str::FromStr;

use crate::id::{IdError, LedgerId, ProjectId, SessionId, SpeakerId, TurnId};
use crate::text;

/// Why a text is not an address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AddressError {
    /// It does not start with `sayso://`.
    #[error("an address starts with sayso://")]
    Scheme,
    /// It has a number of segments that no address has.
    #[error("an address has a ledger and up to three more segments, this has {found} in all")]
    Segments {
        /// Segments found.
        found: usize,
    },
    /// One segment is no canonical id.
    #[error("the {segment} in the address is no id")]
    Id {
        /// Which segment: ledger, project, session, turn or speaker.
        segment: &'static str,
        /// What is wrong with it.
        #[source]
        reason: IdError,
    },
    /// The fragment is no span, or stands behind something that is not a turn.
    #[error("after # only chars=<start>,<length> may stand, in plain numbers, and only behind a turn")]
    Fragment,
}

/// Why two numbers are no span of a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SpanError {
    /// A span of no characters.
    #[error("a selection has at least one character")]
    Empty,
    /// The span reaches past the end.
    #[error("the selection ends at character {end}, the text has {total}: choose a shorter one")]
    PastEnd {
        /// The character after the selection's last.
        end: u64,
        /// Characters the text has.
        total: u64,
    },
    /// The words do not stand in the text.
    #[error("the selected words do not stand in the text: copy them exactly, or give START,LEN")]
    Absent,
    /// The words stand there more than once.
    #[error(
        "the selected words stand there {count} times, first at {starts:?}: give START,LEN for the one that is meant"
    )]
    Repeated {
        /// Where the first few start, in characters.
        starts: Vec<u64>,
        /// How many there are.
        count: usize,
    },
}

/// A run of characters of a turn's text: at least one, counted in Unicode scalar values from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize)]
pub struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// The span of `len` characters from `start`.
    ///
    /// # Errors
    ///
    /// [`SpanError::Empty`] for no characters, [`SpanError::PastEnd`] where the end does not fit 32 bits.
    pub fn new(start: u32, len: u32) -> Result<Self, SpanError> {
        if len == 0 {
            return Err(SpanError::Empty);
        }
        match start.checked_add(len) {
            Some(_) => Ok(Self { start, len }),
            None => {
                Err(SpanError::PastEnd { end: u64::from(start) + u64::from(len), total: u64::from(u32::MAX) })
            }
        }
    }

    /// The one place where `words` stand in `text`; overlapping places count as several.
    ///
    /// ```
    /// use sayso_model::Span;
    /// let span = Span::find("🤔🤔🤔🤔:thinking", ":thinking").unwrap();
    /// assert_eq!((span.start(), span.len()), (4, 9));
    /// ```
    ///
    /// # Errors
    ///
    /// [`SpanError::Empty`], [`SpanError::Absent`] or [`SpanError::Repeated`].
    pub fn find(text: &str, words: &str) -> Result<Self, SpanError> {
        if words.is_empty() {
            return Err(SpanError::Empty);
        }
        let places: Vec<u64> = text
            .char_indices()
            .enumerate()
            .filter(|(_, (at, _))| text.get(*at..).is_some_and(|t| t.starts_with(words)))
            .map(|(index, _)| index as u64)
            .collect();
        match places.as_slice() {
            [] => Err(SpanError::Absent),
            [one] => Self::of(*one, text::chars(words) as u64),
            [..] => Err(SpanError::Repeated {
                starts: places.iter().copied().take(5).collect(),
                count: places.len(),
            }),
        }
    }

    fn of(start: u64, len: u64) -> Result<Self, SpanError> {
        let total = u64::from(u32::MAX);
        let past = SpanError::PastEnd { end: start.saturating_add(len), total };
        match (u32::try_from(start), u32::try_from(len)) {
            (Ok(start), Ok(len)) => Self::new(start, len),
            _ => Err(past),
        }
    }

    /// The first character.
    #[must_use]
    pub const fn start(self) -> u32 {
        self.start
    }

    /// How many characters; never 0.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // never empty, by construction
    pub const fn len(self) -> u32 {
        self.len
    }

    /// The span's part of `text`.
    ///
    /// # Errors
    ///
    /// [`SpanError::PastEnd`] where the text is shorter.
    pub fn slice(self, text: &str) -> Result<&str, SpanError> {
        let start = text::byte_of(text, self.start as usize);
        let rest = start.and_then(|at| text.get(at..));
        let part = rest.and_then(|r| r.get(..text::byte_of(r, self.len as usize)?));
        part.ok_or_else(|| SpanError::PastEnd {
            end: u64::from(self.start) + u64::from(self.len),
            total: text::chars(text) as u64,
        })
    }
}

/// What an address points to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Address {
    /// A project.
    Project(LedgerId, ProjectId),
    /// A session.
    Session(LedgerId, ProjectId, SessionId),
    /// A turn, or a span of its text.
    Turn(LedgerId, ProjectId, SessionId, TurnId, Option<Span>),
    /// A speaker.
    Speaker(LedgerId, SpeakerId),
}

impl Address {
    /// The ledger it belongs to.
    #[must_use]
    pub const fn ledger(self) -> LedgerId {
        match self {
            Self::Project(ledger, ..)
            | Self::Session(ledger, ..)
            | Self::Turn(ledger, ..)
            | Self::Speaker(ledger, _) => ledger,
        }
    }

    /// Whether a text means to be an address; whether it is one, parsing tells.
    #[must_use]
    pub fn looks_like(text: &str) -> bool {
        text.contains("://")
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Project(ledger, project) => write!(f, "sayso://{ledger}/{project}"),
            Self::Session(ledger, project, session) => {
                write!(f, "sayso://{ledger}/{project}/{session}")
            }
            Self::Turn(ledger, project, session, turn, span) => {
                write!(f, "sayso://{ledger}/{project}/{session}/{turn}")?;
                span.map_or(Ok(()), |s| write!(f, "#chars={},{}", s.start, s.len))
            }
            Self::Speaker(ledger, speaker) => write!(f, "sayso://{ledger}/speaker/{speaker}"),
        }
    }
}

impl serde::Serialize for Address {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl FromStr for Address {
    type Err = AddressError;

    fn from_str(text: &str) -> Result<Self, AddressError> {
        let rest = text.strip_prefix("sayso://").ok_or(AddressError::Scheme)?;
        let (path, fragment) = match rest.split_once('#') {
            Some((path, fragment)) => (path, Some(fragment)),
            None => (rest, None),
        };
        let segments: Vec<&str> = path.split('/').collect();
        let address = from_segments(&segments)?;
        match (address, fragment) {
            (address, None) => Ok(address),
            (Self::Turn(l, p, s, t, None), Some(f)) => Ok(Self::Turn(l, p, s, t, Some(span(f)?))),
            _ => Err(AddressError::Fragment),
        }
    }
}

fn from_segments(segments: &[&str]) -> Result<Address, AddressError> {
    Ok(match *segments {
        [ledger, "speaker", speaker] => Address::Speaker(id("ledger", ledger)?, id("speaker", speaker)?),
        [ledger, project] => Address::Project(id("ledger", ledger)?, id("project", project)?),
        [ledger, project, session] => {
            Address::Session(id("ledger", ledger)?, id("project", project)?, id("session", session)?)
        }
        [ledger, project, session, turn] => Address::Turn(
            id("ledger", ledger)?,
            id("project", project)?,
            id("session", session)?,
            id("turn", turn)?,
            None,
        ),
        ref other => return Err(AddressError::Segments { found: other.len() }),
    })
}

fn id<T: FromStr<Err = IdError>>(segment: &'static str, text: &str) -> Result<T, AddressError> {
    text.parse().map_err(|reason| AddressError::Id { segment, reason })
}

fn span(fragment: &str) -> Result<Span, AddressError> {
    let numbers = fragment.strip_prefix("chars=").and_then(|s| s.split_once(','));
    let (start, len) = numbers.ok_or(AddressError::Fragment)?;
    let parsed = (|| Span::new(number(start)?, number(len)?).ok())();
    parsed.ok_or(AddressError::Fragment)
}

/// A number in its one canonical writing: no sign, no leading zero.
fn number(text: &str) -> Option<u32> {
    let value: u32 = text.parse().ok()?;
    (value.to_string() == text).then_some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TURN: &str = "sayso://01ARZ3NDEKTSV4RRFFQ69G5FAV/01ARZ3NDEKTSV4RRFFQ69G5FAW/01ARZ3NDEKTSV4RRFFQ69G5FAX/01ARZ3NDEKTSV4RRFFQ69G5FAY";

    #[test]
    fn an_address_reads_back_as_its_own_bytes() {
        let speaker = "sayso://01ARZ3NDEKTSV4RRFFQ69G5FAV/speaker/01ARZ3NDEKTSV4RRFFQ69G5FAW";
        let span = format!("{TURN}#chars=4,9");
        for text in [TURN, &span, speaker, &TURN[..61], &TURN[..88]] {
            assert_eq!(text.parse::<Address>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn anything_else_is_refused_with_the_reason() {
        let refused = |t: &str| t.parse::<Address>().unwrap_err();
        assert_eq!(refused("http://x"), AddressError::Scheme);
        assert_eq!(refused("sayso://01ARZ3NDEKTSV4RRFFQ69G5FAV"), AddressError::Segments { found: 1 });
        let lower = refused(&TURN.replace("FAY", "fay"));
        assert!(matches!(lower, AddressError::Id { segment: "turn", .. }));
        for fragment in ["", "chars=04,9", "chars=4,0", "chars=+4,9", "chars=4", "bytes=4,9"] {
            assert_eq!(refused(&format!("{TURN}#{fragment}")), AddressError::Fragment);
        }
        assert_eq!(refused(&format!("{}/", TURN)), AddressError::Segments { found: 5 });
    }

    #[test]
    fn a_repeated_selection_is_refused_with_its_places() {
        let found = Span::find("ABC DEF ABC", "ABC").unwrap_err();
        assert_eq!(found, SpanError::Repeated { starts: vec![0, 8], count: 2 });
        assert_eq!(Span::new(8, 3).unwrap().slice("ABC DEF ABC"), Ok("ABC"));
    }
}
