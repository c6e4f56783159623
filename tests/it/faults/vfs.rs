//! The way under SQLite: a VFS that hands everything on to the system's own, and asks the disk of a folder first. Files of
//! other folders are opened by the system's own VFS as if this one were not there.
//!
//! SQLite's interface to its files is a table of C functions, so this is the one place of the tests with unsafe code.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::size_of;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, OnceLock};

use rusqlite::ffi;

use super::disk::{Call, Disk, Goes, of};

/// What stands in front of the system's own file. SQLite gives the room for both.
#[repr(C)]
struct Shim {
    base: ffi::sqlite3_file,
    open: *mut Open,
}

struct Open {
    disk: Arc<Disk>,
    path: PathBuf,
    real: *mut ffi::sqlite3_file,
}

/// The system's VFS and ours, which lives as long as the process.
struct Both {
    real: *mut ffi::sqlite3_vfs,
}

// SAFETY: SQLite's VFS tables are never changed after they were registered.
unsafe impl Send for Both {}
// SAFETY: as above.
unsafe impl Sync for Both {}

static BOTH: OnceLock<Both> = OnceLock::new();

/// Makes this the VFS that connections use which name none.
pub(super) fn register() {
    BOTH.get_or_init(|| {
        // SAFETY: the default VFS exists, is never freed, and a copy with another name and other functions is a VFS. The
        // system's functions look at `pAppData` at most, which the copy has.
        unsafe {
            let real = ffi::sqlite3_vfs_find(ptr::null());
            let mut ours = *real;
            ours.zName = c"faulty".as_ptr();
            ours.pNext = ptr::null_mut();
            ours.szOsFile += c_int::try_from(size_of::<Shim>()).unwrap();
            ours.xOpen = Some(open);
            ours.xDelete = Some(delete);
            assert_eq!(ffi::sqlite3_vfs_register(Box::leak(Box::new(ours)), 1), ffi::SQLITE_OK);
            Both { real }
        }
    });
}

fn real() -> *mut ffi::sqlite3_vfs {
    BOTH.get().expect("registered").real
}

fn path_of<'a>(name: *const c_char) -> Option<&'a Path> {
    if name.is_null() {
        return None;
    }
    // SAFETY: SQLite gives a name that ends with a NUL and outlives the call.
    let name = unsafe { CStr::from_ptr(name) };
    Some(Path::new(std::ffi::OsStr::from_bytes(name.to_bytes())))
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    name: *const c_char,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    out: *mut c_int,
) -> c_int {
    // SAFETY: called by SQLite with what the interface promises: room of `szOsFile` bytes at `file`.
    unsafe {
        let system = (*real()).xOpen.unwrap();
        let Some((path, disk)) = path_of(name).and_then(|path| Some((path, of(path)?))) else {
            return system(real(), name, file, flags, out);
        };
        (*file).pMethods = ptr::null();
        if disk.decide(Call::Open) != Goes::Well {
            return ffi::SQLITE_CANTOPEN;
        }
        let flags = if disk.is_read_only() { read_only(flags) } else { flags };
        let behind = file.cast::<u8>().add(size_of::<Shim>()).cast::<ffi::sqlite3_file>();
        let code = system(real(), name, behind, flags, out);
        if code == ffi::SQLITE_OK {
            disk.opened(path);
            let open = Box::new(Open { disk, path: path.to_owned(), real: behind });
            (*file.cast::<Shim>()).open = Box::into_raw(open);
            (*file).pMethods = &raw const METHODS;
        }
        code
    }
}

/// As the system opens a file that may only be read.
fn read_only(flags: c_int) -> c_int {
    (flags & !(ffi::SQLITE_OPEN_READWRITE | ffi::SQLITE_OPEN_CREATE)) | ffi::SQLITE_OPEN_READONLY
}

unsafe extern "C" fn delete(_: *mut ffi::sqlite3_vfs, name: *const c_char, sync: c_int) -> c_int {
    // SAFETY: called by SQLite with what the interface promises.
    unsafe {
        let system = (*real()).xDelete.unwrap();
        let Some((path, disk)) = path_of(name).and_then(|path| Some((path, of(path)?))) else {
            return system(real(), name, sync);
        };
        if disk.decide(Call::Delete) != Goes::Well {
            return ffi::SQLITE_IOERR_DELETE;
        }
        disk.deleted(path);
        system(real(), name, sync)
    }
}

/// What stands behind a file of ours.
///
/// # Safety
///
/// `file` was opened by [`open`] and not closed since.
unsafe fn behind<'a>(file: *mut ffi::sqlite3_file) -> &'a Open {
    // SAFETY: by the caller.
    unsafe { &*(*file.cast::<Shim>()).open }
}

/// Hands a call on to the system's own file.
macro_rules! system {
    ($open:expr, $call:ident ( $($argument:expr),* )) => {
        // SAFETY: the system's file is open as long as ours, and has all functions of its version.
        unsafe { ((*(*$open.real).pMethods).$call.unwrap())($open.real, $($argument),*) }
    };
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: SQLite closes a file once; what was put into a box at its opening is taken out of it here.
    let open = unsafe {
        (*file).pMethods = ptr::null();
        Box::from_raw((*file.cast::<Shim>()).open)
    };
    system!(open, xClose())
}

unsafe extern "C" fn read(file: *mut ffi::sqlite3_file, to: *mut c_void, len: c_int, at: i64) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    match open.disk.decide(Call::Read) {
        Goes::Well => system!(open, xRead(to, len, at)),
        _ => ffi::SQLITE_IOERR_READ,
    }
}

unsafe extern "C" fn write(file: *mut ffi::sqlite3_file, from: *const c_void, len: c_int, at: i64) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    let put = |len: c_int| {
        let code = system!(open, xWrite(from, len, at));
        if code == ffi::SQLITE_OK {
            let len = usize::try_from(len).unwrap();
            // SAFETY: SQLite gives `len` bytes, or more.
            let bytes = unsafe { std::slice::from_raw_parts(from.cast::<u8>(), len) };
            open.disk.written(&open.path, usize::try_from(at).unwrap(), bytes);
        }
        code
    };
    let end = u64::try_from(at + i64::from(len)).unwrap();
    match open.disk.decide(Call::Write) {
        Goes::Well if open.disk.has_room(&open.path, end) => put(len),
        Goes::Well | Goes::NoRoom => ffi::SQLITE_FULL,
        Goes::Wrong => ffi::SQLITE_IOERR_WRITE,
        Goes::Half => {
            put(len / 2);
            ffi::SQLITE_IOERR_WRITE
        }
    }
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, size: i64) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    if open.disk.decide(Call::Truncate) != Goes::Well {
        return ffi::SQLITE_IOERR_TRUNCATE;
    }
    let code = system!(open, xTruncate(size));
    if code == ffi::SQLITE_OK {
        open.disk.truncated(&open.path, usize::try_from(size).unwrap());
    }
    code
}

/// Nothing is synced for real: what a loss of power leaves is decided by the disk.
unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    if open.disk.decide(Call::Sync) != Goes::Well {
        return ffi::SQLITE_IOERR_FSYNC;
    }
    open.disk.synced(&open.path);
    ffi::SQLITE_OK
}

unsafe extern "C" fn size(file: *mut ffi::sqlite3_file, to: *mut i64) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    match open.disk.decide(Call::Size) {
        Goes::Well => system!(open, xFileSize(to)),
        _ => ffi::SQLITE_IOERR_FSTAT,
    }
}

unsafe extern "C" fn lock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    match open.disk.decide(Call::Lock) {
        Goes::Well => system!(open, xLock(level)),
        _ => ffi::SQLITE_IOERR_LOCK,
    }
}

unsafe extern "C" fn unlock(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    system!(open, xUnlock(level))
}

unsafe extern "C" fn reserved(file: *mut ffi::sqlite3_file, to: *mut c_int) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    system!(open, xCheckReservedLock(to))
}

unsafe extern "C" fn control(file: *mut ffi::sqlite3_file, op: c_int, argument: *mut c_void) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    system!(open, xFileControl(op, argument))
}

unsafe extern "C" fn sector(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    system!(open, xSectorSize())
}

unsafe extern "C" fn device(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    system!(open, xDeviceCharacteristics())
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    region: c_int,
    len: c_int,
    extend: c_int,
    to: *mut *mut c_void,
) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    match open.disk.decide(Call::ShmMap) {
        Goes::Well => system!(open, xShmMap(region, len, extend, to)),
        _ => {
            // SAFETY: SQLite gives a place for the answer.
            unsafe { *to = ptr::null_mut() };
            ffi::SQLITE_IOERR_SHMMAP
        }
    }
}

/// Letting go always works, or else a test could not end.
unsafe extern "C" fn shm_lock(file: *mut ffi::sqlite3_file, offset: c_int, n: c_int, flags: c_int) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    let takes = flags & ffi::SQLITE_SHM_LOCK != 0;
    if takes && open.disk.decide(Call::ShmLock) != Goes::Well {
        return ffi::SQLITE_IOERR_SHMLOCK;
    }
    system!(open, xShmLock(offset, n, flags))
}

unsafe extern "C" fn shm_barrier(file: *mut ffi::sqlite3_file) {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    system!(open, xShmBarrier());
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, delete: c_int) -> c_int {
    // SAFETY: called by SQLite on an open file.
    let open = unsafe { behind(file) };
    system!(open, xShmUnmap(delete))
}

/// Version 2: shared memory, and no mapped reads, which no fault would reach.
static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(size),
    xLock: Some(lock),
    xUnlock: Some(unlock),
    xCheckReservedLock: Some(reserved),
    xFileControl: Some(control),
    xSectorSize: Some(sector),
    xDeviceCharacteristics: Some(device),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};
