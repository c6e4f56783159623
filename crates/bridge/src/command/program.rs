//! One run of a program.

use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Seek, Write};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::Duration;

use sayso_output::Ending;
use sayso_output::execute::{Request, Sinks, SpawnError, Stdin, execute};
use serde_json::Value;

/// Bytes of standard output that are read at most.
const ANSWER_BYTES: u64 = 16 * 1024 * 1024;

/// Characters of what it said last on standard error that are passed on.
const LAST_WORDS: usize = 200;

/// A program and how it is run.
#[derive(Debug, Clone)]
pub struct Program {
    /// The program and its arguments; not empty.
    pub command: Vec<OsString>,
    /// Where it is run; this process's folder if absent.
    pub folder: Option<PathBuf>,
    /// How long a step may take, beside what it was told to wait.
    pub timeout: Duration,
    /// Set to the number of a signal to end a program that runs.
    pub stop: Arc<AtomicUsize>,
}

/// What a run left.
#[derive(Debug)]
pub(super) struct Ran {
    /// The whole lines of standard output that are not empty.
    pub(super) lines: Vec<String>,
    /// How it ended, where that was not well.
    pub(super) trouble: Option<String>,
}

impl Program {
    /// Runs it with one line of JSON on its standard input.
    ///
    /// # Errors
    ///
    /// [`SpawnError`]: it did not run.
    pub(super) fn run(&self, input: &Value, beyond: Duration) -> Result<Ran, SpawnError> {
        let stdin = file_of(input).map_err(SpawnError::Other)?;
        let mut words = self.command.iter().cloned();
        let mut request = Request::argv(words.next().unwrap_or_default(), words);
        request.folder.clone_from(&self.folder);
        request.stdin = Stdin::File(Arc::new(stdin));
        request.timeout = Some(self.timeout + beyond);
        request.cap = Some(ANSWER_BYTES);
        request.stop = Some(Arc::clone(&self.stop));
        let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
        let went = execute(&request, Sinks { stdout: &mut stdout, stderr: &mut stderr })?;
        let whole = went.stdout.produced <= ANSWER_BYTES;
        let trouble = trouble(went.ending, whole).map(|trouble| with_last_words(trouble, &stderr));
        Ok(Ran { lines: lines(&stdout), trouble })
    }
}

fn file_of(input: &Value) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    writeln!(file, "{input}")?;
    file.rewind()?;
    Ok(file)
}

fn lines(stdout: &[u8]) -> Vec<String> {
    let text = String::from_utf8_lossy(stdout);
    text.split('\n').map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect()
}

/// What went wrong, with the last line that the program said of it.
fn with_last_words(trouble: String, stderr: &[u8]) -> String {
    match lines(stderr).pop() {
        Some(line) => format!("{trouble}: {}", line.chars().take(LAST_WORDS).collect::<String>()),
        None => trouble,
    }
}

fn trouble(ending: Ending, whole: bool) -> Option<String> {
    match ending {
        Ending::Exit(0) if whole => None,
        Ending::Exit(0) => Some("the program said more than 16 MiB".to_owned()),
        Ending::Exit(code) => Some(format!("the program ended with exit code {code}")),
        Ending::Signal(number) => Some(format!("the program was ended by signal {number}")),
        Ending::Timeout => Some("the program did not end in time".to_owned()),
        Ending::Unknown => Some("nobody knows how the program ended".to_owned()),
    }
}
