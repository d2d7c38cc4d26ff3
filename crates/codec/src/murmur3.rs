//! Elasticsearch's routing hash: "which shard does this `_id` or routing value go to?"
//!
//! Murmur3 x86 32-bit with seed 0 over the UTF-16LE code units of the text. Source:
//! `org.elasticsearch.cluster.routing.Murmur3HashFunction`, `StringHelper.murmurhash3_x86_32`.

/// Hash of a routing value as Elasticsearch computes it (Java `int`).
pub fn routing_hash(text: &str) -> i32 {
    let mut hash = Murmur3::default();
    for unit in text.encode_utf16() {
        hash.push_u16(unit);
    }
    hash.finish() as i32
}

/// Code units two at a time make the 4-byte little-endian blocks that the algorithm eats.
#[derive(Default)]
struct Murmur3 {
    state: u32,
    pending: Option<u16>,
    len_bytes: u32,
}

fn scramble(block: u32) -> u32 {
    block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

impl Murmur3 {
    fn push_u16(&mut self, unit: u16) {
        self.len_bytes = self.len_bytes.wrapping_add(2);
        match self.pending.take() {
            None => self.pending = Some(unit),
            Some(low) => {
                let block = low as u32 | (unit as u32) << 16;
                self.state =
                    (self.state ^ scramble(block)).rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
            }
        }
    }

    fn finish(mut self) -> u32 {
        if let Some(tail) = self.pending {
            self.state ^= scramble(tail as u32);
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
}
