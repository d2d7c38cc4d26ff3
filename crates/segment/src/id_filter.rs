//! A filter over a segment's `_id`s: "is this id certainly absent?", so that an update need not look into
//! every segment.
//!
//! The section `IdFilter` is a split-block Bloom filter ([`limber_codec::bloom`]) over
//! [`limber_codec::hash64`] of the ids' bytes, and nothing else. About 0.5 % of absent ids pass it.

use limber_codec::bloom;
use limber_codec::hash64::hash64;
use limber_store::FileBytes;

use crate::zeros::zeros;
use crate::{Error, Result};

/// Hash of an id, computed once and asked of every segment.
#[inline]
pub fn id_hash(id: &[u8]) -> u64 {
    hash64(id)
}

/// Returns the section for `hashes`, of which there are at most `count`.
pub fn encode(count: usize, hashes: impl Iterator<Item = u64>) -> Vec<u8> {
    let mut filter = zeros(bloom::filter_bytes(count));
    bloom::insert_all(&mut filter, hashes);
    filter
}

/// Builds the section id by id, without a list of all their hashes.
pub struct IdFilterBuilder(Vec<u8>);

impl IdFilterBuilder {
    /// Creates a builder for at most `count` ids.
    pub fn new(count: usize) -> IdFilterBuilder {
        IdFilterBuilder(zeros(bloom::filter_bytes(count)))
    }

    /// Adds the id with this [`id_hash`].
    pub fn insert(&mut self, hash: u64) {
        bloom::insert(&mut self.0, hash);
    }

    /// Returns the bytes of the section.
    pub fn finish(self) -> Vec<u8> {
        self.0
    }

    /// Returns the heap bytes of a builder for `count` ids.
    pub fn heap_bytes(count: usize) -> usize {
        bloom::filter_bytes(count)
    }
}

/// The filter of one segment.
pub struct IdFilter(FileBytes);

impl IdFilter {
    /// Opens the section `IdFilter` of a segment.
    ///
    /// # Errors
    /// Fails for bytes that are not a filter.
    pub fn open(bytes: FileBytes) -> Result<IdFilter> {
        if bytes.is_empty() || !bytes.len().is_multiple_of(bloom::BLOCK_BYTES) {
            return Err(Error::corrupt("id filter", bytes.len() as u64, "whole blocks of a filter"));
        }
        Ok(IdFilter(bytes))
    }

    /// Returns `false` if the id with this [`id_hash`] is certainly not in the segment.
    #[inline]
    pub fn may_contain(&self, hash: u64) -> bool {
        bloom::may_contain(&self.0, hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holds_what_was_added() {
        let ids: Vec<String> = (0..1000).map(|i| format!("id-{i}")).collect();
        let bytes = encode(ids.len(), ids.iter().map(|id| id_hash(id.as_bytes())));
        let filter = IdFilter::open(FileBytes::from_vec(bytes)).expect("sound");
        assert!(ids.iter().all(|id| filter.may_contain(id_hash(id.as_bytes()))));
        let mut one_by_one = IdFilterBuilder::new(ids.len());
        ids.iter().for_each(|id| one_by_one.insert(id_hash(id.as_bytes())));
        assert_eq!(one_by_one.finish(), *filter.0);
        assert!(IdFilter::open(FileBytes::from_vec(vec![0; 33])).is_err());
        assert!(IdFilter::open(FileBytes::from_vec(vec![])).is_err());
    }
}
