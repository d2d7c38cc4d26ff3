//! The bytes of one file: as the process sees them, and what a crash may leave of them.

use std::collections::{BTreeMap, BTreeSet};

/// What the kernel writes as one, in any order with others.
const BLOCK: usize = 4096;
/// What the device writes whole or not at all.
pub(super) const SECTOR: usize = 512;
/// Earlier states of a block that is not synced; any of them may be what reached the disk.
const VERSIONS_MAX: usize = 4;

/// Numbers below their argument.
pub(super) type Below<'a> = &'a mut dyn FnMut(u64) -> u64;

#[derive(Default, Clone)]
pub(super) struct Contents {
    /// As the process sees them.
    pub bytes: Vec<u8>,
    /// What an fsync has promised to keep.
    durable: Vec<u8>,
    /// Blocks that the kernel has still to write, each with its states before the last.
    dirty: BTreeMap<usize, Vec<Vec<u8>>>,
    /// Blocks that a failed fsync marked clean although they are not on disk; written again only when they
    /// change again.
    lost: BTreeSet<usize>,
}

impl Contents {
    /// Replaces the bytes from `offset` on; what lies between the end and there becomes zeros.
    pub fn write_at(&mut self, offset: usize, bytes: &[u8]) {
        let end = offset + bytes.len();
        let begun = self.bytes.len().min(offset);
        for block in begun / BLOCK..end.div_ceil(BLOCK) {
            self.note_version(block);
        }
        self.bytes.resize(self.bytes.len().max(end), 0);
        self.bytes[offset..end].copy_from_slice(bytes);
    }

    /// Cuts the file, or fills it up with zeros.
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

    /// An fsync fails: what it should have written counts as written.
    pub fn lose(&mut self) {
        self.lost.extend(std::mem::take(&mut self.dirty).into_keys());
    }

    /// Flips a bit on disk and in memory. Returns whether the file has such a byte.
    pub fn flip_bit(&mut self, byte: usize, bit: u8) -> bool {
        for bytes in [&mut self.bytes, &mut self.durable] {
            if let Some(byte) = bytes.get_mut(byte) {
                *byte ^= 1 << (bit % 8);
            }
        }
        byte < self.bytes.len()
    }

    /// After a crash the file has what was synced, and any part of the rest.
    pub fn crash(&mut self, below: Below<'_>) {
        let mut left = std::mem::take(&mut self.durable);
        // The file's length is written apart from its blocks.
        let (old, new) = (left.len(), self.bytes.len());
        let len = match below(4) {
            _ if self.dirty.is_empty() => old,
            0 => old,
            1 => old.min(new) + below((old.max(new) - old.min(new)) as u64 + 1) as usize,
            _ => new,
        };
        left.resize(len, 0);
        // All of it, what was written first, or anything.
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
