//! The rows of the table, one module for each subject.

pub(crate) mod append;
pub(crate) mod growth;
pub(crate) mod hook;
pub(crate) mod import;
pub(crate) mod last;
pub(crate) mod long;
pub(crate) mod outputs;
pub(crate) mod peers;
pub(crate) mod search;
pub(crate) mod writers;

use anyhow::Result;

use crate::ground::Ground;
use crate::report::Report;

type Measure = fn(&mut Ground, &mut Report) -> Result<()>;

const ALL: [(&str, Measure); 10] = [
    ("append", append::run),
    ("peers", peers::run),
    ("writers", writers::run),
    ("import", import::run),
    ("last", last::run),
    ("search", search::run),
    ("growth", growth::run),
    ("long", long::run),
    ("outputs", outputs::run),
    ("hook", hook::run),
];
/// What `--only` takes.
pub(crate) const NAMES: [&str; 10] =
    ["append", "peers", "writers", "import", "last", "search", "growth", "long", "outputs", "hook"];

/// Measures everything, or what was named.
pub(crate) fn all(only: &[String], ground: &mut Ground, report: &mut Report) -> Result<()> {
    for (name, measure) in ALL {
        if only.is_empty() || only.iter().any(|o| o == name) {
            eprintln!("== {name}");
            measure(ground, report)?;
        }
    }
    Ok(())
}
