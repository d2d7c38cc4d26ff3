//! Byte layout of the stored documents, little-endian.
//!
//! ```text
//! section StoredBlocks: blocks back to back, each
//!   varint head bytes, varint head bytes compressed, varint body bytes, varint body bytes compressed
//!   head, compressed: per document: varint source length,
//!                                   varint id length << 1 | has routing, (varint routing length)
//!                     then all ids, one after the other, then all routings
//!   body, compressed: all sources, one after the other, as they came
//! section StoredDictionary, with codecs 2 and 3, since version 3 of the format
//!   bytes that the sources of the segment repeat, in front of which every body was compressed
//! section StoredIndex
//!   0  1  codec u8: 0 LZ4, 1 zstd, 2 zstd with a dictionary, 3 the same with larger blocks
//!   1  4  doc_count u32
//!   5  4  block count u32
//!   9 12 * block count: first document u32, offset of the block u64
//!   .. 8  bytes of all blocks u64
//! section StoredChecksums, since version 2 of the format
//!   8 * block count: CRC-32 of codec u8, first document u32, documents of the block u32 and the block's
//!                    bytes before its body,
//!                    CRC-32 of the body, compressed (codecs 0 and 1), or of the sources (2 and 3)
//!
//! head with codecs 2 and 3
//!   varint least source length, then per document varint source length - least;
//!          or 2^31 alone, since version 5 of the format: in the body a line feed follows each source, and
//!          sources have none
//!   u8     form of the ids: 0 plain, 1 columns of characters, 2 columns of the bytes that they encode in
//!          URL-safe base64 without padding, 3 numbers (since version 4 of the format)
//!   plain: per document varint id length << 1 | has routing, (varint routing length)
//!          then all ids, one after the other, then all routings
//!   numbers: u8 id length, u8 how many characters at the end are a number of `codec::ordered64` (1 to 9),
//!          the characters before, which all ids share, line of the numbers (`codec::line`)
//!   other: u8 columns; u8 * columns kind of each: 0 constant, 1 steps, 2 plain; then of each column
//!          constant: one byte
//!          steps:    of each document the difference from the byte before, modulo 256; the first from 0
//!          plain:    a byte of each document
//! ```
//!
//! `_id` and `_routing` are stored beside the source but compressed separately: reading an id decompresses
//! its head (a few kilobytes), not the sources, and similar data compresses better together. A length equal
//! to its compressed length means that the part is stored uncompressed. A document never spans blocks; one
//! larger than the target has a block of its own. Merging copies blocks whose documents are all live
//! without decompressing them, if the merged segment has the same codec and dictionary.
//!
//! Sources of one line, as nearly all are, have no lengths with codecs 2 and 3: the line feeds after them
//! are in the middle of repetitions that are compressed anyway, where lengths took 0.9 bytes a document.
//!
//! **Dictionary.** Documents are compressed with LZ4, or with zstd without a dictionary, while they
//! arrive. A merge of enough bytes ([`DICTIONARY_STORED_BYTES_MIN`]) compresses them again with zstd and
//! a dictionary, which makes up for blocks small enough to be read as fast as those of LZ4. The
//! dictionary is pieces of the documents, spread over the segment. It is used where it lies in the
//! mapped file, so it takes no memory, and needs no preparation. A dictionary trained by zstd's `ZDICT`
//! made sources 5 % smaller to 3 % larger, but took 0.3 to 0.65 s of processor time. Merges keep a
//! dictionary that still serves, so that most documents are compressed only once more.
//!
//! A part of a block is compared with its checksum each time it is decompressed, so that a rotten document
//! is neither returned nor carried over by an update. The checksum of a head covers what the index says
//! about its block, so a rotten index leads to a block that does not match. The checksum of sources that
//! were compressed with a dictionary is of what comes out, so that it covers the dictionary too.

/// Uncompressed source bytes after which a block ends with LZ4: reading a random document costs about 12 µs.
pub const LZ4_BLOCK_BYTES: usize = 32 << 10;
/// The same for zstd, whose window gains more from larger blocks.
pub const ZSTD_BLOCK_BYTES: usize = 64 << 10;
/// Uncompressed source bytes after which a block with a dictionary ends: reading a random document costs as
/// much as with LZ4's larger blocks.
pub const DICTIONARY_BLOCK_BYTES: usize = 16 << 10;
/// The same for `best_compression`.
pub const BEST_DICTIONARY_BLOCK_BYTES: usize = 64 << 10;
/// Maximum length of a dictionary that is written. Twice as much gains nothing on logs (measured).
pub const DICTIONARY_BYTES_MAX: usize = 64 << 10;
/// Maximum length of a dictionary that is read; zstd's own limit is far higher.
pub const DICTIONARY_BYTES_READ_MAX: usize = 1 << 20;
/// Bytes of stored blocks in the sources of a merge from which it writes a dictionary. Below, the dictionary
/// would be large in proportion, and merges would take more time while documents stream in.
pub const DICTIONARY_STORED_BYTES_MIN: u64 = 4 << 20;
/// Compressed bytes for each byte of dictionary.
pub const STORED_BYTES_PER_DICTIONARY_BYTE: u64 = 64;
/// Maximum number of documents per block, so that empty sources cannot make an endless one.
pub const BLOCK_DOCS_MAX: usize = 4096;
/// zstd level of `best_compression`: level 3 takes half as much time again and saves 4 % (measured).
pub const ZSTD_LEVEL: i32 = 1;
/// zstd level of `best_compression` in merges: 3 % smaller than level 1 with a dictionary, at a third more
/// time.
pub const BEST_ZSTD_LEVEL: i32 = 3;
/// Follows each source of a block without lengths.
pub const TERMINATOR: u8 = b'\n';
/// In place of the least length: the block has no lengths. No source is as long.
pub const TERMINATED: u64 = PART_BYTES_MAX + 1;
/// Ids are written one after the other.
pub const IDS_PLAIN: u8 = 0;
/// Ids are written as columns of their characters.
pub const IDS_CHARACTERS: u8 = 1;
/// Ids are written as columns of the bytes that they encode.
pub const IDS_BASE64: u8 = 2;
/// Ids are written as a line of numbers.
pub const IDS_NUMBERS: u8 = 3;
/// Longer ids are written plain.
pub const COLUMNS_MAX: usize = 255;
/// All bytes of a column are equal.
pub const COLUMN_CONSTANT: u8 = 0;
/// A column is written as the steps from byte to byte.
pub const COLUMN_STEPS: u8 = 1;
/// A column is written as it is.
pub const COLUMN_PLAIN: u8 = 2;
/// Bytes before the first entry of the index.
pub const INDEX_HEADER_BYTES: usize = 9;
/// Bytes per block in the index.
pub const INDEX_ENTRY_BYTES: usize = 12;
/// Bytes per block in the section of checksums.
pub const CHECKSUMS_BYTES: usize = 8;
/// Maximum size of a part of a block: Lucene limits a stored field, and so a document, to 2 GiB - 1.
pub const PART_BYTES_MAX: u64 = i32::MAX as u64;
