//! Ids: ULIDs in newtypes. An id identifies and never orders; order is `seq`.

use std::fmt;
use std::str::FromStr;

use ulid::Ulid;

/// Why a text is not a canonical id.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// The text has another length than 26.
    #[error("an id has 26 characters, this has {found}: copy the whole id")]
    Length {
        /// Characters found.
        found: usize,
    },
    /// A character outside Crockford's base 32.
    #[error("an id holds only 0-9 and A-Z without I, L, O and U: {found:?} is none of them")]
    Character {
        /// The first such character.
        found: char,
    },
    /// Letters in lower case: the same number, but not the same bytes.
    #[error("an id is written in upper case: use {canonical}")]
    LowerCase {
        /// The canonical writing.
        canonical: String,
    },
    /// The number does not fit into 128 bits.
    #[error("an id starts with 0 to 7: {found:?} overflows 128 bits, so this was never an id")]
    Overflow {
        /// The first character.
        found: char,
    },
}

/// Parses a canonical ULID: re-encoding must give the same bytes, since equality of addresses is byte equality.
fn parse(text: &str) -> Result<Ulid, IdError> {
    // Reading a ledger parses many ids, nearly all of them canonical; the reason is only looked for where one is not.
    match Ulid::from_string(text) {
        Ok(id) if id.array_to_str(&mut [0; ulid::ULID_LEN]) == text => Ok(id),
        _ => parse_slowly(text),
    }
}

fn parse_slowly(text: &str) -> Result<Ulid, IdError> {
    let found = text.chars().count();
    if found != 26 {
        return Err(IdError::Length { found });
    }
    if let Some(found) = text.chars().find(|c| !is_crockford(*c)) {
        return Err(IdError::Character { found });
    }
    let upper = text.to_ascii_uppercase();
    if let Some(found) = upper.chars().next().filter(|c| *c > '7') {
        return Err(IdError::Overflow { found });
    }
    if upper != text {
        return Err(IdError::LowerCase { canonical: upper });
    }
    Ulid::from_string(text).map_err(|_| IdError::Length { found })
}

fn is_crockford(c: char) -> bool {
    c.is_ascii_alphanumeric() && !matches!(c.to_ascii_uppercase(), 'I' | 'L' | 'O' | 'U')
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(Ulid);

        impl $name {
            /// The id of this 128-bit number.
            #[must_use]
            pub const fn from_u128(value: u128) -> Self {
                Self(Ulid(value))
            }

            /// The id's 16 bytes, big-endian.
            #[must_use]
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.0.array_to_str(&mut [0; ulid::ULID_LEN]))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                parse(text).map(Self)
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.collect_str(self)
            }
        }
    )*};
}

ids! {
    /// A ledger: one store.
    LedgerId;
    /// A project: a namespace of sessions.
    ProjectId;
    /// A session: an ordered list of entries.
    SessionId;
    /// An entry of a session: a turn, a compaction, a re-injection or a mark.
    EntryId;
    /// A speaker: a kind and a name as it was then.
    SpeakerId;
    /// One capture of what a tool produced.
    OutputId;
    /// A message that expects an answer.
    RequestId;
    /// One part of a message to a person.
    DeliveryId;
}

/// A turn's id is its entry's id.
pub type TurnId = EntryId;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_canonical_writing_is_an_id() {
        let text = "01ARZ3NDEKTSV4RRFFQ69G5FAV";
        assert_eq!(text.parse::<TurnId>().unwrap().to_string(), text);
        let refused = |t: &str| t.parse::<TurnId>().unwrap_err();
        assert!(matches!(refused(&text.to_lowercase()), IdError::LowerCase { .. }));
        assert!(matches!(refused("81ARZ3NDEKTSV4RRFFQ69G5FAV"), IdError::Overflow { found: '8' }));
        assert!(matches!(refused("01ARZ"), IdError::Length { found: 5 }));
        assert!(matches!(refused("01ARZ3NDEKTSV4RRFFQ69G5FAU"), IdError::Character { found: 'U' }));
    }
}
