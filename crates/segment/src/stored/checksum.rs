//! Checksums of one block: "is this what was written as this block, at this position among the others?"

use limber_codec::checksum::{Crc32, crc32};

use super::StoredCodec;
use super::format::CHECKSUMS_BYTES;

/// Checksums of the two parts of a block, which are read separately.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockChecksums {
    /// Checksum of everything before the body, and of what the index says about the block.
    pub head: u32,
    /// Checksum of the body.
    pub body: u32,
}

/// What the index says about a block, besides where its bytes are.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BlockPlace {
    pub codec: StoredCodec,
    pub first_doc: u32,
    pub doc_count: u32,
}

impl BlockPlace {
    /// Returns the checksum of a block whose bytes before its body are `pieces`.
    pub fn head_checksum(&self, pieces: &[&[u8]]) -> u32 {
        let mut crc = Crc32::new();
        crc.update(&[self.codec as u8]);
        crc.update(&self.first_doc.to_le_bytes());
        crc.update(&self.doc_count.to_le_bytes());
        pieces.iter().for_each(|piece| crc.update(piece));
        crc.finish()
    }
}

pub(crate) fn body_checksum(body: &[u8]) -> u32 {
    crc32(body)
}

impl BlockChecksums {
    pub(crate) fn to_bytes(self) -> [u8; CHECKSUMS_BYTES] {
        let mut bytes = [0; CHECKSUMS_BYTES];
        bytes[..4].copy_from_slice(&self.head.to_le_bytes());
        bytes[4..].copy_from_slice(&self.body.to_le_bytes());
        bytes
    }

    pub(crate) fn from_bytes([a, b, c, d, body @ ..]: [u8; CHECKSUMS_BYTES]) -> BlockChecksums {
        BlockChecksums { head: u32::from_le_bytes([a, b, c, d]), body: u32::from_le_bytes(body) }
    }
}
