//! What hooks keep outside the ledger: records of failures, and hints. Losing it costs time and nothing else.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use sayso::model::UtcMs;
use sayso::{Host, SystemHost};
use serde::{Deserialize, Serialize};

use super::record::keep_spare;

/// Characters of an id in a file's name at most.
const ID_CHARS: usize = 80;

/// The folder: the one in `SAYSO_STATE`, unless that is empty, else the platform's state or data folder.
pub(crate) fn folder() -> Option<PathBuf> {
    let told = std::env::var_os("SAYSO_STATE").filter(|told| !told.is_empty()).map(PathBuf::from);
    told.or_else(|| {
        let folders = directories::ProjectDirs::from("", "", "sayso")?;
        Some(folders.state_dir().unwrap_or_else(|| folders.data_local_dir()).to_owned())
    })
}

/// Folders that are likely on another disk, in the order in which they are tried: this login's, and one among temporary
/// files.
pub(crate) fn elsewhere() -> Vec<PathBuf> {
    let folders = directories::BaseDirs::new();
    let login =
        folders.as_ref().and_then(directories::BaseDirs::runtime_dir).map(|folder| folder.join("sayso"));
    login.into_iter().chain([temporary()]).collect()
}

#[cfg(unix)]
fn temporary() -> PathBuf {
    std::env::temp_dir().join(format!("sayso-{}", rustix::process::getuid().as_raw()))
}

#[cfg(not(unix))]
fn temporary() -> PathBuf {
    std::env::temp_dir().join("sayso")
}

/// Whether nobody else can have put something there. Among temporary files anybody may make a folder of that name first.
pub(crate) fn is_trusted(folder: &Path) -> bool {
    folder != temporary() || is_own(folder)
}

#[cfg(unix)]
fn is_own(folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let own = rustix::process::getuid().as_raw();
    let about = fs::symlink_metadata(folder);
    about.is_ok_and(|about| about.is_dir() && about.uid() == own && about.mode() & 0o077 == 0)
}

#[cfg(not(unix))]
fn is_own(folder: &Path) -> bool {
    folder.is_dir()
}

/// Makes a folder that is its owner's alone, and that nobody else made before.
pub(crate) fn make_own(folder: &Path) -> std::io::Result<()> {
    make(folder)?;
    if is_trusted(folder) { Ok(()) } else { Err(std::io::ErrorKind::PermissionDenied.into()) }
}

/// Makes a folder that is its owner's alone.
pub(crate) fn make(folder: &Path) -> std::io::Result<()> {
    private(fs::DirBuilder::new().recursive(true)).create(folder)
}

#[cfg(unix)]
fn private(builder: &mut fs::DirBuilder) -> &mut fs::DirBuilder {
    std::os::unix::fs::DirBuilderExt::mode(builder, 0o700)
}

#[cfg(not(unix))]
fn private(builder: &mut fs::DirBuilder) -> &mut fs::DirBuilder {
    builder
}

/// How a transcript looked when it was imported last, and what its session was given.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Seen {
    /// Into which ledger.
    pub(super) ledger: String,
    /// Which file.
    pub(super) path: PathBuf,
    /// Bytes and time of its last change; `None` until it was read to its end.
    pub(super) stamp: Option<Stamp>,
    /// The last compaction behind which the session was given what comes back, by its id.
    pub(super) answered: Option<String>,
    /// Whether it was told that the file is not there.
    pub(super) told: bool,
    /// Whether it was told that it holds no record.
    pub(super) no_record: bool,
    /// What it was offered and had not in its context then.
    pub(super) offers: Vec<Offer>,
}

/// A forwarded turn that a session was offered.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct Offer {
    /// The turn's id.
    pub(super) turn: String,
    /// How often.
    pub(super) times: u32,
    /// Bytes that the transcript had when it was offered last.
    pub(super) bytes: u64,
}

/// How a file looks from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Stamp {
    pub(super) bytes: u64,
    /// Nanoseconds since 1970.
    pub(super) changed: u128,
}

impl Stamp {
    /// Of a plain file that is there.
    pub(super) fn of(path: &Path) -> Option<Self> {
        let about = fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
        let changed = about.modified().ok().and_then(|at| at.duration_since(UNIX_EPOCH).ok());
        Some(Self { bytes: about.len(), changed: changed.unwrap_or_default().as_nanos() })
    }
}

/// Hints that were not touched for so long are of sessions that are over.
const KEPT: Duration = Duration::from_secs(90 * 24 * 3_600);
/// Files of hints that are kept at most; the newest stay.
const FILES: usize = 1_000;

/// The file for the hints about one session.
pub(super) struct Hints(Option<PathBuf>);

impl Hints {
    pub(super) fn of(program: &str, session: &str) -> Self {
        let name: String =
            session.chars().filter(|c| c.is_ascii_alphanumeric() || *c == '-').take(ID_CHARS).collect();
        Self(folder().map(|folder| folder.join("seen").join(format!("{program}-{name}.json"))))
    }

    /// What was kept; nothing where nothing can be read.
    pub(super) fn read(&self, ledger: &str, path: &Path) -> Seen {
        let text = self.0.as_deref().and_then(|file| fs::read_to_string(file).ok()).unwrap_or_default();
        let seen: Option<Seen> = serde_json::from_str(&text).ok();
        let fresh = || Seen { ledger: ledger.to_owned(), path: path.to_owned(), ..Seen::default() };
        seen.filter(|seen| seen.ledger == ledger && seen.path == path).unwrap_or_else(fresh)
    }

    /// Keeps it, as far as that is possible; whether it was.
    pub(super) fn keep(&self, seen: &Seen) -> bool {
        let (Some(file), Ok(text)) = (&self.0, serde_json::to_string(seen)) else { return false };
        if let Some(folder) = file.parent().filter(|_| !file.exists()) {
            let _ = make(folder);
            forget(folder, SystemHost.now());
            // Some of the room may have been used since.
            let _ = folder.parent().map(keep_spare);
        }
        fs::write(file, text).is_ok()
    }
}

/// Removes the hints of sessions that are over. Each new session looks, so that their number stays bounded.
fn forget(folder: &Path, now: UtcMs) {
    let files = fs::read_dir(folder).into_iter().flatten().filter_map(Result::ok);
    let mut aged: Vec<(u64, PathBuf)> =
        files.filter_map(|file| Some((age(&file, now)?, file.path()))).collect();
    aged.sort();
    let over = |(at, (age, _)): &(usize, (u64, PathBuf))| *at >= FILES || *age > KEPT.as_secs();
    for (_, (_, file)) in aged.into_iter().enumerate().filter(over) {
        let _ = fs::remove_file(file);
    }
}

/// Seconds since a plain file was changed.
fn age(file: &fs::DirEntry, now: UtcMs) -> Option<u64> {
    let changed = file.metadata().ok().filter(fs::Metadata::is_file)?.modified().ok()?;
    let changed = changed.duration_since(UNIX_EPOCH).ok()?.as_secs();
    Some(u64::try_from(now.0 / 1_000).unwrap_or_default().saturating_sub(changed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_of_sessions_that_are_over_go() {
        let folder = tempfile::tempdir().unwrap();
        let now = UtcMs(1_796_029_200_000);
        let day = Duration::from_secs(24 * 3_600);
        let touch = |name: &str, age: Duration| {
            let changed = UNIX_EPOCH + Duration::from_millis(now.0.unsigned_abs()) - age;
            fs::File::create(folder.path().join(name)).unwrap().set_modified(changed).unwrap();
        };
        touch("old", 91 * day);
        for n in 0..FILES {
            touch(&format!("{n}"), day * (1 + u32::from(n >= 10)));
        }
        touch("new", day / 2);
        forget(folder.path(), now);
        assert!(!folder.path().join("old").exists(), "too old");
        assert!(folder.path().join("new").exists() && folder.path().join("9").exists());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), FILES, "one too many");
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_that_others_may_write_to_is_not_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("sayso-1");
        make(&folder).unwrap();
        assert!(is_own(&folder));
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(!is_own(&folder), "anybody may have put something there");
        let link = place.path().join("sayso-2");
        std::os::unix::fs::symlink(place.path(), &link).unwrap();
        assert!(!is_own(&link) && !is_own(&place.path().join("sayso-3")));
    }
}
