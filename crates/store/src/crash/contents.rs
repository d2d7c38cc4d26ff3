//! The bytes of one file, as the process sees them and as a crash may leave them.

use std::collections::{BTreeMap, BTreeSet};

/// Bytes that the kernel writes as one unit, in any order with other units.
const BLOCK: usize = 4096;
/// Bytes that the device writes whole or not at all.
pub(super) const SECTOR: usize = 512;
/// Maximum number of earlier states kept per unsynced block; any of them may have reached the disk.
const VERSIONS_MAX: usize = 4;

/// Draws numbers below its argument.
pub(super) type Below<'a> = &'a mut dyn FnMut(u64) -> u64;

#[derive(Default, Clone)]
pub(super) struct Contents {
    /// The bytes as the process sees them.
    pub bytes: Vec<u8>,
    /// The bytes that an fsync made durable.
    durable: Vec<u8>,
    /// Blocks that the kernel has yet to write, each with its states before the current one.
    dirty: BTreeMap<usize, Vec<Vec<u8>>>,
    /// Blocks that a failed fsync marked clean although they are not on disk. They are written again only
    /// after they change again.
    lost: BTreeSet<usize>,
}

impl Contents {
    /// Replaces the bytes from `offset` on; a gap between the end and `offset` is filled with zeros.
    pub fn write_at(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        let begun = self.bytes.len().min(offset);
        for block in begun / BLOCK..end.div_ceil(BLOCK) {
            self.note_version(block);
        }
        self.bytes.resize(self.bytes.len().max(end), 0);
        self.bytes[offset..end].copy_from_slice(bytes);
    }

    /// Truncates the file, or extends it with zeros.
    pub fn set_len(&mut self, len: usize) {
        let first = self.bytes.len().min(len) / BLOCK;
        for block in first..self.bytes.len().max(len).div_ceil(BLOCK) {
            self.note_version(block);
        }
        self.bytes.resize(len, 0);
    }

    fn note_version(&mut self, block: usize) {
        let before = part(&self.bytes, block).to_vec();
        self.lost.remove(&block);
        let versions = self.dirty.entry(block).or_default();
        if versions.len() == VERSIONS_MAX {
            versions.remove(0);
        }
        versions.push(before);
    }

    /// Makes everything durable that was written since the last fsync, except what an earlier fsync lost.
    pub fn sync(&mut self) {
        self.durable.resize(self.bytes.len(), 0);
        for (block, _) in std::mem::take(&mut self.dirty) {
            let from = part(&self.bytes, block);
            self.durable[block * BLOCK..][..from.len()].copy_from_slice(from);
        }
    }

    /// Makes an fsync fail: what it should have written counts as written.
    pub fn lose(&mut self) {
        self.lost.extend(std::mem::take(&mut self.dirty).into_keys());
    }

    /// Flips a bit on disk and in memory. Returns whether the file has that byte.
    pub fn flip_bit(&mut self, byte: usize, bit: u8) -> bool {
        for bytes in [&mut self.bytes, &mut self.durable] {
            if let Some(byte) = bytes.get_mut(byte) {
                *byte ^= 1 << (bit % 8);
            }
        }
        byte < self.bytes.len()
    }

    /// Applies a crash: the file keeps what was synced, and any part of the rest.
    pub fn crash(&mut self, below: Below<'_>) {
        let mut left = std::mem::take(&mut self.durable);
        // The file's length is written separately from its blocks.
        let (old, new) = (left.len(), self.bytes.len());
        let len = match below(4) {
            _ if self.dirty.is_empty() => old,
            0 => old,
            1 => old.min(new) + below((old.max(new) - old.min(new)) as u64 + 1) as usize,
            _ => new,
        };
        left.resize(len, 0);
        // Keeps all blocks, those that were written first, or any of them.
        let manner = below(4);
        let blocks = self.dirty.len() as u64;
        let kept = below(blocks + 1) as usize;
        for (number, (block, versions)) in std::mem::take(&mut self.dirty).into_iter().enumerate() {
            let is_kept = match manner {
                0 => true,
                1 => number < kept,
                _ => below(2) == 0,
            };
            if !is_kept {
                continue;
            }
            let newest = part(&self.bytes, block);
            let version = below(versions.len() as u64 + 2) as usize;
            let from = versions.get(version).map_or(newest, Vec::as_slice);
            let is_torn = manner != 0 && below(3) == 0;
            let start = (block * BLOCK).min(left.len());
            let end = (start + BLOCK).min(left.len());
            let into = left[start..end].chunks_mut(SECTOR);
            for (into, from) in into.zip(from.chunks(SECTOR)) {
                if is_torn && below(2) == 0 {
                    continue;
                }
                let common = into.len().min(from.len());
                into[..common].copy_from_slice(&from[..common]);
            }
        }
        *self = Contents { bytes: left.clone(), durable: left, ..Contents::default() };
    }
}

fn part(bytes: &[u8], block: usize) -> &[u8] {
    let start = (block * BLOCK).min(bytes.len());
    &bytes[start..(start + BLOCK).min(bytes.len())]
}
