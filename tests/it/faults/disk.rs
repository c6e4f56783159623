//! A disk that fails where a test wants it to, and that forgets at a loss of power what was not synced.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What SQLite asked of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Call {
    Open,
    Read,
    Write,
    Truncate,
    Sync,
    Size,
    Delete,
    Lock,
    ShmMap,
    ShmLock,
}

/// What happens at one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    /// It fails once; the next one goes well again.
    Once,
    /// It writes half of what it should and fails; the next one goes well again.
    Half,
    /// From there on nothing can be written: the disk is full.
    Full,
    /// The power goes.
    Power,
}

/// What becomes of what was written and not synced when the power goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unsynced {
    Lost,
    Kept,
    /// Some of it is kept, one write in the middle, by this number.
    Torn(u64),
}

/// How one call goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goes {
    Well,
    Wrong,
    Half,
    NoRoom,
}

#[derive(Debug)]
enum Change {
    Write { at: usize, bytes: Vec<u8> },
    Truncate(usize),
}

impl Change {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Truncate(size) => to.resize(*size, 0),
            Self::Write { at, bytes } => {
                let end = at + bytes.len();
                to.resize(to.len().max(end), 0);
                to[*at..end].copy_from_slice(bytes);
            }
        }
    }

    /// The first sectors of a write, as a disk tears it.
    fn torn(&self, n: u64) -> Option<Self> {
        let Self::Write { at, bytes } = self else { return None };
        let sectors = bytes.len() / SECTOR;
        let keep = if sectors == 0 { 0 } else { usize::try_from(n).unwrap() % sectors * SECTOR };
        Some(Self::Write { at: *at, bytes: bytes[..keep].to_vec() })
    }
}

const SECTOR: usize = 512;

#[derive(Debug, Default)]
struct Kept {
    /// What is on the disk for certain.
    synced: Vec<u8>,
    /// What was written since, in order.
    since: Vec<Change>,
}

impl Kept {
    fn sync(&mut self) {
        for change in self.since.drain(..) {
            change.apply(&mut self.synced);
        }
    }

    fn after(mut self, unsynced: Unsynced) -> Vec<u8> {
        match unsynced {
            Unsynced::Lost => {}
            Unsynced::Kept => self.sync(),
            Unsynced::Torn(seed) => self.tear(seed),
        }
        self.synced
    }

    /// A disk writes in any order what it was not told to sync.
    fn tear(&mut self, seed: u64) {
        let torn = usize::try_from(seed).unwrap() % self.since.len().max(1);
        for (n, change) in self.since.iter().enumerate() {
            let drawn = draw(seed, n);
            match change.torn(drawn) {
                Some(part) if n == torn => part.apply(&mut self.synced),
                _ if drawn.is_multiple_of(2) => change.apply(&mut self.synced),
                _ => {}
            }
        }
    }
}

fn draw(seed: u64, n: usize) -> u64 {
    let hash = blake3::hash(format!("{seed} {n}").as_bytes());
    u64::from_le_bytes(hash.as_bytes()[..8].try_into().unwrap())
}

#[derive(Debug, Default)]
struct State {
    calls: Vec<Call>,
    plan: Option<(usize, Fault)>,
    no_power: bool,
    no_room: bool,
    /// Bytes that all files may have together, where they are bounded.
    quota: Option<u64>,
    /// Nothing can be changed any more.
    read_only: bool,
    files: BTreeMap<PathBuf, Kept>,
    sizes: BTreeMap<PathBuf, u64>,
}

impl State {
    fn decide(&mut self, call: Call) -> Goes {
        if self.no_power {
            return Goes::Wrong;
        }
        let n = self.calls.len();
        self.calls.push(call);
        if let Some((at, fault)) = self.plan
            && at == n
        {
            return self.strike(fault, call);
        }
        match call {
            Call::Write | Call::Truncate | Call::Sync | Call::Delete if self.read_only => Goes::Wrong,
            Call::Write if self.no_room => Goes::NoRoom,
            _ => Goes::Well,
        }
    }

    fn strike(&mut self, fault: Fault, call: Call) -> Goes {
        match fault {
            Fault::Once => Goes::Wrong,
            Fault::Half if call == Call::Write => Goes::Half,
            Fault::Half => Goes::Wrong,
            Fault::Power => {
                self.no_power = true;
                if call == Call::Write { Goes::Half } else { Goes::Wrong }
            }
            Fault::Full => {
                self.no_room = true;
                if call == Call::Write { Goes::NoRoom } else { Goes::Well }
            }
        }
    }
}

/// The disk under one folder.
#[derive(Debug, Default)]
pub(super) struct Disk(Mutex<State>);

impl Disk {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what was, and strikes at the call of this number.
    pub(super) fn strike_at(&self, at: usize, fault: Fault) {
        let mut state = self.state();
        state.calls.clear();
        state.plan = Some((at, fault));
    }

    /// From here on all goes well.
    pub(super) fn heal(&self) {
        let mut state = self.state();
        (state.plan, state.no_room, state.quota, state.read_only) = (None, false, None, false);
    }

    /// All files may have so many bytes more than they have.
    pub(super) fn bound(&self, more: u64) {
        let mut state = self.state();
        state.quota = Some(state.sizes.values().sum::<u64>() + more);
    }

    /// Nothing can be changed from here on.
    pub(super) fn make_read_only(&self) {
        self.state().read_only = true;
    }

    pub(super) fn is_read_only(&self) -> bool {
        self.state().read_only
    }

    /// Whether a file may have bytes up to there. What is there already may be written over.
    pub(super) fn has_room(&self, path: &Path, end: u64) -> bool {
        let state = self.state();
        let own = state.sizes.get(path).copied().unwrap_or(0);
        let more = end.saturating_sub(own);
        more == 0 || state.quota.is_none_or(|most| state.sizes.values().sum::<u64>() + more <= most)
    }

    /// What was asked since the last plan.
    pub(super) fn calls(&self) -> Vec<Call> {
        self.state().calls.clone()
    }

    pub(super) fn powerless(&self) -> bool {
        self.state().no_power
    }

    pub(super) fn decide(&self, call: Call) -> Goes {
        self.state().decide(call)
    }

    /// A file is opened: what it holds is taken to be on the disk, unless it is known already.
    pub(super) fn opened(&self, path: &Path) {
        let mut state = self.state();
        if !state.files.contains_key(path) {
            let synced = fs::read(path).unwrap_or_default();
            state.sizes.insert(path.to_owned(), synced.len() as u64);
            state.files.insert(path.to_owned(), Kept { synced, since: Vec::new() });
        }
    }

    pub(super) fn written(&self, path: &Path, at: usize, bytes: &[u8]) {
        self.sized(path, |size| size.max((at + bytes.len()) as u64));
        self.changed(path, Change::Write { at, bytes: bytes.to_vec() });
    }

    pub(super) fn truncated(&self, path: &Path, size: usize) {
        self.sized(path, |_| size as u64);
        self.changed(path, Change::Truncate(size));
    }

    fn sized(&self, path: &Path, size: impl FnOnce(u64) -> u64) {
        if let Some(now) = self.state().sizes.get_mut(path) {
            *now = size(*now);
        }
    }

    fn changed(&self, path: &Path, change: Change) {
        if let Some(kept) = self.state().files.get_mut(path) {
            kept.since.push(change);
        }
    }

    pub(super) fn synced(&self, path: &Path) {
        if let Some(kept) = self.state().files.get_mut(path) {
            kept.sync();
        }
    }

    pub(super) fn deleted(&self, path: &Path) {
        let mut state = self.state();
        state.files.remove(path);
        state.sizes.remove(path);
    }

    /// The power is back: every file holds what was synced, and of the rest what `unsynced` says. Memory that processes
    /// shared is gone. Nothing may be open.
    pub(super) fn power_back(&self, folder: &Path, unsynced: Unsynced) {
        let mut state = self.state();
        for (path, kept) in std::mem::take(&mut state.files) {
            fs::write(path, kept.after(unsynced)).unwrap();
        }
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.to_string_lossy().ends_with("-shm") {
                fs::remove_file(path).unwrap();
            }
        }
        (state.no_power, state.no_room, state.plan) = (false, false, None);
    }
}

static DISKS: Mutex<BTreeMap<PathBuf, Arc<Disk>>> = Mutex::new(BTreeMap::new());

fn disks() -> MutexGuard<'static, BTreeMap<PathBuf, Arc<Disk>>> {
    DISKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From here on, files of this folder stand on a disk of this kind.
pub(super) fn under(folder: &Path) -> Arc<Disk> {
    super::vfs::register();
    let folder = folder.canonicalize().unwrap();
    disks().entry(folder).or_default().clone()
}

/// The disk of a file, where it stands on one of this kind.
pub(super) fn of(path: &Path) -> Option<Arc<Disk>> {
    disks().get(path.parent()?).cloned()
}

/// The folder is the system's again.
pub(super) fn release(folder: &Path) {
    disks().remove(&folder.canonicalize().unwrap());
}
