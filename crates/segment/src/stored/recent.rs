//! Decompressed blocks of stored documents that were read repeatedly: "does this block need to be read
//! again?"
//!
//! Searches of many clients often find the same documents: the newest ones, or the best ones of a frequent
//! query. A block is kept from the second time it is read within a short time, so reading all documents in
//! turn displaces nothing.
//!
//! Source of the admission: Einziger, Friedman, Manes, "TinyLFU" (2017), with a memory of one bit of history.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use limber_store::sync::Mutex;
use limber_store::{Charge, Pool};
use lru::LruCache;

use super::reader::Buffers;
use crate::DocId;

/// Segment core and number of a block.
pub(super) type BlockKey = (u64, usize);

/// How many blocks that were read once are remembered.
const READ_ONCE_COUNT: usize = 1024;
/// A block takes at most this share of the pool.
const SHARE_MAX: u64 = 8;

/// The blocks, within the bytes of a pool.
pub struct RecentBlocks {
    pool: Arc<Pool>,
    blocks: Mutex<LruCache<BlockKey, Arc<Block>, foldhash::fast::RandomState>>,
    /// Hashes of blocks that were read once, each at a place that its hash determines.
    read_once: Box<[AtomicU64]>,
}

/// A decompressed block.
pub(super) struct Block {
    pub first_doc: DocId,
    pub buffers: Buffers,
    _charge: Charge,
}

impl std::fmt::Debug for RecentBlocks {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(out, "RecentBlocks({} bytes)", self.pool.used_bytes())
    }
}

impl RecentBlocks {
    /// Creates a cache without blocks that charges them to `pool`.
    pub fn new(pool: Arc<Pool>) -> RecentBlocks {
        let blocks = Mutex::new(LruCache::unbounded_with_hasher(foldhash::fast::RandomState::default()));
        RecentBlocks { pool, blocks, read_once: (0..READ_ONCE_COUNT).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Returns the block, if it is here.
    pub(super) fn get(&self, key: BlockKey) -> Option<Arc<Block>> {
        self.blocks.lock().get(&key).cloned()
    }

    /// Notes that a block was decompressed. Returns whether it was decompressed not long ago too, so that it
    /// should be kept.
    pub(super) fn note_read(&self, (core, block): BlockKey) -> bool {
        let hash = (core.rotate_left(32) ^ block as u64).wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let place = (hash >> 32) as usize % self.read_once.len();
        self.read_once[place].swap(hash, Ordering::Relaxed) == hash
    }

    /// Keeps the block, and fewer of those that were not read for long. Returns the buffers if there is no
    /// room for them.
    pub(super) fn keep(
        &self,
        key: BlockKey,
        first_doc: DocId,
        buffers: Buffers,
    ) -> std::result::Result<Arc<Block>, Buffers> {
        let bytes = buffers.bytes() as u64 + size_of::<Block>() as u64;
        if bytes > self.pool.limit_bytes() / SHARE_MAX {
            return Err(buffers);
        }
        let mut blocks = self.blocks.lock();
        let charge = loop {
            match self.pool.try_charge(bytes) {
                Some(charge) => break charge,
                None if blocks.pop_lru().is_none() => return Err(buffers),
                None => {}
            }
        };
        let block = Arc::new(Block { first_doc, buffers, _charge: charge });
        blocks.put(key, block.clone());
        Ok(block)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buffers(bytes: usize) -> Buffers {
        let mut buffers = Buffers::default();
        buffers.body = vec![7; bytes];
        buffers
    }

    #[test]
    fn kept_from_the_second_time_and_within_the_pool() {
        let pool = Pool::new("stored_blocks", 100_000);
        let recent = RecentBlocks::new(pool.clone());
        for block in 0..2_000 {
            assert!(!recent.note_read((1, block)), "read in turn");
        }
        assert!(!recent.note_read((1, 0)), "forgotten meanwhile");
        assert!(recent.note_read((1, 0)));
        assert!(recent.keep((1, 0), 0, buffers(20_000)).is_err(), "too large a share");
        for block in 0..50 {
            assert!(recent.keep((1, block), 10, buffers(10_000)).is_ok());
            assert!(recent.get((1, 0)).is_some(), "used each time");
        }
        assert!(recent.get((1, 20)).is_none() && recent.get((1, 49)).is_some());
        assert!((80_000..=100_000).contains(&pool.used_bytes()));
        drop(recent);
        assert_eq!(pool.used_bytes(), 0);
    }
}
