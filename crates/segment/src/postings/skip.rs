//! Skip data of a term: "where is block `b`, what is its last document, which block holds this document?"

use limber_codec::Reader;

use super::format::{BLOCK_DOCS, GROUP_BLOCKS, SKIP_WIDTHS_MARK};
use super::impact::{self, Strength};
use crate::DocId;
use crate::index_options::IndexOptions;

/// The rows of a term's skip data in its postings. Every accessor returns `None` for corrupt bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct SkipRows {
    pub block_count: usize,
    last_docs: Row,
    ends: Row,
    position_ends: Row,
    impact_ends: Row,
    impacts: usize,
    impacts_end: usize,
    /// The offset of the skip data: the end of the blocks and the tail.
    pub start: usize,
}

/// Numbers of one to four bytes each.
#[derive(Debug, Clone, Copy, Default)]
struct Row {
    /// The offset of the first number in the term's postings.
    at: usize,
    /// Bytes of a number.
    width: usize,
    /// The bits of a number.
    mask: u32,
}

impl Row {
    /// Returns number `index`. At least four bytes follow the first one of any number, because other bytes
    /// follow narrow rows.
    #[inline]
    fn get(self, postings: &[u8], index: usize) -> Option<u32> {
        let bytes = postings.get(self.at + self.width * index..)?.first_chunk::<4>()?;
        Some(u32::from_le_bytes(*bytes) & self.mask)
    }
}

impl SkipRows {
    /// Locates the rows at the end of `postings`.
    pub fn open(postings: &[u8], doc_freq: u32, options: IndexOptions) -> Option<SkipRows> {
        let block_count = doc_freq as usize / BLOCK_DOCS;
        if block_count == 0 {
            return Some(SkipRows { start: postings.len(), ..SkipRows::default() });
        }
        let (rest, last) = postings.split_last_chunk::<4>()?;
        // Before version 5, the length is the end, and numbers have four bytes.
        let (widths, (rest, len)) = match last {
            [widths, mark @ ..] if *mark == SKIP_WIDTHS_MARK => (*widths, rest.split_last_chunk::<4>()?),
            len => (u8::MAX, (rest, len)),
        };
        let len_at = rest.len();
        let start = len_at.checked_sub(u32::from_le_bytes(*len) as usize)?;
        let (mut at, mut widths) = (start, widths);
        let mut next = |is_there: bool, len: usize| -> Option<Row> {
            let width = usize::from(widths & 3) + 1;
            widths >>= 2;
            let row = Row { at, width, mask: u32::MAX >> (32 - 8 * width) };
            at = at.checked_add(if is_there { len.checked_mul(width)? } else { 0 })?;
            Some(row)
        };
        let last_docs = next(true, block_count)?;
        let ends = next(true, block_count)?;
        let position_ends = next(options.positions, block_count)?;
        let lists = block_count + block_count.div_ceil(GROUP_BLOCKS);
        let impact_ends = next(options.frequencies, lists)?;
        let impacts = at;
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
        self.last_docs.get(postings, block)
    }

    /// Returns start and end of a block's bytes in the term's postings.
    #[inline]
    pub fn bytes_of(&self, postings: &[u8], block: usize) -> Option<(usize, usize)> {
        let range = Self::range(postings, self.ends, block)?;
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
        Self::range(postings, self.position_ends, block)
    }

    #[inline]
    fn range(postings: &[u8], ends: Row, block: usize) -> Option<(usize, usize)> {
        let start = if block == 0 { 0 } else { ends.get(postings, block - 1)? as usize };
        let end = ends.get(postings, block)? as usize;
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
        let (start, end) = Self::range(postings, self.impact_ends, list)?;
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

#[cfg(test)]
mod tests {
    use super::*;

    const OPTIONS: IndexOptions = IndexOptions { frequencies: false, positions: true };

    /// Rows of two blocks in numbers of these bytes, after 300 bytes of postings.
    fn postings(widths: [usize; 3], tail: &[u8]) -> Vec<u8> {
        let mut bytes = vec![0; 300];
        for (row, width) in [[200, 70_000], [20, 290], [0, 9]].into_iter().zip(widths) {
            row.iter().for_each(|number: &u32| bytes.extend_from_slice(&number.to_le_bytes()[..width]));
        }
        let len = bytes.len() as u32 - 300;
        [&bytes, &len.to_le_bytes()[..], tail].concat()
    }

    #[track_caller]
    fn check(bytes: &[u8]) {
        let rows = SkipRows::open(bytes, 300, OPTIONS).expect("opens");
        assert_eq!((rows.block_count, rows.start, rows.tail_start(bytes)), (2, 300, Some(290)));
        assert_eq!([0, 1].map(|block| rows.last_doc(bytes, block)), [Some(200), Some(70_000)]);
        assert_eq!([0, 1].map(|block| rows.bytes_of(bytes, block)), [Some((0, 20)), Some((20, 290))]);
        assert_eq!([0, 1].map(|block| rows.positions_of(bytes, block)), [Some((0, 0)), Some((0, 9))]);
        assert_eq!([200, 201, 70_001].map(|doc| rows.block_of(bytes, 0, doc)), [Some(0), Some(1), Some(2)]);
    }

    /// The rows of version 4, and those since.
    #[test]
    fn rows_have_four_bytes_a_number_or_widths() {
        check(&postings([4, 4, 4], &[]));
        check(&postings([3, 2, 1], &[0b00_01_10, 0xff, 0xff, 0xff]));
        check(&postings([4, 3, 2], &[0b01_10_11, 0xff, 0xff, 0xff]));
    }

    #[test]
    fn rows_that_do_not_fit_are_refused() {
        let bytes = postings([3, 2, 1], &[0b00_01_10, 0xff, 0xff, 0xff]);
        for (at, byte) in [(312, 200), (312, 11), (316, 0xff), (317, 0)] {
            let mut forged = bytes.clone();
            forged[at] = byte;
            let read = SkipRows::open(&forged, 300, OPTIONS);
            let is_read = read.is_some_and(|rows| rows.bytes_of(&forged, 1) == Some((20, 290)));
            assert!(!is_read, "byte {at}");
        }
        (0..8).for_each(|len| assert!(SkipRows::open(&bytes[..len], 300, OPTIONS).is_none()));
    }
}
