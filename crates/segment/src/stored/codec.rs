//! How stored blocks are compressed, and how large they are.

use super::format;

/// How stored blocks are compressed (`index.codec`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[repr(u8)]
pub enum StoredCodec {
    /// `default`: compresses about 900 MB/s and decompresses 2.5 GB/s, to between a third and a half of the
    /// size.
    #[default]
    Lz4 = 0,
    /// `best_compression`: two thirds of LZ4's speed and of its size.
    Zstd = 1,
}

impl StoredCodec {
    /// Returns the number of source bytes after which a block ends.
    pub fn block_bytes(self) -> usize {
        match self {
            StoredCodec::Lz4 => format::LZ4_BLOCK_BYTES,
            StoredCodec::Zstd => format::ZSTD_BLOCK_BYTES,
        }
    }
}
