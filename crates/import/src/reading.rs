//! What reads the records of each format.

use std::path::Path;

use crate::claude::{self, Claude};
use crate::codex::Codex;
use crate::formats::Format;
use crate::pi::Pi;
use crate::records::Record;
use crate::session::Home;
use crate::sink::Sink;
use crate::values::named;

/// What reads the records of one format, but for a header.
pub(crate) trait Reading {
    /// The header, where the format has one.
    fn header(&mut self, _: &Record, _: &mut Sink<'_>) {}

    fn record(&mut self, record: Record, sink: &mut Sink<'_>) -> Result<(), sayso::Error>;

    /// The file has no more complete records for now.
    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), sayso::Error>;
}

impl Reading for Codex {
    fn header(&mut self, header: &Record, sink: &mut Sink<'_>) {
        self.head(header, sink);
    }

    fn record(&mut self, record: Record, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.take(record, sink)
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.settle(sink)
    }
}

impl Reading for Pi {
    fn header(&mut self, header: &Record, sink: &mut Sink<'_>) {
        self.head(header, sink);
    }

    fn record(&mut self, record: Record, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.take(record, sink)
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.branches(sink)
    }
}

impl Reading for Claude {
    fn record(&mut self, record: Record, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.take(record, sink)
    }

    fn end(&mut self, sink: &mut Sink<'_>) -> Result<(), sayso::Error> {
        self.settle(sink)
    }
}

/// The reader of a file, whose path is absolute.
pub(crate) fn reading(format: Format, owner: &str, path: &Path) -> Box<dyn Reading> {
    match format {
        Format::ClaudeCode => Box::new(Claude::new(owner, path)),
        Format::Codex | Format::CodexFlat => Box::new(Codex::new(format, owner)),
        // An export is read by itself.
        Format::Pi | Format::OpenClaw | Format::OpenClawDatabase | Format::Sayso => {
            Box::new(Pi::new(format, owner, path.parent().unwrap_or(path)))
        }
    }
}

/// The session that a file with this first record belongs to.
pub(crate) fn home(format: Format, first: &Record, path: &Path) -> Option<Home> {
    let header = match format {
        Format::ClaudeCode => return claude::home::home(path, first),
        Format::Codex => first.value.get("payload")?,
        Format::Sayso => return None,
        Format::CodexFlat | Format::Pi | Format::OpenClaw | Format::OpenClawDatabase => &first.value,
    };
    let id = named(header, "id").or_else(|| named(header, "session_id"))?;
    Some(Home::new(format, id, named(header, "cwd")))
}
