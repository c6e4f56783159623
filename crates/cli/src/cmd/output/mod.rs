//! `sayso output`

mod json;

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::Path;

use sayso::model::OutputId;
use sayso::store::{Output as Stored, OutputState, OutputStream, StreamKind};
use sayso::{GrepMatch, OutputBytes, Pattern, Reader};

use self::json::{About, Lines, Match};
use crate::args::{Global, Output, Part};
use crate::fail::Failure;
use crate::io::{Out, is_terminal, say};
use crate::open;

/// Bytes at the beginning by which a stream is told to be binary.
const LOOKED_AT: u64 = 8 * 1024;

pub(crate) fn run(args: &Output, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let id = reader.find_output(&args.id)?;
    let output = reader.output(id)?.ok_or_else(|| unknown(&args.id))?;
    if out.json() && args.to.is_none() && args.part.is_whole() {
        return out.object(&About::of(&output));
    }
    let kind = if args.stderr { StreamKind::Stderr } else { StreamKind::Stdout };
    let (stream, mut bytes) = stream(&reader, &output, kind)?;
    let part = Part::checked(&args.part, id, &mut bytes)?;
    if let Some(path) = &args.to {
        to_file(&mut bytes, part, path)?;
    } else if out.json() {
        as_json(&mut bytes, part, out)?;
    } else {
        if is_terminal() && part.grep.is_none() {
            refuse_binary(id, &mut bytes)?;
        }
        write(&mut bytes, part, out.raw())?;
    }
    out.flush()?;
    told(&output, &stream);
    elsewhere(&output, &stream);
    Ok(())
}

fn stream(
    reader: &Reader,
    output: &Stored,
    kind: StreamKind,
) -> Result<(OutputStream, OutputBytes), Failure> {
    let missing = || {
        let next = if kind == StreamKind::Stderr { "leave --stderr out" } else { "add --stderr" };
        Failure::request(format!("output {} has no {}: {next}", output.id, kind.as_str()))
    };
    let stream = output.streams.iter().find(|s| s.kind == kind).ok_or_else(missing)?;
    let bytes = reader.open_output(output.id, kind)?.ok_or_else(missing)?;
    Ok((*stream, bytes))
}

fn unknown(given: &str) -> Failure {
    sayso::Error::Unknown { what: "output", given: given.to_owned(), near: Vec::new() }.into()
}

impl Part {
    const fn is_whole(&self) -> bool {
        matches!(self, Self { lines: None, bytes: None, head: None, tail: None, grep: None })
    }

    /// The part, if the output has any of it.
    fn checked<'p>(part: &'p Self, id: OutputId, bytes: &mut OutputBytes) -> Result<&'p Self, Failure> {
        let beyond = |count: u64, what: &str, first: u64| {
            let last = (count + first).saturating_sub(1);
            Failure::request(match count {
                0 => format!("output {id} is empty: there are no {what} to print"),
                1 => format!("output {id} has 1 {}: ask for {first}:{last}", what.trim_end_matches('s')),
                _ => format!("output {id} has {count} {what}: ask for some of {first}:{last}"),
            })
        };
        match (part.bytes, part.lines) {
            (Some((from, _)), _) if from >= bytes.size() => Err(beyond(bytes.size(), "bytes", 0)),
            (_, Some((from, _))) => match bytes.lines(from + 1, from, &mut io::sink())? {
                there if there < from => Err(beyond(there, "lines", 1)),
                _ => Ok(part),
            },
            _ => Ok(part),
        }
    }
}

/// Into a file of its own: one that is there is never overwritten.
fn to_file(bytes: &mut OutputBytes, part: &Part, path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let file = opened.map_err(|e| {
        let next = match e.kind() {
            io::ErrorKind::NotFound => "make its folder first, or name another",
            _ => "name a new file",
        };
        Failure::io(format!("{shown} cannot be made: {next}"), e)
    })?;
    let mut file = io::BufWriter::new(file);
    write(bytes, part, &mut file)?;
    let written = file.into_inner().map_err(io::IntoInnerError::into_error);
    written
        .and_then(|file: File| file.sync_all())
        .map_err(|e| Failure::io(format!("{shown} cannot be written"), e))?;
    say(format!("written to {shown}"));
    Ok(())
}

/// The part as it is.
fn write(bytes: &mut OutputBytes, part: &Part, to: &mut dyn Write) -> Result<(), Failure> {
    match part {
        Part { lines: Some((first, last)), .. } => bytes.lines(*first, *last, to).map(drop),
        Part { bytes: Some((first, last)), .. } => bytes.range(*first, last.saturating_add(1), to).map(drop),
        Part { head: Some(count), .. } => bytes.head(*count, to).map(drop),
        Part { tail: Some(count), .. } => bytes.tail(*count, to).map(drop),
        Part { grep: Some(pattern), .. } => {
            return grep(bytes, pattern, |found| {
                let mark = |more: bool| if more { "…" } else { "" };
                write!(to, "{}:{}", found.line, mark(found.more_before))?;
                to.write_all(found.text)?;
                writeln!(to, "{}", mark(found.more_behind))
            });
        }
        _ => bytes.range(0, u64::MAX, to).map(drop),
    }
    .map_err(Into::into)
}

fn as_json(bytes: &mut OutputBytes, part: &Part, out: &mut Out<'_>) -> Result<(), Failure> {
    if let Some(pattern) = &part.grep {
        return grep(bytes, pattern, |found| {
            let object = serde_json::to_string(&Match::of(found)).map_err(io::Error::other)?;
            writeln!(out.raw(), "{object}")
        });
    }
    let (at, line) = match part {
        Part { bytes: Some((first, _)), .. } => (*first, None),
        Part { lines: Some((first, _)), .. } => {
            (bytes.place_of_line(*first)?.unwrap_or(bytes.size()), Some(*first))
        }
        Part { tail: Some(count), .. } => (bytes.size() - bytes.tail(*count, &mut io::sink())?, None),
        _ => (0, Some(1)),
    };
    let mut lines = Lines::new(out.raw(), at, line);
    write(bytes, part, &mut lines)?;
    lines.end()
}

fn grep(
    bytes: &mut OutputBytes,
    pattern: &Pattern,
    mut show: impl FnMut(&GrepMatch<'_>) -> io::Result<()>,
) -> Result<(), Failure> {
    let (mut any, mut cut) = (false, false);
    let _ = bytes.grep(pattern, &mut |found| {
        (any, cut) = (true, cut || found.cut());
        show(found).map(ControlFlow::Continue)
    })?;
    if !any {
        say("no line matches");
    }
    if cut {
        say("note: of long lines only what stands around the match is shown: --bytes A:B prints the rest");
    }
    Ok(())
}

fn refuse_binary(id: OutputId, bytes: &mut OutputBytes) -> Result<(), Failure> {
    let mut head = Vec::new();
    bytes.range(0, LOOKED_AT, &mut head)?;
    if !is_binary(&head) {
        return Ok(());
    }
    let size = bytes.size();
    Err(Failure::request(format!(
        "output {id} is binary ({size} bytes), which a terminal cannot show: write it to a file with --to FILE"
    )))
}

fn is_binary(head: &[u8]) -> bool {
    head.contains(&0)
}

/// Where all of it stands on standard error, and standard output was asked for.
fn elsewhere(output: &Stored, stream: &OutputStream) {
    let stderr = output.streams.iter().find(|s| s.kind == StreamKind::Stderr && s.blob.bytes > 0);
    if let Some(stderr) = stderr.filter(|_| stream.kind == StreamKind::Stdout && stream.blob.bytes == 0) {
        let bytes = sayso::view::grouped(stderr.blob.bytes);
        say(format!("note: standard output is empty; --stderr has {bytes} bytes"));
    }
}

/// What a person must know who takes what was printed for all there was.
fn told(output: &Stored, stream: &OutputStream) {
    let kept = stream.blob.bytes;
    match (output.state, stream.total) {
        (OutputState::Complete, _) => {}
        (OutputState::Capped, Some(total)) if total > kept => {
            let (kept, total) = (sayso::view::grouped(kept), sayso::view::grouped(total));
            say(format!("note: only the first {kept} of {total} bytes were kept"));
        }
        // Another stream of it was capped, and this one is known to be whole.
        (OutputState::Capped, None) if output.streams.iter().any(|s| s.total.is_some()) => {}
        (OutputState::Capped, _) => say("note: only the beginning was kept"),
        (OutputState::Partial, _) if output.growing => {
            say("note: it is still being written, or its writer ended in the middle");
        }
        (OutputState::Partial, _) => say("note: it is partial: what came before something broke"),
    }
}

#[cfg(test)]
mod tests {
    use super::is_binary;

    #[test]
    fn a_nul_makes_it_binary_and_colours_do_not() {
        assert!(is_binary(b"\x89PNG\r\n\x1a\n\0\0\0\r"));
        assert!(!is_binary("\x1b[32m확인\x1b[0m\n".as_bytes()));
    }
}
