//! The folder of a shard on a volume that is missing or failed when the shard was opened.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use limber_store::{Directory, Error, FileBytes, FileWriter, InPlaceFile, Result};

/// Tries to open the folder; called again until it succeeds.
type Reopen = Box<dyn Fn() -> Result<Arc<dyn Directory>> + Send + Sync>;

/// Every call tries to open the folder again, and fails while that is impossible. The shard is recovered by
/// the same rounds as any other that failed.
pub(super) struct Absent {
    path: PathBuf,
    reopen: Reopen,
    directory: OnceLock<Arc<dyn Directory>>,
}

impl Absent {
    /// `path` is where the folder should be.
    pub(super) fn new(path: PathBuf, reopen: Reopen) -> Absent {
        Absent { path, reopen, directory: OnceLock::new() }
    }

    fn directory(&self) -> Result<&dyn Directory> {
        if let Some(directory) = self.directory.get() {
            return Ok(&**directory);
        }
        let directory = (self.reopen)()?;
        Ok(&**self.directory.get_or_init(|| directory))
    }
}

impl Directory for Absent {
    fn create(&self, name: &str) -> Result<Box<dyn FileWriter>> {
        self.directory()?.create(name)
    }

    fn create_log(&self, name: &str, head: &[u8]) -> Result<Box<dyn FileWriter>> {
        self.directory()?.create_log(name, head)
    }

    fn open_in_place(&self, name: &str) -> Result<Box<dyn InPlaceFile>> {
        self.directory()?.open_in_place(name)
    }

    fn append(&self, name: &str, len: u64) -> Result<Box<dyn FileWriter>> {
        self.directory()?.append(name, len)
    }

    fn open(&self, name: &str) -> Result<FileBytes> {
        self.directory()?.open(name)
    }

    fn read(&self, name: &str, offset: u64, len: usize) -> Result<Vec<u8>> {
        self.directory()?.read(name, offset, len)
    }

    fn read_into(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<()> {
        self.directory()?.read_into(name, offset, into)
    }

    fn len(&self, name: &str) -> Result<u64> {
        self.directory()?.len(name)
    }

    fn exists(&self, name: &str) -> Result<bool> {
        self.directory()?.exists(name)
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.directory()?.delete(name)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.directory()?.rename(from, to)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.directory()?.list()
    }

    fn sync(&self, name: &str) -> Result<()> {
        self.directory()?.sync(name)
    }

    fn sync_names(&self) -> Result<()> {
        self.directory()?.sync_names()
    }

    fn path(&self) -> &Path {
        self.directory.get().map_or(&self.path, |directory| directory.path())
    }
}

/// Returns the error of a call to something on a volume that is not there.
pub(super) fn absent_error(path: &Path, why: &str) -> Error {
    Error::io("open", path, io::Error::other(why.to_owned()))
}
