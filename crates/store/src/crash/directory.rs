//! One folder of the disk.

use std::io;
use std::path::{Path, PathBuf};

use super::CrashDisk;
use super::disk::Call;
use super::faults::{CallKind, Fault};
use super::names::FileId;
use super::writer::{CrashBlocks, CrashInPlaceFile, CrashWriter};
use crate::direct::DirectWriter;
use crate::directory::{begin_log, temporary_name};
use crate::{Directory, Error, FileBytes, FileWriter, InPlaceFile, Result};

/// One folder of a [`CrashDisk`].
#[derive(Clone)]
pub struct CrashDirectory {
    disk: CrashDisk,
    folder: String,
    path: PathBuf,
}

impl CrashDirectory {
    /// Creates a disk with one folder.
    pub fn new(seed: u64) -> CrashDirectory {
        CrashDisk::new(seed).directory("data")
    }

    pub(super) fn of(disk: CrashDisk, folder: &str) -> CrashDirectory {
        let path = crate::Disk::root(&disk).join(folder);
        CrashDirectory { disk, folder: folder.to_owned(), path }
    }

    /// Returns the disk of the folder, to make it fail.
    pub fn disk(&self) -> &CrashDisk {
        &self.disk
    }

    pub(super) fn key(&self, name: &str) -> String {
        format!("{}/{name}", self.folder)
    }

    fn failed(&self, action: &'static str, name: &str, kind: io::ErrorKind) -> Error {
        Error::io(action, self.path.join(name), kind.into())
    }

    fn call(&self, kind: CallKind, action: &'static str, name: &str) -> Result<Call<'_>> {
        self.disk.call(kind, action, &self.key(name))
    }

    fn find(&self, call: &Call<'_>, action: &'static str, name: &str) -> Result<FileId> {
        let found = call.state.names.files.get(&self.key(name)).copied();
        found.ok_or_else(|| self.failed(action, name, io::ErrorKind::NotFound))
    }

    /// Creates an empty file.
    fn create_file(&self, name: &str) -> Result<FileId> {
        let mut call = self.call(CallKind::Create, "create", name)?;
        if call.state.names.files.contains_key(&self.key(name)) {
            return Err(self.failed("create", name, io::ErrorKind::AlreadyExists));
        }
        if !call.state.names.folders.contains(&self.folder) {
            return Err(self.failed("create", name, io::ErrorKind::NotFound));
        }
        let file = call.state.new_file();
        call.state.names.set(self.key(name), file);
        call.end(&self.disk, "create", &self.key(name), file)
    }

    fn writer(&self, name: &str, file: FileId) -> Box<dyn FileWriter> {
        Box::new(CrashWriter::new(CrashBlocks::new(self.clone(), name, file)))
    }
}

impl Directory for CrashDirectory {
    fn create(&self, name: &str) -> Result<Box<dyn FileWriter>> {
        let file = self.create_file(name)?;
        Ok(self.writer(name, file))
    }

    /// Uses the production writer, which writes whole blocks.
    fn create_log(&self, name: &str, head: &[u8]) -> Result<Box<dyn FileWriter>> {
        let temporary = temporary_name(name);
        self.delete_if_present(&temporary)?;
        let file = self.create_file(&temporary)?;
        let blocks = CrashBlocks::new(self.clone(), name, file);
        let path = self.path.join(&temporary);
        // This disk never refuses direct writes.
        let writer = DirectWriter::over(blocks, path)?;
        let Some(mut writer) = writer else {
            return Err(self.failed("write", name, io::ErrorKind::Unsupported));
        };
        begin_log(self, &mut writer, name, head)?;
        Ok(Box::new(writer))
    }

    fn append(&self, name: &str, len: u64) -> Result<Box<dyn FileWriter>> {
        if !self.exists(name)? {
            if len != 0 {
                return Err(self.failed("open for append", name, io::ErrorKind::NotFound));
            }
            return self.create(name);
        }
        let mut call = self.call(CallKind::Open, "open for append", name)?;
        let file = self.find(&call, "open for append", name)?;
        call.state.files[file].set_len(len as usize);
        call.end(&self.disk, "open for append", &self.key(name), ())?;
        Ok(self.writer(name, file))
    }

    fn open_in_place(&self, name: &str) -> Result<Box<dyn InPlaceFile>> {
        let call = self.call(CallKind::Open, "open", name)?;
        let file = self.find(&call, "open", name)?;
        call.end(&self.disk, "open", &self.key(name), ())?;
        Ok(Box::new(CrashInPlaceFile::new(CrashBlocks::new(self.clone(), name, file))))
    }

    fn open(&self, name: &str) -> Result<FileBytes> {
        let call = self.call(CallKind::Map, "open", name)?;
        let file = self.find(&call, "open", name)?;
        let bytes = FileBytes::from_vec(call.state.files[file].bytes.clone());
        call.end(&self.disk, "open", &self.key(name), bytes)
    }

    fn read(&self, name: &str, offset: u64, len: usize) -> Result<Vec<u8>> {
        let mut bytes = vec![0; len];
        self.read_into(name, offset, &mut bytes)?;
        Ok(bytes)
    }

    fn read_into(&self, name: &str, offset: u64, into: &mut [u8]) -> Result<()> {
        let call = self.call(CallKind::Read, "read", name)?;
        let file = self.find(&call, "open", name)?;
        let bytes = &call.state.files[file].bytes;
        let part = usize::try_from(offset).ok().and_then(|at| bytes.get(at..at.checked_add(into.len())?));
        into.copy_from_slice(part.ok_or_else(|| self.failed("read", name, io::ErrorKind::UnexpectedEof))?);
        call.end(&self.disk, "read", &self.key(name), ())
    }

    fn len(&self, name: &str) -> Result<u64> {
        let call = self.call(CallKind::Stat, "stat", name)?;
        let len = call.state.files[self.find(&call, "stat", name)?].bytes.len() as u64;
        call.end(&self.disk, "stat", &self.key(name), len)
    }

    fn exists(&self, name: &str) -> Result<bool> {
        let call = self.call(CallKind::Stat, "stat", name)?;
        let is_there = call.state.names.files.contains_key(&self.key(name));
        call.end(&self.disk, "stat", &self.key(name), is_there)
    }

    fn delete(&self, name: &str) -> Result<()> {
        let mut call = self.call(CallKind::Delete, "delete", name)?;
        self.find(&call, "delete", name)?;
        call.state.names.remove(self.key(name));
        call.end(&self.disk, "delete", &self.key(name), ())
    }

    fn rename(&self, from: &str, to: &str) -> Result<()> {
        let mut call = self.call(CallKind::Rename, "rename", from)?;
        let file = self.find(&call, "rename", from)?;
        call.state.names.rename(self.key(from), self.key(to), file);
        call.end(&self.disk, "rename", &self.key(from), ())
    }

    fn list(&self) -> Result<Vec<String>> {
        let call = self.call(CallKind::List, "list", "")?;
        let prefix = self.key("");
        let names = call.state.names.files.keys().filter_map(|key| key.strip_prefix(&prefix));
        let names = names.filter(|name| !name.contains('/')).map(str::to_owned).collect();
        call.end(&self.disk, "list", &prefix, names)
    }

    fn sync(&self, name: &str) -> Result<()> {
        let mut call = self.call(CallKind::SyncFile, "fsync", name)?;
        let file = self.find(&call, "fsync", name)?;
        sync_file(&mut call, file);
        call.end(&self.disk, "fsync", &self.key(name), ())
    }

    fn sync_names(&self) -> Result<()> {
        let mut call = self.call(CallKind::SyncNames, "fsync", "")?;
        // If the file system has one journal, it also makes earlier changes in other folders durable.
        let all = call.state.random.below(2) == 0;
        call.state.names.sync(&self.folder, all);
        call.end(&self.disk, "fsync", &self.key(""), ())
    }

    fn path(&self) -> &Path {
        &self.path
    }
}

/// Applies an fsync, including one that fails.
pub(super) fn sync_file(call: &mut Call<'_>, file: FileId) {
    let contents = &mut call.state.files[file];
    if call.fault == Some(Fault::SyncLost) { contents.lose() } else { contents.sync() }
}
