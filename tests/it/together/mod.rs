//! Several programs on one ledger: each a process of its own, as in the field.

mod backup;
mod killed;
mod kills;
mod locks;
mod opening;
mod outputs;
pub(crate) mod schemas;
mod upgrade;

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use sayso::store::Session;
use sayso::{Ledger, NewTurn, Options, Placed, Scope, SpeakerKind};

/// The ledger of a folder.
fn file(folder: &Path) -> PathBuf {
    folder.join("ledger.db")
}

fn patient() -> Options {
    Options { wait: Duration::from_secs(60), ..Options::default() }
}

fn open(folder: &Path) -> Ledger {
    Ledger::open(&file(folder), &patient()).unwrap()
}

fn session(ledger: &Ledger, title: &str) -> Session {
    ledger.session("Acme", title).unwrap()
}

fn words(text: impl Into<String>) -> NewTurn {
    NewTurn::text(SpeakerKind::Agent, "Rocky", text)
}

/// The texts of a session, in order.
fn texts(ledger: &Ledger, session: &Session) -> Vec<String> {
    let reader = ledger.reader(Scope::All);
    let entries = reader.walk(session.id, 0).collect::<Result<Vec<_>, _>>().unwrap();
    entries.iter().filter_map(|e| e.turn().map(sayso::model::Turn::text)).collect()
}

#[track_caller]
fn sound(ledger: &Ledger) {
    assert_eq!(ledger.reader(Scope::All).verify(&BTreeMap::new()).unwrap().problems, Vec::new());
}

/// Another process that does something with the ledger of a folder. It is ended with this value.
struct Other(Child);

impl Other {
    /// Starts one that plays this part, as number `n`.
    fn start(folder: &Path, part: &str, n: usize) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        Self::spawn(command.args(ARGUMENTS), folder, part, n)
    }

    fn spawn(command: &mut Command, folder: &Path, part: &str, n: usize) -> Self {
        command.env(FOLDER, folder).env(PART, part).env(NUMBER, n.to_string());
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::inherit());
        Self(command.spawn().unwrap())
    }

    #[track_caller]
    fn ends_well(mut self) {
        assert!(self.0.wait().unwrap().success());
    }

    /// Ends it in the middle of whatever it does.
    fn kill(mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const ARGUMENTS: [&str; 3] = ["--exact", "together::the_part_of_another_process", "--nocapture"];
const FOLDER: &str = "SAYSO_TEST_FOLDER";
const PART: &str = "SAYSO_TEST_PART";
const NUMBER: &str = "SAYSO_TEST_NUMBER";

/// Plays the part that the environment names; no test of its own.
#[test]
fn the_part_of_another_process() {
    let (Some(folder), Ok(part)) = (std::env::var_os(FOLDER), std::env::var(PART)) else { return };
    let folder = PathBuf::from(folder);
    let n = std::env::var(NUMBER).unwrap().parse().unwrap();
    match part.as_str() {
        "open" => opening::open_and_say(&folder, n),
        "hold" => locks::hold(&folder),
        "vacuum" => locks::vacuum(&folder),
        "same keys" => locks::same_keys(&folder),
        "stream" => outputs::stream(&folder, n),
        "append" => killed::append(&folder, n),
        "write until killed" => kills::write(&folder, n),
        "until full" => killed::until_full(&folder),
        "half upgrade" => upgrade::half(&folder),
        "backup" => backup::make(&folder),
        other => panic!("no part {other:?}"),
    }
}

/// A sign that one process gives another.
fn tell(folder: &Path, sign: &str) {
    fs::write(folder.join(sign), "").unwrap();
}

fn told(folder: &Path, sign: &str) -> bool {
    folder.join(sign).exists()
}

#[track_caller]
fn wait_for(folder: &Path, sign: &str) {
    for _ in 0..600_000 {
        if told(folder, sign) {
            return;
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    panic!("{sign:?} never came");
}

/// Waits for the kill, and ends by itself when its starter died before.
fn until_killed() {
    for _ in 0..60 {
        std::thread::sleep(Duration::from_secs(1));
    }
}

/// One line in a file that survives the end of the process.
fn log(folder: &Path, name: &str, line: &str) {
    let mut file = OpenOptions::new().create(true).append(true).open(folder.join(name)).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn logged(folder: &Path, name: &str) -> Vec<String> {
    let text = fs::read_to_string(folder.join(name)).unwrap_or_default();
    // A line that was cut off was not written whole: nothing was acknowledged by it.
    text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n')).map(str::to_owned).collect()
}

fn place(placed: &Placed) -> String {
    format!("{} {} {}", placed.session, placed.seq, placed.hash)
}
