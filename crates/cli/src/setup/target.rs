//! A file of an agent program's settings.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use crate::fail::Failure;

/// Bytes of a settings file at most: more is no settings file.
const FILE_BYTES: u64 = 16 << 20;

/// A file that is read and may be written. A link is followed: what it leads to is changed, and the link stays.
pub(super) struct Target {
    path: PathBuf,
    text: Option<String>,
}

impl Target {
    /// Reads it; it may be missing, but not the folder `home` in which the program keeps its settings.
    pub(super) fn open(file: &Path, home: &Path) -> Result<Self, Failure> {
        if !home.is_dir() {
            return Err(Failure::request(format!(
                "{} is not there: start the program once, so that it makes its folder, and run this again",
                home.display()
            )));
        }
        let path = followed(file)?;
        let text = match fs::metadata(&path) {
            Ok(about) if !about.is_file() => {
                return Err(refused(&path, "is no plain file: put it out of the way"));
            }
            Ok(about) if about.len() > FILE_BYTES => {
                return Err(refused(
                    &path,
                    "has more than 16 MiB, so it is no settings file: check what it is",
                ));
            }
            Ok(_) => Some(read(&path)?),
            Err(error) if error.kind() == ErrorKind::NotFound => None,
            Err(cause) => return Err(Failure::io(format!("{} cannot be read", path.display()), cause)),
        };
        Ok(Self { path, text })
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn shown(&self) -> String {
        self.path.display().to_string()
    }

    /// Its text, `None` where it is missing.
    pub(super) fn text(&self) -> Option<&str> {
        self.text.as_deref()
    }

    /// Replaces it in one step, with the mode that it had; `None` removes it.
    pub(super) fn write(&self, text: Option<&str>) -> Result<(), Failure> {
        self.may_be_written()?;
        let cannot =
            |cause| Failure::io(format!("{} cannot be written, and is as it was", self.shown()), cause);
        match text {
            Some(text) => self.replace(text).map_err(cannot),
            None => fs::remove_file(&self.path).map_err(cannot),
        }
    }

    /// Whether it is as it was read, and its owner lets it be written.
    pub(super) fn may_be_written(&self) -> Result<(), Failure> {
        let Ok(about) = fs::metadata(&self.path) else { return Ok(()) };
        if about.permissions().readonly() {
            return Err(refused(
                &self.path,
                "is read-only: make it writable (chmod u+w), and run this again",
            ));
        }
        if self.text.as_deref() != Some(read(&self.path)?.as_str()) {
            return Err(refused(&self.path, "was changed by another program just now: run this again"));
        }
        Ok(())
    }

    fn replace(&self, text: &str) -> std::io::Result<()> {
        let folder = self.path.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder)?;
        let mut new = tempfile::NamedTempFile::new_in(folder)?;
        new.write_all(text.as_bytes())?;
        set_mode(new.as_file(), &self.path)?;
        new.as_file().sync_all()?;
        new.persist(&self.path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// The mode of the old file; a new one is its owner's alone.
#[cfg(unix)]
fn set_mode(new: &fs::File, old: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let mode = fs::metadata(old).map_or(0o600, |about| about.permissions().mode());
    new.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &fs::File, _: &Path) -> std::io::Result<()> {
    Ok(())
}

fn followed(file: &Path) -> Result<PathBuf, Failure> {
    let absolute = std::path::absolute(file).map_err(|e| Failure::io("the file's path is not known", e))?;
    match fs::symlink_metadata(&absolute) {
        Ok(about) if about.is_symlink() => absolute.canonicalize().map_err(|cause| {
            Failure::io(
                format!(
                    "{} is a link to something that is not there: make that, or remove the link",
                    absolute.display()
                ),
                cause,
            )
        }),
        _ => Ok(absolute),
    }
}

fn read(path: &Path) -> Result<String, Failure> {
    let bytes =
        fs::read(path).map_err(|cause| Failure::io(format!("{} cannot be read", path.display()), cause))?;
    String::from_utf8(bytes)
        .map_err(|_| refused(path, "is not UTF-8, and was left as it is: save it as UTF-8"))
}

fn refused(path: &Path, why: &str) -> Failure {
    Failure::request(format!("{} {why}", path.display()))
}
