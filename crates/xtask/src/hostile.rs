//! `cargo xtask hostile`: input that is made to hurt, and how much memory the program held at most while it took it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::workspace;

const TICK: Duration = Duration::from_millis(5);

/// Megabytes that a case may hold at most: the longest line some times over, or what does not depend on the input.
const LONG_LINE: u64 = 400;
const ANYTHING_ELSE: u64 = 120;

/// What the program reads from its standard input.
const WORDS: &str = "words";

/// Runs every case with the program at this place; without one, the one that was built beside this.
pub(crate) fn hostile(sayso: Option<PathBuf>) -> Result<()> {
    let beside = std::env::current_exe()?.with_file_name("sayso");
    let program = sayso.unwrap_or(beside);
    ensure!(
        program.is_file(),
        "{} is not there: build it first, or name one with --sayso",
        program.display()
    );
    let folder = workspace::target().join(format!("hostile-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    fs::write(folder.join(WORDS), "run it")?;
    let place = Place { program, folder };
    let import = |name: &str, text: String, most| place.import(name, &text, most);
    import("a line of 25 MB", message(1, &"가나다 words ".repeat(1_560_000)), LONG_LINE)?;
    let deep = format!("{{\"x\":{}{}}}\n", "[".repeat(100_000), "]".repeat(100_000));
    import("100,000 levels", message(2, "hello") + &deep, ANYTHING_ELSE)?;
    import("1,000,000 records", message(3, "hello") + &"{}\n".repeat(1_000_000), ANYTHING_ELSE)?;
    place.run(
        "a session",
        &["append", "--project", "A", "--session", "B", "--speaker", "owner:Mira"],
        120,
    )?;
    let script = "head -c 300000000 /dev/zero | tr '\\0' a; echo; echo the end";
    place.run("300 MB, stored", &["run", "--session", "A/B", "--", "sh", "-c", script], ANYTHING_ELSE)?;
    place.run("300 MB, exported", &["export", "B", "--as", "jsonl", "--to", "all.jsonl"], ANYTHING_ELSE)?;
    place.run("300 MB, imported", &["import", "all.jsonl", "--ledger", "copy.db"], ANYTHING_ELSE)?;
    place.run("300 MB, verified", &["verify", "--ledger", "copy.db"], ANYTHING_ELSE)?;
    fs::remove_dir_all(&place.folder)?;
    println!("ok hostile");
    Ok(())
}

/// One message of a Claude Code session.
fn message(session: u32, text: &str) -> String {
    format!(
        "{{\"parentUuid\":null,\"type\":\"user\",\"cwd\":\"/w\",\"version\":\"2.0.0\",\
         \"sessionId\":\"11111111-2222-3333-4444-{session:012}\",\"uuid\":\"aaaaaaaa-0000-0000-0000-{session:012}\",\
         \"message\":{{\"role\":\"user\",\"content\":\"{text}\"}},\"timestamp\":\"2026-11-30T09:14:05.000Z\"}}\n"
    )
}

struct Place {
    program: PathBuf,
    folder: PathBuf,
}

impl Place {
    fn import(&self, name: &str, text: &str, most: u64) -> Result<()> {
        fs::write(self.folder.join("transcript.jsonl"), text)?;
        self.run(name, &["import", "transcript.jsonl"], most)
    }

    /// Runs the program and prints the most that it held.
    fn run(&self, name: &str, args: &[&str], most: u64) -> Result<()> {
        let mut command = Command::new(&self.program);
        command.args(args).current_dir(&self.folder).env("SAYSO_LEDGER", self.folder.join("ledger.db"));
        command
            .env("SAYSO_OWNER", "Mira")
            .stdin(fs::File::open(self.folder.join(WORDS))?)
            .stdout(Stdio::null());
        let mut child = command.spawn().context("cannot start the program")?;
        let status = PathBuf::from(format!("/proc/{}/status", child.id()));
        let mut peak = 0;
        let ended = loop {
            // Read before it is asked whether it has ended: afterwards there is nothing to read.
            peak = peak.max(held(&status).unwrap_or(0));
            if let Some(ended) = child.try_wait()? {
                break ended;
            }
            std::thread::sleep(TICK);
        };
        println!("{name:<20} at most {:>5} MB of {most} MB", peak / 1_024);
        ensure!(ended.success(), "{name}: {ended}; the files are in {}", self.folder.display());
        ensure!(peak / 1_024 <= most, "{name}: more than {most} MB");
        Ok(())
    }
}

/// The most that a process has held so far, in kilobytes; `None` where the system does not say.
fn held(status: &Path) -> Option<u64> {
    let text = fs::read_to_string(status).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.trim().parse().ok()
}
