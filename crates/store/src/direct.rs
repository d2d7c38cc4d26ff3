//! A log past the page cache: "these bytes at the end of that file, without a copy in memory that nobody will read".
//!
//! What a log writes is read after a crash only. Through the page cache each of its bytes takes a page from the system, is copied there
//! and written from there; with `O_DIRECT` (open(2)) the device reads it from the writer's own room.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use crate::{Error, FileWriter, Result};

/// Offsets, lengths and memory of direct writes are multiples of this: the block of the file systems and devices in use.
const BLOCK: usize = 4096;
/// Bytes of a write at most.
const ROOM_BYTES: usize = 1 << 20;

/// Writes whole blocks. The last one is filled up with zeros and written again with what follows, so that the file is longer than
/// [`FileWriter::position`] says, by less than a block.
pub(crate) struct DirectWriter {
    file: File,
    path: PathBuf,
    /// Bytes from `base` on, the first `written` of which the file has; [`BLOCK`] bytes more than are used, to begin at a multiple of it.
    room: Vec<u8>,
    /// Where in `room` they begin, how many there are, and how many fit.
    start: usize,
    filled: usize,
    capacity: usize,
    written: usize,
    base: u64,
}

impl DirectWriter {
    /// Creates `path`, which must not exist; `None` where the file system has no direct writes.
    pub fn create(path: &Path) -> Result<Option<DirectWriter>> {
        let opened = OpenOptions::new().write(true).create_new(true).custom_flags(libc::O_DIRECT).open(path);
        let file = match opened {
            Ok(file) => file,
            Err(error) if is_refused(&error) => return forget(path),
            Err(error) => return Err(Error::io("create", path, error)),
        };
        let path = path.to_owned();
        let mut writer = DirectWriter {
            file,
            path,
            room: Vec::new(),
            start: 0,
            filled: 0,
            capacity: 0,
            written: 0,
            base: 0,
        };
        // Some file systems tell with the first write.
        writer.make_room(BLOCK);
        match writer.file.write_all_at(&writer.room[writer.start..][..BLOCK], 0) {
            Ok(()) => Ok(Some(writer)),
            Err(error) if is_refused(&error) => forget(&writer.path),
            Err(error) => Err(writer.io("write", error)),
        }
    }

    /// Room for `bytes` more, or as many as may be held; what is there goes along.
    fn make_room(&mut self, bytes: usize) {
        let capacity = (self.filled + bytes).next_multiple_of(BLOCK).min(ROOM_BYTES);
        if capacity <= self.capacity {
            return;
        }
        let mut room = vec![0; capacity + BLOCK];
        let start = room.as_ptr().align_offset(BLOCK);
        room[start..][..self.filled].copy_from_slice(&self.room[self.start..][..self.filled]);
        (self.room, self.start, self.capacity) = (room, start, capacity);
    }

    /// Writes what is held, and keeps the begun block.
    fn write_room(&mut self) -> Result<()> {
        let padded = self.filled.next_multiple_of(BLOCK);
        let bytes = &mut self.room[self.start..][..padded];
        bytes[self.filled..].fill(0);
        self.file.write_all_at(bytes, self.base).map_err(|error| self.io("write", error))?;
        let whole = self.filled / BLOCK * BLOCK;
        self.room.copy_within(self.start + whole..self.start + self.filled, self.start);
        self.base += whole as u64;
        self.filled -= whole;
        self.written = self.filled;
        Ok(())
    }

    fn io(&self, action: &'static str, error: io::Error) -> Error {
        Error::io(action, &self.path, error)
    }
}

fn is_refused(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EINVAL | libc::EOPNOTSUPP))
}

/// Deletes what a refused creation may have left.
fn forget<T>(path: &Path) -> Result<Option<T>> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io("delete", path, error)),
        _ => Ok(None),
    }
}

impl FileWriter for DirectWriter {
    fn write_all(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            self.make_room(bytes.len());
            let (now, later) = bytes.split_at(bytes.len().min(self.capacity - self.filled));
            self.room[self.start + self.filled..][..now.len()].copy_from_slice(now);
            self.filled += now.len();
            bytes = later;
            if self.filled == ROOM_BYTES {
                self.write_room()?;
            }
        }
        Ok(())
    }

    fn position(&self) -> u64 {
        self.base + self.filled as u64
    }

    fn flush(&mut self) -> Result<()> {
        if self.filled > self.written {
            self.write_room()?;
        }
        // A log that rests holds one block.
        if self.capacity > BLOCK {
            let tail = self.room[self.start..][..self.filled].to_vec();
            (self.room, self.start, self.filled, self.capacity) = (Vec::new(), 0, 0, 0);
            self.make_room(tail.len());
            self.room[self.start..][..tail.len()].copy_from_slice(&tail);
            self.filled = tail.len();
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        self.flush()?;
        self.file.sync_data().map_err(|error| self.io("fsync", error))
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Pieces of every size around a block and the room, flushed after some: the file has them all, then zeros up to a block.
    #[test]
    fn a_file_has_what_was_written_and_zeros() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        let Some(mut log) = DirectWriter::create(&path).expect("creates") else {
            return; // no direct writes on this file system
        };
        let mut expected: Vec<u8> = Vec::new();
        let lengths =
            [1, 7, 4095, 4096, 4097, 0, 100_000, ROOM_BYTES - 1, ROOM_BYTES, 3 * ROOM_BYTES + 5, 2, 4089];
        for (round, len) in lengths.iter().cycle().take(40).enumerate() {
            let piece: Vec<u8> = (0..*len).map(|at| (at * 31 + round * 7 + 1) as u8).collect();
            log.write_all(&piece).expect("writes");
            expected.extend_from_slice(&piece);
            assert_eq!(log.position(), expected.len() as u64);
            if round % 3 != 1 {
                log.flush().expect("writes");
                let found = std::fs::read(&path).expect("reads");
                assert_eq!(found.len(), expected.len().next_multiple_of(BLOCK).max(BLOCK));
                assert!(found[..expected.len()] == expected[..], "after {round}");
                assert!(found[expected.len()..].iter().all(|byte| *byte == 0));
            }
        }
        log.sync().expect("syncs");
        assert!(DirectWriter::create(&path).is_err(), "it is there already");
        assert!(path.exists());
    }
}
