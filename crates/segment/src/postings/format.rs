//! Byte layout of a term's postings and positions, and why.
//!
//! A term found in one document has no bytes in the section `Postings` (its document and frequency are in the
//! dictionary). The others, with `df` documents: `df / 128` full blocks, a tail of `df % 128` documents, skip
//! data.
//!
//! ```text
//! Postings of a term
//!   block    u8     how its 128 documents are written:
//!                     0..=32  gaps - 1 at that width, 16 bytes per bit (`codec::block128`, ascending)
//!                     0x40    a bit set: u8 word count n (1..=64), n x u64;
//!                             bit i = document (last of the preceding block) + 1 + i
//!            patched frequency - 1 of each (`codec::block128`)                    with frequencies
//!   tail     impacts of the tail                          with frequencies, from 16 documents
//!            per document, varint: gap - 1                                        without frequencies
//!                          varint: (gap - 1) << 1 | (frequency == 1),             with frequencies
//!                                  then varint frequency unless it is 1
//!            (the gap counts from the last document of the blocks, or from -1)
//!   skip     only with full blocks; numbers of a width for each row, u32 before version 5 of the format:
//!            last document of each block                                          [blocks]
//!            end of each block, from the start of the term's postings             [blocks]
//!            end of each block's positions, from the start of the term's          [blocks]   with positions
//!              positions
//!            end of each list of impacts, from the first                [blocks + groups]  with frequencies
//!            impacts of each block, then of each group of 32 blocks (`blocks.div_ceil(32)` groups)
//!            u32    bytes of the skip data up to here
//!            u8     bytes of a number of each row less 1, two bits each (the first row in the lowest ones),
//!                   and three bytes 0xff, in which no u32 before ends; since version 5 of the format
//!
//!   impacts  u8 count, then per pair varint frequency, u8 norm; frequencies and norms ascend
//!
//! Positions of a term
//!   run      one per full block, one for the tail: the positions of its documents, each as the gap to the
//!            preceding one (the first of a document as it is)
//!            for every 128 of them: a patched block, since version 4 of the format above a base
//!            then the n < 128 left: up to 3 as varints; more as u8 width and packed bits
//!            (`codec::bits`), since version 4 with 0x80 in the width if u8 base, to be added to each,
//!            follows it
//! ```
//!
//! Skip data are plain arrays in the mapped file: opening a term decodes nothing, any block is found by a
//! binary search, and the `impacts` of a group of 4,096 documents are read at once. They take 8 to 13 bytes
//! per 128 documents. Positions start anew with each block, so that reading a block's
//! positions needs no state of earlier blocks. A word has mostly the same place in short texts that are alike
//! (the method, the protocol of a request), so the least position is written once for all of a block. Impacts
//! are the Pareto front of (frequency, norm): for each document of the block some pair has at least its
//! frequency and at most its norm, so the score of the best pair bounds all scores (Lucene,
//! `CompetitiveImpactAccumulator`).

pub use limber_codec::block128::LEN as BLOCK_DOCS;

/// Full blocks in a group of the second skip level.
pub const GROUP_BLOCKS: usize = 32;
/// Ends skip data whose rows have widths.
pub const SKIP_WIDTHS_MARK: [u8; 3] = [0xff; 3];
/// Tag of a block written as a bit set.
pub const TAG_BIT_SET: u8 = 0x40;
/// Maximum number of words of a bit set: with one more, packed gaps are never longer.
pub const BIT_SET_WORDS_MAX: usize = 64;
/// In the width of leftover positions: a base follows.
pub const POSITIONS_BASE_FLAG: u8 = 0x80;
/// A tail of fewer documents has no impacts: they would cost more than they save.
pub const TAIL_IMPACTS_MIN: usize = 16;
/// Up to this many leftover positions are written as varints; more are shorter as a packed array with its
/// width byte.
pub const POSITION_VARINTS_MAX: usize = 3;
