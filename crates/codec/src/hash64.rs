//! A fixed 64-bit hash of bytes, part of the format of on-disk filters: "which bits does this `_id` set?"
//!
//! Folded multiplication over 16-byte steps (the construction of wyhash and foldhash), with constants of
//! its own (digits of pi), so that no dependency's version can change what a written filter means. It has
//! no secret: not for hash tables whose keys users choose.

const K0: u64 = 0x243f_6a88_85a3_08d3;
const K1: u64 = 0x1319_8a2e_0370_7344;
const K2: u64 = 0xa409_3822_299f_31d0;

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = a as u128 * b as u128;
    product as u64 ^ (product >> 64) as u64
}

#[inline]
fn word(bytes: &[u8], at: usize) -> u64 {
    bytes[at..].first_chunk::<8>().map_or(0, |chunk| u64::from_le_bytes(*chunk))
}

/// Returns the hash of `bytes`; it never changes between versions.
#[inline]
pub fn hash64(bytes: &[u8]) -> u64 {
    let len = bytes.len();
    let mut state = K0 ^ len as u64;
    let (a, b) = if len >= 8 {
        let mut at = 0;
        while at + 16 < len {
            state = fold(word(bytes, at) ^ K1, word(bytes, at + 8) ^ state);
            at += 16;
        }
        // The last 16 bytes, which may overlap bytes hashed already; for 8 to 15 bytes the two words
        // overlap.
        (word(bytes, len.saturating_sub(16)), word(bytes, len - 8))
    } else {
        (bytes.iter().rev().fold(0, |value, &byte| value << 8 | byte as u64), 0)
    };
    fold(fold(a ^ K1, b ^ state), K2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_pinned_and_spreads() {
        assert_eq!(hash64(b""), PINNED_EMPTY);
        assert_eq!(hash64(b"AVf3sP-4Cq0Zm7eT1x2y"), PINNED_ID);
        let mut hashes: Vec<u64> = Vec::new();
        for i in 0..20_000u32 {
            for text in
                [i.to_string(), format!("document-{i:012}"), format!("{i:x}-longer-than-sixteen-bytes")]
            {
                hashes.push(hash64(text.as_bytes()));
            }
        }
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), 60_000);
        let low_bits_set: usize = hashes.iter().map(|hash| (hash & 0xff).count_ones() as usize).sum();
        assert!((235_000..245_000).contains(&low_bits_set), "{low_bits_set}");
    }

    const PINNED_EMPTY: u64 = 11216705944786624478;
    const PINNED_ID: u64 = 10499067665760974810;
}
