//! Byte layout of a field's terms, and why.
//!
//! Three sections. All integers little-endian; `varint` is LEB128; `packed` is [`limber_codec::bits::Packed`]
//! (u8 width, varint minimum, values at that width).
//!
//! ```text
//! Terms           blocks of 32 terms (the last one may be shorter), back to back; then the block table:
//!                 per block its offset, 5 bytes each
//!
//!   block         u8      count of terms, 1..=32
//!                 packed  length of each term                                [count]
//!                 packed  bytes shared with the preceding term               [count - 1]
//!                 packed  doc_freq - 1                                       [count]
//!                 packed  total_term_freq - doc_freq                         [count]    with frequencies
//!                 packed  the document of each term with doc_freq = 1        [singles]  when there are any
//!                 varint  postings offset of the first term with doc_freq > 1           when there are any
//!                 packed  bytes of postings of each term with doc_freq > 1   [count - singles]
//!                 varint  positions offset of the first term                            with positions
//!                 packed  bytes of positions of each term                    [count]    with positions
//!                 bytes   suffixes: the bytes of each term that it does not share with the preceding one
//!
//!   or, since version 4 of the format, for terms of one length, each once in one document, without
//!   positions, that differ in their last 1 to 9 characters, which are of `codec::ordered64`:
//!                 u8      0x80 | count of terms
//!                 varint  bytes back to the block of which this one takes bytes, at most 4,096; 0: none
//!                 u8      length of the terms
//!                 u8      how many of their characters at the end are numbers
//!                 u8      bytes at the start of the terms that are taken from that block    unless none
//!                 bytes   the others of those that all terms begin with
//!                 line    the numbers                                         [count]   `codec::line`
//!                 line    the document of each term                           [count]
//!
//! TermIndex       pages, back to back: which block may hold a term
//!
//!   page          u8      0: an FST (`fst` crate, version 3) from separator to
//!                            block - first block of the page
//!                         1: a list: u16 count, u32 end of each key, key bytes;
//!                            key i belongs to block first + 1 + i
//!
//! TermDirectory   u8      flags: bit 0 frequencies, bit 1 positions
//!                 varint  term_count, block_count, sum of doc_freq, sum of total_term_freq,
//!                         documents with the field, page_count
//!                 per page: varint length + separator of its first block (empty for the first page),
//!                         varint first block, varint bytes of the page (0: one block, no page),
//!                         u32 CRC-32 of the page
//! ```
//!
//! The separator of a block is the shortest string above every term before it: the block's first term, cut
//! one byte after the position where it differs from the last term of the preceding block. The first block
//! of a page needs no key in the page: every term below the first key belongs to it.
//!
//! Blocks hold exactly 32 terms so that a shift turns an ordinal into its block; Lucene's 25 to 48 terms
//! save little (measured: FSTs of separators take 0.2 to 0.35 bytes per term either way). A term found in
//! only one document has its document here and nothing in the postings section. This is true of most terms
//! of most fields, and of all of `_id`.
//!
//! A torn write is never read, because the container's footer is missing then. Pages have their own checksums
//! because they are read on demand; the checksums of all other sections are in the container's table.

/// Terms in every block but the last.
pub const BLOCK_TERMS: usize = 32;
/// `ord >> BLOCK_SHIFT` is the block of a term.
pub const BLOCK_SHIFT: u32 = BLOCK_TERMS.trailing_zeros();
/// In the first byte of a block: its terms are written as numbers.
pub const NUMBERS_FLAG: u8 = 0x80;
/// A block of numbers takes the start of its terms from a block at most so far before it, which is mostly in
/// the same page of memory.
pub const MODEL_DISTANCE_MAX: u64 = 4096;
/// Bytes of one entry of the block table; enough for 1 TB of term blocks.
pub const BLOCK_OFFSET_BYTES: usize = 5;

/// A page ends when it reaches this size. Pages are large enough that a cache has few entries, and small
/// enough that loading one takes 14 microseconds (measured, page cache to FST) and that a small budget can
/// choose what it keeps.
pub const PAGE_BYTES_TARGET: usize = 256 << 10;
/// A page of up to this many keys is a list: setting up an FST builder takes about 0.1 ms, which fields
/// with few terms would pay at every refresh.
pub const LIST_KEYS_MAX: usize = 64;

/// First byte of a page that is an FST.
pub const PAGE_FST: u8 = 0;
/// First byte of a page that is a list of keys.
pub const PAGE_LIST: u8 = 1;

/// Flag of a directory: frequencies are indexed.
pub const FLAG_FREQUENCIES: u8 = 1;
/// Flag of a directory: positions are indexed.
pub const FLAG_POSITIONS: u8 = 2;
