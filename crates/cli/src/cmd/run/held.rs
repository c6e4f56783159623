//! A stream's bytes until they are shown: in memory, or in a file without a name.

use std::fs::File;
use std::io::{self, Read};

use sayso_output::{FileSource, Source};
use tempfile::{SpooledData, SpooledTempFile};

/// Bytes that are held in memory at most.
pub(crate) const IN_MEMORY: usize = 1024 * 1024;

/// Where a stream is written to.
pub(super) fn spool() -> SpooledTempFile {
    SpooledTempFile::new(IN_MEMORY)
}

/// Bytes that can be read from any place.
#[derive(Debug)]
pub(crate) enum Held {
    /// In memory.
    Memory(Vec<u8>),
    /// In a file.
    File(FileSource),
}

impl Held {
    /// What was written.
    pub(crate) fn of(spool: SpooledTempFile) -> io::Result<Self> {
        match spool.into_inner() {
            SpooledData::InMemory(bytes) => Ok(Self::Memory(bytes.into_inner())),
            SpooledData::OnDisk(file) => Self::file(file),
        }
    }

    /// A file that is open for reading.
    pub(crate) fn file(file: File) -> io::Result<Self> {
        FileSource::new(file).map(Self::File)
    }
}

impl Source for Held {
    fn size(&self) -> u64 {
        match self {
            Self::Memory(bytes) => bytes.size(),
            Self::File(file) => file.size(),
        }
    }

    fn open(&self, from: u64) -> io::Result<Box<dyn Read + '_>> {
        match self {
            Self::Memory(bytes) => bytes.open(from),
            Self::File(file) => file.open(from),
        }
    }
}
