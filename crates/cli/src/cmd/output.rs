//! `sayso output`

use std::fs::OpenOptions;
use std::io::Write;
use std::path::Path;

use sayso::Reader;
use sayso::model::OutputId;
use sayso::store::StreamKind;

use crate::args::{Global, Output};
use crate::fail::Failure;
use crate::io::{Out, say};
use crate::open;

pub(crate) fn run(args: &Output, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    let id = reader.find_output(&args.id)?;
    let kind = if args.stderr { StreamKind::Stderr } else { StreamKind::Stdout };
    let output = reader.output(id)?.ok_or_else(|| unknown(&args.id))?;
    if !output.streams.iter().any(|s| s.kind == kind) {
        return Err(Failure::request(format!(
            "output {id} has no {}: leave --stderr out or add it",
            kind.as_str()
        )));
    }
    match &args.to {
        Some(path) => to_file(&reader, id, kind, path),
        None => reader.read_output(id, kind, out.raw()).map(|_| ()).map_err(Into::into),
    }
}

fn unknown(given: &str) -> Failure {
    sayso::Error::Unknown { what: "output", given: given.to_owned(), near: Vec::new() }.into()
}

/// Into a file of its own: one that is there is never overwritten.
fn to_file(reader: &Reader, id: OutputId, kind: StreamKind, path: &Path) -> Result<(), Failure> {
    let shown = path.display();
    let opened = OpenOptions::new().write(true).create_new(true).open(path);
    let mut file = opened.map_err(|e| Failure::io(format!("{shown} cannot be made: name a new file"), e))?;
    reader.read_output(id, kind, &mut file)?;
    file.flush()
        .and_then(|()| file.sync_all())
        .map_err(|e| Failure::io(format!("{shown} cannot be written"), e))?;
    say(format!("written to {shown}"));
    Ok(())
}
