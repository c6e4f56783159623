//! A private folder for each call, in which a tool leaves its envelopes.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags, openat};

use super::frame::{Found, FrameReader, Nonce, Sections, frame};
use crate::envelope::Received;
use crate::limits::{FRAME_HEADER_BYTES, SPOOL_FILES, WIRE_BYTES};

/// A spool folder cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// Others can write into it, or it is a link.
    #[error("{} is not a private folder of this user: let the caller make one for this call", .folder.display())]
    NotPrivate {
        /// The folder.
        folder: PathBuf,
    },
    /// The system refused.
    #[error("the spool folder {} cannot be used: check that it exists and that the disk has room", .folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// What the system said.
        #[source]
        source: io::Error,
    },
}

/// The folder of one call.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    nonce: Nonce,
}

impl Spool {
    /// Makes a folder for one call inside of `parent`, for this user only (0700).
    ///
    /// # Errors
    ///
    /// [`SpoolError`] where it cannot be made.
    pub fn create(parent: &Path, nonce: Nonce) -> Result<Self, SpoolError> {
        let folder = parent.join(format!("call-{}", nonce.as_str()));
        DirBuilder::new().mode(0o700).create(&folder).map_err(io(&folder))?;
        Ok(Self { folder, nonce })
    }

    /// The folder of a call that someone else made.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] where it is not a folder that only this user can write to.
    pub fn open(folder: &Path, nonce: Nonce) -> Result<Self, SpoolError> {
        let found = fs::symlink_metadata(folder).map_err(io(folder))?;
        let own = found.uid() == rustix::process::geteuid().as_raw();
        if !found.is_dir() || !own || found.mode() & 0o077 != 0 {
            return Err(SpoolError::NotPrivate { folder: folder.to_owned() });
        }
        Ok(Self { folder: folder.to_owned(), nonce })
    }

    /// The folder.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The call's nonce.
    #[must_use]
    pub fn nonce(&self) -> &Nonce {
        &self.nonce
    }

    /// Leaves both texts: written, synced, renamed, and the folder synced. There is a whole file of that name or none.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] where that cannot be done.
    pub fn put(&self, sections: &Sections) -> Result<(), SpoolError> {
        self.write(sections).map_err(io(&self.folder))
    }

    fn write(&self, sections: &Sections) -> io::Result<()> {
        let random = Nonce::random()?;
        let count = fs::read_dir(&self.folder)?.count();
        let temporary = self.folder.join(format!("tmp-{}", random.as_str()));
        let name = format!("{count:06}-{}.envelope", random.as_str());
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&temporary)?;
        frame(sections, &self.nonce, &mut file)?;
        file.sync_all()?;
        fs::rename(&temporary, self.folder.join(name))?;
        File::open(&self.folder)?.sync_all()
    }

    /// Removes the folder and what is in it.
    ///
    /// # Errors
    ///
    /// [`SpoolError`] where that cannot be done.
    pub fn remove(self) -> Result<(), SpoolError> {
        fs::remove_dir_all(&self.folder).map_err(io(&self.folder))
    }
}

fn io(folder: &Path) -> impl FnOnce(io::Error) -> SpoolError {
    let folder = folder.to_owned();
    move |source| SpoolError::Io { folder, source }
}

/// Why something in a spool folder is no envelope.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// A link: it is not followed.
    Link,
    /// A folder, pipe, socket or device.
    NotRegular,
    /// More than 16 MiB.
    Oversize,
    /// Not a name that envelopes have.
    Name,
    /// A file that was still being written when the tool ended.
    Unfinished,
    /// Another call's nonce, or none.
    Nonce,
    /// This call's nonce, and short or not what its hash says: what came of it goes to the model.
    Truncated,
    /// More than 1,024 files: the rest is not looked at.
    TooMany,
    /// It cannot be read.
    Unreadable,
}

/// Something in a spool folder that is ignored, by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The name, repaired and bounded.
    pub name: String,
    /// Why it is ignored.
    pub why: Why,
}

/// What a spool folder held.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Collected {
    /// Envelopes, in the order in which they were left. Truncated ones are among them: their text is for the model.
    pub received: Vec<Received>,
    /// What else was there.
    pub findings: Vec<Finding>,
}

/// Reads a call's spool folder.
///
/// # Errors
///
/// [`SpoolError`] where the folder itself cannot be read. What is wrong with a file in it is a finding.
pub fn collect(spool: &Spool) -> Result<Collected, SpoolError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(&spool.folder).map_err(io(&spool.folder))?.take(SPOOL_FILES + 1) {
        names.push(entry.map_err(io(&spool.folder))?.file_name());
    }
    names.sort();
    let folder = File::open(&spool.folder).map_err(io(&spool.folder))?;
    let mut collected = Collected::default();
    for (at, name) in names.iter().enumerate() {
        let read = if at >= SPOOL_FILES { Err(Why::TooMany) } else { one(&folder, name, &spool.nonce) };
        let why = match read {
            Ok(Found::Whole(sections)) => {
                collected.received.push(sections.received());
                continue;
            }
            Ok(truncated) => {
                collected.received.push(truncated.received());
                Why::Truncated
            }
            Err(why) => why,
        };
        let name = name.to_string_lossy().chars().take(80).collect();
        collected.findings.push(Finding { name, why });
    }
    Ok(collected)
}

fn one(folder: &File, name: &std::ffi::OsStr, nonce: &Nonce) -> Result<Found, Why> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = match openat(folder.as_fd(), name, flags, Mode::empty()) {
        Err(rustix::io::Errno::LOOP | rustix::io::Errno::MLINK) => return Err(Why::Link),
        // A socket.
        Err(rustix::io::Errno::NXIO) => return Err(Why::NotRegular),
        opened => File::from(opened.map_err(|_| Why::Unreadable)?),
    };
    let found = file.metadata().map_err(|_| Why::Unreadable)?;
    let most = WIRE_BYTES + 2 * FRAME_HEADER_BYTES as u64;
    match (found.is_file(), named(&name.to_string_lossy())) {
        (false, _) => Err(Why::NotRegular),
        (true, Err(why)) => Err(why),
        (true, Ok(())) if found.len() > most => Err(Why::Oversize),
        (true, Ok(())) => content(file, most, nonce),
    }
}

fn named(name: &str) -> Result<(), Why> {
    if name.strip_prefix("tmp-").is_some_and(|random| Nonce::parse(random).is_some()) {
        return Err(Why::Unfinished);
    }
    let parts = name.strip_suffix(".envelope").and_then(|name| name.split_once('-'));
    let right = parts.is_some_and(|(count, random)| {
        count.len() >= 6 && count.bytes().all(|b| b.is_ascii_digit()) && Nonce::parse(random).is_some()
    });
    if right { Ok(()) } else { Err(Why::Name) }
}

fn content(file: File, most: u64, nonce: &Nonce) -> Result<Found, Why> {
    let mut bytes = Vec::new();
    // It may grow while it is read.
    file.take(most + 1).read_to_end(&mut bytes).map_err(|_| Why::Unreadable)?;
    if bytes.len() as u64 > most {
        return Err(Why::Oversize);
    }
    let mut around = Vec::new();
    let mut reader = FrameReader::new(nonce.clone(), &mut around);
    reader.feed(&bytes).map_err(|_| Why::Unreadable)?;
    let mut found = reader.finish().map_err(|_| Why::Unreadable)?;
    match (found.len(), around.is_empty()) {
        (0, _) => Err(Why::Nonce),
        (1, true) => found.pop().ok_or(Why::Nonce),
        // More than one frame, or words around it: nothing of that was written by `put`.
        _ => Ok(Found::Truncated(bytes)),
    }
}
