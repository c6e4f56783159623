//! Searching a stored output, beside ripgrep's own searcher over the same bytes in a file.

use std::io::{BufWriter, Write};
use std::ops::ControlFlow;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use grep_regex::RegexMatcherBuilder;
use grep_searcher::{Searcher, SearcherBuilder, sinks::Bytes};
use sayso::model::OutputId;
use sayso::store::StreamKind;
use sayso::{Ended, Ending, Ledger, NewOutput, Options, Pattern, Scope};

use crate::clock::time;
use crate::ground::Ground;
use crate::report::{Goal, Report};
use crate::stats::ratios;

const MIB: usize = 1024 * 1024;
/// A line in a thousand has it.
const RARE: &str = "request failed";
/// No line has it; nothing of it is a word that a search could jump to.
const NOWHERE: &str = r"\d{9} ms$";

pub(crate) fn run(ground: &mut Ground, report: &mut Report) -> Result<()> {
    let size = ground.some(512) * MIB;
    let (file, path) = (ground.path("output.log"), ground.path("outputs.db"));
    let written = write(&file, size)?;
    let ledger = Ledger::open(&path, &Options::default())?;
    let id = store(&ledger, &file)?;
    let stored = std::fs::metadata(&path)?.len();
    let about = format!("{} MiB of log", written / MIB as u64);
    let disk = stored as f64 / written as f64;
    report.ratio("8", "disk: the ledger / the file", &[disk], Goal::AtMost(0.25), about.clone());
    for (what, pattern) in [("a rare phrase", RARE), ("a pattern that no line has", NOWHERE)] {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for _ in 0..ground.rounds {
            let (found, took) = time(|| grep(&ledger, id, pattern));
            let (wanted, beside) = time(|| ripgrep(&file, pattern));
            ensure!(found? == wanted?, "both find the same lines");
            ours.push(took.cpu.as_secs_f64());
            theirs.push(beside.cpu.as_secs_f64());
        }
        let note = format!("{about}; {:.3} s beside {:.3} s of processor time", least(&ours), least(&theirs));
        let what = format!("grep, {what}: a stored output / ripgrep's searcher over the file");
        report.ratio("8", &what, &ratios(&ours, &theirs), Goal::AtMost(6.0), note);
    }
    let (read, took) =
        time(|| ledger.reader(Scope::All).read_output(id, StreamKind::Stdout, &mut std::io::sink()));
    ensure!(read?, "the output is there");
    let rate = took.cpu.as_secs_f64() * 1024.0 * MIB as f64 / written as f64;
    report.figure(("8", "unpacking and checking alone"), &[rate], Goal::None, "s/GiB", "of processor time");
    Ok(())
}

fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::MAX, f64::min)
}

fn write(path: &Path, size: usize) -> Result<u64> {
    let (mut file, mut written, mut n) = (BufWriter::new(std::fs::File::create(path)?), 0, 0u64);
    while written < size {
        let what = if n % 1_000 == 999 { RARE } else { "request done" };
        // Numbers that look random, so that lines differ as those of a log do.
        let random = n.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32;
        let line = format!(
            "2026-11-30T09:{:02}:{:02}.{:03}Z INFO worker {:>2} {what} in {} ms, {random:08x}\n",
            n / 60_000 % 60,
            n / 1_000 % 60,
            n % 1_000,
            random % 64,
            random % 977
        );
        file.write_all(line.as_bytes())?;
        written += line.len();
        n += 1;
    }
    file.flush()?;
    Ok(written as u64)
}

fn store(ledger: &Ledger, file: &Path) -> Result<OutputId> {
    let session = ledger.session("bench", "outputs")?;
    let mut writer = ledger.start_output(&session, NewOutput::of("cat"))?;
    let (mut from, mut buffer) = (std::fs::File::open(file)?, vec![0; MIB]);
    loop {
        let read = std::io::Read::read(&mut from, &mut buffer)?;
        if read == 0 {
            return Ok(writer.finish(Ended::by(Ending::Exit(0)))?);
        }
        writer.write(StreamKind::Stdout, buffer.get(..read).unwrap_or_default())?;
    }
}

fn grep(ledger: &Ledger, id: OutputId, pattern: &str) -> Result<(u64, u64)> {
    let bytes = ledger.reader(Scope::All).open_output(id, StreamKind::Stdout)?;
    let (mut count, mut last) = (0, 0);
    let _ = bytes.context("the output is there")?.grep(&Pattern::new(pattern)?, &mut |found| {
        (count, last) = (count + 1, found.line);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok((count, last))
}

fn ripgrep(file: &Path, pattern: &str) -> Result<(u64, u64)> {
    let matcher = RegexMatcherBuilder::new().multi_line(true).line_terminator(Some(b'\n')).build(pattern)?;
    let mut searcher: Searcher = SearcherBuilder::new().line_number(true).build();
    let (mut count, mut last) = (0, 0);
    let sink = Bytes(|line, _| {
        (count, last) = (count + 1, line);
        Ok(true)
    });
    searcher.search_path(&matcher, file, sink)?;
    Ok((count, last))
}
