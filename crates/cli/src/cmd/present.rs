//! `sayso present`

use std::fs::File;
use std::io;
use std::path::Path;

use sayso_output::{Capture, Ending, Profile, Stream, View, present};
use serde::Serialize;

use super::run::Held;
use crate::args::Present;
use crate::fail::Failure;
use crate::io::Out;

#[derive(Serialize)]
struct Presented<'v> {
    view: String,
    /// Whether something is not shown.
    cut: bool,
    /// What was rewritten on the way from the bytes.
    normalisations: &'v [String],
}

pub(crate) fn run(args: &Present, out: &mut Out<'_>) -> Result<(), Failure> {
    let stdout = read(&args.file)?;
    let stderr = args.stderr.as_deref().map(read).transpose()?;
    let ending = args.exit.map_or(Ending::Unknown, Ending::Exit);
    let mut capture = Capture::of(args.tool.as_deref().unwrap_or("cat"), Stream::whole(&stdout), ending);
    if let Some(stderr) = &stderr {
        capture.stderr = Stream::whole(stderr);
    }
    let profile = Profile { limits: args.limit.unwrap_or_default(), ..Profile::default() };
    let view = present(&capture, &profile).map_err(|e| Failure::io(e.to_string(), e.source))?;
    out.either(&presented(&view), || view.to_string())
}

fn presented(view: &View) -> Presented<'_> {
    Presented { view: view.to_string(), cut: view.cut(), normalisations: view.normalisations() }
}

fn read(path: &Path) -> Result<Held, Failure> {
    let refused = |e| {
        Failure::io(
            format!("{} cannot be read: name a file that is there and may be read", path.display()),
            e,
        )
    };
    if path == Path::new("-") {
        return copied(&mut io::stdin().lock()).map_err(|e| Failure::io("standard input cannot be read", e));
    }
    let mut file = File::open(path).map_err(refused)?;
    let found = file.metadata().map_err(refused)?;
    if found.is_dir() {
        return Err(refused(io::ErrorKind::IsADirectory.into()));
    }
    match found.is_file() {
        true => Held::file(file).map_err(refused),
        // A pipe is read once, and a view reads more than once.
        false => copied(&mut file).map_err(refused),
    }
}

fn copied(from: &mut dyn io::Read) -> io::Result<Held> {
    let mut spool = tempfile::SpooledTempFile::new(super::run::IN_MEMORY);
    io::copy(from, &mut spool)?;
    Held::of(spool)
}
