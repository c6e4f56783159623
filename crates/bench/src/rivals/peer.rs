//! Programs in other languages, started once and asked line by line: the work is timed in their own process.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use crate::clock::Took;

const AGENTS: &str = "openai-agents==0.24.0";
const GRAPH: &str = "langgraph-checkpoint-sqlite==3.1.2";
const BETTER: &str = "better-sqlite3@12.11.1";

/// A program that answers.
#[derive(Debug)]
pub(crate) struct Peer {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    pub(crate) name: &'static str,
}

impl Peer {
    fn start(name: &'static str, command: &mut Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let to = child.stdin.take().context("its input")?;
        let from = BufReader::new(child.stdout.take().context("its output")?);
        let mut peer = Self { child, to, from, name };
        peer.ask(&json!({"do": "hello"}))?;
        Ok(peer)
    }

    /// Asks for something and reads the answer.
    pub(crate) fn ask(&mut self, question: &Value) -> Result<Value> {
        writeln!(self.to, "{question}")?;
        self.to.flush()?;
        let mut line = String::new();
        self.from.read_line(&mut line)?;
        ensure!(!line.is_empty(), "{} ended without an answer", self.name);
        let answer: Value = serde_json::from_str(&line)?;
        match answer.get("error") {
            Some(error) => bail!("{}: {error}", self.name),
            None => Ok(answer),
        }
    }

    /// Asks for work; how long it took there, and what each step took on the wall, in microseconds.
    pub(crate) fn work(&mut self, question: &Value) -> Result<(Took, Vec<f64>)> {
        let answer = self.ask(question)?;
        let seconds = |name: &str| {
            let value = answer.get(name).and_then(Value::as_f64);
            value.map(Duration::from_secs_f64).with_context(|| format!("{} told no {name}", self.name))
        };
        let took = Took { wall: seconds("wall")?, cpu: seconds("cpu")? };
        let each = answer.get("each").and_then(Value::as_array).cloned().unwrap_or_default();
        Ok((took, each.iter().filter_map(Value::as_f64).map(|s| s * 1e6).collect()))
    }

    /// Facts that it tells about its own side.
    pub(crate) fn facts(&mut self) -> Result<Vec<(String, String)>> {
        let answer = self.ask(&json!({"do": "facts"}))?;
        let facts = answer.as_object().cloned().unwrap_or_default();
        Ok(facts.into_iter().map(|(k, v)| (k, v.as_str().map_or(v.to_string(), str::to_owned))).collect())
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        // Its input ends here; it is only stopped where it does not end by itself.
        drop(writeln!(self.to, "{}", json!({"do": "end"})));
        for _ in 0..50 {
            if matches!(self.child.try_wait(), Ok(Some(_))) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// A Python with the packages in it, in a folder of its own; the reason where there is none.
fn python(folder: &Path, package: &str) -> Result<PathBuf> {
    let venv = folder.join(format!("python-{}", package.replace("==", "-")));
    let bin = venv.join("bin/python");
    let stamp = venv.join("installed");
    if stamp.is_file() {
        return Ok(bin);
    }
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
    eprintln!("installing {package}");
    run(Command::new(&bin).args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
        package,
    ]))?;
    std::fs::write(stamp, package)?;
    Ok(bin)
}

fn run(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.stdin(Stdio::null()).output().with_context(|| format!("{name} cannot be started"))?;
    let said = String::from_utf8_lossy(&done.stderr);
    let last = said.lines().last().unwrap_or_default().to_owned();
    ensure!(done.status.success(), "{name}: {}: {last}", done.status);
    Ok(())
}

/// `SQLiteSession` of openai-agents.
///
/// # Errors
///
/// Where Python, the registry or the package is not to be had.
pub(crate) fn agents(folder: &Path, database: &Path) -> Result<Peer> {
    let python = python(folder, AGENTS)?;
    script("openai-agents SQLiteSession", &python, include_str!("agents.py"), folder, database)
}

/// `SqliteSaver` of langgraph.
///
/// # Errors
///
/// As for [`agents`].
pub(crate) fn graph(folder: &Path, database: &Path) -> Result<Peer> {
    let python = python(folder, GRAPH)?;
    script("langgraph SqliteSaver", &python, include_str!("graph.py"), folder, database)
}

/// better-sqlite3 on Node.
///
/// # Errors
///
/// Where Node, npm, the registry or the package is not to be had.
pub(crate) fn better(folder: &Path, database: &Path) -> Result<Peer> {
    let npm = folder.join(format!("node-{BETTER}"));
    let stamp = npm.join("installed");
    if !stamp.is_file() {
        std::fs::create_dir_all(&npm)?;
        eprintln!("installing {BETTER}");
        run(Command::new("npm")
            .args(["install", "--no-audit", "--no-fund", "--silent", "--prefix"])
            .arg(&npm)
            .arg(BETTER))?;
        std::fs::write(stamp, BETTER)?;
    }
    let file = npm.join("better.cjs");
    std::fs::write(&file, include_str!("better.cjs"))?;
    Peer::start("better-sqlite3", Command::new("node").arg(&file).arg(database).current_dir(&npm))
}

fn script(name: &'static str, python: &Path, text: &str, folder: &Path, database: &Path) -> Result<Peer> {
    let file = folder.join(format!("{}.py", name.split(' ').next().unwrap_or("peer")));
    std::fs::write(&file, text)?;
    Peer::start(name, Command::new(python).arg(&file).arg(database).env("OPENAI_AGENTS_DISABLE_TRACING", "1"))
}
