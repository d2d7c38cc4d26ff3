//! A folder of the file system.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::direct::DirectWriter;
use crate::directory::{Directory, FileBytes, FileWriter, InPlaceFile, begin_log, temporary_name};
use crate::mapped::MappedFile;
use crate::{Error, Result};

/// A folder of the file system.
pub struct FsDirectory {
    root: PathBuf,
}

impl FsDirectory {
    /// Creates the folder and its parents if they do not exist.
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
        Ok(FileBytes::from_map(map, len))
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

/// Bytes collected before a write call; larger writes are not buffered.
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
