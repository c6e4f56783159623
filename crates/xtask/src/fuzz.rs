//! `cargo xtask fuzz`: every target runs for some seconds, from its corpus on, guided by coverage. libFuzzer comes with a crate, and
//! the compiler instruments the code by flags that are stable, so that neither nightly nor another tool is needed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::workspace;

/// What makes the code tell which of its edges ran, as libFuzzer reads it.
const COVERAGE: &str = "-Cpasses=sancov-module -Cllvm-args=-sanitizer-coverage-level=4 \
                        -Cllvm-args=-sanitizer-coverage-inline-8bit-counters -Cllvm-args=-sanitizer-coverage-pc-table \
                        -Cllvm-args=-sanitizer-coverage-trace-compares -Ccodegen-units=1 --cfg fuzzing";

/// Seconds after which one input is taken for an endless loop.
const ENDLESS: u32 = 20;
/// Megabytes that one target may take.
const MEMORY: u32 = 2_048;

/// What became of a target.
struct Ran {
    target: String,
    executions: u64,
    /// The inputs that broke something.
    crashes: Vec<PathBuf>,
}

/// Runs targets, each for so many seconds; without names all of them.
pub(crate) fn fuzz(seconds: u64, only: &[String]) -> Result<()> {
    let program = build()?;
    let corpora = workspace::root().join("fuzz/corpus");
    let mut targets = Vec::new();
    for folder in fs::read_dir(&corpora)? {
        targets.push(folder?.file_name().to_string_lossy().into_owned());
    }
    targets.sort();
    for name in only {
        ensure!(targets.contains(name), "there is no target {name:?}: there are {}", targets.join(", "));
    }
    targets.retain(|target| only.is_empty() || only.contains(target));
    let mut crashes = 0;
    for target in targets {
        let ran = run(&program, &corpora.join(&target), target, seconds)?;
        println!("{:<16} {:>10} executions, {} crashes", ran.target, ran.executions, ran.crashes.len());
        for input in &ran.crashes {
            println!("    again with: SAYSO_FUZZ={} {} {}", ran.target, program.display(), input.display());
        }
        crashes += ran.crashes.len();
    }
    ensure!(crashes == 0, "{crashes} crashes; the inputs are kept");
    println!("ok fuzz");
    Ok(())
}

fn build() -> Result<PathBuf> {
    let (folder, target) = (workspace::root().join("fuzz"), host()?);
    let mut command = Command::new(env!("CARGO"));
    // With a target named, build scripts are not instrumented.
    command.args(["build", "--quiet", "--release", "--target", &target]).current_dir(&folder);
    command.env("RUSTFLAGS", COVERAGE).env("CARGO_TARGET_DIR", folder.join("target"));
    // The compiler beside this cargo: some packages bring a file that names another one, which need not be there.
    let rustc = Path::new(env!("CARGO")).with_file_name("rustc");
    if rustc.is_file() {
        command.env("RUSTC", rustc);
    }
    let status = command.status()?;
    ensure!(status.success(), "building the fuzz targets: {status}");
    Ok(folder.join("target").join(target).join("release/any"))
}

fn host() -> Result<String> {
    let told = Command::new("rustc").arg("-vV").output()?;
    let told = String::from_utf8(told.stdout)?;
    let host = told.lines().find_map(|line| line.strip_prefix("host: "));
    Ok(host.context("rustc does not say what it builds for")?.to_owned())
}

/// Runs one target: what it finds that is new stays in the build's folder, beside the inputs that broke something.
fn run(program: &Path, corpus: &Path, target: String, seconds: u64) -> Result<Ran> {
    let found = workspace::root().join("fuzz/target/found").join(&target);
    let artifacts = workspace::root().join("fuzz/artifacts").join(&target);
    fs::create_dir_all(&found)?;
    fs::create_dir_all(&artifacts)?;
    let before = inputs(&artifacts)?;
    let log = found.with_extension("log");
    let mut command = Command::new(program);
    command.env("SAYSO_FUZZ", &target);
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-artifact_prefix={}/", artifacts.display()));
    command
        .arg(format!("-timeout={ENDLESS}"))
        .arg(format!("-rss_limit_mb={MEMORY}"))
        .arg("-print_final_stats=1");
    command
        .arg(&found)
        .arg(corpus)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(fs::File::create(&log)?);
    let status = command.status()?;
    let said = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    let mut crashes = inputs(&artifacts)?;
    crashes.retain(|input| !before.contains(input));
    if !status.success() && crashes.is_empty() {
        bail!("{target}: {status}, and no input was kept: see {}", log.display());
    }
    Ok(Ran { target, executions: executions(&said), crashes })
}

/// The inputs that broke something: libFuzzer writes them down as `crash-…`, `timeout-…` and `oom-…`.
fn inputs(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for file in fs::read_dir(folder)? {
        found.push(file?.path());
    }
    Ok(found)
}

/// How often the target ran: from the last line that counts.
fn executions(said: &str) -> u64 {
    let total = said.lines().find_map(|line| line.strip_prefix("stat::number_of_executed_units:"));
    let pulse =
        |line: &str| line.strip_prefix('#').and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    total
        .and_then(|count| count.trim().parse().ok())
        .or_else(|| said.lines().rev().find_map(pulse))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::executions;

    #[test]
    fn executions_are_read_from_what_is_said() {
        assert_eq!(
            executions("#2\tINITED\n#4096\tpulse\nDone\nstat::number_of_executed_units: 8123\n"),
            8_123
        );
        assert_eq!(
            executions("#2\tINITED\n#4096\tpulse  cov: 1\n==1== ERROR: libFuzzer: deadly signal\n"),
            4_096
        );
        assert_eq!(executions(""), 0);
    }
}
