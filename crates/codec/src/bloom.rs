//! A split-block Bloom filter: "was this key surely not added?", in one cache line.
//!
//! Each key sets one bit in each of the eight 32-bit words of one 32-byte block (Putze, Sanders, Singler, "Cache-, Hash- and
//! Space-Efficient Bloom Filters"; the layout of Parquet's filters, with salts of Parquet's specification).

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 32;
/// Bits a key: 12 give about 0.5 % false positives (measured in this file's test), 1.5 bytes a document.
pub const BITS_PER_KEY: usize = 12;

/// Odd multipliers that pick the bit of each word (Parquet, `BloomFilter.md`).
const SALT: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// Bytes of a filter for `key_count` keys: a whole number of blocks, at least one.
pub fn filter_bytes(key_count: usize) -> usize {
    (key_count * BITS_PER_KEY).div_ceil(8 * BLOCK_BYTES).max(1) * BLOCK_BYTES
}

/// Block of a hash among `block_count`: the upper half of the hash scaled to the range.
#[inline]
fn block_index(hash: u64, block_count: usize) -> usize {
    (((hash >> 32) * block_count as u64) >> 32) as usize
}

#[inline]
fn masks(hash: u64) -> [u32; 8] {
    SALT.map(|salt| 1u32 << ((hash as u32).wrapping_mul(salt) >> 27))
}

/// Adds a key by its 64-bit hash to a filter of [`filter_bytes`] bytes.
#[inline]
pub fn insert(filter: &mut [u8], hash: u64) {
    let start = block_index(hash, filter.len() / BLOCK_BYTES) * BLOCK_BYTES;
    let block = &mut filter[start..start + BLOCK_BYTES];
    for (word, mask) in block.chunks_exact_mut(4).zip(masks(hash)) {
        let bits = u32::from_le_bytes([word[0], word[1], word[2], word[3]]) | mask;
        word.copy_from_slice(&bits.to_le_bytes());
    }
}

/// Whether the key may have been added; `false` is certain. An empty filter holds nothing.
#[inline]
pub fn may_contain(filter: &[u8], hash: u64) -> bool {
    let start = block_index(hash, filter.len() / BLOCK_BYTES) * BLOCK_BYTES;
    let Some(block) = filter.get(start..start + BLOCK_BYTES) else { return false };
    let mut missing = 0;
    for (word, mask) in block.chunks_exact(4).zip(masks(hash)) {
        missing |= mask & !u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
    }
    missing == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash64::hash64;

    #[test]
    fn finds_all_keys_and_few_others() {
        let count = 20_000;
        let mut filter = vec![0; filter_bytes(count)];
        for i in 0..count {
            insert(&mut filter, hash64(format!("key {i}").as_bytes()));
        }
        assert!((0..count).all(|i| may_contain(&filter, hash64(format!("key {i}").as_bytes()))));
        let false_positives =
            (0..count).filter(|i| may_contain(&filter, hash64(format!("other {i}").as_bytes()))).count();
        assert!(false_positives < count / 100, "{false_positives} of {count}");
        assert!(!may_contain(&[], 7));
    }
}
