//! The last line of a view.

use std::fmt;
use std::time::Duration;

use super::line::grouped;
use crate::capture::{Ending, Kept, StreamName};

/// How the command ended and what is said about its output: the last line of every view.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Footer {
    /// How the command ended.
    pub ending: Ending,
    /// How long it took, where known.
    pub duration: Option<Duration>,
    /// Whether a background process still held a pipe.
    pub pipe_held: bool,
    /// What is kept of each stream, where it is not all: the stream, what is kept of it, and the bytes there are.
    pub kept: Vec<(StreamName, Kept, u64)>,
    /// Lines, bytes and id: said when something is not shown.
    pub(crate) lines: u64,
    pub(crate) bytes: u64,
    pub(crate) id: Option<String>,
}

impl Footer {
    /// The line; `cut` says whether something is not shown.
    pub(crate) fn line(&self, cut: bool) -> String {
        let mut facts = vec![ending(self.ending)];
        facts.extend(self.duration.map(duration));
        if cut {
            facts.push(counted(self.lines, "line"));
            facts.push(counted(self.bytes, "byte"));
            facts.extend(self.id.clone());
        }
        facts.extend(self.kept.iter().filter_map(|(name, kept, bytes)| state(*name, *kept, *bytes)));
        facts.extend(self.pipe_held.then(|| "pipe held by a background process".to_owned()));
        format!("[{}]", facts.join(" | "))
    }
}

pub(super) fn counted(number: u64, thing: &str) -> String {
    format!("{} {thing}{}", grouped(number), if number == 1 { "" } else { "s" })
}

fn ending(ending: Ending) -> String {
    match ending {
        Ending::Exit(code) => format!("exit:{code}"),
        Ending::Signal(number) => format!("signal:{}", signal(number)),
        Ending::Timeout => "timeout".to_owned(),
        Ending::Unknown => "exit unknown".to_owned(),
    }
}

fn duration(time: Duration) -> String {
    let tenths = time.as_millis() / 100;
    match tenths {
        0 if time.as_millis() > 0 => format!("{}ms", time.as_millis()),
        0..100 => format!("{}.{}s", tenths / 10, tenths % 10),
        100..6000 => format!("{}s", time.as_secs()),
        _ => format!("{}m {}s", time.as_secs() / 60, time.as_secs() % 60),
    }
}

fn state(name: StreamName, kept: Kept, bytes: u64) -> Option<String> {
    let name = name.as_str();
    match kept {
        Kept::Complete => None,
        Kept::Capped { of } => {
            Some(format!("{name} capped: first {} of {} bytes", grouped(bytes), grouped(of)))
        }
        Kept::Partial => Some(format!("{name} partial: {} came", counted(bytes, "byte"))),
    }
}

/// The name of a signal, which has one number on every Unix; else its number.
fn signal(number: i32) -> String {
    let name = match number {
        1 => "HUP",
        2 => "INT",
        3 => "QUIT",
        4 => "ILL",
        5 => "TRAP",
        6 => "ABRT",
        8 => "FPE",
        9 => "KILL",
        11 => "SEGV",
        13 => "PIPE",
        14 => "ALRM",
        15 => "TERM",
        other => return other.to_string(),
    };
    format!("SIG{name}")
}

impl fmt::Display for Footer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.line(false))
    }
}
