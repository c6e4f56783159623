//! Standard input and output.

use std::io::{self, IsTerminal, Read, Write};

use crate::fail::Failure;

/// Standard output: data only. A reader that went away ends the program quietly.
pub(crate) struct Out<'a> {
    to: &'a mut dyn Write,
    json: bool,
}

impl<'a> Out<'a> {
    pub(crate) fn new(to: &'a mut dyn Write, json: bool) -> Self {
        Self { to, json }
    }

    /// Whether JSON was asked for.
    pub(crate) const fn json(&self) -> bool {
        self.json
    }

    /// One line.
    pub(crate) fn line(&mut self, text: impl AsRef<str>) -> Result<(), Failure> {
        self.bytes(text.as_ref().as_bytes())?;
        self.bytes(b"\n")
    }

    /// Bytes as they are.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.to.write_all(bytes).map_err(written)
    }

    /// One object on one line.
    pub(crate) fn object(&mut self, value: &impl serde::Serialize) -> Result<(), Failure> {
        let text = serde_json::to_string(value)
            .map_err(|e| Failure::io("the result has no form in JSON", io::Error::other(e)))?;
        self.line(text)
    }

    /// An object where JSON was asked for, else a line of text.
    pub(crate) fn either(
        &mut self,
        value: &impl serde::Serialize,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.json { self.object(value) } else { self.line(text()) }
    }

    /// The stream itself, for readers that write into it.
    pub(crate) fn raw(&mut self) -> &mut dyn Write {
        self.to
    }

    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.to.flush().map_err(written)
    }
}

fn written(error: io::Error) -> Failure {
    match error.kind() {
        io::ErrorKind::BrokenPipe => Failure::BrokenPipe,
        _ => Failure::io("standard output cannot be written", error),
    }
}

/// Talk to a person, on standard error. It is no failure when nobody listens.
pub(crate) fn say(text: impl AsRef<str>) {
    let _ = writeln!(io::stderr(), "{}", text.as_ref());
}

/// Everything on standard input.
pub(crate) fn read_input() -> Result<Vec<u8>, Failure> {
    let mut stdin = io::stdin().lock();
    if stdin.is_terminal() {
        say("Type the text, then end it with Ctrl-D on a line of its own.");
    }
    let mut bytes = Vec::new();
    stdin.read_to_end(&mut bytes).map_err(|e| Failure::io("standard input cannot be read", e))?;
    Ok(bytes)
}

/// Whether a person reads standard output.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// The columns of the terminal, as far as the shell tells; 100 at most, so that lines stay readable.
pub(crate) fn width() -> usize {
    let told = std::env::var("COLUMNS").ok().and_then(|c| c.parse().ok());
    told.unwrap_or(80usize).clamp(40, 100)
}

/// A number with its noun.
pub(crate) fn counted(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// A text on one line: what hides is shown, runs of white space are one space.
pub(crate) fn one_line(text: &str) -> String {
    let shown = sayso::model::hidden::show(text);
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}
