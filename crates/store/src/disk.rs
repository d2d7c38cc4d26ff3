//! The data folder as a tree of flat folders, and its free space.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use crate::{Directory, Error, FsDirectory, Result};

/// Space on the file system that holds the data folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DiskSpace {
    /// Size of the file system.
    pub total_bytes: u64,
    /// Available to this process (`f_bavail`).
    pub available_bytes: u64,
}

/// One of the folders that a disk consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DiskPart {
    /// The path of the folder.
    pub root: PathBuf,
    /// The space on its file system; `None` if that is unknown.
    pub space: Option<DiskSpace>,
    /// Why the folder is not there, if it is not.
    pub missing: Option<String>,
}

/// A tree of folders, addressed by `/`-separated paths relative to its root.
pub trait Disk: Send + Sync {
    /// Opens a folder; creates it and its parents if they do not exist.
    fn folder(&self, path: &str) -> Result<Arc<dyn Directory>>;
    /// Returns the names of the folders directly in `path`, sorted; none if `path` does not exist.
    fn folders(&self, path: &str) -> Result<Vec<String>>;
    /// Removes a folder with everything in it; succeeds if it does not exist.
    fn remove_folder(&self, path: &str) -> Result<()>;
    /// Returns the space on the file system that holds the root; see [`space_of`].
    fn space(&self) -> Result<DiskSpace>;
    /// Returns the folders that the disk consists of, the one at the root first.
    fn parts(&self) -> Vec<DiskPart> {
        vec![DiskPart { root: self.root().to_owned(), space: self.space().ok(), missing: None }]
    }
    /// Returns the device of the root, so that the space of a device is counted once. `None` if that is
    /// unknown.
    fn device(&self) -> Option<u64> {
        None
    }
    /// Returns the path of the root, for messages only.
    fn root(&self) -> &Path;
}

/// The real disk. Holds an exclusive lock on the data folder while it lives.
pub struct FsDisk {
    root: PathBuf,
    /// Folders that were created and whose names are not durable yet, because an fsync failed.
    unsynced: Mutex<BTreeSet<PathBuf>>,
    _lock: Option<File>,
}

/// Locked while a process uses the folder; the operating system releases the lock when the process dies.
const LOCK_NAME: &str = "node.lock";

impl FsDisk {
    /// Creates and locks the folder. Fails with [`Error::Locked`] if another process holds it.
    pub fn open(root: impl Into<PathBuf>) -> Result<FsDisk> {
        let root = root.into();
        fs::create_dir_all(&root).map_err(|e| Error::io("create folder", &root, e))?;
        let path = root.join(LOCK_NAME);
        let lock = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| Error::io("open lock", &path, e))?;
        match lock.try_lock() {
            Ok(()) => Ok(FsDisk { root, unsynced: Mutex::default(), _lock: Some(lock) }),
            Err(TryLockError::WouldBlock) => Err(Error::Locked { path: root }),
            Err(TryLockError::Error(e)) => Err(Error::io("lock", &path, e)),
        }
    }

    /// Returns whether a process holds the lock of a folder; `None` if that cannot be told. Nothing is
    /// created. The lock is taken for a moment, shared with others that ask.
    pub fn is_in_use(root: &Path) -> Option<bool> {
        let lock = match File::open(root.join(LOCK_NAME)) {
            Ok(lock) => lock,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Some(false),
            Err(_) => return None,
        };
        match lock.try_lock_shared() {
            Ok(()) => Some(false),
            Err(TryLockError::WouldBlock) => Some(true),
            Err(TryLockError::Error(_)) => None,
        }
    }

    /// Opens a folder for reading only, without the lock (for an offline check of a copy, or of a folder
    /// that no node uses).
    pub fn open_unlocked(root: impl Into<PathBuf>) -> FsDisk {
        FsDisk { root: root.into(), unsynced: Mutex::default(), _lock: None }
    }
}

impl Disk for FsDisk {
    fn folder(&self, path: &str) -> Result<Arc<dyn Directory>> {
        let full = self.root.join(path);
        if !full.is_dir() {
            self.unsynced.lock().insert(full.clone());
        }
        let directory = FsDirectory::open(&full)?;
        if self.unsynced.lock().contains(&full) {
            // The names of parent folders must survive a crash together with what is written inside.
            let mut parent = full.parent();
            while let Some(folder) = parent {
                File::open(folder).and_then(|f| f.sync_all()).map_err(|e| Error::io("fsync", folder, e))?;
                if folder == self.root {
                    break;
                }
                parent = folder.parent();
            }
            self.unsynced.lock().remove(&full);
        }
        Ok(Arc::new(directory))
    }

    fn folders(&self, path: &str) -> Result<Vec<String>> {
        let full = self.root.join(path);
        let entries = match fs::read_dir(&full) {
            Ok(entries) => entries,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(e) => return Err(Error::io("list", &full, e)),
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.map_err(|e| Error::io("list", &full, e))?;
            if entry.file_type().map_err(|e| Error::io("stat", entry.path(), e))?.is_dir()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        let full = self.root.join(path);
        match fs::remove_dir_all(&full) {
            Ok(()) => Ok(()),
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(()),
            Err(e) => Err(Error::io("remove folder", &full, e)),
        }
    }

    fn space(&self) -> Result<DiskSpace> {
        space_of(&self.root)
    }

    fn device(&self) -> Option<u64> {
        use std::os::unix::fs::MetadataExt;
        fs::metadata(&self.root).ok().map(|metadata| metadata.dev())
    }

    fn root(&self) -> &Path {
        &self.root
    }
}

/// Returns the space of the file system that holds `path`, which must exist.
///
/// # Errors
/// Fails if `statvfs` fails.
pub fn space_of(path: &Path) -> Result<DiskSpace> {
    use std::os::unix::ffi::OsStrExt;
    let name = std::ffi::CString::new(path.as_os_str().as_bytes())
        .map_err(|e| Error::io("statvfs", path, std::io::Error::other(e)))?;
    let mut stat = std::mem::MaybeUninit::<libc::statvfs>::uninit();
    // SAFETY: `name` is a NUL-terminated string and `stat` points to memory for one `statvfs`; both are
    // alive for the call.
    let status = unsafe { libc::statvfs(name.as_ptr(), stat.as_mut_ptr()) };
    if status != 0 {
        return Err(Error::io("statvfs", path, std::io::Error::last_os_error()));
    }
    // SAFETY: the call succeeded, so the kernel has filled the whole structure.
    let stat = unsafe { stat.assume_init() };
    let unit = stat.f_frsize;
    Ok(DiskSpace { total_bytes: stat.f_blocks * unit, available_bytes: stat.f_bavail * unit })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_are_made_listed_and_removed_under_a_lock() {
        let temporary = tempfile::tempdir().expect("tempdir");
        assert_eq!(FsDisk::is_in_use(temporary.path()), Some(false));
        let disk = FsDisk::open(temporary.path()).expect("opens");
        assert!(matches!(FsDisk::open(temporary.path()), Err(Error::Locked { .. })));
        assert_eq!(FsDisk::is_in_use(temporary.path()), Some(true));
        disk.folder("indices/b/0").expect("made");
        disk.folder("indices/a").expect("made");
        assert_eq!(disk.folders("indices").expect("lists"), ["a", "b"]);
        disk.remove_folder("indices/b").expect("removed");
        disk.remove_folder("indices/none").expect("absent is fine");
        assert_eq!(disk.folders("indices").expect("lists"), ["a"]);
        assert!(disk.folders("nothing").expect("absent").is_empty());
        assert!(disk.space().expect("statvfs").total_bytes > 0);
    }
}
