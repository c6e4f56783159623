//! A view as rows of text.

use std::fmt;

use sayso_model::hidden;

use super::footer::counted;
use super::line::grouped;
use super::text::Text;
use super::{Body, Detail, View};
use crate::capture::StreamName;
use crate::profile::Cost;

/// Whether something is said to be left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cut {
    /// Where it is.
    AsIs,
    /// Also before it is: to know how much room that takes.
    Assumed,
}

impl fmt::Display for View {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.rows().join("\n"))
    }
}

impl View {
    fn rows(&self) -> Vec<String> {
        let mut rows = self.body_rows(StreamName::Stdout);
        if !self.stderr.empty() {
            rows.push("[stderr]".to_owned());
            rows.extend(self.body_rows(StreamName::Stderr));
        }
        rows.extend(self.beside(Cut::AsIs));
        rows.push(self.footer.line(self.cut()));
        rows
    }

    fn body_rows(&self, stream: StreamName) -> Vec<String> {
        match self.body(stream) {
            Body::Text(text) => self::text(text),
            Body::Binary(_) => vec![self.binary_row(stream)],
        }
    }

    /// `[error] cat: binary image file (182KB). Use: …`
    fn binary_row(&self, stream: StreamName) -> String {
        let Some(binary) = self.binary(stream) else { return String::new() };
        let kind = if binary.kind.is_empty() { String::new() } else { format!("{} ", binary.kind) };
        let tool = short(&self.tool, 40);
        let of = if stream == StreamName::Stderr { "stderr is a " } else { "" };
        let action = self.actions.file.as_deref().or(self.actions.whole.as_deref());
        let action = action.filter(|_| self.detail > Detail::Bare).and_then(|a| self.named(a));
        let action = action.map(|a| if stream == StreamName::Stderr { self.of_stderr(a) } else { a });
        let action = action.map(|a| format!(" Use: {a}")).unwrap_or_default();
        format!("[error] {tool}: {of}binary {kind}file ({}).{action}", size(binary.bytes))
    }

    /// An action with the output's id; none where nothing is stored.
    fn named(&self, action: &str) -> Option<String> {
        if !action.contains("{id}") {
            return Some(short(action, 120));
        }
        self.footer.id.as_deref().map(|id| short(&action.replace("{id}", id), 120))
    }

    /// What is said beside the content: normalisations, and how to go on where something is not shown.
    fn beside(&self, cut: Cut) -> Vec<String> {
        let notes = (self.detail == Detail::Full && !self.notes.is_empty())
            .then(|| format!("[normalised: {}]", self.notes.join("; ")));
        notes.into_iter().chain(self.guide(cut)).collect()
    }

    fn guide(&self, cut: Cut) -> Option<String> {
        if !(self.cut() || cut == Cut::Assumed) || self.detail == Detail::Bare {
            return None;
        }
        let whole = self.actions.whole.as_deref().and_then(|a| self.named(a));
        let told = |stream| self.is_told(stream, cut);
        let (stdout, stderr) = (told(StreamName::Stdout), told(StreamName::Stderr));
        // Room is left for either, as it is not known yet which stream will be cut.
        let only_stderr = stderr && (!stdout || cut == Cut::Assumed);
        let one_call = |whole: String| if only_stderr { self.of_stderr(whole) } else { whole };
        if self.detail == Detail::Short {
            return whole.map(|whole| format!("[whole output: {}]", one_call(whole)));
        }
        let mut sentences = vec![self.much(cut)];
        let (added, apart) = self.parts(whole.as_deref());
        sentences.extend(whole.map(|whole| format!("whole: {}", one_call(whole))));
        sentences.extend(apart);
        let of_both = self.actions.stderr.as_ref().filter(|_| stderr && stdout);
        sentences.extend((!added.is_empty()).then(|| format!("parts: add {}", either(&added))));
        sentences.extend(of_both.map(|stderr| format!("of stderr: add {stderr}")));
        Some(format!("[{}]", sentences.join(" | ")))
    }

    /// An action, meant of standard error.
    fn of_stderr(&self, action: String) -> String {
        self.actions.stderr.as_ref().map_or(action.clone(), |stderr| format!("{action} {stderr}"))
    }

    /// Whether it is told how much of a stream there is, as something of it is not shown.
    fn is_told(&self, stream: StreamName, cut: Cut) -> bool {
        let body = self.body(stream);
        body.cut() || cut == Cut::Assumed && !body.empty()
    }

    /// How to read a part: what is added to the action that reads the whole, and actions of their own.
    fn parts(&self, whole: Option<&str>) -> (Vec<String>, Vec<String>) {
        let parts = [
            ("a part", &self.actions.lines),
            ("bytes", &self.actions.bytes),
            ("search", &self.actions.grep),
            ("first lines", &self.actions.head),
            ("last lines", &self.actions.tail),
        ];
        let (mut added, mut apart) = (Vec::new(), Vec::new());
        for (what, action) in parts {
            let Some(action) = action.as_deref().and_then(|a| self.named(a)) else { continue };
            match whole.and_then(|whole| action.strip_prefix(whole)?.strip_prefix(' ')) {
                Some(rest) => added.push(rest.to_owned()),
                None => apart.push(format!("{what}: {action}")),
            }
        }
        (added, apart)
    }

    /// How much there is.
    fn much(&self, cut: Cut) -> String {
        let streams = [StreamName::Stdout, StreamName::Stderr].into_iter();
        let cut = streams.filter(|name| self.is_told(*name, cut)).map(|name| {
            let (lines, bytes) = self.body(name).totals();
            format!("{} has {}, {}", name.as_str(), counted(lines, "line"), counted(bytes, "byte"))
        });
        format!("not all is shown: {}", cut.collect::<Vec<_>>().join("; "))
    }

    pub(super) fn cost(&self) -> Cost {
        self.rows().iter().map(|row| Cost::line(row)).sum()
    }

    /// What everything but the lines of both streams takes up, were something of them left out.
    pub(super) fn cost_beside(&self) -> Cost {
        let mut rows = self.beside(Cut::Assumed);
        rows.push(self.footer.line(true));
        for stream in [StreamName::Stdout, StreamName::Stderr] {
            rows.extend(self.binary(stream).map(|_| self.binary_row(stream)));
        }
        rows.extend((!self.stderr.empty()).then(|| "[stderr]".to_owned()));
        rows.iter().map(|row| Cost::line(row)).sum()
    }
}

/// The rows of a stream: its lines, and around a gap what is left out.
pub(super) fn text(text: &Text) -> Vec<String> {
    let Some((before, after)) = text.gap() else {
        return text.lines.iter().map(ToString::to_string).collect();
    };
    let salient: Vec<String> = text.in_gap().map(|s| format!("{}: {}", s.line.number, s.line)).collect();
    let many =
        format!("lines {} to {} of {}", grouped(before + 1), grouped(after - 1), grouped(text.total_lines));
    let but = if salient.is_empty() { " …]" } else { ", but for these: …]" };
    let first = text.lines.iter().filter(|l| l.number <= before).map(ToString::to_string);
    let mut rows: Vec<String> = first.collect();
    rows.push(format!("[… {many} are left out{but}"));
    let goes_on = !salient.is_empty() && after <= text.total_lines;
    rows.extend(salient);
    rows.extend(goes_on.then(|| format!("[… from line {} on: …]", grouped(after))));
    rows.extend(text.lines.iter().filter(|l| l.number >= after).map(ToString::to_string));
    rows
}

/// `a, b or c`
fn either(words: &[String]) -> String {
    match words {
        [before @ .., last] if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        words => words.concat(),
    }
}

/// A name or action within a row: one line, bounded.
fn short(text: &str, chars: usize) -> String {
    let text: String = text.chars().map(|c| if sayso_model::text::is_break(c) { ' ' } else { c }).collect();
    let at = sayso_model::text::cut(&text, chars).bytes;
    hidden::show(text.get(..at).unwrap_or(&text)).into_owned()
}

/// A size as people write it: `182KB`.
fn size(bytes: u64) -> String {
    const KB: u64 = 1024;
    match bytes {
        0..KB => format!("{bytes}B"),
        KB..0x10_0000 => format!("{}KB", bytes.div_ceil(KB)),
        _ => format!("{}.{}MB", bytes / (KB * KB), bytes % (KB * KB) * 10 / (KB * KB)),
    }
}
