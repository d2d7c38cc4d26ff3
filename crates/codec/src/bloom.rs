//! A split-block Bloom filter: "was this key surely not added?", in one cache line.
//!
//! Each key sets one bit in each of the eight 32-bit words of one 32-byte block (Putze, Sanders, Singler,
//! "Cache-, Hash- and Space-Efficient Bloom Filters"; the layout of Parquet's filters, with salts of
//! Parquet's specification).

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 32;
/// Bits per key: 12 give about 0.5 % false positives (measured in this file's test) and cost 1.5 bytes per
/// document.
pub const BITS_PER_KEY: usize = 12;

/// Odd multipliers that pick the bit of each word (Parquet, `BloomFilter.md`).
const SALT: [u32; 8] =
    [0x47b6_137b, 0x4497_4d91, 0x8824_ad5b, 0xa2b7_289d, 0x7054_95c7, 0x2df1_424b, 0x9efc_4947, 0x5c6b_fb31];

/// Returns the bytes of a filter for `key_count` keys: a whole number of blocks, at least one.
pub fn filter_bytes(key_count: usize) -> usize {
    (key_count * BITS_PER_KEY).div_ceil(8 * BLOCK_BYTES).max(1) * BLOCK_BYTES
}

/// Returns the block of a hash among `block_count`: the upper half of the hash scaled to the range.
#[inline]
fn block_index(hash: u64, block_count: usize) -> usize {
    (((hash >> 32) * block_count as u64) >> 32) as usize
}

/// Returns the bit of a hash in the word with this salt.
#[inline(always)]
fn mask(hash: u64, salt: u32) -> u32 {
    1 << ((hash as u32).wrapping_mul(salt) >> 27)
}

/// Adds keys by their 64-bit hashes to a filter of [`filter_bytes`] bytes.
pub fn insert_all(filter: &mut [u8], hashes: impl Iterator<Item = u64>) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor has AVX2, the only requirement; the body is safe code.
        unsafe { insert_all_avx2(filter, hashes) };
        return;
    }
    hashes.for_each(|hash| insert(filter, hash));
}

/// [`insert_all`] with AVX2, where a block is one register.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn insert_all_avx2(filter: &mut [u8], hashes: impl Iterator<Item = u64>) {
    for hash in hashes {
        insert(filter, hash);
    }
}

/// Adds one key.
#[inline(always)]
pub fn insert(filter: &mut [u8], hash: u64) {
    let start = block_index(hash, filter.len() / BLOCK_BYTES) * BLOCK_BYTES;
    let block = filter[start..].first_chunk_mut::<BLOCK_BYTES>().expect("whole blocks");
    for (word, salt) in block.as_chunks_mut::<4>().0.iter_mut().zip(SALT) {
        *word = (u32::from_le_bytes(*word) | mask(hash, salt)).to_le_bytes();
    }
}

/// Whether the key may have been added; `false` is certain. An empty filter contains nothing.
#[inline]
pub fn may_contain(filter: &[u8], hash: u64) -> bool {
    let start = block_index(hash, filter.len() / BLOCK_BYTES) * BLOCK_BYTES;
    let Some(block) = filter.get(start..start + BLOCK_BYTES) else { return false };
    let mut missing = 0;
    for (word, salt) in block.chunks_exact(4).zip(SALT) {
        missing |= mask(hash, salt) & !u32::from_le_bytes([word[0], word[1], word[2], word[3]]);
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
        let hash = |i: usize| hash64(format!("key {i}").as_bytes());
        insert_all(&mut filter, (0..count).map(hash));
        let mut one_by_one = vec![0; filter.len()];
        (0..count).for_each(|i| insert(&mut one_by_one, hash(i)));
        assert_eq!(filter, one_by_one);
        assert!((0..count).all(|i| may_contain(&filter, hash64(format!("key {i}").as_bytes()))));
        let false_positives =
            (0..count).filter(|i| may_contain(&filter, hash64(format!("other {i}").as_bytes()))).count();
        assert!(false_positives < count / 100, "{false_positives} of {count}");
        assert!(!may_contain(&[], 7));
    }
}
