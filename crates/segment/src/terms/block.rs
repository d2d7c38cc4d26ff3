//! One block of terms: "is this term among these 32, and what are its statistics and location?"

use limber_codec::bits::Packed;
use limber_codec::{Reader, varint};

use super::format::{BLOCK_TERMS, NUMBERS_FLAG};
use super::info::{TermInfo, TermLocation};
use super::number_block::{NumberBlock, NumberBlockBuilder};
use crate::index_options::IndexOptions;
use crate::{Error, Result, TERM_BYTES_MAX};

const SECTION: &str = "terms";

/// Collects up to 32 ascending terms, then writes them as a block.
#[derive(Default)]
pub struct BlockBuilder {
    count: usize,
    lengths: [u64; BLOCK_TERMS],
    shared: [u64; BLOCK_TERMS],
    suffixes: Vec<u8>,
    doc_freqs: [u64; BLOCK_TERMS],
    extra_freqs: [u64; BLOCK_TERMS],
    single_docs: Vec<u64>,
    postings_offset: u64,
    postings_lens: Vec<u64>,
    positions_offset: u64,
    positions_lens: [u64; BLOCK_TERMS],
    tails: NumberBlockBuilder,
}

impl BlockBuilder {
    pub(crate) fn is_full(&self) -> bool {
        self.count == BLOCK_TERMS
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a term that shares `shared` bytes with the one before it (0 for the first of a block).
    pub fn add(&mut self, term: &[u8], shared: usize, info: &TermInfo) {
        let at = self.count;
        let location = &info.location;
        self.lengths[at] = term.len() as u64;
        self.shared[at] = shared as u64;
        self.suffixes.extend_from_slice(&term[shared..]);
        match at {
            0 => self.tails.start(term),
            _ => self.tails.add(at, &term[shared..], self.lengths[0] == term.len() as u64),
        }
        self.doc_freqs[at] = info.doc_freq as u64 - 1;
        self.extra_freqs[at] = info.total_term_freq - info.doc_freq as u64;
        if info.doc_freq == 1 {
            self.single_docs.push(location.single_doc as u64);
        } else {
            if self.postings_lens.is_empty() {
                self.postings_offset = location.postings_offset;
            }
            self.postings_lens.push(location.postings_len);
        }
        if at == 0 {
            self.positions_offset = location.positions_offset;
        }
        self.positions_lens[at] = location.positions_len;
        self.count += 1;
    }

    /// Appends the block to `out` and starts the next one. `offset` is where it will be in the section.
    pub fn write(&mut self, options: IndexOptions, offset: u64, out: &mut Vec<u8>) {
        if !self.write_numbers(options, offset, out) {
            self.write_plain(options, out);
        }
        self.count = 0;
        self.suffixes.clear();
        self.single_docs.clear();
        self.postings_lens.clear();
    }

    /// Appends the block as numbers and returns `true` if its terms allow that and it takes less room.
    fn write_numbers(&mut self, options: IndexOptions, offset: u64, out: &mut Vec<u8>) -> bool {
        let count = self.count;
        let are_single =
            self.single_docs.len() == count && self.extra_freqs[..count].iter().all(|freq| *freq == 0);
        if !are_single || options.positions {
            return false;
        }
        let first_len = self.lengths[0] as usize;
        let common = self.shared[1..count].iter().min().map_or(first_len, |least| *least as usize);
        // Lengths, shared bytes and suffixes of the plain form.
        let plain_bytes = 5 + count / 8 + self.suffixes.len();
        let first = &self.suffixes[..first_len];
        self.tails.write(first, common, &self.single_docs, (offset, plain_bytes), out)
    }

    fn write_plain(&self, options: IndexOptions, out: &mut Vec<u8>) {
        let count = self.count;
        out.push(count as u8);
        Packed::write(&self.lengths[..count], out);
        Packed::write(&self.shared[1..count], out);
        Packed::write(&self.doc_freqs[..count], out);
        if options.frequencies {
            Packed::write(&self.extra_freqs[..count], out);
        }
        if !self.single_docs.is_empty() {
            Packed::write(&self.single_docs, out);
        }
        if !self.postings_lens.is_empty() {
            varint::write_u64(out, self.postings_offset);
            Packed::write(&self.postings_lens, out);
        }
        if options.positions {
            varint::write_u64(out, self.positions_offset);
            Packed::write(&self.positions_lens[..count], out);
        }
        out.extend_from_slice(&self.suffixes);
    }
}

/// A block as it is stored; parsing reads row headers only.
#[derive(Clone, Copy)]
pub enum BlockView<'a> {
    /// Any terms.
    Plain(PlainBlock<'a>),
    /// Terms that count.
    Numbers(NumberBlock<'a>),
}

impl<'a> BlockView<'a> {
    /// Parses the block `terms[start..end]`, which must hold `count` terms.
    pub fn parse(
        terms: &'a [u8],
        (start, end): (usize, usize),
        count: usize,
        options: IndexOptions,
    ) -> Result<BlockView<'a>> {
        let bytes = &terms[start..end];
        match bytes.first() {
            Some(tag) if tag & NUMBERS_FLAG != 0 => NumberBlock::parse(terms, start, end, count)
                .map(BlockView::Numbers)
                .map_err(Error::in_section(SECTION, start as u64)),
            _ => PlainBlock::parse(bytes, start as u64, count, options).map(BlockView::Plain),
        }
    }

    pub(crate) fn count(&self) -> usize {
        match self {
            BlockView::Plain(block) => block.count,
            BlockView::Numbers(block) => block.count(),
        }
    }

    /// Returns `Ok(index)` if `target` is in the block, otherwise `Err(index)` of the first greater term
    /// (the count if there is none).
    #[inline]
    pub fn find(&self, target: &[u8]) -> Result<std::result::Result<usize, usize>> {
        match self {
            BlockView::Plain(block) => block.find(target),
            BlockView::Numbers(block) => Ok(block.find(target)),
        }
    }

    /// Writes term `index` into `term`.
    pub fn term(&self, index: usize, term: &mut Vec<u8>) -> Result<()> {
        match self {
            BlockView::Plain(block) => block.term(index, term),
            BlockView::Numbers(block) => {
                block.write_term(index, false, term);
                Ok(())
            }
        }
    }

    /// Turns `term` from term `index - 1` into term `index` (for index 0, from nothing). Its suffix starts
    /// at `at`; returns where the next suffix starts.
    #[inline]
    pub fn next_term(&self, index: usize, at: usize, term: &mut Vec<u8>) -> Result<usize> {
        match self {
            BlockView::Plain(block) => block.next_term(index, at, term),
            BlockView::Numbers(block) => {
                block.write_term(index, index > 0, term);
                Ok(at)
            }
        }
    }

    /// Returns the information about term `index`; `first_ord` is the ordinal of the block's first term.
    #[inline]
    pub fn info(&self, index: usize, first_ord: u64) -> Result<TermInfo> {
        match self {
            BlockView::Plain(block) => block.info(index, first_ord),
            BlockView::Numbers(block) => {
                let single_doc = block.doc(index) as u32;
                let location = TermLocation { single_doc, ..TermLocation::default() };
                Ok(TermInfo { ord: first_ord + index as u64, doc_freq: 1, total_term_freq: 1, location })
            }
        }
    }
}

/// A block of any terms.
#[derive(Clone, Copy)]
pub struct PlainBlock<'a> {
    /// Offset of the block in its section, for messages.
    offset: u64,
    count: usize,
    lengths: Packed<'a>,
    shared: Packed<'a>,
    doc_freqs: Packed<'a>,
    extra_freqs: Packed<'a>,
    single_docs: Packed<'a>,
    postings_offset: u64,
    postings_lens: Packed<'a>,
    positions_offset: u64,
    positions_lens: Packed<'a>,
    suffixes: &'a [u8],
}

impl<'a> PlainBlock<'a> {
    /// Parses the block `bytes`, which must hold `count` terms.
    fn parse(bytes: &'a [u8], offset: u64, count: usize, options: IndexOptions) -> Result<PlainBlock<'a>> {
        let mut reader = Reader::new(bytes);
        let mut parse = || {
            let found = reader.u8()? as usize;
            reader.expect(found == count, "the number of terms the directory implies")?;
            let lengths = Packed::read(&mut reader, count)?;
            let shared = Packed::read(&mut reader, count - 1)?;
            let doc_freqs = Packed::read(&mut reader, count)?;
            let mut view = PlainBlock {
                offset,
                count,
                lengths,
                shared,
                doc_freqs,
                extra_freqs: Packed::default(),
                single_docs: Packed::default(),
                postings_offset: 0,
                postings_lens: Packed::default(),
                positions_offset: 0,
                positions_lens: Packed::default(),
                suffixes: &[],
            };
            let single_count = view.singles_before(count);
            if options.frequencies {
                view.extra_freqs = Packed::read(&mut reader, count)?;
            }
            if single_count > 0 {
                view.single_docs = Packed::read(&mut reader, single_count)?;
            }
            if single_count < count {
                view.postings_offset = reader.varint()?;
                view.postings_lens = Packed::read(&mut reader, count - single_count)?;
            }
            if options.positions {
                view.positions_offset = reader.varint()?;
                view.positions_lens = Packed::read(&mut reader, count)?;
            }
            view.suffixes = reader.rest();
            Ok(view)
        };
        parse().map_err(Error::in_section(SECTION, offset))
    }

    /// Returns how many of the first `count` terms occur in one document only.
    #[inline]
    fn singles_before(&self, count: usize) -> usize {
        match self.doc_freqs.constant() {
            Some(0) => count,
            Some(_) => 0,
            None => (0..count).filter(|&i| self.doc_freqs.get(i) == 0).count(),
        }
    }

    /// Returns length and shared length of term `index`, checked against the preceding term.
    #[inline]
    fn lengths(&self, index: usize, previous_len: usize) -> Result<(usize, usize)> {
        let len = self.lengths.get(index) as usize;
        let shared = if index == 0 { 0 } else { self.shared.get(index - 1) as usize };
        if len > TERM_BYTES_MAX || shared > len || shared > previous_len {
            return Err(Error::corrupt(SECTION, self.offset, "lengths of terms that fit each other"));
        }
        Ok((len, shared))
    }

    #[inline]
    fn suffix(&self, at: usize, len: usize) -> Result<&'a [u8]> {
        let suffix = self.suffixes.get(at..at + len);
        suffix.ok_or_else(|| Error::corrupt(SECTION, self.offset, "suffixes inside the block"))
    }

    /// Returns `Ok(index)` if `target` is in the block, otherwise `Err(index)` of the first greater term
    /// (the count if there is none).
    ///
    /// Walks the suffixes once. `matched` is the number of bytes that `target` shares with the preceding
    /// term. A term that shares more than that with its predecessor compares as the predecessor did, so its
    /// bytes are not read.
    #[inline]
    fn find(&self, target: &[u8]) -> Result<std::result::Result<usize, usize>> {
        let (mut matched, mut previous_len, mut at) = (0, 0, 0);
        for index in 0..self.count {
            let (len, shared) = self.lengths(index, previous_len)?;
            previous_len = len;
            let suffix_len = len - shared;
            if shared < matched {
                return Ok(Err(index));
            }
            if shared == matched {
                let suffix = self.suffix(at, suffix_len)?;
                let rest = &target[matched..];
                let common = common_prefix(suffix, rest);
                matched += common;
                if common == rest.len() {
                    return Ok(if common == suffix.len() { Ok(index) } else { Err(index) });
                }
                if common < suffix.len() && suffix[common] > rest[common] {
                    return Ok(Err(index));
                }
            }
            at += suffix_len;
        }
        Ok(Err(self.count))
    }

    /// Writes term `index` into `term`.
    fn term(&self, index: usize, term: &mut Vec<u8>) -> Result<()> {
        term.clear();
        let mut at = 0;
        for i in 0..=index {
            at = self.next_term(i, at, term)?;
        }
        Ok(())
    }

    /// Turns `term` from term `index - 1` into term `index` (for index 0, from nothing). Its suffix starts
    /// at `at`; returns where the next suffix starts.
    #[inline]
    fn next_term(&self, index: usize, at: usize, term: &mut Vec<u8>) -> Result<usize> {
        let (len, shared) = self.lengths(index, term.len())?;
        term.truncate(shared);
        term.extend_from_slice(self.suffix(at, len - shared)?);
        Ok(at + len - shared)
    }

    /// Returns the information about term `index`; `first_ord` is the ordinal of the block's first term.
    #[inline]
    fn info(&self, index: usize, first_ord: u64) -> Result<TermInfo> {
        let doc_freq = self.doc_freqs.get(index).wrapping_add(1);
        let singles = self.singles_before(index);
        let mut location = TermLocation::default();
        if doc_freq == 1 {
            location.single_doc = self.single_docs.get(singles) as u32;
        } else {
            let multiple = index - singles;
            let before = (0..multiple).fold(0u64, |sum, i| sum.wrapping_add(self.postings_lens.get(i)));
            location.postings_offset = self.postings_offset.wrapping_add(before);
            location.postings_len = self.postings_lens.get(multiple);
        }
        let before = (0..index).fold(0u64, |sum, i| sum.wrapping_add(self.positions_lens.get(i)));
        location.positions_offset = self.positions_offset.wrapping_add(before);
        location.positions_len = self.positions_lens.get(index);
        let doc_freq = u32::try_from(doc_freq)
            .map_err(|_| Error::corrupt(SECTION, self.offset, "a document frequency of 32 bits"))?;
        let total_term_freq = (doc_freq as u64).wrapping_add(self.extra_freqs.get(index));
        Ok(TermInfo { ord: first_ord + index as u64, doc_freq, total_term_freq, location })
    }
}

/// Returns the length of the common prefix of `a` and `b`; compares eight bytes at a time.
#[inline]
pub fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let len = a.len().min(b.len());
    let mut at = 0;
    while let (Some(x), Some(y)) = (a[at..].first_chunk::<8>(), b[at..].first_chunk::<8>()) {
        let difference = u64::from_le_bytes(*x) ^ u64::from_le_bytes(*y);
        if difference != 0 {
            return at + difference.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while at < len && a[at] == b[at] {
        at += 1;
    }
    at
}
