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
    /// What merges make of `default`: zstd with a dictionary, 40 % smaller than LZ4 and read as fast.
    Dictionary = 2,
    /// What merges make of `best_compression`: the same with larger blocks, a tenth smaller.
    BestDictionary = 3,
}

impl StoredCodec {
    pub(super) fn from_byte(byte: u8) -> Option<StoredCodec> {
        use StoredCodec::{BestDictionary, Dictionary, Lz4, Zstd};
        [Lz4, Zstd, Dictionary, BestDictionary].into_iter().find(|codec| *codec as u8 == byte)
    }

    /// Whether bodies are compressed with the segment's dictionary, and heads have columns.
    pub(crate) fn has_dictionary(self) -> bool {
        matches!(self, StoredCodec::Dictionary | StoredCodec::BestDictionary)
    }

    /// Returns the codec that a merge of enough bytes writes instead of this one.
    pub(crate) fn with_dictionary(self) -> StoredCodec {
        match self {
            StoredCodec::Lz4 | StoredCodec::Dictionary => StoredCodec::Dictionary,
            StoredCodec::Zstd | StoredCodec::BestDictionary => StoredCodec::BestDictionary,
        }
    }

    /// Inverse of [`StoredCodec::with_dictionary`].
    pub(crate) fn without_dictionary(self) -> StoredCodec {
        match self {
            StoredCodec::Lz4 | StoredCodec::Dictionary => StoredCodec::Lz4,
            StoredCodec::Zstd | StoredCodec::BestDictionary => StoredCodec::Zstd,
        }
    }

    pub(super) fn zstd_level(self) -> i32 {
        match self {
            StoredCodec::BestDictionary => format::BEST_ZSTD_LEVEL,
            _ => format::ZSTD_LEVEL,
        }
    }

    /// Returns the number of source bytes after which a block ends.
    pub fn block_bytes(self) -> usize {
        match self {
            StoredCodec::Lz4 => format::LZ4_BLOCK_BYTES,
            StoredCodec::Zstd => format::ZSTD_BLOCK_BYTES,
            StoredCodec::Dictionary => format::DICTIONARY_BLOCK_BYTES,
            StoredCodec::BestDictionary => format::BEST_DICTIONARY_BLOCK_BYTES,
        }
    }
}
