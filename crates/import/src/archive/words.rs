//! How values stand in a record: ids and words as their canonical text, hashes and salts in hexadecimal.

use std::fmt::{self, Display};
use std::str::FromStr;

use sayso::model::{Digest, SaidAt, Salt};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value that has a canonical text: an id, an address, a word of a closed list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Word<T>(pub(super) T);

impl<T: Display> Serialize for Word<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de, T: FromStr<Err: Display>> Deserialize<'de> for Word<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map(Self).map_err(D::Error::custom)
    }
}

/// A hash of 32 bytes, as 64 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Hash(pub(super) Digest);

impl Serialize for Hash {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Hash {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        Digest::parse(&text).map(Self).ok_or_else(|| D::Error::custom("a hash has 64 hexadecimal digits"))
    }
}

/// A salt of 16 bytes, as 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grain(pub(super) Salt);

impl Display for Grain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl FromStr for Grain {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let number = u128::from_str_radix(text, 16).map_err(|_| "a salt has 32 hexadecimal digits")?;
        let grain = Self(Salt(number.to_be_bytes()));
        if grain.to_string() == text { Ok(grain) } else { Err("a salt has 32 hexadecimal digits") }
    }
}

impl Serialize for Grain {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Grain {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Word::deserialize(from).map(|word: Word<Self>| word.0)
    }
}

/// When something was said: milliseconds since 1970 in UTC, and the offset of the clock that said so in minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Said {
    ms: i64,
    offset: i16,
}

impl From<SaidAt> for Said {
    fn from(at: SaidAt) -> Self {
        Self { ms: at.ms(), offset: at.offset_minutes() }
    }
}

impl Said {
    /// The time; `None` where the numbers are out of range.
    pub(super) fn at(self) -> Option<SaidAt> {
        SaidAt::new(self.ms, self.offset)
    }
}
