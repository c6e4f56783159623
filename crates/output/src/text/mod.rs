//! From raw bytes to clean lines: which charset, which format, what a terminal would show.

mod charset;
mod clean;
mod decode;
mod escape;
mod line;
mod magic;
mod shown;
mod survey;

pub use charset::{Basis, Charset};
pub use clean::{Cleaned, LineSink};
pub use magic::Binary;
pub use shown::as_shown;

pub(crate) use charset::{Plan, plan};
pub(crate) use clean::Cleaner;
pub(crate) use decode::Decoder;
pub(crate) use magic::{magic, verdict};
pub(crate) use survey::{Survey, whole_characters};
