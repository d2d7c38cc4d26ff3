//! Bounds on the scores of a term's blocks: "how good can a document up to there get?"

use limber_codec::Reader;

use super::cursor::Postings;
use super::format::{GROUP_BLOCKS, TAIL_IMPACTS_MIN};
use super::impact::{self, Impact};
use crate::{DocId, NO_MORE_DOCS};

/// Ranges of more blocks than this are bounded by the impacts of their groups.
const BLOCKS_MAX: usize = 4;

/// True whatever the documents are.
const UNKNOWN: Impact = Impact { freq: u32::MAX, norm: 1 };

impl Postings {
    /// Names the block that holds `target`, without decoding it, as the one that [`Postings::max_impacts`] starts from;
    /// returns its last document ([`NO_MORE_DOCS`] for the last, shorter one). `target` must not lie before the current
    /// document, nor before an earlier `target`.
    pub fn shallow_advance(&mut self, target: DocId) -> DocId {
        let from = self.impacts.from_block.max(self.block);
        if from >= self.skip.block_count {
            self.impacts.from_block = from;
            return NO_MORE_DOCS;
        }
        let found = self.skip.block_of(&self.postings, from, target);
        let block = found.unwrap_or(self.skip.block_count);
        self.impacts.from_block = block;
        self.skip
            .last_doc(&self.postings, block)
            .filter(|_| block < self.skip.block_count)
            .unwrap_or(NO_MORE_DOCS)
    }

    /// The (frequency, norm) pairs that bound every document from the block of the last [`Postings::shallow_advance`] (or the
    /// current block, if that is later) up to `up_to`, ascending in both. Wide ranges are bounded by groups of 4,096
    /// documents, which may reach further on both sides.
    pub fn max_impacts(&mut self, up_to: DocId) -> &[Impact] {
        let first = self.impacts.from_block.max(self.block);
        let last = match self.skip.block_of(&self.postings, first.min(self.skip.block_count), up_to) {
            Some(block) if self.skip.block_count > 0 => block.max(first),
            _ => first,
        };
        if self.impacts.of != Some((first, last)) {
            self.impacts.list.clear();
            if self.collect_impacts(first, last).is_none() {
                self.impacts.list.clear();
                self.impacts.list.push(UNKNOWN);
                self.corrupt = Some("lists of impacts");
            }
            self.impacts.of = Some((first, last));
        }
        &self.impacts.list
    }

    /// Impacts of the blocks `first..=last`; `None` when they do not decode.
    fn collect_impacts(&mut self, first: usize, last: usize) -> Option<()> {
        let list = &mut self.impacts.list;
        if !self.options.frequencies {
            list.push(Impact { freq: 1, norm: 1 });
            return Some(());
        }
        let (bytes, count) = (&*self.postings, self.skip.block_count);
        let last_full = last.min(count.wrapping_sub(1));
        let mut list_count = 0;
        if first < count {
            if last_full - first < BLOCKS_MAX {
                for block in first..=last_full {
                    self.skip.block_impacts(bytes, block, list)?;
                    list_count += 1;
                }
            } else {
                for group in first / GROUP_BLOCKS..=last_full / GROUP_BLOCKS {
                    self.skip.group_impacts(bytes, group, list)?;
                    list_count += 1;
                }
            }
        }
        if last >= count && self.tail_len > 0 {
            list_count += 1;
            if self.tail_len >= TAIL_IMPACTS_MIN {
                let tail = bytes.get(self.skip.tail_start(bytes)?..)?;
                impact::read(&mut Reader::new(tail), list).ok()?;
            } else {
                // Each of the other documents has the term at least once.
                let others = (self.info.doc_freq - 1) as u64;
                let freq = self.info.total_term_freq.saturating_sub(others).min(u32::MAX as u64) as u32;
                list.push(Impact { freq, norm: 1 });
            }
        }
        if list_count > 1 {
            list.iter().for_each(|impact| self.impacts.collector.add(impact.freq, impact.norm));
            list.clear();
            list.extend_from_slice(self.impacts.collector.take_front());
        }
        Some(())
    }
}
