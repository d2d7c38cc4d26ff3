//! A flat folder of files: "write these bytes under this name; give me the bytes of that name".
//!
//! Files are written once, front to back, and are then immutable, except logs (translog), which are
//! appended to. A file is durable only after [`Directory::sync`] with its name, and a new or changed name
//! only after [`Directory::sync_names`].

use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use crate::mapped::MappedFile;
use crate::{Error, Result};

/// The bytes of one immutable file (or a part of one), shared and cheap to clone.
#[derive(Clone)]
pub struct FileBytes {
    owner: Arc<Owner>,
    start: usize,
    len: usize,
}

enum Owner {
    Map(MappedFile),
    Heap(Vec<u8>),
}

impl FileBytes {
    /// Wraps bytes in memory as a file, without a map.
    pub fn from_vec(bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        FileBytes { owner: Arc::new(Owner::Heap(bytes)), start: 0, len }
    }

    pub(crate) fn from_map(map: MappedFile, len: usize) -> Self {
        FileBytes { owner: Arc::new(Owner::Map(map)), start: 0, len }
    }

    /// Returns the part `[start, start + len)`; `None` if it does not lie inside.
    pub fn slice(&self, start: usize, len: usize) -> Option<FileBytes> {
        let end = start.checked_add(len)?;
        (end <= self.len).then(|| FileBytes { owner: self.owner.clone(), start: self.start + start, len })
    }

    /// Returns the offset of the first page that could not be read; `None` if no reader has hit one so far.
    /// After a fault, nothing in the file can be trusted, because unreadable parts read as zeros. See
    /// [`crate::mapped`].
    #[inline]
    pub fn damage(&self) -> Option<u64> {
        match &*self.owner {
            Owner::Map(map) => map.damage(),
            Owner::Heap(_) => None,
        }
    }
}

impl Deref for FileBytes {
    type Target = [u8];

    #[inline]
    fn deref(&self) -> &[u8] {
        let whole: &[u8] = match &*self.owner {
            Owner::Map(map) => map.bytes(),
            Owner::Heap(bytes) => bytes,
        };
        &whole[self.start..self.start + self.len]
    }
}

impl std::fmt::Debug for FileBytes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FileBytes({} bytes)", self.len)
    }
}

/// A file being written front to back. Dropping it without [`FileWriter::finish`] leaves a partial file
/// behind.
pub trait FileWriter: Send {
    /// Appends bytes; the implementation buffers them.
    fn write_all(&mut self, bytes: &[u8]) -> Result<()>;
    /// Returns the number of bytes in the file so far (for a reopened log, including what it contained).
    fn position(&self) -> u64;
    /// Passes buffered bytes to the operating system (visible to readers, not durable).
    fn flush(&mut self) -> Result<()>;
    /// Flushes, then waits until the bytes are durable (`fdatasync`). After an error the file must not be
    /// trusted again.
    fn sync(&mut self) -> Result<()>;
    /// Flushes and closes without making the file durable.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A flat folder. Names have no separators. Implementations: [`FsDirectory`], `CrashDirectory` (tests).
pub trait Directory: Send + Sync {
    /// Creates `name`, failing if it exists.
    fn create(&self, name: &str) -> Result<Box<dyn FileWriter>>;
    /// Creates a log; replaces a file of that name. The log appears under its name only once `head` is
    /// durable in it, so that a log without its head never exists. The name itself is durable when this
    /// returns. The file may end with zeros that were never appended.
    fn create_log(&self, name: &str, head: &[u8]) -> Result<Box<dyn FileWriter>> {
        let temporary = temporary_name(name);
        self.delete_if_present(&temporary)?;
        let mut writer = self.create(&temporary)?;
        begin_log(self, &mut *writer, name, head)?;
        Ok(writer)
    }
    /// Opens an existing file, to replace bytes in place.
    fn open_in_place(&self, name: &str) -> Result<Box<dyn InPlaceFile>>;
    /// Opens a log for appending and first truncates it to `len` bytes. Creates it if it does not exist
    /// (`len` must then be 0).
    fn append(&self, name: &str, len: u64) -> Result<Box<dyn FileWriter>>;
    /// Maps the whole file.
    fn open(&self, name: &str) -> Result<FileBytes>;
    /// Reads `len` bytes from `offset` into newly allocated memory (not a map); for translog records and
    /// cache pages.
    fn read(&self, name: &str, offset: u64, len: usize) -> Result<Vec<u8>>;
    /// Fills `into` from `offset`.
    fn read_into(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<()>;
    /// Reads the whole file into newly allocated memory (not a map), so that bytes that the disk cannot read
    /// are an error; for small files.
    fn read_whole(&self, name: &str) -> Result<Vec<u8>> {
        let len = self.len(name)?;
        self.read(name, 0, len as usize)
    }
    /// Returns the length of the file in bytes. [`Error::is_not_found`] when it is absent.
    fn len(&self, name: &str) -> Result<u64>;
    /// Whether the file exists. `Err` means that this is unknown, which must never be taken for "no".
    fn exists(&self, name: &str) -> Result<bool>;
    /// Deletes the file, which must exist.
    fn delete(&self, name: &str) -> Result<()>;
    /// Deletes the file if it exists.
    fn delete_if_present(&self, name: &str) -> Result<()> {
        match self.delete(name) {
            Err(error) if error.is_not_found() => Ok(()),
            outcome => outcome,
        }
    }
    /// Renames a file atomically; replaces `to`.
    fn rename(&self, from: &str, to: &str) -> Result<()>;
    /// Returns all file names, sorted.
    fn list(&self) -> Result<Vec<String>>;
    /// Makes the contents of a finished file durable.
    fn sync(&self, name: &str) -> Result<()>;
    /// Makes creations, renames and deletions durable (fsync of the folder).
    fn sync_names(&self) -> Result<()>;
    /// Returns the path of the folder, for messages only.
    fn path(&self) -> &Path;
}

/// A small file whose bytes are replaced in place. Sectors of 512 bytes are written whole or not at all;
/// nothing else about a write is atomic.
pub trait InPlaceFile: Send + Sync {
    /// Replaces the bytes from `offset` on. They survive the end of the process; only [`InPlaceFile::sync`]
    /// makes them durable.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;
    /// Waits until the replaced bytes are durable (`fdatasync`). After an error the file must not be
    /// trusted again.
    fn sync(&self) -> Result<()>;
}

/// Returns the name of a file until it is complete. A file with such a name may be deleted after a crash.
pub fn temporary_name(name: &str) -> String {
    format!("{name}{TEMPORARY_SUFFIX}")
}

/// Suffix of the name of an incomplete file.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// Writes the head of a log and then gives the log its name, both durably.
pub(crate) fn begin_log<D: Directory + ?Sized>(
    directory: &D,
    writer: &mut dyn FileWriter,
    name: &str,
    head: &[u8],
) -> Result<()> {
    writer.write_all(head)?;
    writer.sync()?;
    directory.rename(&temporary_name(name), name)?;
    directory.sync_names()
}

/// Result of a replacement.
#[derive(Debug)]
pub enum Replaced {
    /// The file has the new bytes, durably.
    Done,
    /// The file is the old one: a step before the rename failed.
    Untouched(Error),
    /// The file is the old or the new one, both now and after a crash: the rename or its fsync failed.
    Unknown(Error),
}

/// Replaces a small file atomically and durably: temporary name, fsync, rename, fsync of the folder.
pub fn replace(directory: &dyn Directory, name: &str, bytes: &[u8]) -> Replaced {
    replace_with(directory, name, |writer| writer.write_all(bytes))
}

/// Works like [`replace`], for a file that is written piece by piece and never in memory as a whole.
pub fn replace_with(
    directory: &dyn Directory,
    name: &str,
    write: impl FnOnce(&mut dyn FileWriter) -> Result<()>,
) -> Replaced {
    let temporary = temporary_name(name);
    let write = || {
        directory.delete_if_present(&temporary)?;
        let mut writer = directory.create(&temporary)?;
        write(&mut *writer)?;
        writer.sync()?;
        writer.finish()
    };
    if let Err(error) = write() {
        return Replaced::Untouched(error);
    }
    match directory.rename(&temporary, name).and_then(|()| directory.sync_names()) {
        Ok(()) => Replaced::Done,
        Err(error) => Replaced::Unknown(error),
    }
}

/// Does the same as [`replace`], for callers that do not distinguish failures.
pub fn write_atomically(directory: &dyn Directory, name: &str, bytes: &[u8]) -> Result<()> {
    match replace(directory, name, bytes) {
        Replaced::Done => Ok(()),
        Replaced::Untouched(error) | Replaced::Unknown(error) => Err(error),
    }
}
