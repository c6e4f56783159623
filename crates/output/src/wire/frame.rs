//! A frame: both texts between a first line with lengths and hash and an end line, all bearing the call's nonce.
//!
//! ```text
//! ␞sayso-frame <nonce> <purpose> <bytes for the model> <bytes for the person> <BLAKE3>⏎
//! …both texts, one after the other…
//! ␞sayso-end <nonce>⏎
//! ```

use std::io::{self, Write};

use memchr::memmem;

use crate::envelope::{Envelope, Purpose, Received};
use crate::limits::{FRAME_HEADER_BYTES, WIRE_BYTES};

/// What tells one call's frames from anything else: 128 random bits, as 32 hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nonce(String);

impl Nonce {
    /// A new one, from the system.
    ///
    /// # Errors
    ///
    /// When the system has no random bytes.
    pub fn random() -> io::Result<Self> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(io::Error::other)?;
        Ok(Self::of(bytes))
    }

    /// The nonce of these bytes.
    #[must_use]
    pub fn of(bytes: [u8; 16]) -> Self {
        Self(bytes.iter().map(|b| format!("{b:02x}")).collect())
    }

    /// The nonce that is written like this; `None` where it is none.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let hex = text.len() == 32 && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        hex.then(|| Self(text.to_owned()))
    }

    /// As it is written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn start(&self) -> Vec<u8> {
        format!("\u{1E}sayso-frame {} ", self.0).into_bytes()
    }

    fn end(&self) -> Vec<u8> {
        format!("\u{1E}sayso-end {}", self.0).into_bytes()
    }
}

/// Both texts of a frame, as bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sections {
    /// For the model.
    pub model: Vec<u8>,
    /// For the person; may be empty.
    pub user: Vec<u8>,
    /// What the text for the person is.
    pub purpose: Purpose,
}

impl Sections {
    /// The envelope that they are; bytes that are no UTF-8 are repaired. What was for the person alone goes to the model too.
    #[must_use]
    pub fn received(&self) -> Received {
        let (model, user) = (String::from_utf8_lossy(&self.model), String::from_utf8_lossy(&self.user));
        match Envelope::received(&model, &user, self.purpose) {
            Ok(envelope) => Received::Whole(envelope),
            Err(_) => Received::Truncated(String::new()),
        }
    }

    fn hash(&self) -> blake3::Hash {
        let mut hasher = blake3::Hasher::new();
        hasher.update(
            format!("sayso-frame 1 {} {} {}\n", self.purpose, self.model.len(), self.user.len()).as_bytes(),
        );
        hasher.update(&self.model).update(&self.user);
        hasher.finalize()
    }
}

/// Writes a frame and flushes it.
///
/// # Errors
///
/// What the place says.
pub fn frame(sections: &Sections, nonce: &Nonce, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(&nonce.start())?;
    let (model, user) = (sections.model.len(), sections.user.len());
    writeln!(out, "{} {model} {user} {}", sections.purpose, sections.hash())?;
    out.write_all(&sections.model)?;
    out.write_all(&sections.user)?;
    out.write_all(&nonce.end())?;
    out.write_all(b"\n")?;
    out.flush()
}

/// What was found in a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A frame, whole.
    Whole(Sections),
    /// A frame that broke off, was cut short or does not hash to what it says: everything that came of it.
    Truncated(Vec<u8>),
}

impl Found {
    /// What it is for those who decide.
    #[must_use]
    pub fn received(&self) -> Received {
        match self {
            Self::Whole(sections) => sections.received(),
            Self::Truncated(bytes) => Received::Truncated(String::from_utf8_lossy(bytes).into_owned()),
        }
    }
}

struct Header {
    purpose: Purpose,
    model: usize,
    user: usize,
    hash: blake3::Hash,
}

impl Header {
    fn parse(line: &[u8]) -> Option<Self> {
        let mut words = std::str::from_utf8(line).ok()?.split(' ');
        let purpose = Purpose::parse(words.next()?)?;
        let mut length = || words.next()?.parse::<usize>().ok();
        let (model, user) = (length()?, length()?);
        let hash = blake3::Hash::from_hex(words.next()?).ok()?;
        let small = model.checked_add(user).is_some_and(|n| n as u64 <= WIRE_BYTES);
        (small && words.next().is_none()).then_some(Self { purpose, model, user, hash })
    }
}

/// Takes the frames of one call out of a stream and passes on everything else, byte for byte.
///
/// Memory: one frame, 16 MiB at most; a longer one is truncated.
pub struct FrameReader<'a> {
    nonce: Nonce,
    text: &'a mut dyn Write,
    held: Vec<u8>,
    found: Vec<Found>,
}

impl<'a> FrameReader<'a> {
    /// Reads frames with this nonce; what stands around them goes to `text`.
    pub fn new(nonce: Nonce, text: &'a mut dyn Write) -> Self {
        Self { nonce, text, held: Vec::new(), found: Vec::new() }
    }

    /// Takes the next piece of the stream.
    ///
    /// # Errors
    ///
    /// What the place of the text says.
    pub fn feed(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.held.extend_from_slice(bytes);
        self.step(false)
    }

    /// The stream is at its end: what was found in it, in order.
    ///
    /// # Errors
    ///
    /// What the place of the text says.
    pub fn finish(mut self) -> io::Result<Vec<Found>> {
        self.step(true)?;
        self.text.flush()?;
        Ok(self.found)
    }

    fn step(&mut self, last: bool) -> io::Result<()> {
        let start = self.nonce.start();
        loop {
            let Some(at) = memmem::find(&self.held, &start) else { return self.outside(&start, last) };
            self.pass(at)?;
            let Some((found, length)) = self.inside(start.len(), last) else { return Ok(()) };
            self.held.drain(..length);
            self.found.push(found);
        }
    }

    fn pass(&mut self, length: usize) -> io::Result<()> {
        self.text.write_all(self.held.get(..length).unwrap_or_default())?;
        self.held.drain(..length);
        Ok(())
    }

    /// No frame begins: but for what may be the beginning of one, all of it is text.
    fn outside(&mut self, start: &[u8], last: bool) -> io::Result<()> {
        let longest = self.held.len().min(start.len() - 1);
        let begun = (1..=longest).rev().find(|n| self.held.ends_with(start.get(..*n).unwrap_or_default()));
        self.pass(self.held.len() - begun.unwrap_or(0))?;
        if last && !self.held.is_empty() {
            self.found.push(Found::Truncated(std::mem::take(&mut self.held)));
        }
        Ok(())
    }

    /// The frame at the beginning and its length, once that is decided.
    fn inside(&self, start: usize, last: bool) -> Option<(Found, usize)> {
        let body = self.held.get(start..).unwrap_or_default();
        let Some(line) = memchr::memchr(b'\n', body) else {
            return if last || body.len() > FRAME_HEADER_BYTES { self.broken(start, last) } else { None };
        };
        let Some(header) = Header::parse(body.get(..line).unwrap_or_default()) else {
            return self.broken(start, last);
        };
        let begin = start + line + 1;
        let end = begin + header.model + header.user;
        let mark = self.nonce.end();
        if self.held.len() < end + mark.len() + usize::from(!last) {
            return if last { self.broken(begin, last) } else { None };
        }
        self.whole(&header, begin, &mark).or_else(|| self.broken(begin, last))
    }

    fn whole(&self, header: &Header, begin: usize, mark: &[u8]) -> Option<(Found, usize)> {
        let middle = begin + header.model;
        let end = middle + header.user;
        let sections = Sections {
            model: self.held.get(begin..middle)?.to_vec(),
            user: self.held.get(middle..end)?.to_vec(),
            purpose: header.purpose,
        };
        let rest = self.held.get(end..)?.strip_prefix(mark)?;
        let feed = usize::from(rest.first() == Some(&b'\n'));
        (sections.hash() == header.hash).then(|| (Found::Whole(sections), end + mark.len() + feed))
    }

    /// What came of a broken frame: to its end line if there is one, or to the next frame, else all of it, once that is decided.
    fn broken(&self, begin: usize, last: bool) -> Option<(Found, usize)> {
        let body = self.held.get(begin..).unwrap_or_default();
        let mark = self.nonce.end();
        let ended = memmem::find(body, &mark);
        let next = memmem::find(body, &self.nonce.start());
        let decided = last || body.len() as u64 > WIRE_BYTES;
        let (kept, used) = match (ended, next) {
            (Some(end), next) if next.is_none_or(|next| end < next) => match body.get(end + mark.len()) {
                None if !decided => return None,
                after => (end, end + mark.len() + usize::from(after == Some(&b'\n'))),
            },
            (_, Some(next)) => (next, next),
            _ if !decided => return None,
            _ => (body.len(), body.len()),
        };
        Some((Found::Truncated(body.get(..kept).unwrap_or_default().to_vec()), begin + used))
    }
}
