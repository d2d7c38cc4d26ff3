//! Byte layout of a column section (number or ordinal), little-endian.
//!
//! ```text
//! value groups    bodies of groups of 4,096 values in document order, see below
//! value directory 40 bytes a group
//! offsets         (multi-valued only) a packed list of its own: bodies, then directory; for the n-th
//!                 document that has values the number of its first value, and a last entry with the
//!                 count of values
//! presence        (unless every document has a value) a document set, see `presence`
//! footer          72 bytes:
//!   0  8 value_count u64      40 8 min i64 (0 without values)   64 1 cardinality u8: 0 single 1 optional
//!   8  8 value bodies bytes   48 8 max i64                           2 multi
//!  16  8 offsets bytes        56 4 doc_count u32                65 1 flags u8: 1 = values ascend in
//!  24  8 offset bodies bytes  60 4 documents with a value u32        document order
//!  32  8 presence bytes                                        66 6 zero
//!
//! directory entry of a group
//!   0  8 offset of its body u64 (from the first body)
//!   8  8 min i64        16 8 max i64
//!  24  8 factor u64: greatest common divisor of all (value - min), at least 1; 1 in tables
//!  32  1 kind u8: 0 frame, 1 table, 2 lines (since version 4 of the format)
//!  33  1 width u8: bytes of a block's minimum and maximum (0, 1, 2, 4 or 8)
//!  34  2 table length u16
//!  36  4 zero
//!
//! body of a group of n blocks (128 values each; the last is padded with its first value)
//!   u16 * n    end of each block's packed bytes, in 16-byte units; bits of a block = end - previous end
//!   i64 * t    the table: distinct values, ascending (t = 0 in frames)
//!   width * n  minimum of each block: (min - group min) / factor, or an index in the table
//!   width * n  maximum of each block, likewise
//!   8 * n      (lines only) first u32 and slope u32 of the line of each block
//!   packed     residuals of the blocks (`codec::column_block`)
//! value = group min + factor * (block minimum + residual), or table[block minimum + residual],
//!         or group min + factor * (first + (slope * i >> 16) + residual) for the i-th value of a block,
//!         where the sum in brackets is modulo 2^32
//! ```
//!
//! A group of 4,096 values is one execution window; its 40-byte entry costs 0.08 bits per value. Minimum and
//! maximum of each 128 values cost 0.125 to 1 bit per value and let a range query or a histogram skip or take
//! whole blocks. A table is written if it saves a quarter or more (few distinct values far apart, such as
//! HTTP status codes); it decodes about three times slower. Lines are written if they save a quarter or more
//! (sequence numbers, timestamps of logs): each block has its own, from its first to about its last value.
//! Values are still read without those before them, and a block decodes in a few nanoseconds more.

/// Values per block, the unit of packing.
pub const BLOCK: usize = 128;
/// Values per group, the unit of the directory; documents per window.
pub const GROUP: usize = 4096;
/// Blocks per group.
pub const BLOCKS_PER_GROUP: usize = GROUP / BLOCK;
/// Bytes of a group's entry in the directory.
pub const ENTRY_BYTES: usize = 40;
/// Bytes of the footer.
pub const FOOTER_BYTES: usize = 72;
/// Maximum number of distinct values in a group's table.
pub const TABLE_LEN_MAX: usize = 64;

/// The values of a group are steps from its minimum.
pub const KIND_FRAME: u8 = 0;
/// The values of a group are indexes in its table.
pub const KIND_TABLE: u8 = 1;
/// The values of a block are near a line.
pub const KIND_LINES: u8 = 2;
/// Bytes of the line of a block.
pub const LINE_BYTES: usize = 8;
