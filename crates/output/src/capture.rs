//! What a tool produced: two streams of bytes, how it ended, how long it took.

use std::io::{self, Read};
use std::time::Duration;

use crate::text::Charset;

/// Bytes that can be read from any place, as often as needed: memory, a file, a stored output.
pub trait Source {
    /// The number of bytes.
    fn size(&self) -> u64;

    /// Reads from this byte to the end.
    ///
    /// # Errors
    ///
    /// What the place of the bytes says.
    fn open(&self, from: u64) -> io::Result<Box<dyn Read + '_>>;
}

impl Source for [u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn open(&self, from: u64) -> io::Result<Box<dyn Read + '_>> {
        let from = usize::try_from(from).unwrap_or(usize::MAX);
        Ok(Box::new(self.get(from..).unwrap_or_default()))
    }
}

impl Source for Vec<u8> {
    fn size(&self) -> u64 {
        self.as_slice().size()
    }

    fn open(&self, from: u64) -> io::Result<Box<dyn Read + '_>> {
        self.as_slice().open(from)
    }
}

impl Source for str {
    fn size(&self) -> u64 {
        self.as_bytes().size()
    }

    fn open(&self, from: u64) -> io::Result<Box<dyn Read + '_>> {
        self.as_bytes().open(from)
    }
}

impl<T: Source + ?Sized> Source for &T {
    fn size(&self) -> u64 {
        (**self).size()
    }

    fn open(&self, from: u64) -> io::Result<Box<dyn Read + '_>> {
        (**self).open(from)
    }
}

/// A file as a source. Its size is what it was when it was opened.
#[cfg(unix)]
#[derive(Debug)]
pub struct FileSource {
    file: std::fs::File,
    size: u64,
}

#[cfg(unix)]
impl FileSource {
    /// A file that is open for reading.
    ///
    /// # Errors
    ///
    /// When its size cannot be asked for.
    pub fn new(file: std::fs::File) -> io::Result<Self> {
        let size = file.metadata()?.len();
        Ok(Self { file, size })
    }
}

#[cfg(unix)]
impl Source for FileSource {
    fn size(&self) -> u64 {
        self.size
    }

    fn open(&self, from: u64) -> io::Result<Box<dyn Read + '_>> {
        Ok(Box::new(FileReader { file: &self.file, at: from, end: self.size }))
    }
}

#[cfg(unix)]
struct FileReader<'a> {
    file: &'a std::fs::File,
    at: u64,
    end: u64,
}

#[cfg(unix)]
impl Read for FileReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        use std::os::unix::fs::FileExt;
        let left = usize::try_from(self.end.saturating_sub(self.at)).unwrap_or(usize::MAX);
        let wanted = buffer.len().min(left);
        let read = self.file.read_at(buffer.get_mut(..wanted).unwrap_or_default(), self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

/// Which of the two streams.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum StreamName {
    /// Standard output.
    Stdout,
    /// Standard error.
    Stderr,
}

impl StreamName {
    /// Its usual name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdout => "stdout",
            Self::Stderr => "stderr",
        }
    }
}

/// Whether everything that was produced is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// All of it.
    Complete,
    /// The first part of this many bytes: there was a cap.
    Capped {
        /// Bytes that the tool produced.
        of: u64,
    },
    /// What came until something broke off; how much there would have been is not known.
    Partial,
}

/// One stream of a capture.
#[derive(Clone, Copy)]
pub struct Stream<'a> {
    /// Its bytes.
    pub source: &'a dyn Source,
    /// Whether they are all.
    pub kept: Kept,
}

impl std::fmt::Debug for Stream<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Stream").field("bytes", &self.source.size()).field("kept", &self.kept).finish()
    }
}

impl<'a> Stream<'a> {
    /// A stream without a byte.
    #[must_use]
    pub fn empty() -> Self {
        Self::whole(const { &Vec::new() })
    }

    /// A stream of which nothing is missing.
    #[must_use]
    pub fn whole(source: &'a dyn Source) -> Self {
        Self { source, kept: Kept::Complete }
    }

    /// The first bytes of a stream of `of` bytes; whole if these are all.
    #[must_use]
    pub fn capped(source: &'a dyn Source, of: u64) -> Self {
        let kept = if source.size() < of { Kept::Capped { of } } else { Kept::Complete };
        Self { source, kept }
    }

    /// What came of a stream that broke off.
    #[must_use]
    pub fn partial(source: &'a dyn Source) -> Self {
        Self { source, kept: Kept::Partial }
    }
}

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    /// By itself, with this code.
    Exit(i32),
    /// By this signal.
    Signal(i32),
    /// It was ended because its time was over. It has no exit code of its own.
    Timeout,
    /// The source does not say.
    Unknown,
}

impl Ending {
    /// Whether it surely succeeded.
    #[must_use]
    pub const fn success(self) -> bool {
        matches!(self, Self::Exit(0))
    }
}

/// What a tool produced, as presentation wants it.
#[derive(Debug, Clone)]
pub struct Capture<'a> {
    /// The tool's name, for messages about it: `cat`.
    pub tool: String,
    /// The stored output's id, where it is stored.
    pub id: Option<String>,
    /// Standard output.
    pub stdout: Stream<'a>,
    /// Standard error.
    pub stderr: Stream<'a>,
    /// How it ended.
    pub ending: Ending,
    /// How long it took, where known.
    pub duration: Option<Duration>,
    /// Whether a background process still held a pipe when reading ended.
    pub pipe_held: bool,
    /// The charset that the tool or its surroundings declare.
    pub charset: Option<Charset>,
}

impl<'a> Capture<'a> {
    /// A capture of one stream; the rest is set on its fields.
    #[must_use]
    pub fn of(tool: &str, stdout: Stream<'a>, ending: Ending) -> Self {
        Self {
            tool: tool.to_owned(),
            id: None,
            stdout,
            stderr: Stream::empty(),
            ending,
            duration: None,
            pipe_held: false,
            charset: None,
        }
    }
}
