//! Elasticsearch's routing hash: "which shard does this `_id` or routing value go to?"
//!
//! Murmur3 x86 32-bit with seed 0 over the UTF-16LE code units of the string. Source:
//! `org.elasticsearch.cluster.routing.Murmur3HashFunction`, `StringHelper.murmurhash3_x86_32`.

/// Returns the hash of a routing value as Elasticsearch computes it (Java `int`).
pub fn routing_hash(text: &str) -> i32 {
    let mut hash = Murmur3::default();
    if text.is_ascii() {
        // Most ids are ASCII. Two characters make a block.
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        pairs.iter().for_each(|pair| hash.push_block(u32::from(pair[0]) | u32::from(pair[1]) << 16));
        rest.iter().for_each(|&last| hash.push_u16(u16::from(last)));
        return hash.finish() as i32;
    }
    for unit in text.encode_utf16() {
        hash.push_u16(unit);
    }
    hash.finish() as i32
}

/// Returns the Murmur3 x86 32-bit hash of bytes (`StringHelper.murmurhash3_x86_32`).
pub fn murmur3_32(bytes: &[u8], seed: u32) -> u32 {
    let mut hash = Murmur3 { state: seed, ..Murmur3::default() };
    let (units, rest) = bytes.as_chunks::<2>();
    units.iter().for_each(|unit| hash.push_u16(u16::from_le_bytes(*unit)));
    if let [last] = rest {
        hash.push_last(*last);
    }
    hash.finish()
}

/// Hashes 16-bit code units; two of them make one 4-byte little-endian block of the algorithm.
#[derive(Default)]
struct Murmur3 {
    state: u32,
    pending: Option<u16>,
    /// Bytes hashed so far, without `pending`.
    len_bytes: u32,
}

fn scramble(block: u32) -> u32 {
    block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

impl Murmur3 {
    fn push_u16(&mut self, unit: u16) {
        match self.pending.take() {
            None => self.pending = Some(unit),
            Some(low) => self.push_block(low as u32 | (unit as u32) << 16),
        }
    }

    #[inline]
    fn push_block(&mut self, block: u32) {
        self.len_bytes = self.len_bytes.wrapping_add(4);
        self.state = (self.state ^ scramble(block)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }

    /// Hashes the incomplete last block.
    fn push_tail(&mut self, tail: u32, len_bytes: u32) {
        self.len_bytes = self.len_bytes.wrapping_add(len_bytes);
        self.state ^= scramble(tail);
    }

    /// Hashes the last byte of an odd number of bytes.
    fn push_last(&mut self, byte: u8) {
        let byte = u32::from(byte);
        let (tail, len) = self.pending.take().map_or((byte, 1), |low| (u32::from(low) | byte << 16, 3));
        self.push_tail(tail, len);
    }

    fn finish(mut self) -> u32 {
        if let Some(tail) = self.pending.take() {
            self.push_tail(u32::from(tail), 2);
        }
        let mut hash = self.state ^ self.len_bytes;
        hash = (hash ^ (hash >> 16)).wrapping_mul(0x85eb_ca6b);
        hash = (hash ^ (hash >> 13)).wrapping_mul(0xc2b2_ae35);
        hash ^ (hash >> 16)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of the reference implementation.
    #[test]
    fn bytes_of_every_length_hash_as_the_reference_does() {
        for (text, seed, hash) in [
            ("", 0, 0),
            ("", 1, 0x514e_28b7),
            ("test", 0x9747_b28c, 0x704b_81dc),
            ("Hello, world!", 0x9747_b28c, 0x2488_4cba),
            ("The quick brown fox jumps over the lazy dog", 0x9747_b28c, 0x2fa8_26cd),
            ("aaa", 0x9747_b28c, 0x283e_0130),
            ("aa", 0x9747_b28c, 0x5d21_1726),
            ("a", 0x9747_b28c, 0x7fa0_9ea6),
        ] {
            assert_eq!(murmur3_32(text.as_bytes(), seed), hash, "{text}");
        }
    }

    #[test]
    fn matches_elasticsearch() {
        // Source: org.elasticsearch.cluster.routing.operation.hash.murmur3.Murmur3HashFunctionTests.
        for (text, hash) in [
            ("hell", 0x5a0cb7c3u32),
            ("hello", 0xd7c31989),
            ("hello w", 0x22ab2984),
            ("hello wo", 0xdf0ca123),
            ("hello wor", 0xe7744d61),
            ("The quick brown fox jumps over the lazy dog", 0xe07db09c),
            ("The quick brown fox jumps over the lazy cog", 0x4e63d2ad),
        ] {
            assert_eq!(routing_hash(text) as u32, hash, "{text}");
        }
    }

    #[test]
    fn texts_of_one_byte_letters_and_others_hash_as_their_code_units_do() {
        for text in ["lJYzeZMBXq3u8Ww0kT1-", "größe", "日本語の本", "a\u{10ffff}b"] {
            for (end, _) in text.char_indices().chain([(text.len(), ' ')]) {
                let units: Vec<u8> = text[..end].encode_utf16().flat_map(u16::to_le_bytes).collect();
                assert_eq!(routing_hash(&text[..end]) as u32, murmur3_32(&units, 0), "{}", &text[..end]);
            }
        }
    }
}
