//! The arguments of the commands for tool output: `run`, `present`, `emit` and `thresholds`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand};
use sayso_output::Limits;
use sayso_output::envelope::Purpose;

#[cfg(unix)]
#[derive(Debug, Args)]
#[command(
    after_help = "The whole output is stored in the ledger, as `partial` while the command runs; what is printed is bounded, and \
                  its last line says how the command ended and, where something is not shown, the id for `sayso output`. \
                  Standard input is passed on unless it is a terminal.\n\n\
                  The exit code is the command's own; 128+N where signal N ended it; 124 where its time was over; 127 where \
                  it is not found, 126 where it cannot be run; 125 where sayso failed before it ran. Where the ledger \
                  fails, the command runs and its output is printed all the same, its exit code stays, and a warning says \
                  what was not stored. SIGINT and SIGTERM are passed on to the command, and what came is stored. SIGKILL cannot be: \
                  a command whose `sayso run` is killed goes on without it until it writes something that nobody reads any more.\n\n\
                  Tools that call `sayso emit` hand over a text for the model, which is printed, and one for the person, which \
                  --json gives."
)]
pub(crate) struct Run {
    /// The session it belongs to; PROJECT/SESSION is made on first use [default: `sayso run` in the project of this folder]
    #[arg(long, value_name = "SESSION")]
    pub(crate) session: Option<String>,
    /// End the command after this time, such as 90, 1.5s, 200ms, 5m or 1h
    #[arg(long, value_name = "TIME", value_parser = time)]
    pub(crate) timeout: Option<Duration>,
    /// Pass the bytes on as they come, and print nothing else
    #[arg(long)]
    pub(crate) raw: bool,
    /// CMD is a line for /bin/sh
    #[arg(long)]
    pub(crate) shell: bool,
    /// The tool's name [default: that of the program]
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Print at most so many lines, or lines and bytes [default: 200,51200]
    #[arg(long, value_name = "LINES[,BYTES]", value_parser = limits, conflicts_with = "raw")]
    pub(crate) limit: Option<Limits>,
    /// The command and its arguments
    #[arg(required = true, last = true, value_name = "CMD")]
    pub(crate) command: Vec<OsString>,
}

#[cfg(unix)]
#[derive(Debug, Args)]
pub(crate) struct Present {
    /// The file; - is standard input
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The exit code of the tool [default: not known]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub(crate) exit: Option<i32>,
    /// The file with its standard error
    #[arg(long, value_name = "FILE")]
    pub(crate) stderr: Option<PathBuf>,
    /// The tool's name, for messages about it [default: cat]
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// At most so many lines, or lines and bytes [default: 200,51200]
    #[arg(long, value_name = "LINES[,BYTES]", value_parser = limits)]
    pub(crate) limit: Option<Limits>,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Both texts come from standard input, one right after the other: the first --model-bytes bytes are for the model, \
                  the rest for the person. It returns once everything is handed over, so that the tool may end at once. Where \
                  nobody asked for two texts, the model's is printed.\n\n\
                  Whoever runs the tool makes a private folder and names it in SAYSO_SPOOL, with a random nonce in SAYSO_NONCE; \
                  with the nonce alone, the texts go to standard output as a frame. `sayso run` does that."
)]
pub(crate) struct Emit {
    /// What the person's text is: listing, article or detail
    #[arg(long, value_name = "PURPOSE", default_value = "listing", value_parser = purpose)]
    pub(crate) purpose: Purpose,
    /// How many bytes of the input are for the model [default: all]
    #[arg(long, value_name = "N")]
    pub(crate) model_bytes: Option<usize>,
}

#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    subcommand_value_name = "COMMAND",
    after_help = "Lengths are counted in characters. They are read from the stored outputs each time, every one of them, or from \
                  --from: a line for each output, LENGTH or TOOL LENGTH or TOOL LENGTH EXIT."
)]
pub(crate) struct Thresholds {
    #[command(subcommand)]
    pub(crate) command: Option<Policed>,
    #[command(flatten)]
    pub(crate) of: ThresholdsOf,
    /// Also tell what this threshold would do; may be given several times
    #[arg(long, value_name = "N")]
    pub(crate) above: Vec<u64>,
}

/// Which lengths.
#[derive(Debug, Args)]
pub(crate) struct ThresholdsOf {
    /// Only this tool's outputs
    #[arg(long, value_name = "NAME")]
    pub(crate) tool: Option<String>,
    /// Lengths from this file instead of the ledger; - is standard input
    #[arg(long, value_name = "FILE")]
    pub(crate) from: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Policed {
    /// Decide for one output, before anything is paid for a second text: one text or two
    #[command(
        after_help = "It goes by the policy that `sayso thresholds set` gave the tool, else by what `sayso thresholds` proposes. \
                      With --policies it goes by that file alone, and by `never` where the tool is not in it. The version of the \
                      policies is told with the decision, so that it can be traced."
    )]
    Decide {
        /// The tool's name
        #[arg(value_name = "TOOL")]
        name: String,
        /// The output's length in characters
        #[arg(value_name = "LEN")]
        length: u64,
        /// Go by the policies in this file
        #[arg(long, value_name = "FILE", conflicts_with = "from")]
        policies: Option<PathBuf>,
        /// Lengths from this file instead of the ledger; - is standard input
        #[arg(long, value_name = "FILE")]
        from: Option<PathBuf>,
    },
    /// Set a tool's policy: never, above N, or always two texts
    #[command(
        after_help = "Policies stand in a file beside the ledger, named as the ledger with .policies.json behind it. It is JSON: \
                      {\"version\":3,\"tools\":{\"fetch\":{\"above\":500},\"ls\":\"never\",\"news\":\"always\"}}. Each change counts its \
                      version up."
    )]
    Set {
        /// The tool's name
        #[arg(value_name = "TOOL")]
        name: String,
        /// never, always, or above and a number of characters
        #[arg(value_name = "POLICY", num_args = 1..=2, required = true)]
        policy: Vec<String>,
        /// Set it in this file
        #[arg(long, value_name = "FILE")]
        policies: Option<PathBuf>,
    },
}

#[cfg(unix)]
fn time(text: &str) -> Result<Duration, String> {
    let needed = || "a time is needed, such as 90, 1.5s, 200ms, 5m or 1h".to_owned();
    let units = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3_600.0)];
    let unit = units.iter().find_map(|(unit, seconds)| Some((text.strip_suffix(unit)?, *seconds)));
    let (number, seconds) = unit.unwrap_or((text, 1.0));
    let number: f64 = number.parse().map_err(|_| needed())?;
    let time = Duration::try_from_secs_f64(number * seconds).map_err(|_| needed())?;
    if time.is_zero() {
        Err("the time is 0: give one in which the command can end".to_owned())
    } else {
        Ok(time)
    }
}

#[cfg(unix)]
fn limits(text: &str) -> Result<Limits, String> {
    use sayso_output::limits::{VIEW_BYTES, VIEW_BYTES_LEAST, VIEW_LINES_LEAST};
    let needed = || format!("LINES or LINES,BYTES is needed, {VIEW_LINES_LEAST},{VIEW_BYTES_LEAST} at least");
    let (lines, bytes) = text.split_once(',').map_or((text, None), |(lines, bytes)| (lines, Some(bytes)));
    let lines: usize = lines.parse().map_err(|_| needed())?;
    let bytes = bytes.map_or(Ok(VIEW_BYTES), |b| b.parse().map_err(|_| needed()))?;
    let fits = lines >= VIEW_LINES_LEAST && bytes >= VIEW_BYTES_LEAST;
    if fits { Ok(Limits::new(lines, bytes)) } else { Err(needed()) }
}

fn purpose(text: &str) -> Result<Purpose, String> {
    Purpose::parse(text).ok_or_else(|| "one of listing, article, detail is needed".to_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_with_and_without_a_unit() {
        let ms = |text| time(text).map(|t| t.as_millis());
        assert_eq!(
            ["2", "2s", "1.5s", "200ms", "5m", "1h"].map(ms),
            [2_000, 2_000, 1_500, 200, 300_000, 3_600_000].map(Ok)
        );
        for wrong in ["", "s", "-1", "0", "1d", "nan", "1e99h"] {
            assert!(time(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn limits_are_never_below_what_the_footer_needs() {
        assert_eq!(limits("50"), Ok(Limits::new(50, 51_200)));
        assert_eq!(limits("50,4000"), Ok(Limits::new(50, 4_000)));
        for wrong in ["", "7", "50,999", "50,", "x"] {
            assert!(limits(wrong).is_err(), "{wrong}");
        }
    }
}
