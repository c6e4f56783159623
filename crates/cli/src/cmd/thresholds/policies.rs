//! The file of policies.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use sayso_output::thresholds::{Policies, Policy};
use serde::Serialize;

use crate::args::Global;
use crate::fail::Failure;
use crate::io::{Out, one_line};
use crate::open;

/// The file that was named, or the one beside the ledger.
pub(super) fn path(given: Option<&Path>, global: &Global) -> Result<PathBuf, Failure> {
    if let Some(path) = given {
        return Ok(path.to_owned());
    }
    let mut name = open::path(global)?.into_os_string();
    name.push(".policies.json");
    Ok(name.into())
}

pub(super) fn read(path: &Path) -> Result<Policies, Failure> {
    let text =
        std::fs::read(path).map_err(|e| Failure::io(format!("{} cannot be read", path.display()), e))?;
    parse(&text, path)
}

/// The policies in a file; none where there is no such file.
pub(super) fn known(path: &Path) -> Result<Option<Policies>, Failure> {
    match path.try_exists() {
        Ok(false) => Ok(None),
        _ => read(path).map(Some),
    }
}

fn parse(text: &[u8], path: &Path) -> Result<Policies, Failure> {
    if text.is_empty() {
        return Ok(Policies::default());
    }
    serde_json::from_slice(text).map_err(|e| {
        let what = format!("{} is no file of policies: see `sayso thresholds set --help`", path.display());
        Failure::io(what, io::Error::other(e))
    })
}

#[derive(Serialize)]
struct Set<'a> {
    tool: &'a str,
    policy: Policy,
    version: u64,
    file: &'a Path,
}

pub(super) fn set(tool: &str, words: &[String], path: &Path, out: &mut Out<'_>) -> Result<(), Failure> {
    let policy = policy(words)?;
    let version = change(path, |policies| policies.set(tool, policy))?;
    let set = Set { tool, policy, version, file: path };
    out.either(&set, || format!("{}: {policy}, version {version}", one_line(tool)))
}

fn policy(words: &[String]) -> Result<Policy, Failure> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let above = |number: &str| number.replace([',', '_'], "").parse().ok().map(Policy::Above);
    let policy = match words.as_slice() {
        ["never"] => Some(Policy::Never),
        ["always"] => Some(Policy::Always),
        ["above", number] => above(number),
        _ => None,
    };
    policy.ok_or_else(|| {
        let given = words.join(" ");
        Failure::request(format!(
            "{given:?} is no policy: give never, always, or above and a number of characters"
        ))
    })
}

/// Changes the policies in a file. Of two that do so at once one waits; a crash leaves the file as it was before or after.
fn change(path: &Path, change: impl FnOnce(&mut Policies) -> u64) -> Result<u64, Failure> {
    let failed = |e| {
        let shown = path.display();
        Failure::io(
            format!("{shown} cannot be written: see that its folder is there and may be written to"),
            e,
        )
    };
    let mut lock = locked(path).map_err(failed)?;
    let mut text = Vec::new();
    lock.read_to_end(&mut text).map_err(failed)?;
    let mut policies = parse(&text, path)?;
    let before = policies.version();
    let version = change(&mut policies);
    if version != before {
        replace(path, &mut lock, &policies).map_err(failed)?;
    }
    Ok(version)
}

/// The file, made where it is missing, for this process alone.
fn locked(path: &Path) -> io::Result<File> {
    loop {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.lock()?;
        // Whoever had it before may have put another in its place.
        if same(&file, path)? {
            return Ok(file);
        }
    }
}

#[cfg(unix)]
fn same(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let held = file.metadata()?;
    match std::fs::metadata(path) {
        Ok(there) => Ok((held.dev(), held.ino()) == (there.dev(), there.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(unix)]
fn replace(path: &Path, _lock: &mut File, policies: &Policies) -> io::Result<()> {
    let mut name = path.as_os_str().to_owned();
    name.push(".new");
    let new = PathBuf::from(name);
    let mut file = File::create(&new)?;
    written(&mut file, policies)?;
    std::fs::rename(&new, path)
}

#[cfg(not(unix))]
fn same(_: &File, _: &Path) -> io::Result<bool> {
    Ok(true)
}

#[cfg(not(unix))]
fn replace(_: &Path, lock: &mut File, policies: &Policies) -> io::Result<()> {
    std::io::Seek::rewind(lock)?;
    lock.set_len(0)?;
    written(lock, policies)
}

fn written(file: &mut File, policies: &Policies) -> io::Result<()> {
    let text = serde_json::to_string_pretty(policies).map_err(io::Error::other)?;
    file.write_all(text.as_bytes())?;
    file.write_all(b"\n")?;
    file.sync_all()
}
