//! Presentation: a capture and a profile in, a view out.

use std::io;

use crate::capture::{Capture, Kept, Stream, StreamName};
use crate::collect::{Want, collect};
use crate::limits::{STDERR_SHORT_BYTES, STDERR_SHORT_LINES};
use crate::profile::Profile;
use crate::text::{Basis, Cleaned, Plan, Survey, magic, plan, verdict};
use crate::view::{Body, Detail, Footer, Shape, View};

/// A stream's bytes could not be read.
#[derive(Debug, thiserror::Error)]
#[error("{} of the output cannot be read: read it again, and check the store if that fails too", .stream.as_str())]
pub struct Unreadable {
    /// Which stream.
    pub stream: StreamName,
    /// What its place said.
    #[source]
    pub source: io::Error,
}

/// What a model is shown of a capture.
///
/// The same capture and profile always give the same view. The bytes are read as a stream, two or three times, at constant memory.
///
/// ```
/// use sayso_output::{Capture, Ending, Profile, Stream, present};
/// let listing = b"a.txt\nb.txt\n".to_vec();
/// let capture = Capture::of("ls", Stream::whole(&listing), Ending::Exit(0));
/// assert_eq!(present(&capture, &Profile::default())?.to_string(), "a.txt\nb.txt\n[exit:0]");
/// # Ok::<(), sayso_output::Unreadable>(())
/// ```
///
/// # Errors
///
/// [`Unreadable`] when a stream cannot be read; never for what its bytes are.
pub fn present(capture: &Capture<'_>, profile: &Profile) -> Result<View, Unreadable> {
    let failed = !capture.ending.success();
    let limits = profile.limits;
    let shape = if failed { Shape::Ends } else { Shape::Head };
    let want = Want { lines: limits.max_lines(), bytes: limits.max_bytes(), shape, salient: failed };
    let out = stream(capture, StreamName::Stdout, want)?;
    let err = stream(capture, StreamName::Stderr, Want { shape: Shape::Ends, ..want })?;
    let view = View {
        tool: capture.tool.clone(),
        notes: out.notes.into_iter().chain(err.notes).collect(),
        footer: footer(capture, &out.body, &err.body),
        stdout: out.body,
        stderr: if failed { err.body } else { shorten(err.body) },
        actions: profile.actions.clone(),
        detail: Detail::Full,
    };
    Ok(view.bound(&limits))
}

struct Presented {
    body: Body,
    notes: Vec<String>,
}

fn stream(capture: &Capture<'_>, name: StreamName, want: Want) -> Result<Presented, Unreadable> {
    let stream = match name {
        StreamName::Stdout => capture.stdout,
        StreamName::Stderr => capture.stderr,
    };
    read(capture, stream, name, want).map_err(|source| Unreadable { stream: name, source })
}

fn read(capture: &Capture<'_>, stream: Stream<'_>, name: StreamName, want: Want) -> io::Result<Presented> {
    let survey = Survey::of(stream.source)?;
    if let Some(binary) = magic(&survey.head, survey.bytes) {
        let notes = vec![format!("{} is {}", name.as_str(), binary.media_type)];
        return Ok(Presented { body: Body::Binary(binary), notes });
    }
    let plan = plan(stream.source, &survey, capture.charset)?;
    let (text, cleaned, unexplained) = collect(stream.source, &survey, plan, want)?;
    if let Some(binary) = verdict(&cleaned, survey.bytes) {
        return Ok(Presented { body: Body::Binary(binary), notes: Vec::new() });
    }
    let notes = notes(name, plan, &cleaned, unexplained);
    Ok(Presented { body: Body::Text(text), notes })
}

/// What stderr of a command that succeeded is shown as.
fn shorten(body: Body) -> Body {
    match body {
        Body::Text(text) => Body::Text(text.at_most(STDERR_SHORT_LINES, STDERR_SHORT_BYTES)),
        Body::Binary(binary) => Body::Binary(binary),
    }
}

fn footer(capture: &Capture<'_>, out: &Body, err: &Body) -> Footer {
    let streams = [(StreamName::Stdout, capture.stdout), (StreamName::Stderr, capture.stderr)];
    let kept = streams.into_iter().filter(|(_, s)| s.kept != Kept::Complete);
    let id = capture.id.as_ref().map(|id| id.chars().filter(|c| c.is_ascii_graphic()).take(64).collect());
    let (out, err) = (out.totals(), err.totals());
    Footer {
        ending: capture.ending,
        duration: capture.duration,
        pipe_held: capture.pipe_held,
        kept: kept.map(|(name, s)| (name, s.kept, s.source.size())).collect(),
        lines: out.0 + err.0,
        bytes: out.1 + err.1,
        id,
    }
}

/// Normalisations, by name.
fn notes(name: StreamName, plan: Plan, cleaned: &Cleaned, unexplained: u64) -> Vec<String> {
    let mut notes: Vec<String> = decoded(plan).into_iter().collect();
    let mut count = |number: u64, one: &str, many: &str| match number {
        0 => {}
        1 => notes.push(format!("1 {one}")),
        n => notes.push(format!("{n} {many}")),
    };
    match plan.basis {
        Basis::Unexplained => count(
            unexplained,
            "sequence is no UTF-8 and shown as \\xHH",
            "sequences are no UTF-8 and shown as \\xHH",
        ),
        _ => count(
            unexplained,
            "sequence not explained by the charset",
            "sequences not explained by the charset",
        ),
    }
    count(cleaned.nuls, "NUL dropped", "NULs dropped");
    count(cleaned.escapes, "escape sequence removed", "escape sequences removed");
    count(
        cleaned.overwrites,
        "carriage return overwrites its line",
        "carriage returns overwrite their lines",
    );
    count(cleaned.overstrikes, "overstruck character", "overstruck characters");
    count(cleaned.crlf, "CRLF line end", "CRLF line ends");
    let prefix = if name == StreamName::Stderr { "stderr: " } else { "" };
    notes.into_iter().map(|note| format!("{prefix}{note}")).collect()
}

fn decoded(plan: Plan) -> Option<String> {
    let name = plan.charset.name();
    match plan.basis {
        Basis::Bytes | Basis::Unexplained => None,
        Basis::Declared if plan.charset == crate::text::Charset::UTF_8 => None,
        Basis::Mark => Some(format!("decoded from {name} (byte order mark)")),
        Basis::Declared => Some(format!("decoded from {name} (declared)")),
        Basis::Parity => Some(format!("decoded from {name} (told by its NULs)")),
        Basis::Detected => Some(format!("decoded from {name} (detected; the raw bytes are kept)")),
    }
}
