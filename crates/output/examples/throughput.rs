//! How fast outputs are presented, beside `wc -l`: `cargo run --release -p sayso-output --example throughput [MiB]`.
//!
//! CPU time of whole passes over a file, best of five; only the ratios mean something. The last line is the peak memory.
#![allow(clippy::print_stdout, reason = "its output is for people")]

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use sayso_output::{Actions, Capture, Ending, FileSource, Limits, Profile, Stream, present};

type Outcome = Result<(), Box<dyn std::error::Error>>;

fn write(path: &Path, bytes: u64, line: impl Fn(u64) -> String) -> std::io::Result<()> {
    let (mut file, mut written, mut number) = (BufWriter::new(File::create(path)?), 0, 0);
    while written < bytes {
        let line = line(number);
        file.write_all(line.as_bytes())?;
        written += line.len() as u64;
        number += 1;
    }
    file.flush()
}

/// CPU time of this process and of children that ended, from `/proc`.
fn cpu() -> Duration {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<u64> =
        stat.rsplit(')').next().unwrap_or_default().split(' ').filter_map(|f| f.parse().ok()).collect();
    let ticks: u64 = fields.iter().skip(10).take(4).sum();
    Duration::from_millis(ticks * 10)
}

fn best(mut pass: impl FnMut() -> Outcome) -> Result<f64, Box<dyn std::error::Error>> {
    let mut best = f64::MAX;
    for _ in 0..5 {
        let before = cpu();
        pass()?;
        best = best.min((cpu() - before).as_secs_f64());
    }
    Ok(best.max(0.005))
}

fn shown(path: &Path, ending: Ending) -> Outcome {
    let source = FileSource::new(File::open(path)?)?;
    let profile = Profile { limits: Limits::default(), actions: Actions::sayso() };
    let view = present(&Capture::of("cat", Stream::whole(&source), ending), &profile)?;
    assert!(view.to_string().len() <= 51_200);
    Ok(())
}

fn main() -> Outcome {
    let size = std::env::args().nth(1).map_or(Ok(512), |n| n.parse::<u64>())? << 20;
    let folder = std::env::temp_dir().join(format!("sayso-throughput-{}", std::process::id()));
    std::fs::create_dir(&folder)?;
    let log =
        |n: u64| format!("2026-11-30T09:14:{:02}Z INFO worker {n}: request done in {} ms\n", n % 60, n % 977);
    let korean = |n: u64| {
        format!("{n}번째 줄: 요청을 처리했습니다. 걸린 시간은 {}밀리초, 결과는 정상입니다.\n", n % 977)
    };
    let colour = |n: u64| format!("\u{1B}[32mINFO\u{1B}[0m worker {n}: request done in {} ms\r\n", n % 977);
    let texts: [(&str, &dyn Fn(u64) -> String); 3] =
        [("log", &log), ("korean", &korean), ("colour", &colour)];
    println!("{:<8} {:>9} {:>9} {:>9} {:>6}", "text", "wc -l", "success", "failure", "ratio");
    for (name, line) in texts {
        let path = folder.join(name);
        write(&path, size, line)?;
        let wc = best(|| {
            Command::new("wc").arg("-l").arg(&path).output()?;
            Ok(())
        })?;
        let success = best(|| shown(&path, Ending::Exit(0)))?;
        let failure = best(|| shown(&path, Ending::Exit(1)))?;
        let ratio = wc / success;
        println!("{name:<8} {wc:>8.3}s {success:>8.3}s {failure:>8.3}s {ratio:>6.2}");
    }
    std::fs::remove_dir_all(&folder)?;
    let status = std::fs::read_to_string("/proc/self/status")?;
    println!("{}", status.lines().find(|l| l.starts_with("VmHWM")).unwrap_or("peak memory not known here"));
    Ok(())
}
