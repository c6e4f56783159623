//! The command that an agent program is told to run.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use crate::args::Global;
use crate::fail::Failure;

/// The program and the options before the command's name.
pub(super) fn words(global: &Global) -> Result<Vec<String>, Failure> {
    let running =
        std::env::current_exe().map_err(|e| Failure::io("the program's own path is not known", e))?;
    let mut words = vec![text(&on_path(&running, std::env::var_os("PATH").as_deref()).unwrap_or(running))?];
    if let Some(ledger) = &global.ledger {
        let ledger =
            std::path::absolute(ledger).map_err(|e| Failure::io("the ledger's path is not known", e))?;
        words.extend(["--ledger".to_owned(), text(&ledger)?]);
    }
    Ok(words)
}

/// The words as one line for a shell.
pub(super) fn line(words: &[String], more: &[&str]) -> String {
    let all = words.iter().map(String::as_str).chain(more.iter().copied());
    all.map(quoted).collect::<Vec<_>>().join(" ")
}

/// The name under which a shell finds this program: it outlives an update, unlike where that name leads to.
fn on_path(running: &Path, path: Option<&OsStr>) -> Option<PathBuf> {
    let name = running.file_name()?;
    let there = running.canonicalize().ok()?;
    let mut found =
        std::env::split_paths(path?).filter(|folder| folder.is_absolute()).map(|folder| folder.join(name));
    found.find(|file| file.canonicalize().is_ok_and(|file| file == there))
}

fn text(path: &Path) -> Result<String, Failure> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| {
        Failure::request(format!(
            "the path {} is not text, so it cannot stand in settings: move it",
            path.display()
        ))
    })
}

#[cfg(unix)]
fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+=:@%,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(not(unix))]
fn quoted(word: &str) -> String {
    if word.contains([' ', '&', '(', ')', '^', ';', ',']) { format!("\"{word}\"") } else { word.to_owned() }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_shell_reads_back_the_words() {
        let words =
            ["/opt/my tools/sayso", "it's", "plain-1.0", "", "$HOME `x` \"y\" 선착장"].map(str::to_owned);
        let script = format!("printf '%s\\n' {}", line(&words, &["hook"]));
        let ran = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        let printed = String::from_utf8(ran.stdout).unwrap();
        assert_eq!(
            printed.lines().collect::<Vec<_>>(),
            words.iter().map(String::as_str).chain(["hook"]).collect::<Vec<_>>()
        );
    }
}
