//! Texts for two recipients that a command hands over: through a folder made for this call, or as frames on its standard output.

use std::ffi::OsString;
use std::io::{self, Write};

use sayso_output::envelope::Received;
use sayso_output::wire::{FRAME_VARIABLE, Found, FrameReader, Nonce, SPOOL_VARIABLE, Spool, Why, collect};
use tempfile::TempDir;

use crate::fail::Chain;
use crate::io::{one_line, say};

/// The spool folder of one command; none where it cannot be made.
pub(super) struct Call(Option<(Spool, TempDir)>);

impl Call {
    pub(super) fn new() -> Self {
        let made = folder().inspect_err(|error| {
            say(format!("warning: tools cannot hand over texts for a person: {}", Chain(error.as_ref())));
        });
        Self(made.ok())
    }

    /// What tells the command where to hand over.
    pub(super) fn variables(&self) -> Vec<(OsString, OsString)> {
        let Some((spool, _)) = &self.0 else { return Vec::new() };
        vec![
            (SPOOL_VARIABLE.into(), spool.folder().into()),
            (FRAME_VARIABLE.into(), spool.nonce().as_str().into()),
        ]
    }

    /// Takes the frames of this call out of what goes to `text`.
    pub(super) fn frames<'a>(&self, text: &'a mut dyn Write) -> Frames<'a> {
        match &self.0 {
            Some((spool, _)) => Frames::Read(FrameReader::new(spool.nonce().clone(), text)),
            None => Frames::Passed(text),
        }
    }

    /// Everything that was handed over, in order: the folder's first. What else lies in the folder is named.
    pub(super) fn received(&self, frames: Vec<Found>) -> Vec<Received> {
        let mut received = Vec::new();
        if let Some((spool, _)) = &self.0 {
            match collect(spool) {
                Ok(collected) => {
                    collected.findings.iter().for_each(|f| say(note(&f.name, f.why)));
                    received = collected.received;
                }
                Err(error) => say(format!("warning: {}", Chain(&error))),
            }
        }
        let truncated = frames.iter().filter(|f| matches!(f, Found::Truncated(_)));
        truncated.for_each(|_| say(note("a frame on standard output", Why::Truncated)));
        received.extend(frames.iter().map(Found::received));
        received
    }
}

fn folder() -> Result<(Spool, TempDir), Box<dyn std::error::Error>> {
    let parent = tempfile::tempdir()?;
    let spool = Spool::create(parent.path(), Nonce::random()?)?;
    Ok((spool, parent))
}

fn note(name: &str, why: Why) -> String {
    let name = one_line(name);
    match why {
        Why::Truncated => format!(
            "note: {name}: what was handed over is broken; all that came goes to the model: hand over through `sayso emit`"
        ),
        Why::Unfinished => {
            format!("note: {name}: the tool ended while it handed over: let it wait for `sayso emit`")
        }
        other => format!("note: {name} in the spool folder is ignored: {}", reason(other)),
    }
}

const fn reason(why: Why) -> &'static str {
    match why {
        Why::Link => "a link is not followed",
        Why::NotRegular => "it is no regular file",
        Why::Oversize => "it has more than 16 MiB",
        Why::Name => "tools hand over through `sayso emit`, which names its files",
        Why::Nonce => "it was not handed over for this call",
        Why::TooMany => "there are more than 1,024 files",
        Why::Unreadable => "it cannot be read",
        Why::Unfinished | Why::Truncated => "it is not whole",
    }
}

/// Standard output on its way to the view.
pub(super) enum Frames<'a> {
    Read(FrameReader<'a>),
    Passed(&'a mut dyn Write),
}

impl Frames<'_> {
    /// The frames; what could not be passed on is known already.
    pub(super) fn finish(self) -> Vec<Found> {
        match self {
            Self::Read(reader) => reader.finish().unwrap_or_default(),
            Self::Passed(_) => Vec::new(),
        }
    }
}

impl Write for Frames<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Read(reader) => reader.feed(bytes).map(|()| bytes.len()),
            Self::Passed(text) => text.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
