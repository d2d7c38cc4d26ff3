//! Byte layout of the stored documents, little-endian.
//!
//! ```text
//! section StoredBlocks: blocks back to back, each
//!   varint head bytes, varint head bytes compressed, varint body bytes, varint body bytes compressed
//!   head, compressed: per document: varint source length,
//!                                   varint id length << 1 | has routing, (varint routing length)
//!                     then all ids, one after the other, then all routings
//!   body, compressed: all sources, one after the other, as they came
//! section StoredIndex
//!   0  1  codec u8: 0 LZ4, 1 zstd
//!   1  4  doc_count u32
//!   5  4  block count u32
//!   9 12 * block count: first document u32, offset of the block u64
//!   .. 8  bytes of all blocks u64
//! section StoredChecksums, since version 2 of the format
//!   8 * block count: CRC-32 of codec u8, first document u32, documents of the block u32 and the block's
//!                    bytes before its body,
//!                    CRC-32 of the body, compressed
//! ```
//!
//! `_id` and `_routing` are stored beside the source but compressed separately: reading an id decompresses
//! its head (a few kilobytes), not the sources, and similar data compresses better together. A length equal
//! to its compressed length means that the part is stored uncompressed. A document never spans blocks; one
//! larger than the target has a block of its own. Merging copies blocks whose documents are all live
//! without decompressing them.
//!
//! A part of a block is compared with its checksum each time it is decompressed, so that a rotten document
//! is neither returned nor carried over by an update. The checksum of a head covers what the index says
//! about its block, so a rotten index leads to a block that does not match.

/// Uncompressed source bytes after which a block ends with LZ4: reading a random document costs about 12 µs.
pub const LZ4_BLOCK_BYTES: usize = 32 << 10;
/// The same for zstd, whose window gains more from larger blocks.
pub const ZSTD_BLOCK_BYTES: usize = 64 << 10;
/// Maximum number of documents per block, so that empty sources cannot make an endless one.
pub const BLOCK_DOCS_MAX: usize = 4096;
/// zstd level of `best_compression`: level 3 takes half as much time again and saves 4 % (measured).
pub const ZSTD_LEVEL: i32 = 1;
/// Bytes before the first entry of the index.
pub const INDEX_HEADER_BYTES: usize = 9;
/// Bytes per block in the index.
pub const INDEX_ENTRY_BYTES: usize = 12;
/// Bytes per block in the section of checksums.
pub const CHECKSUMS_BYTES: usize = 8;
/// Maximum size of a part of a block: Lucene limits a stored field, and so a document, to 2 GiB - 1.
pub const PART_BYTES_MAX: u64 = i32::MAX as u64;
