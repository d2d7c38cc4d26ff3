//! Writes a log past the page cache, without a copy in memory that nobody will read.
//!
//! The bytes of a log are only read after a crash. Through the page cache, each of them takes part of a
//! page from the system, is copied there and is written from there; with `O_DIRECT` (open(2)) the device
//! reads it from the writer's own buffer.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use parking_lot::Mutex;

use crate::{Error, FileWriter, Result};

/// Offsets, lengths and addresses of direct writes are multiples of this, the block size of common file
/// systems and devices.
pub(crate) const BLOCK: usize = 4096;
/// Maximum number of bytes per write, the size of a buffer.
const BUFFER_BYTES: usize = 1 << 20;

/// Buffers that no writer uses, for the next one. An idle log thus holds less than a block.
static FREE_BUFFERS: Mutex<Vec<AlignedBuffer>> = Mutex::new(Vec::new());
const FREE_BUFFERS_MAX: usize = 4;

/// A buffer of [`BUFFER_BYTES`] bytes that begins at a multiple of [`BLOCK`].
struct AlignedBuffer {
    bytes: Vec<u8>,
    start: usize,
}

impl AlignedBuffer {
    fn borrow() -> AlignedBuffer {
        if let Some(buffer) = FREE_BUFFERS.lock().pop() {
            return buffer;
        }
        let bytes = vec![0; BUFFER_BYTES + BLOCK];
        let start = bytes.as_ptr().align_offset(BLOCK);
        AlignedBuffer { bytes, start }
    }

    fn give_back(self) {
        let mut buffers = FREE_BUFFERS.lock();
        if buffers.len() < FREE_BUFFERS_MAX {
            buffers.push(self);
        }
    }

    fn all(&mut self) -> &mut [u8] {
        &mut self.bytes[self.start..][..BUFFER_BYTES]
    }
}

/// A file that takes direct writes.
pub(crate) trait BlockFile: Send {
    /// Writes all of `bytes`. Their address and length, and `offset`, are multiples of [`BLOCK`].
    fn write_blocks(&self, bytes: &[u8], offset: u64) -> io::Result<()>;
    /// Waits until everything written is durable.
    fn sync(&self) -> io::Result<()>;
}

impl BlockFile for File {
    fn write_blocks(&self, bytes: &[u8], offset: u64) -> io::Result<()> {
        self.write_all_at(bytes, offset)
    }

    fn sync(&self) -> io::Result<()> {
        self.sync_data()
    }
}

/// A small write that extends the file extends it by this many bytes, filled with zeros. The next writes
/// then do not change the length, so their fsync need not wait for the file system's journal.
const AHEAD_BYTES: usize = 256 << 10;
/// A larger write extends the file by its own length only.
const SMALL_BYTES: usize = 32 << 10;

/// Writes whole blocks. The last block is padded with zeros and written again together with the bytes that
/// follow, and small writes extend the file in advance. The file is thus longer than
/// [`FileWriter::position`], by less than [`AHEAD_BYTES`].
pub(crate) struct DirectWriter<F: BlockFile = File> {
    file: F,
    path: PathBuf,
    /// Offset of the last block, which is not full, and (`begun`) its bytes while there is no buffer.
    base: u64,
    begun: Vec<u8>,
    /// Length of the file.
    len: u64,
    /// Between a write and its flush: a buffer with the bytes from `base` on, and their number.
    buffer: Option<(AlignedBuffer, usize)>,
}

impl DirectWriter {
    /// Creates `path`, which must not exist; `None` if the file system does not support direct writes.
    pub fn create(path: &Path) -> Result<Option<DirectWriter>> {
        let opened = OpenOptions::new().write(true).create_new(true).custom_flags(libc::O_DIRECT).open(path);
        match opened {
            Ok(file) => match DirectWriter::over(file, path.to_owned())? {
                None => forget(path),
                writer => Ok(writer),
            },
            Err(error) if is_refused(&error) => forget(path),
            Err(error) => Err(Error::io("create", path, error)),
        }
    }
}

impl<F: BlockFile> DirectWriter<F> {
    /// Starts writing to an empty file; `None` if it does not support direct writes. Some file systems only
    /// refuse at the first write, so a block of zeros is written, which the first bytes replace. `path` is
    /// for messages.
    pub fn over(file: F, path: PathBuf) -> Result<Option<DirectWriter<F>>> {
        let mut buffer = AlignedBuffer::borrow();
        let zeros = &mut buffer.all()[..BLOCK];
        zeros.fill(0);
        let probed = file.write_blocks(zeros, 0);
        buffer.give_back();
        match probed {
            Ok(()) => Ok(Some(DirectWriter {
                file,
                path,
                base: 0,
                begun: Vec::new(),
                len: BLOCK as u64,
                buffer: None,
            })),
            Err(error) if is_refused(&error) => Ok(None),
            Err(error) => Err(Error::io("write", path, error)),
        }
    }

    /// Writes `filled` bytes of `buffer` and moves the last, partial block to its front. Returns the number
    /// of bytes of that block.
    fn write_buffer(&mut self, buffer: &mut AlignedBuffer, filled: usize) -> Result<usize> {
        let bytes = buffer.all();
        let padded = filled.next_multiple_of(BLOCK);
        let lengthens = self.base + padded as u64 > self.len;
        // The head of a log is not extended in advance, because many logs hold nothing else.
        let takes_ahead = lengthens && self.base > 0 && padded <= SMALL_BYTES;
        let end = if takes_ahead { AHEAD_BYTES } else { padded };
        bytes[filled..end].fill(0);
        let written = self.file.write_blocks(&bytes[..end], self.base);
        written.map_err(|error| Error::io("write", &self.path, error))?;
        self.len = self.len.max(self.base + end as u64);
        let whole = filled / BLOCK * BLOCK;
        bytes.copy_within(whole..filled, 0);
        self.base += whole as u64;
        Ok(filled - whole)
    }
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))
}

/// Deletes the file that a refused creation may have left.
fn forget<T>(path: &Path) -> Result<Option<T>> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("delete", path, error)),
        _ => Ok(None),
    }
}

impl<F: BlockFile> FileWriter for DirectWriter<F> {
    fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let (mut buffer, mut filled) = self.buffer.take().unwrap_or_else(|| {
            let mut buffer = AlignedBuffer::borrow();
            buffer.all()[..self.begun.len()].copy_from_slice(&self.begun);
            (buffer, self.begun.len())
        });
        while !bytes.is_empty() {
            let (now, later) = bytes.split_at(bytes.len().min(BUFFER_BYTES - filled));
            buffer.all()[filled..][..now.len()].copy_from_slice(now);
            filled += now.len();
            bytes = later;
            if filled == BUFFER_BYTES {
                filled = self.write_buffer(&mut buffer, filled)?;
            }
        }
        self.buffer = Some((buffer, filled));
        Ok(())
    }

    fn position(&self) -> u64 {
        self.base + self.buffer.as_ref().map_or(self.begun.len(), |(_, filled)| *filled) as u64
    }

    fn flush(&mut self) -> Result<()> {
        if let Some((mut buffer, filled)) = self.buffer.take() {
            let begun = self.write_buffer(&mut buffer, filled)?;
            self.begun.clear();
            self.begun.extend_from_slice(&buffer.all()[..begun]);
            buffer.give_back();
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.file.sync().map_err(|error| Error::io("fsync", &self.path, error))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Writes pieces of many sizes around those of a block and of the buffer, flushed after some of them.
    /// The file contains them all, followed by zeros up to a block.
    #[test]
    fn a_file_has_what_was_written_and_zeros() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let Some(mut log) = DirectWriter::create(&path).expect("creates") else {
            return; // no direct writes on this file system
        };
        let mut expected: Vec<u8> = Vec::new();
        let lengths = [
            1,
            7,
            4095,
            4096,
            4097,
            0,
            100_000,
            BUFFER_BYTES - 1,
            BUFFER_BYTES,
            3 * BUFFER_BYTES + 5,
            2,
            4089,
        ];
        for (round, len) in lengths.iter().cycle().take(40).enumerate() {
            let piece: Vec<u8> = (0..*len).map(|at| (at * 31 + round * 7 + 1) as u8).collect();
            log.write_all(&piece).expect("writes");
            expected.extend_from_slice(&piece);
            assert_eq!(log.position(), expected.len() as u64);
            if round % 3 != 1 {
                log.flush().expect("writes");
                let found = std::fs::read(&path).expect("reads");
                assert!(found.len() >= expected.len() && found.len() < expected.len() + AHEAD_BYTES + BLOCK);
                assert!(found[..expected.len()] == expected[..], "after {round}");
                assert!(found[expected.len()..].iter().all(|byte| *byte == 0));
            }
        }
        log.sync().expect("syncs");
        assert!(DirectWriter::create(&path).is_err(), "it is there already");
        assert!(path.exists());
    }
}
