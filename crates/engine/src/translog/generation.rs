//! What one generation's file contains, and what waits to be written to it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use limber_store::{FileWriter, Result};

use super::format::BLOCK_BYTES;

/// A shorter append is copied to the end of the previous one, because many small ones would be as many
/// allocations.
pub(super) const COPIED_BYTES_MAX: usize = 64 << 10;

/// Appended bytes in their original memory, counted while they are there.
pub(super) struct Pending {
    pieces: Vec<Vec<u8>>,
    pub len: usize,
    /// Bytes of everything pending in the translog.
    total: Arc<AtomicU64>,
}

impl Pending {
    pub(super) fn new(total: Arc<AtomicU64>) -> Pending {
        Pending { pieces: Vec::new(), len: 0, total }
    }

    pub(super) fn take(&mut self) -> Pending {
        let empty = Pending::new(self.total.clone());
        std::mem::replace(self, empty)
    }

    pub(super) fn push(&mut self, mut bytes: Vec<u8>) {
        self.len += bytes.len();
        self.total.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        match self.pieces.last_mut() {
            Some(last) if bytes.len() < COPIED_BYTES_MAX && last.len() < COPIED_BYTES_MAX => {
                last.extend_from_slice(&bytes);
            }
            _ => {
                // The buffer may be mostly empty, if most operations of the batch were refused.
                if bytes.capacity() > 2 * bytes.len() {
                    bytes.shrink_to_fit();
                }
                self.pieces.push(bytes);
            }
        }
    }

    /// Returns bytes of one append.
    pub(super) fn get(&self, mut start: usize, len: usize) -> Option<&[u8]> {
        let mut pieces = self.pieces.iter();
        let piece = pieces.find(|piece| {
            let is_in = start < piece.len();
            start -= if is_in { 0 } else { piece.len() };
            is_in
        })?;
        piece.get(start..)?.get(..len)
    }

    /// Writes everything, freeing each piece after it is written.
    fn write(mut self, writer: &mut dyn FileWriter) -> Result<()> {
        self.pieces.drain(..).try_for_each(|piece| writer.write_all(&piece))?;
        writer.flush()
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        self.total.fetch_sub(self.len as u64, Ordering::Relaxed);
    }
}

/// One generation's file, and how much it contains.
pub(super) struct Generation {
    pub number: u64,
    pub begun_millis: u64,
    /// Length including what is pending.
    pub len_bytes: u64,
    pub operations: u64,
    /// Log position of the file's byte 0.
    pub base: u64,
    /// Bytes that were handed to the operating system.
    pub written_len: u64,
    /// Bytes that were appended and not given to the writer yet.
    pub pending: Pending,
    /// `None` while a leader writes with it.
    pub writer: Option<Box<dyn FileWriter>>,
}

impl Generation {
    pub(super) fn end(&self) -> u64 {
        self.base + self.len_bytes
    }

    /// Fills the last block with zeros.
    pub(super) fn pad(&mut self) {
        let padding = self.len_bytes.next_multiple_of(BLOCK_BYTES) - self.len_bytes;
        if padding > 0 {
            self.pending.push(vec![0; padding as usize]);
            self.len_bytes += padding;
        }
    }

    /// Writes what is pending, unless a leader has the writer.
    pub(super) fn write_pending(&mut self) -> Result<()> {
        if let Some(writer) = &mut self.writer {
            self.pending.take().write(&mut **writer)?;
            self.written_len = self.len_bytes;
        }
        Ok(())
    }
}

/// What a leader takes out of a generation to write it.
pub(super) struct Unwritten {
    pub number: u64,
    pub pending: Pending,
    pub writer: Box<dyn FileWriter>,
    /// Length of the file including these bytes.
    pub end: u64,
}

impl Unwritten {
    /// Takes the unwritten part; `None` when the file is closed, so that nothing can be made durable any
    /// more.
    pub(super) fn of(generation: &mut Generation) -> Option<Unwritten> {
        let writer = generation.writer.take()?;
        let pending = generation.pending.take();
        Some(Unwritten { number: generation.number, pending, writer, end: generation.len_bytes })
    }

    /// Writes and syncs the bytes.
    pub(super) fn settle(&mut self) -> Result<()> {
        self.pending.take().write(&mut *self.writer)?;
        self.writer.sync()
    }
}
