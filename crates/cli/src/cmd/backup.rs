//! `sayso backup`

use serde::Serialize;

use crate::args::{Backup, Global};
use crate::fail::Failure;
use crate::io::Out;
use crate::open;

#[derive(Serialize)]
struct Answer<'a> {
    file: &'a std::path::Path,
    bytes: u64,
}

pub(crate) fn run(args: &Backup, global: &Global, out: &mut Out<'_>) -> Result<(), Failure> {
    let reader = open::reader(global)?;
    reader.backup(&args.to)?;
    let shown = args.to.display();
    let found = std::fs::metadata(&args.to);
    let bytes = found.map_err(|e| Failure::io(format!("{shown} cannot be looked at"), e))?.len();
    out.either(&Answer { file: &args.to, bytes }, || format!("{shown}"))
}
