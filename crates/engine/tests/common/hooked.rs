//! A disk with a hook: each file operation is announced to the hook, which can delay it or make it fail.

use std::io;
use std::path::Path;
use std::sync::Arc;

use limber_store::directory::InPlaceFile;
use limber_store::{Directory, Disk, DiskSpace, Error, FileBytes, FileWriter, Result};

/// Called with the operation and the path (relative to the disk) before each operation, which returns the
/// hook's error if there is one.
pub type Hook = Arc<dyn Fn(&str, &str) -> io::Result<()> + Send + Sync>;

pub struct HookedDisk {
    pub inner: Arc<dyn Disk>,
    pub hook: Hook,
}

struct HookedDirectory {
    inner: Arc<dyn Directory>,
    folder: String,
    hook: Hook,
}

impl HookedDirectory {
    fn announce(&self, call: &'static str, name: &str) -> Result<()> {
        let path = format!("{}/{name}", self.folder);
        (self.hook)(call, &path).map_err(|error| Error::io(call, path, error))
    }
}

impl Directory for HookedDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn FileWriter>> {
        self.announce("create", name)?;
        self.inner.create(name)
    }

    fn create_log(&self, name: &str, head: &[u8]) -> Result<Box<dyn FileWriter>> {
        self.announce("create", name)?;
        self.inner.create_log(name, head)
    }

    fn open_in_place(&self, name: &str) -> Result<Box<dyn InPlaceFile>> {
        self.announce("open", name)?;
        self.inner.open_in_place(name)
    }

    fn append(&self, name: &str, len: u64) -> Result<Box<dyn FileWriter>> {
        self.announce("append", name)?;
        self.inner.append(name, len)
    }

    fn open(&self, name: &str) -> Result<FileBytes> {
        self.announce("open", name)?;
        self.inner.open(name)
    }

    fn read(&self, name: &str, offset: u64, len: usize) -> Result<Vec<u8>> {
        self.announce("read", name)?;
        self.inner.read(name, offset, len)
    }

    fn read_into(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<()> {
        self.announce("read", name)?;
        self.inner.read_into(name, offset, into)
    }

    fn len(&self, name: &str) -> Result<u64> {
        self.announce("stat", name)?;
        self.inner.len(name)
    }

    fn exists(&self, name: &str) -> Result<bool> {
        self.announce("stat", name)?;
        self.inner.exists(name)
    }

    fn delete(&self, name: &str) -> Result<()> {
        self.announce("delete", name)?;
        self.inner.delete(name)
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        self.announce("rename", to)?;
        self.inner.rename(from, to)
    }

    fn list(&self) -> Result<Vec<String>> {
        self.announce("list", "")?;
        self.inner.list()
    }

    fn sync(&self, name: &str) -> Result<()> {
        self.announce("sync", name)?;
        self.inner.sync(name)
    }

    fn sync_names(&self) -> Result<()> {
        self.announce("sync", "")?;
        self.inner.sync_names()
    }

    fn path(&self) -> &Path {
        self.inner.path()
    }
}

impl Disk for HookedDisk {
    fn folder(&self, path: &str) -> Result<Arc<dyn Directory>> {
        let inner = self.inner.folder(path)?;
        Ok(Arc::new(HookedDirectory { inner, folder: path.to_owned(), hook: self.hook.clone() }))
    }

    fn folders(&self, path: &str) -> Result<Vec<String>> {
        (self.hook)("list", path).map_err(|error| Error::io("list", path, error))?;
        self.inner.folders(path)
    }

    fn remove_folder(&self, path: &str) -> Result<()> {
        (self.hook)("remove", path).map_err(|error| Error::io("remove folder", path, error))?;
        self.inner.remove_folder(path)
    }

    fn space(&self) -> Result<DiskSpace> {
        self.inner.space()
    }

    fn root(&self) -> &Path {
        self.inner.root()
    }
}
