//! The arguments of `sayso output` and `sayso doctor`.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

#[derive(Debug, Args)]
#[command(
    after_help = "Lines are counted from 1 and end with LF; bytes are counted from 0. A range A:B has both ends in it; A: goes \
                  on to the end. The pattern of --grep is a regular expression for one line, and (?i) at its beginning ignores \
                  case. Of a line of more than 4 KiB it shows what stands around the match; in one of more than 1 MiB it \
                  may miss a match of more than 64 KiB.\n\n\
                  With --json, the whole is what is known of the output, and a part is one object for each line: \
                  its place (`at`, in bytes), its number where it is known, and its text."
)]
pub(crate) struct Output {
    /// The output's id, or 6 or more characters from its end
    pub(crate) id: String,
    #[command(flatten)]
    pub(crate) part: Part,
    /// Standard error instead of standard output
    #[arg(long)]
    pub(crate) stderr: bool,
    /// Write to a new file instead of standard output
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,
}

/// Which part of it.
#[derive(Debug, Args)]
#[group(multiple = false)]
pub(crate) struct Part {
    /// Only these lines
    #[arg(long, value_name = "A:B", value_parser = lines)]
    pub(crate) lines: Option<(u64, u64)>,
    /// Only these bytes
    #[arg(long, value_name = "A:B", value_parser = range)]
    pub(crate) bytes: Option<(u64, u64)>,
    /// Only the first N lines
    #[arg(long, value_name = "N")]
    pub(crate) head: Option<u64>,
    /// Only the last N lines, read from the end
    #[arg(long, value_name = "N")]
    pub(crate) tail: Option<u64>,
    /// Only lines that match, each with its number
    #[arg(long, value_name = "RE", value_parser = sayso::Pattern::new)]
    pub(crate) grep: Option<sayso::Pattern>,
}

#[derive(Debug, Args)]
pub(crate) struct Doctor {
    /// Also delete stored bytes that nothing refers to, such as a crash leaves
    #[arg(long)]
    pub(crate) collect: bool,
    /// Hours for which an earlier collection must have found them so
    #[arg(long, value_name = "HOURS", default_value_t = 24, requires = "collect")]
    pub(crate) grace: u32,
    /// Also make the index of the search anew from the turns, where it is damaged or gone
    #[arg(long)]
    pub(crate) reindex: bool,
    /// Also read everything, and say what of a damaged ledger `sayso export --salvage` can save
    #[arg(long)]
    pub(crate) salvage: bool,
}

/// Both ends of a range.
fn range(text: &str) -> Result<(u64, u64), String> {
    let needed = || "a range is needed: A:B, or A: to the end, such as 100:199".to_owned();
    let (from, to) = text.split_once(':').ok_or_else(needed)?;
    let from = u64::from_str(from).map_err(|_| needed())?;
    let to = if to.is_empty() { u64::MAX } else { u64::from_str(to).map_err(|_| needed())? };
    if from > to { Err(format!("the range ends before it begins: give {to}:{from}")) } else { Ok((from, to)) }
}

fn lines(text: &str) -> Result<(u64, u64), String> {
    match range(text)? {
        (0, _) => Err("lines are counted from 1".to_owned()),
        range => Ok(range),
    }
}
