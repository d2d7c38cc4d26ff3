//! Compresses the bodies of requests if the user wants that (`http_compress`).
//!
//! Bodies are compressed with gzip, as in Rally's client, before the clock starts and into a buffer that is
//! reused. The fastest level is used, since compression is the generator's work and is not measured (Rally
//! uses the slowest).

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

/// RFC 1952: magic, deflate, no flags, no time, no extra flags, unknown system.
const GZIP_HEAD: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];
/// Space added to the output at a time.
const ROOM_BYTES: usize = 64 * 1024;

pub(crate) struct Packer {
    deflate: Compress,
    packed: Vec<u8>,
}

impl Default for Packer {
    fn default() -> Packer {
        Packer { deflate: Compress::new(Compression::fast(), false), packed: Vec::new() }
    }
}

impl Packer {
    /// Returns the body as one gzip member. It is valid until the next call.
    pub(crate) fn pack(&mut self, body: &[u8]) -> &[u8] {
        self.packed.clear();
        self.packed.extend_from_slice(&GZIP_HEAD);
        self.deflate.reset();
        loop {
            self.packed.reserve(ROOM_BYTES);
            let read = usize::try_from(self.deflate.total_in()).unwrap_or(usize::MAX).min(body.len());
            let status = self
                .deflate
                .compress_vec(&body[read..], &mut self.packed, FlushCompress::Finish)
                .expect("a compressor that grows its output takes any input");
            if status == Status::StreamEnd {
                break;
            }
        }
        let mut sum = Crc::new();
        sum.update(body);
        self.packed.extend_from_slice(&sum.sum().to_le_bytes());
        self.packed.extend_from_slice(&sum.amount().to_le_bytes());
        &self.packed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Read;

    #[test]
    fn bodies_come_back() {
        // One packer is used for all bodies, since each starts anew.
        let packer = std::cell::RefCell::new(Packer::default());
        proptest!(ProptestConfig::with_cases(40), |(seed in any::<u64>(), length in 0usize..300_000, values in 1u64..300)| {
            let mut state = seed | 1;
            let body: Vec<u8> = (0..length).map(|_| {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                ((state >> 33) % values) as u8
            }).collect();
            let packed = packer.borrow_mut().pack(&body).to_vec();
            let mut unpacked = Vec::new();
            flate2::read::GzDecoder::new(&packed[..]).read_to_end(&mut unpacked).unwrap();
            prop_assert!(unpacked == body);
        });
    }
}
