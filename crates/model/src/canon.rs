//! The canonical form that hashes are taken over, and commitments.
//!
//! A form is a domain name and a list of fields. Everything is length-prefixed, so that no two different forms have the
//! same bytes: a field is its tag (one byte), the length of its value (8 bytes, little-endian) and the value. Numbers are
//! 8 bytes, little-endian, two's complement. An absent field is left out; a list is a field that holds the number of its
//! items, then one field for each. The domain is written like a field with tag 0. Published vectors stand in the schema
//! page and in the tests: changing what a form writes means a new domain name, never the same one.

use std::fmt;

/// 16 random bytes that keep a commitment from being guessed. Redaction deletes them with the text.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Salt(pub [u8; 16]);

impl fmt::Debug for Salt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Salt(…)")
    }
}

/// A BLAKE3 hash of 32 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// What stands before the first entry of everything: 32 zero bytes.
    pub const ZERO: Self = Self([0; 32]);

    /// Reads 64 hexadecimal digits in lower case; `None` for anything else.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hash = blake3::Hash::from_hex(text).ok()?;
        (hash.to_hex().as_str() == text).then(|| Self(*hash.as_bytes()))
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&blake3::Hash::from_bytes(self.0).to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Digest({self})")
    }
}

impl serde::Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

/// The commitment to a text: `BLAKE3(salt ‖ bytes)`.
#[must_use]
pub fn commit(salt: &Salt, bytes: &[u8]) -> Digest {
    let mut hasher = blake3::Hasher::new();
    hasher.update(&salt.0).update(bytes);
    Digest(*hasher.finalize().as_bytes())
}

/// A canonical form while it is written.
pub struct Form(blake3::Hasher, Option<Vec<u8>>);

impl Form {
    /// Starts a form of this domain, such as `sayso.turn.v1`.
    #[must_use]
    pub fn new(domain: &str) -> Self {
        Self(blake3::Hasher::new(), None).field(0, domain.as_bytes())
    }

    /// The same, keeping the bytes as well, for the published vectors.
    #[must_use]
    pub fn recorded(domain: &str) -> Self {
        Self(blake3::Hasher::new(), Some(Vec::new())).field(0, domain.as_bytes())
    }

    /// Writes one field.
    #[must_use]
    pub fn field(mut self, tag: u8, value: &[u8]) -> Self {
        self.write(&[tag]);
        self.write(&(value.len() as u64).to_le_bytes());
        self.write(value);
        self
    }

    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
        if let Some(kept) = &mut self.1 {
            kept.extend_from_slice(bytes);
        }
    }

    /// Writes a number.
    #[must_use]
    pub fn number(self, tag: u8, value: impl Into<i128>) -> Self {
        // Every number of a form fits 64 bits; the low 8 bytes of the two's complement are the same for i64 and u64.
        let bytes = value.into().to_le_bytes();
        self.field(tag, bytes.get(..8).unwrap_or_default())
    }

    /// Writes a field, if there is one.
    #[must_use]
    pub fn option<T>(self, tag: u8, value: Option<T>, write: impl FnOnce(Self, u8, T) -> Self) -> Self {
        match value {
            Some(value) => write(self, tag, value),
            None => self,
        }
    }

    /// Writes the number of items, then each.
    #[must_use]
    pub fn list<T>(self, tag: u8, items: &[T], write: impl Fn(Self, &T) -> Self) -> Self {
        let counted = self.number(tag, items.len() as i64);
        items.iter().fold(counted, write)
    }

    /// The form's hash.
    #[must_use]
    pub fn hash(&self) -> Digest {
        Digest(*self.0.finalize().as_bytes())
    }

    /// The form's bytes, where they were kept.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.1.as_deref().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_ways_to_split_the_same_bytes_differ() {
        let a = Form::new("t").field(1, b"ab").field(1, b"c").hash();
        let b = Form::new("t").field(1, b"a").field(1, b"bc").hash();
        assert_ne!(a, b);
    }

    #[test]
    fn a_digest_is_read_in_lower_case_only() {
        let digest = commit(&Salt([1; 16]), b"x");
        assert_eq!(Digest::parse(&digest.to_string()), Some(digest));
        assert_eq!(Digest::parse(&digest.to_string().to_uppercase()), None);
    }
}
