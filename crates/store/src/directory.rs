//! A flat folder of files: "write these bytes under this name; give me the bytes of that name".
//!
//! Files are written once, front to back, then immutable, except logs (translog), which are appended to. Nothing is
//! durable before [`Directory::sync`] of its name, and a new or renamed name not before [`Directory::sync_names`].

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::ops::Deref;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::direct::DirectWriter;
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
    pub fn from_vec(bytes: Vec<u8>) -> Self {
        let len = bytes.len();
        FileBytes { owner: Arc::new(Owner::Heap(bytes)), start: 0, len }
    }

    /// The part `[start, start + len)`; `None` when it does not lie inside.
    pub fn slice(&self, start: usize, len: usize) -> Option<FileBytes> {
        let end = start.checked_add(len)?;
        (end <= self.len).then(|| FileBytes { owner: self.owner.clone(), start: self.start + start, len })
    }

    /// From where on the file could not be read, bytes; `None`: nobody met such a place so far. After a fault the whole file is not to be
    /// trusted: zeros stand in for what could not be read. See [`crate::mapped`].
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

/// One file being written front to back. Dropping it without [`FileWriter::finish`] leaves a partial file behind.
pub trait FileWriter: Send {
    /// Appends; buffered by the implementation.
    fn write_all(&mut self, bytes: &[u8]) -> Result<()>;
    /// Bytes appended so far (for a reopened log: including what it held).
    fn position(&self) -> u64;
    /// Hands buffered bytes to the operating system (visible to readers, not durable).
    fn flush(&mut self) -> Result<()>;
    /// Flushes, then waits until the bytes are durable (`fdatasync`). After an error the file must not be trusted again.
    fn sync(&mut self) -> Result<()>;
    /// Flushes and closes without making it durable.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// A flat folder. Names have no separators. Implementations: [`FsDirectory`], `CrashDirectory` (tests).
pub trait Directory: Send + Sync {
    /// Creates `name`, failing if it exists.
    fn create(&self, name: &str) -> Result<Box<dyn FileWriter>>;
    /// Creates a log, replacing a file of that name. The log appears under its name only once `head` is durable in it, so that a log
    /// without its head never exists; the name itself is durable when this returns. The file may end with zeros that nobody wrote.
    fn create_log(&self, name: &str, head: &[u8]) -> Result<Box<dyn FileWriter>> {
        let temporary = temporary_name(name);
        self.delete_if_present(&temporary)?;
        let mut writer = self.create(&temporary)?;
        begin_log(self, &mut *writer, name, head)?;
        Ok(writer)
    }
    /// Opens a file whose bytes are replaced in place. The file must exist.
    fn open_in_place(&self, name: &str) -> Result<Box<dyn InPlaceFile>>;
    /// Opens a log for appending, cutting it to `len` bytes first; creates it when absent (then `len` must be 0).
    fn append(&self, name: &str, len: u64) -> Result<Box<dyn FileWriter>>;
    /// Maps the whole file.
    fn open(&self, name: &str) -> Result<FileBytes>;
    /// Reads `len` bytes from `offset` into memory of their own (not a map): translog records, cache pages.
    fn read(&self, name: &str, offset: u64, len: usize) -> Result<Vec<u8>>;
    /// Fills `into` from `offset`.
    fn read_into(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<()>;
    fn len(&self, name: &str) -> Result<u64>;
    /// Whether the file is there. `Err`: cannot tell, which must never be taken for "no".
    fn exists(&self, name: &str) -> Result<bool>;
    /// Deletes the file, which must be there.
    fn delete(&self, name: &str) -> Result<()>;
    /// Deletes the file if it is there.
    fn delete_if_present(&self, name: &str) -> Result<()> {
        match self.delete(name) {
            Err(error) if error.is_not_found() => Ok(()),
            outcome => outcome,
        }
    }
    /// Atomic; replaces `to`.
    fn rename(&self, from: &str, to: &str) -> Result<()>;
    /// All file names, sorted.
    fn list(&self) -> Result<Vec<String>>;
    /// Makes the contents of a finished file durable.
    fn sync(&self, name: &str) -> Result<()>;
    /// Makes creations, renames and deletions durable (fsync of the folder).
    fn sync_names(&self) -> Result<()>;
    /// For messages only.
    fn path(&self) -> &Path;
}

/// A small file whose bytes are replaced where they are. Sectors of 512 bytes are written whole or not at all; nothing else about a
/// write is atomic.
pub trait InPlaceFile: Send + Sync {
    /// Replaces the bytes from `offset` on. They survive the process; [`InPlaceFile::sync`] makes them durable.
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()>;
    fn sync(&self) -> Result<()>;
}

/// What a file is called until it is complete. Whatever bears such a name after a crash may be deleted.
pub fn temporary_name(name: &str) -> String {
    format!("{name}{TEMPORARY_SUFFIX}")
}

/// How the name of a file that is not complete yet ends.
pub const TEMPORARY_SUFFIX: &str = ".tmp";

/// Gives a log its head and then its name, durably.
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

/// What a replacement did to the file.
#[derive(Debug)]
pub enum Replaced {
    Done,
    /// The file is the old one: something failed before the rename.
    Untouched(Error),
    /// The file is the old one or the new one, now and after a crash: the rename, or its fsync, failed.
    Unknown(Error),
}

/// Replaces a small file atomically and durably: temporary name, fsync, rename, fsync of the folder.
pub fn replace(directory: &dyn Directory, name: &str, bytes: &[u8]) -> Replaced {
    let temporary = temporary_name(name);
    let write = || {
        directory.delete_if_present(&temporary)?;
        let mut writer = directory.create(&temporary)?;
        writer.write_all(bytes)?;
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

/// As [`replace`], for callers to whom every failure is the same.
pub fn write_atomically(directory: &dyn Directory, name: &str, bytes: &[u8]) -> Result<()> {
    match replace(directory, name, bytes) {
        Replaced::Done => Ok(()),
        Replaced::Untouched(error) | Replaced::Unknown(error) => Err(error),
    }
}

/// A real folder.
pub struct FsDirectory {
    root: PathBuf,
}

impl FsDirectory {
    /// Creates the folder and its parents when absent.
    pub fn open(root: impl Into<PathBuf>) -> Result<FsDirectory> {
        let root = root.into();
        fs::create_dir_all(&root).map_err(|e| Error::io("create folder", &root, e))?;
        Ok(FsDirectory { root })
    }

    fn file(&self, name: &str) -> PathBuf {
        debug_assert!(!name.contains('/'), "names in a directory are flat: {name}");
        self.root.join(name)
    }
}

impl Directory for FsDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn FileWriter>> {
        let path = self.file(name);
        let file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&path)
            .map_err(|e| Error::io("create", &path, e))?;
        Ok(Box::new(FsWriter::new(file, path, 0)))
    }

    fn create_log(&self, name: &str, head: &[u8]) -> Result<Box<dyn FileWriter>> {
        let temporary = temporary_name(name);
        self.delete_if_present(&temporary)?;
        let mut writer: Box<dyn FileWriter> = match DirectWriter::create(&self.file(&temporary))? {
            Some(writer) => Box::new(writer),
            None => self.create(&temporary)?,
        };
        begin_log(self, &mut *writer, name, head)?;
        Ok(writer)
    }

    fn open_in_place(&self, name: &str) -> Result<Box<dyn InPlaceFile>> {
        let path = self.file(name);
        let file = OpenOptions::new().write(true).open(&path).map_err(|e| Error::io("open", &path, e))?;
        Ok(Box::new(FsInPlaceFile { file, path }))
    }

    fn append(&self, name: &str, len: u64) -> Result<Box<dyn FileWriter>> {
        let path = self.file(name);
        let mut file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|e| Error::io("open for append", &path, e))?;
        file.set_len(len).map_err(|e| Error::io("truncate", &path, e))?;
        file.seek(SeekFrom::Start(len)).map_err(|e| Error::io("seek", &path, e))?;
        Ok(Box::new(FsWriter::new(file, path, len)))
    }

    fn open(&self, name: &str) -> Result<FileBytes> {
        let path = self.file(name);
        let file = File::open(&path).map_err(|e| Error::io("open", &path, e))?;
        let len = file.metadata().map_err(|e| Error::io("stat", &path, e))?.len() as usize;
        if len == 0 {
            return Ok(FileBytes::from_vec(Vec::new()));
        }
        let map = MappedFile::open(&file).map_err(|e| Error::io("map", &path, e))?;
        Ok(FileBytes { owner: Arc::new(Owner::Map(map)), start: 0, len })
    }

    fn read(&self, name: &str, offset: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.read_into(name, offset, &mut bytes)?;
        Ok(bytes)
    }

    fn read_into(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<()> {
        let path = self.file(name);
        let file = File::open(&path).map_err(|e| Error::io("open", &path, e))?;
        file.read_exact_at(into, offset).map_err(|e| Error::io("read", &path, e))
    }

    fn len(&self, name: &str) -> Result<u64> {
        let path = self.file(name);
        Ok(fs::metadata(&path).map_err(|e| Error::io("stat", &path, e))?.len())
    }

    fn exists(&self, name: &str) -> Result<bool> {
        let path = self.file(name);
        path.try_exists().map_err(|e| Error::io("stat", &path, e))
    }

    fn delete(&self, name: &str) -> Result<()> {
        let path = self.file(name);
        fs::remove_file(&path).map_err(|e| Error::io("delete", &path, e))
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let (from, to) = (self.file(from), self.file(to));
        fs::rename(&from, &to).map_err(|e| Error::io("rename", &from, e))
    }

    fn list(&self) -> Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.root).map_err(|e| Error::io("list", &self.root, e))? {
            let entry = entry.map_err(|e| Error::io("list", &self.root, e))?;
            if entry.file_type().map_err(|e| Error::io("stat", entry.path(), e))?.is_file()
                && let Ok(name) = entry.file_name().into_string()
            {
                names.push(name);
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    fn sync(&self, name: &str) -> Result<()> {
        let path = self.file(name);
        let file = File::open(&path).map_err(|e| Error::io("open", &path, e))?;
        file.sync_all().map_err(|e| Error::io("fsync", &path, e))
    }

    fn sync_names(&self) -> Result<()> {
        let folder = File::open(&self.root).map_err(|e| Error::io("open", &self.root, e))?;
        folder.sync_all().map_err(|e| Error::io("fsync", &self.root, e))
    }

    fn path(&self) -> &Path {
        &self.root
    }
}

struct FsInPlaceFile {
    file: File,
    path: PathBuf,
}

impl InPlaceFile for FsInPlaceFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.file.write_all_at(bytes, offset).map_err(|e| Error::io("write", &self.path, e))
    }

    fn sync(&self) -> Result<()> {
        self.file.sync_data().map_err(|e| Error::io("fsync", &self.path, e))
    }
}

/// Bytes collected before a write call; large writes go straight through.
const WRITE_BUFFER_BYTES: usize = 256 << 10;

struct FsWriter {
    file: File,
    path: PathBuf,
    buffer: Vec<u8>,
    position: u64,
}

impl FsWriter {
    fn new(file: File, path: PathBuf, position: u64) -> FsWriter {
        FsWriter { file, path, buffer: Vec::new(), position }
    }

    fn io(&self, action: &'static str, error: io::Error) -> Error {
        Error::io(action, &self.path, error)
    }
}

impl FileWriter for FsWriter {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() > WRITE_BUFFER_BYTES {
            self.flush()?;
        }
        if bytes.len() >= WRITE_BUFFER_BYTES {
            self.file.write_all(bytes).map_err(|e| self.io("write", e))?;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        self.position += bytes.len() as u64;
        Ok(())
    }

    fn position(&self) -> u64 {
        self.position
    }

    fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            self.file.write_all(&self.buffer).map_err(|e| self.io("write", e))?;
            self.buffer.clear();
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.file.sync_data().map_err(|e| self.io("fsync", e))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()
    }
}
