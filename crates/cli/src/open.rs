//! Which ledger, and how much of it.

use std::path::PathBuf;

use sayso::store::Collected;
use sayso::{Ledger, Options, Reader, Scope, SpeakerKind, SpeakerRef, StoreError};

use crate::args::Global;
use crate::fail::Failure;

/// The ledger's file: `--ledger`, else `SAYSO_LEDGER`, else `ledger.db` in the platform's data folder.
pub(crate) fn path(global: &Global) -> Result<PathBuf, Failure> {
    match &global.ledger {
        Some(path) => Ok(path.clone()),
        None => data_folder().map(|folder| folder.join("ledger.db")),
    }
}

fn data_folder() -> Result<PathBuf, Failure> {
    let folders = directories::ProjectDirs::from("", "", "sayso");
    let folder = folders.map(|f| f.data_dir().to_owned());
    folder.ok_or_else(|| {
        Failure::request("there is no home folder to keep the ledger in: name its file with --ledger")
    })
}

/// The same for a ledger that is made where it is missing. The platform's data folder is made as well; one that somebody
/// named has to be there, since it may be mistyped, or on a disk that is not.
pub(crate) fn path_to_make(global: &Global) -> Result<PathBuf, Failure> {
    let path = path(global)?;
    let folder = path.parent().filter(|folder| global.ledger.is_some() && !folder.as_os_str().is_empty());
    let missing = folder.filter(|folder| matches!(folder.try_exists(), Ok(false)));
    let Some(missing) = missing.map(|folder| folder.display().to_string()) else { return Ok(path) };
    let missing = format!("the folder {missing} is not there, make it first");
    let cause = std::io::Error::new(std::io::ErrorKind::NotFound, missing);
    Err(sayso::Error::from(StoreError::Denied { path, cause: cause.into() }).into())
}

/// The ledger, made where it is missing.
pub(crate) fn ledger(global: &Global) -> Result<Ledger, Failure> {
    Ok(Ledger::open(&path_to_make(global)?, &Options::default())?)
}

/// Whether a missing ledger is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    /// It is: something will be written.
    Make,
    /// It is an error: a mistyped name must not look like an empty ledger.
    Refuse,
}

/// A reader of a ledger that is there, with the scope that was asked for.
pub(crate) fn reader(global: &Global) -> Result<Reader, Failure> {
    reader_of(global, Missing::Refuse)
}

/// A reader of the ledger with the scope that was asked for.
pub(crate) fn reader_of(global: &Global, missing: Missing) -> Result<Reader, Failure> {
    let options = Options { create: missing == Missing::Make, ..Options::default() };
    let path = if options.create { path_to_make(global)? } else { path(global)? };
    scoped(&Ledger::open(&path, &options)?, global)
}

fn scoped(ledger: &Ledger, global: &Global) -> Result<Reader, Failure> {
    let all = ledger.reader(Scope::All);
    if global.scope.is_empty() {
        return Ok(all);
    }
    let projects = global.scope.iter().map(|given| Ok(all.find_project(given)?.id));
    let scope = Scope::Projects(projects.collect::<Result<_, Failure>>()?);
    Ok(ledger.reader(scope))
}

/// The person whose words are instructions here: named by `SAYSO_OWNER`, else by the login name, else `owner`.
pub(crate) fn owner() -> SpeakerRef {
    let variables = ["SAYSO_OWNER", "USER", "LOGNAME", "USERNAME"];
    let names = variables.iter().filter_map(|v| std::env::var(v).ok());
    let name = names.into_iter().find(|n| !n.is_empty()).unwrap_or_else(|| "owner".to_owned());
    SpeakerRef::new(SpeakerKind::Owner, name)
}

/// A ledger that is there, without waiting long for it.
#[cfg(unix)]
pub(crate) fn existing(global: &Global) -> Result<Ledger, Failure> {
    let options = Options { create: false, wait: std::time::Duration::from_secs(2), ..Options::default() };
    Ok(Ledger::open(&path(global)?, &options)?)
}

/// Opens a ledger that is there, without waiting long, and counts the sessions within the scope that was asked for.
pub(crate) fn look(global: &Global) -> Result<usize, Failure> {
    let options = Options { create: false, wait: std::time::Duration::from_secs(2), ..Options::default() };
    let ledger = Ledger::open(&path(global)?, &options)?;
    Ok(scoped(&ledger, global)?.sessions(None)?.len())
}

/// Collects unused bytes in a ledger that is there; `None` where there is none.
pub(crate) fn collect(global: &Global, grace: std::time::Duration) -> Result<Option<Collected>, Failure> {
    let path = path(global)?;
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(None);
    }
    let ledger = Ledger::open(&path, &Options { create: false, ..Options::default() })?;
    Ok(Some(ledger.collect(grace)?))
}

/// Entries that the index takes in at once.
const STEP: usize = 500;

/// Makes the index of the search anew in a ledger that is there, and counts the entries in it; `None` where there is none.
pub(crate) fn reindex(global: &Global) -> Result<Option<u64>, Failure> {
    let path = path(global)?;
    if matches!(path.try_exists(), Ok(false)) {
        return Ok(None);
    }
    let ledger = Ledger::open(&path, &Options { create: false, ..Options::default() })?;
    ledger.reindex()?;
    let mut entries = 0;
    loop {
        let step = ledger.index(STEP)?;
        entries += step.indexed;
        if step.left == 0 || step.indexed == 0 {
            return Ok(Some(entries));
        }
    }
}
