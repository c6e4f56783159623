//! Opening transcripts, also those that a program compressed.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::Path;

/// Bytes read at once.
const BUFFER: usize = 256 << 10;

/// The bytes of a transcript; a name that ends in `.zst` stands for a compressed one.
pub(crate) fn open(path: &Path) -> io::Result<Box<dyn Read>> {
    let file = File::open(path)?;
    if path.extension().is_some_and(|e| e == "zst") {
        return Ok(Box::new(zstd::stream::read::Decoder::new(file)?));
    }
    Ok(Box::new(file))
}

/// The same, read in large steps.
pub(crate) fn buffered(path: &Path) -> io::Result<BufReader<Box<dyn Read>>> {
    Ok(BufReader::with_capacity(BUFFER, open(path)?))
}
