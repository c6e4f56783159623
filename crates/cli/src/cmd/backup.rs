//! `sayso backup`

use std::io::ErrorKind;
use std::path::Path;

use serde::Serialize;

use crate::args::{Backup, Global};
use crate::fail::Failure;
use crate::io::Out;
use crate::open;

#[derive(Serialize)]
struct Answer<'a> {
    file: &'a Path,
    bytes: u64,
}

pub(crate) fn run(args: &Backup, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    folder_of(&args.to)?;
    reader.backup(&args.to)?;
    let shown = args.to.display();
    let found = std::fs::metadata(&args.to);
    let bytes = found.map_err(|e| Failure::io(format!("{shown} cannot be looked at"), e))?.len();
    out.either(&Answer { file: &args.to, bytes }, || format!("{shown}"))
}

/// A folder that is not there is more likely a mistyped one than one to make.
fn folder_of(file: &Path) -> Result<(), Failure> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    match folder.map(std::fs::metadata) {
        Some(Err(error)) if error.kind() == ErrorKind::NotFound => Err(Failure::io(
            format!("{} cannot be made: make its folder first, or name another", file.display()),
            error,
        )),
        _ => Ok(()),
    }
}
