//! One fast pass over the raw bytes: is this plain UTF-8, and how many lines has it.

use std::io::{self, Read};

use crate::capture::Source;
use crate::limits::{HEAD_BYTES, READ_BYTES};

/// What one pass over the raw bytes says.
#[derive(Debug, Default, Clone)]
pub(crate) struct Survey {
    /// The first bytes.
    pub(crate) head: Vec<u8>,
    /// All bytes.
    pub(crate) bytes: u64,
    /// Line feeds.
    pub(crate) breaks: u64,
    /// Whether the last byte is a line feed, or there is none.
    pub(crate) ended: bool,
    /// Whether it all is UTF-8.
    pub(crate) utf8: bool,
    /// Whether a byte above 127 occurs.
    pub(crate) beyond_ascii: bool,
    /// Whether a control other than tab and line feed occurs.
    pub(crate) controls: bool,
    /// NUL bytes.
    pub(crate) nuls: u64,
}

impl Survey {
    /// Reads all of a source once.
    pub(crate) fn of(source: &dyn Source) -> io::Result<Self> {
        let mut survey = Self { utf8: true, ended: true, ..Self::default() };
        let mut reader = source.open(0)?;
        let mut buffer = vec![0; READ_BYTES];
        let mut carried = 0;
        loop {
            let read = reader.read(buffer.get_mut(carried..).unwrap_or_default())?;
            if read == 0 {
                survey.utf8 &= carried == 0;
                return Ok(survey);
            }
            let filled = carried + read;
            survey.fresh(buffer.get(carried..filled).unwrap_or_default());
            carried = survey.characters(buffer.get(..filled).unwrap_or_default());
            buffer.copy_within(filled - carried..filled, 0);
        }
    }

    /// Lines, the last of which may lack its end.
    pub(crate) fn lines(&self) -> u64 {
        self.breaks + u64::from(!self.ended)
    }

    /// Whether the bytes are their own clean text.
    pub(crate) fn clean(&self) -> bool {
        self.utf8 && !self.controls
    }

    fn fresh(&mut self, bytes: &[u8]) {
        let room = HEAD_BYTES.saturating_sub(self.head.len());
        self.head.extend_from_slice(bytes.get(..room.min(bytes.len())).unwrap_or_default());
        self.bytes += bytes.len() as u64;
        self.breaks += bytecount::count(bytes, b'\n') as u64;
        self.ended = bytes.last() == Some(&b'\n');
        if ascii_controls(bytes) {
            self.controls = true;
            self.nuls += bytecount::count(bytes, 0) as u64;
        }
    }

    /// Checks whole characters and says how many bytes of an unfinished one stand at the end.
    fn characters(&mut self, bytes: &[u8]) -> usize {
        if bytes.is_ascii() {
            return 0;
        }
        self.beyond_ascii = true;
        if !self.utf8 {
            return 0;
        }
        let whole = whole_characters(bytes);
        let front = bytes.get(..whole).unwrap_or_default();
        self.utf8 = simdutf8::basic::from_utf8(front).is_ok();
        self.controls |= c1_controls(front);
        if self.utf8 { bytes.len() - whole } else { 0 }
    }
}

/// The length without a UTF-8 sequence that is cut off at the end.
pub(crate) fn whole_characters(bytes: &[u8]) -> usize {
    for back in 1..=bytes.len().min(3) {
        let at = bytes.len() - back;
        match bytes.get(at) {
            Some(0x80..=0xBF) => {}
            Some(0xC2..=0xDF) if back < 2 => return at,
            Some(0xE0..=0xEF) if back < 3 => return at,
            Some(0xF0..=0xF4) if back < 4 => return at,
            _ => break,
        }
    }
    bytes.len()
}

/// Branch-free within a block, so that it runs at the speed of memory.
fn ascii_controls(bytes: &[u8]) -> bool {
    let special = |b: &u8| u8::from(*b < 0x20) & u8::from(*b != b'\n') & u8::from(*b != b'\t');
    bytes
        .chunks(4096)
        .any(|block| block.iter().fold(0, |any, b| any | special(b) | u8::from(*b == 0x7F)) != 0)
}

/// C1 controls, NEL among them: `C2 80` to `C2 9F` in UTF-8.
fn c1_controls(bytes: &[u8]) -> bool {
    memchr::memchr_iter(0xC2, bytes).any(|at| matches!(bytes.get(at + 1), Some(0x80..=0x9F)))
}
