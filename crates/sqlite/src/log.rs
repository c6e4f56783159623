//! What stands in a ledger's log behind its end. SQLite reads a log up to the first frame whose checksum does not fit and takes the
//! rest for what an earlier use of the file, or a loss of power, left there. (The form of the log: SQLite's file format, 4.1 to 4.3.)

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

const HEADER: usize = 32;
const FRAME: usize = 24;
/// Pages that SQLite knows: 512 bytes to 64 KiB.
const PAGES: std::ops::RangeInclusive<usize> = 512..=65_536;

/// How a log ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogEnd {
    /// Frames that are read: up to the last commit whose checksums fit.
    pub frames: u64,
    /// Commits of the same use of the log that stand behind its end and are not read. A loss of power leaves one at most at a time,
    /// of a write that nobody was told of; two or more were almost certainly acknowledged, and what stands before them was changed.
    pub commits_behind: u64,
}

/// Looks at the log of a ledger, which nobody should be writing meanwhile. Where there is none, nothing is behind it.
///
/// # Errors
///
/// The log cannot be read.
pub fn log_end(ledger: &Path) -> io::Result<LogEnd> {
    let mut path = ledger.as_os_str().to_owned();
    path.push("-wal");
    match File::open(path) {
        Ok(file) => end_of(BufReader::with_capacity(1 << 18, file)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(LogEnd::default()),
        Err(error) => Err(error),
    }
}

fn end_of(mut log: impl Read) -> io::Result<LogEnd> {
    let mut header = [0; HEADER];
    if !fill(&mut log, &mut header)? {
        return Ok(LogEnd::default());
    }
    let page = number(&header, 8) as usize;
    if !PAGES.contains(&page) || !page.is_power_of_two() {
        return Ok(LogEnd::default());
    }
    let mut sum = Sum { big: number(&header, 0) & 1 == 1, a: 0, b: 0 };
    sum.add(header.get(..24).unwrap_or_default());
    let mut whole = sum.is(number(&header, 24), number(&header, 28));
    // Where the header itself was changed, the first frame says which use of the file is meant.
    let mut salts = whole.then(|| (number(&header, 16), number(&header, 20)));
    let (mut end, mut read) = (LogEnd::default(), 0);
    let mut frame = vec![0; FRAME + page];
    while fill(&mut log, &mut frame)? {
        let of_frame = (number(&frame, 8), number(&frame, 12));
        if *salts.get_or_insert(of_frame) != of_frame {
            // From here on it is an earlier use of the file, unless this very number was changed.
            whole = false;
            continue;
        }
        sum.add(frame.get(..8).unwrap_or_default());
        sum.add(frame.get(FRAME..).unwrap_or_default());
        whole &= sum.is(number(&frame, 16), number(&frame, 20));
        let commits = number(&frame, 4) != 0;
        if whole {
            read += 1;
            end.frames = if commits { read } else { end.frames };
        } else {
            end.commits_behind += u64::from(commits);
        }
    }
    Ok(end)
}

/// Whether all of it could be filled.
fn fill(from: &mut impl Read, to: &mut [u8]) -> io::Result<bool> {
    match from.read_exact(to) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error),
    }
}

/// A number of four bytes, the largest first; 0 where there are none.
fn number(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, u32::from_be_bytes)
}

/// The log's checksum, which each frame carries on from the one before.
struct Sum {
    /// Whether words are read with their largest byte first.
    big: bool,
    a: u32,
    b: u32,
}

impl Sum {
    fn add(&mut self, bytes: &[u8]) {
        for words in bytes.chunks_exact(8) {
            let (x, y) = (number(words, 0), number(words, 4));
            let (x, y) = if self.big { (x, y) } else { (x.swap_bytes(), y.swap_bytes()) };
            self.a = self.a.wrapping_add(x).wrapping_add(self.b);
            self.b = self.b.wrapping_add(y).wrapping_add(self.a);
        }
    }

    const fn is(&self, a: u32, b: u32) -> bool {
        self.a == a && self.b == b
    }
}
