//! Skip data of a term: "where is block `b`, what is its last document, which block holds this document?"

use limber_codec::Reader;

use super::format::{BLOCK_DOCS, GROUP_BLOCKS};
use super::impact::{self, Strength};
use crate::DocId;
use crate::index_options::IndexOptions;

/// The offsets of the rows of a term's skip data in its postings. Every accessor returns `None` for corrupt
/// bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct SkipRows {
    pub block_count: usize,
    last_docs: usize,
    ends: usize,
    position_ends: usize,
    impact_ends: usize,
    impacts: usize,
    impacts_end: usize,
    /// The offset of the skip data: the end of the blocks and the tail.
    pub start: usize,
}

impl SkipRows {
    /// Locates the rows at the end of `postings`.
    pub fn open(postings: &[u8], doc_freq: u32, options: IndexOptions) -> Option<SkipRows> {
        let block_count = doc_freq as usize / BLOCK_DOCS;
        if block_count == 0 {
            return Some(SkipRows { start: postings.len(), ..SkipRows::default() });
        }
        let len_at = postings.len().checked_sub(4)?;
        let len = read_u32(postings, len_at)? as usize;
        let start = len_at.checked_sub(len)?;
        let row = block_count.checked_mul(4)?;
        let mut at = start;
        let mut next = |bytes: usize| -> Option<usize> {
            let row_at = at;
            at = at.checked_add(bytes)?;
            Some(row_at)
        };
        let last_docs = next(row)?;
        let ends = next(row)?;
        let position_ends = next(if options.positions { row } else { 0 })?;
        let impact_row = if options.frequencies { row + block_count.div_ceil(GROUP_BLOCKS) * 4 } else { 0 };
        let impact_ends = next(impact_row)?;
        let impacts = next(0)?;
        (impacts <= len_at).then_some(SkipRows {
            block_count,
            last_docs,
            ends,
            position_ends,
            impact_ends,
            impacts,
            impacts_end: len_at,
            start,
        })
    }

    #[inline]
    pub(crate) fn last_doc(&self, postings: &[u8], block: usize) -> Option<DocId> {
        read_u32(postings, self.last_docs + 4 * block)
    }

    /// Returns start and end of a block's bytes in the term's postings.
    #[inline]
    pub fn bytes_of(&self, postings: &[u8], block: usize) -> Option<(usize, usize)> {
        let range = self.range(postings, self.ends, block)?;
        (range.1 <= self.start).then_some(range)
    }

    /// Returns the start of the tail in the term's postings.
    pub fn tail_start(&self, postings: &[u8]) -> Option<usize> {
        match self.block_count {
            0 => Some(0),
            count => self.bytes_of(postings, count - 1).map(|(_, end)| end),
        }
    }

    /// Returns start and end of a block's run in the term's positions; the end of the last block is the
    /// start of the tail's run.
    pub fn positions_of(&self, postings: &[u8], block: usize) -> Option<(usize, usize)> {
        self.range(postings, self.position_ends, block)
    }

    #[inline]
    fn range(&self, postings: &[u8], ends: usize, block: usize) -> Option<(usize, usize)> {
        let start = if block == 0 { 0 } else { read_u32(postings, ends + 4 * (block - 1))? as usize };
        let end = read_u32(postings, ends + 4 * block)? as usize;
        (start <= end).then_some((start, end))
    }

    /// Returns the greatest strength in a block.
    #[inline]
    pub fn block_strength(&self, postings: &[u8], block: usize, scale: &impl Strength) -> Option<f32> {
        self.strength(postings, block, scale)
    }

    /// Returns the greatest strength in a group of [`GROUP_BLOCKS`] blocks.
    pub fn group_strength(&self, postings: &[u8], group: usize, scale: &impl Strength) -> Option<f32> {
        self.strength(postings, self.block_count + group, scale)
    }

    #[inline]
    fn strength(&self, postings: &[u8], list: usize, scale: &impl Strength) -> Option<f32> {
        let (start, end) = self.range(postings, self.impact_ends, list)?;
        let bytes = postings.get(self.impacts..self.impacts_end)?.get(start..end)?;
        impact::greatest(&mut Reader::new(bytes), scale).ok()
    }

    /// Returns the first block from `from` on whose last document is at least `target`, or the block count
    /// if there is none. Gallops, since targets are mostly near.
    #[inline]
    pub fn block_of(&self, postings: &[u8], from: usize, target: DocId) -> Option<usize> {
        let (mut low, mut step) = (from, 1);
        // Invariant: every block before `low` ends before `target`.
        let mut high = loop {
            let probe = low + step - 1;
            if probe >= self.block_count {
                break self.block_count;
            }
            if self.last_doc(postings, probe)? >= target {
                break probe;
            }
            low = probe + 1;
            step *= 2;
        };
        while low < high {
            let middle = (low + high) / 2;
            if self.last_doc(postings, middle)? < target {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Some(low)
    }
}

#[inline]
fn read_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk::<4>().map(|chunk| u32::from_le_bytes(*chunk))
}
