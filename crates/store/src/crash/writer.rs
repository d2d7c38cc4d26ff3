//! Open files: written front to back, in whole blocks, or in place.

use std::io;

use super::CrashDirectory;
use super::contents::SECTOR;
use super::directory::sync_file;
use super::faults::{CallKind, Fault};
use super::names::FileId;
use crate::direct::{BLOCK, BlockFile};
use crate::{Error, FileWriter, InPlaceFile, Result};

/// A file that is open during one life of the process.
pub(super) struct CrashBlocks {
    directory: CrashDirectory,
    name: String,
    file: FileId,
    life: u64,
}

impl CrashBlocks {
    /// Opens `file`; messages call it `name`. After the next crash every call fails.
    pub fn new(directory: CrashDirectory, name: &str, file: FileId) -> CrashBlocks {
        let life = directory.disk().state().life;
        CrashBlocks { directory, name: name.to_owned(), file, life }
    }

    fn len(&self) -> usize {
        self.directory.disk().state().files[self.file].bytes.len()
    }

    fn write(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        self.write_some(offset, bytes, |fits| fits)
    }

    /// Writes at an offset. `left` maps the number of bytes that a failed write could have written to the
    /// number that it leaves behind.
    fn write_some(&self, offset: u64, bytes: &[u8], left: impl FnOnce(usize) -> usize) -> Result<()> {
        let (disk, path) = (self.directory.disk(), self.directory.key(&self.name));
        let mut call = disk.call(CallKind::Write, "write", &path)?;
        if call.state.life != self.life {
            return Err(disk.error("write", &path, Fault::Io));
        }
        let fault = call.fault;
        let (fits, fault) = call.state.fit(bytes.len(), fault);
        call.fault = fault;
        let fits = if fits < bytes.len() { left(fits) } else { fits };
        call.state.files[self.file].write_at(offset as usize, &bytes[..fits]);
        call.end(disk, "write", &path, ())
    }

    fn sync_bytes(&self) -> Result<()> {
        let (disk, path) = (self.directory.disk(), self.directory.key(&self.name));
        let mut call = disk.call(CallKind::Sync, "fsync", &path)?;
        if call.state.life != self.life {
            return Err(disk.error("fsync", &path, Fault::Io));
        }
        sync_file(&mut call, self.file);
        call.end(disk, "fsync", &path, ())
    }
}

/// Takes direct writes as the kernel does: whole blocks from aligned memory.
impl BlockFile for CrashBlocks {
    fn write_blocks(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        assert!(
            offset.is_multiple_of(BLOCK as u64)
                && bytes.len().is_multiple_of(BLOCK)
                && bytes.as_ptr().addr().is_multiple_of(BLOCK),
            "a direct write that is not aligned: {} bytes at {offset}",
            bytes.len()
        );
        self.write(offset, bytes).map_err(source)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_bytes().map_err(source)
    }
}

fn source(error: Error) -> io::Error {
    match error {
        Error::Io { source, .. } => source,
        other => io::Error::other(other),
    }
}

/// Writes front to back. Buffers bytes as the real writer does, so that they are lost when it is dropped.
pub(super) struct CrashWriter {
    blocks: CrashBlocks,
    buffer: Vec<u8>,
    written: u64,
    /// Maximum length of the buffer; it varies, so that tests cannot rely on which call writes the bytes.
    buffer_bytes_max: usize,
}

impl CrashWriter {
    /// Appends to the file's contents.
    pub fn new(blocks: CrashBlocks) -> CrashWriter {
        let written = blocks.len() as u64;
        let buffer_bytes_max = 1 << (6 + blocks.directory.disk().state().random.below(12));
        CrashWriter { blocks, buffer: Vec::new(), written, buffer_bytes_max }
    }
}

impl FileWriter for CrashWriter {
    fn write_all(&mut self, bytes: &[u8]) -> Result<()> {
        if self.buffer.len() + bytes.len() > self.buffer_bytes_max {
            self.flush()?;
        }
        if bytes.len() >= self.buffer_bytes_max {
            self.blocks.write(self.written, bytes)?;
            self.written += bytes.len() as u64;
        } else {
            self.buffer.extend_from_slice(bytes);
        }
        Ok(())
    }

    fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    fn flush(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            self.blocks.write(self.written, &self.buffer)?;
            self.written += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.blocks.sync_bytes()
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()
    }
}

pub(super) struct CrashInPlaceFile(CrashBlocks);

impl CrashInPlaceFile {
    /// Replaces bytes of an open file.
    pub fn new(blocks: CrashBlocks) -> CrashInPlaceFile {
        CrashInPlaceFile(blocks)
    }
}

impl InPlaceFile for CrashInPlaceFile {
    fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<()> {
        // The kernel copies the bytes within one sector as a whole or not at all.
        self.0.write_some(offset, bytes, |fits| {
            let sectors = (offset as usize + fits) / SECTOR * SECTOR;
            sectors.saturating_sub(offset as usize)
        })
    }

    fn sync(&self) -> Result<()> {
        self.0.sync_bytes()
    }
}
